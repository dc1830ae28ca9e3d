"""Addresses: each is read in one way, or refused."""

import base64

import pytest

from factdrift.builders.core.addresses import (
    BUCKET_SCHEMES,
    WEB_SCHEMES,
    parse_address,
    without_credentials,
)
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.inputs import gather

TAKEN = {
    "https://api.openai.com/v1": "https://api.openai.com",
    "https://API.OpenAI.com:443/v1": "https://api.openai.com",
    "http://localhost:8000": "http://localhost:8000",
    "http://[::1]:8000/v1": "http://[::1]:8000",
    "http://[::1]/v1": "http://[::1]",
    "http://127.0.0.1:8000/v1?key=a#b": "http://127.0.0.1:8000",
    "http://my_host:8000/": "http://my_host:8000",
    "https://2.example.org/": "https://2.example.org",
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
    # the sign of kelvin is a k in lower case; numbers that some parsers read as 127.0.0.1
    "https://\u212aeys.example/v1": "proper host",
    "http://127.1/": "proper host",
    "http://2130706433/": "proper host",
    "http://0x7f000001:8000/": "proper host",
    "http://0177.0.0.1/": "proper host",
    "http://[1::2::3]/": "proper host",
    "https://host:080/": "proper host",
    "https://host..example/": "proper host",
    f"https://{'a' * 64}.example/": "proper host",
    f"https://{'a.' * 130}example/": "proper host",
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
    assert without_credentials(address.url) == "https://host.example/sparql"
    assert address.path == "/sparql"
    encoded = base64.b64encode(b"ann:s3cr/t").decode()
    echoed = f"Authorization: Basic {encoded}, s3cr/t, s3cr%2Ft"
    assert address.mask(echoed) == "Authorization: Basic …, …, …"


SECRET_PLACES = [
    "https://ann:s3cret@host.example\\a",
    "xx://ann:s3cret@host",
    "https:/ann:s3cret@host/sparql",
    "ann:s3cret@host/sparql",
    "simplecache::s3://key:s3cret@bucket/a",
    "https://ann:pa/s3cret@host/sparql",
    "https://ann:12/s3cret@host/sparql",
    "https://ann:pa?s3cret@host/sparql",
    "https://ann:pa#s3cret@host/sparql",
    "https://ann:pa\\s3cret@host/sparql",
    "s3://key:abc/s3cret@bucket/a.gz",
    "https://host:8000/a?sig=x@s3cret",
    "https://ann:pw@x@host.example/a?s3cret",
    "https://ann:pw@x/s3cret@host.example",
]


@pytest.mark.parametrize("text", SECRET_PLACES)
def test_no_message_shows_a_password(text: str) -> None:
    assert "s3cret" not in without_credentials(text) or "://" not in text
    try:
        parse_address(text, (*WEB_SCHEMES, *BUCKET_SCHEMES))
    except UserError as refusal:
        assert "s3cret" not in str(refusal)
    with pytest.raises(UserError, match="no NAME=PATH") as raised_error:
        gather({}, [f"my-news={text}"], strict=False)
    assert "s3cret" not in str(raised_error.value) or "://" not in text


def test_a_path_with_odd_characters_is_shown_whole() -> None:
    for text in ("s3://bucket/key@2020/a.gz", "https://host/a@2020/b.gz", "news@home?.jsonl"):
        assert without_credentials(text) == text
