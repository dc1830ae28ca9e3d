"""Redirects of real servers on this machine: no credentials go along, and none leave the web."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from factdrift.builders.core import remote
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import JsonClient, RetryPolicy
from factdrift.builders.wikidata.sparql_client import SparqlClient

# one attempt: a redirect that is followed wrongly must not be healed by a second
POLICY = RetryPolicy(timeout=5.0, attempts=1, give_up=1.0)


@contextmanager
def answering(location: str | None) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """A server that redirects everything to `location`, or serves four bytes.

    Gives its address, and the path and `Authorization` of each request that it got.
    """
    requests: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append((self.path, self.headers.get("Authorization")))
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(302 if location else 200)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "0" if location else "4")
            self.end_headers()
            if not location:
                self.wfile.write(b"data")

        do_POST = do_GET  # noqa: N815 - the name that http.server calls

        def log_message(self, *parts: object) -> None:
            """Nothing on the screen."""

    http_server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http_server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{http_server.server_port}", requests
    finally:
        http_server.shutdown()
        http_server.server_close()


def fetch(address: str, folder: Path) -> bytes:
    (path,) = remote.local(
        [address], folder, lambda name: True, say=lambda text: None, policy=POLICY
    )
    return Path(path).read_bytes()


def test_an_input_is_fetched_from_where_a_redirect_leads_without_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine localhost login ann password s3cret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with answering(None) as (target_host, target_requests):
        other_host = f"http://localhost:{target_host.rpartition(':')[2]}/a.gz"
        with answering(other_host) as (first_host, first_requests):
            assert fetch(f"http://bob:pw@{first_host}/a.gz", tmp_path / "fetched") == b"data"
    assert {login for _, login in first_requests} == {"Basic Ym9iOnB3"}
    assert {login for _, login in target_requests} == {None}


@pytest.mark.parametrize(
    "location",
    [
        "ftp://127.0.0.1:1/a",
        "file:///etc/hostname",
        "http://evil.example\\@127.0.0.1/a",
        "gopher://a",
    ],
)
def test_an_input_does_not_leave_the_web(tmp_path: Path, location: str) -> None:
    with (
        answering(location) as (first_host, _),
        pytest.raises(UserError, match="sends callers on to what is refused"),
    ):
        fetch(f"http://{first_host}/a.gz", tmp_path)


def test_a_service_with_a_key_is_not_followed_elsewhere() -> None:
    with (
        answering(None) as (target_host, target_requests),
        answering(f"http://{target_host}/v1") as (first_host, first_requests),
    ):
        client = JsonClient(f"http://{first_host}/v1", POLICY, key="k3y")
        with pytest.raises(UserError, match=r"sends callers on to 127\.0\.0\.1"):
            client.post({}, lambda reply, attempt: reply)
    assert (len(first_requests), target_requests) == (1, [])


@pytest.mark.parametrize("location", ["http://{target}/sparql", "ftp://{target}/a", "\\\\evil"])
def test_an_endpoint_with_credentials_is_not_followed_elsewhere(location: str) -> None:
    with (
        answering(None) as (target, target_requests),
        answering(location.format(target=target)) as (first_host, first_requests),
    ):
        address = f"http://ann:s3cret@{first_host}/sparql"
        client = SparqlClient(address, "test/1.0 (mailto:a@b.org)", POLICY)
        with pytest.raises(UserError, match="sends callers on to"):
            client.answer("SELECT * WHERE {}")
    assert [login for _, login in first_requests] == ["Basic YW5uOnMzY3JldA=="]
    assert target_requests == []
