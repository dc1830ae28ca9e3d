"""Addresses: each is read in one way, or refused."""

import base64

import pytest

from factdrift.builders.core.addresses import BUCKET_SCHEMES, WEB_SCHEMES, parse_address
from factdrift.builders.core.errors import UserError

TAKEN = {
    "https://api.openai.com/v1": "https://api.openai.com",
    "https://API.OpenAI.com:443/v1": "https://api.openai.com",
    "http://localhost:8000": "http://localhost:8000",
    "http://[::1]:8000/v1": "http://[::1]:8000",
    "http://[::1]/v1": "http://[::1]",
    "http://127.0.0.1:8000/v1?key=a#b": "http://127.0.0.1:8000",
    "https://user:pa%40ss@host.example/a": "https://host.example",
    "https://host.example/Völker%20ball.json": "https://host.example",
    "s3://bucket/key@2020/a b.gz": "s3://bucket",
}
REFUSED = {
    r"https://evil.example\@api.openai.com/v1": "reverse solidus",
    "https://evil.example/@api.openai.com": "an @ in its path",
    "https://evil.example?@api.openai.com": "an @ in its path",
    "https://evil.example#@api.openai.com": "an @ in its path",
    "https://a@evil.example@api.openai.com": "two @",
    "https://api.openai.com\t.evil.example": "U\\+0009",
    "https://api.openai.com\n/v1": "U\\+000A",
    "https://api.openai.com\u200b.evil.example": "zero width space",
    "https://api.openai.com\u202e/": "right-to-left override",
    "https://api。openai.com/": "proper host",
    "https://аpi.openai.com/": "proper host",
    "https://api.openai.com%2eevil.example/": "proper host",
    "https:///v1": "proper host",
    "https://:443/": "proper host",
    "https://host:port/": "proper host",
    "https://host:99999/": "the port 99999",
    "https://host:/": "proper host",
    "https://[::1/": "proper host",
    "https:/api.openai.com": "not an address",
    "//api.openai.com": "not an address",
    "ftp://host.example/a": "ftp:// is not read here",
    "file:///etc/passwd": "file:// is not read here",
    "local:///etc/passwd": "local:// is not read here",
    "reference://a": "reference:// is not read here",
    "dir://a::file:///etc": "dir:// is not read here",
    "simplecache::s3://bucket/a": "not an address",
    "s3://bucket/a::file:///etc/passwd": "file in a bucket",
    "s3://key:secret@bucket@other/a": "two @",
    "s3://buck:et/a": "file in a bucket",
    "gs:///a": "file in a bucket",
}


@pytest.mark.parametrize(("text", "origin"), TAKEN.items())
def test_an_address_has_one_origin(text: str, origin: str) -> None:
    assert parse_address(text, (*WEB_SCHEMES, *BUCKET_SCHEMES)).origin == origin


@pytest.mark.parametrize(("text", "reason"), REFUSED.items())
def test_an_address_that_can_be_read_in_two_ways_is_refused(text: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        parse_address(text, (*WEB_SCHEMES, *BUCKET_SCHEMES))


def test_credentials_leave_the_address_and_every_text() -> None:
    address = parse_address("https://ann:s3cr%2Ft@host.example/sparql?x=1")
    assert (address.user, address.password) == ("ann", "s3cr/t")
    assert address.url == "https://host.example/sparql?x=1"
    assert address.display == "https://host.example/sparql"
    encoded = base64.b64encode(b"ann:s3cr/t").decode()
    echoed = f"Authorization: Basic {encoded}, s3cr/t, s3cr%2Ft"
    assert address.mask(echoed) == "Authorization: Basic …, …, …"


@pytest.mark.parametrize("text", ["https://ann:s3cret@host.example\\a", "xx://ann:s3cret@host"])
def test_a_refusal_shows_no_password(text: str) -> None:
    with pytest.raises(UserError) as refusal:
        parse_address(text)
    assert "s3cret" not in str(refusal.value)
