"""Clients of `factdrift receive` that hang up, send half a request, or come by the thousand."""

import json
import re
import resource
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn", reason="needs uvicorn (extra serve)")
pytest.importorskip("starlette", reason="needs Starlette (extra serve)")

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.receive.connections import most_connections
from factdrift.builders.core.limits import LONGEST_ROW
from tests.annotation_workers import batch_of
from tests.receiving import Server, answers_of, call, received, serving


@pytest.fixture(scope="module")
def hit_batch(tmp_path_factory: pytest.TempPathFactory) -> HitBatch:
    return batch_of(tmp_path_factory.mktemp("receive"))


@pytest.fixture(scope="module")
def results_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def server(hit_batch: HitBatch, results_folder: Path) -> Iterator[Server]:
    """One server for all tests; at the end, its log has nothing but what an honest run says."""
    with serving(hit_batch.folder, results_folder, "--rate", "0", "--unsigned") as running_server:
        yield running_server
        printed_text = running_server.stop()
    own_lines = r"(?:serving|stopped;|received:) .*\n"
    assert re.sub(own_lines, "", printed_text) == ""


def hand_in(server: Server, hit_batch: HitBatch, worker_id: str) -> None:
    """What an honest worker does, which the server takes at any time."""
    http_status, hit_reply = call(server.address, "hit", {"worker": worker_id})
    assert http_status == 200
    submission = answers_of(hit_reply["hit"], hit_batch.id, worker_id)
    assert call(server.address, "submissions", submission)[0] == 200


def connect(server: Server) -> socket.socket:
    parts = urlsplit(server.address)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=30)


def break_off(client_socket: socket.socket) -> None:
    """Close a connection with a reset, as a client that crashes does."""
    client_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client_socket.close()


def half_close(client_socket: socket.socket) -> None:
    """Say that nothing more comes, and read what the server says."""
    client_socket.settimeout(20)
    with suppress(OSError):
        client_socket.shutdown(socket.SHUT_WR)
        while client_socket.recv(1 << 16):
            pass
    client_socket.close()


POST = b"POST /submissions HTTP/1.1\r\nHost: x\r\n"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n"
PARTIAL_REQUESTS = {
    "nothing": b"",
    "half a line": b"POST /subm",
    "half the headers": POST + b"Content-Length: 9",
    "no body": POST + b"Content-Length: 900\r\n\r\n",
    "half a body": POST + b"Content-Length: 900\r\n\r\n" + b"x" * 400,
    "half a large body": POST + b"Content-Length: 2000000\r\n\r\n" + b"x" * 1_000_000,
    "half a chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n400\r\nxx",
    "a chunk of no size": POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nxx",
    "a negative length": POST + b"Content-Length: -1\r\n\r\n",
    "a length of many digits": POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
    "two lengths": POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "length and chunks": POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a promise to continue": POST + b"Content-Length: 9\r\nExpect: 100-continue\r\n\r\n",
    "a whole request, its reply not read": GET + b"\r\n",
    "a thousand requests at once": (GET + b"\r\n") * 1000,
    "a body to a page": GET + b"Content-Length: 900\r\n\r\nxx",
    "a socket of the web": GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "another protocol": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 300,
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "long headers": GET + b"X: " + b"x" * 200_000,
    "many headers": GET + b"".join(b"X%d: x\r\n" % number for number in range(20_000)),
    "control characters": b"GET /\x1b]0;x\x07 HTTP/1.1\r\nHost: \x1b[2J\r\n\r\n",
    "an escaped path": b"GET /%00/%1b%5b2J/..%2f..%2fetc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    "another host": b"GET http://evil.example/health HTTP/1.1\r\nHost: x\r\n\r\n",
    "a body that is no text": POST + b"Content-Length: 4\r\n\r\n\xff\xfe\x00\x01",
    "deep JSON": POST + b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
    "a number of many digits": POST + b"Content-Length: 5000\r\n\r\n" + b"9" * 5000,
}


@pytest.mark.parametrize("end", [break_off, socket.socket.close, half_close])
def test_whoever_hangs_up_stops_nobody(
    server: Server,
    hit_batch: HitBatch,
    results_folder: Path,
    end: Callable[[socket.socket], object],
) -> None:
    lines_before = len(received(results_folder, hit_batch))
    client_sockets = []
    for partial_request in PARTIAL_REQUESTS.values():
        client_socket = connect(server)
        client_sockets.append(client_socket)
        with suppress(OSError):  # the server may close before all is sent
            client_socket.sendall(partial_request)
    time.sleep(0.3)
    for client_socket in client_sockets:
        end(client_socket)
    hand_in(server, hit_batch, end.__name__)
    assert len(received(results_folder, hit_batch)) == lines_before + 1


@pytest.mark.slow
def test_unfinished_requests_are_closed_after_a_few_seconds(server: Server) -> None:
    """Also those that send a byte now and then, and those after a request that was whole."""
    begun = {
        "nothing": b"",
        "half the headers": POST + b"Content-Length: 9",
        "a second request": GET + b"Content-Length: 0\r\n\r\n" + POST,
        "a body to a page": GET + b"Content-Length: 900\r\n\r\nxx",
    }
    with ExitStack() as stack:
        client_sockets = {
            name: stack.enter_context(closing(connect(server)))
            for name in [*begun, *(f"{name}, slowly" for name in begun)]
        }
        start = time.monotonic()
        for name, client_socket in client_sockets.items():
            client_socket.sendall(begun[name.removesuffix(", slowly")])
            client_socket.settimeout(0.01)
        closing_seconds: dict[str, float] = {}
        while len(closing_seconds) < len(client_sockets) and time.monotonic() - start < 20:
            for name, client_socket in client_sockets.items():
                if name not in closing_seconds and is_closed(
                    client_socket, drip=name.endswith("slowly")
                ):
                    closing_seconds[name] = time.monotonic() - start
            time.sleep(0.2)
    assert closing_seconds.keys() == client_sockets.keys()
    assert max(closing_seconds.values()) < 12, closing_seconds


def is_closed(client_socket: socket.socket, *, drip: bool) -> bool:
    """Whether the server has closed a connection, to which a byte is sent where it drips."""
    try:
        if drip:
            client_socket.sendall(b"x")
        while True:
            if not client_socket.recv(1 << 16):
                return True
    except TimeoutError:
        return False
    except OSError:
        return True


@pytest.mark.slow
def test_a_reply_that_is_read_slowly_arrives_whole(server: Server) -> None:
    """Longer than the seconds for headers: they are counted once the reply has been read."""
    with closing(socket.socket()) as client_socket:
        client_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        parts = urlsplit(server.address)
        client_socket.connect((parts.hostname, parts.port))
        requests_sent = 40  # their pages are more than the buffers of both systems hold
        client_socket.sendall(
            (GET + b"\r\n") * (requests_sent - 1) + GET + b"Connection: close\r\n\r\n"
        )
        time.sleep(8)
        client_socket.settimeout(5)
        page_text = b""
        with suppress(OSError):
            while received_piece := client_socket.recv(1 << 20):
                page_text += received_piece
    assert page_text.count(b"HTTP/1.1 200 OK") == page_text.count(b"</html>") == requests_sent


def test_many_connections_keep_nobody_out(server: Server, hit_batch: HitBatch) -> None:
    """A client with more connections than the server has descriptors; others are served."""
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard_limit, 4096), hard_limit))
    try:
        with ExitStack() as stack:
            for connection_number in range(1200):
                client_socket = stack.enter_context(closing(connect(server)))
                client_socket.sendall(b"" if connection_number % 2 else POST)
                if connection_number % 100 == 0:
                    assert call(server.address, "health")[0] == 200
            open_files = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
            assert open_files < soft_limit
            hand_in(server, hit_batch, "ada")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft_limit, hard_limit))


def test_bodies_that_never_end_are_held_up_to_a_limit(server: Server) -> None:
    """Forty bodies of 4 MB that lack their last byte: 160 MB, of which 64 are taken."""
    memory_before = peak_megabytes(server)
    with ExitStack() as stack:
        client_sockets = []
        for _ in range(40):
            client_socket = stack.enter_context(closing(connect(server)))
            client_socket.sendall(POST + b"Content-Length: %d\r\n\r\n" % LONGEST_ROW)
            client_sockets.append(client_socket)
            with suppress(OSError):
                client_socket.sendall(b"x" * (LONGEST_ROW - 1))
        refused_count = 0
        for client_socket in client_sockets:
            client_socket.settimeout(0.05)
            with suppress(OSError):
                refused_count += b"503" in client_socket.recv(100)
        assert refused_count >= 20
        assert call(server.address, "health")[0] == 200
    assert peak_megabytes(server) - memory_before < 150


def peak_megabytes(server: Server) -> int:
    status_text = Path(f"/proc/{server.process.pid}/status").read_text("utf-8")
    peak_match = re.search(r"VmHWM:\s+(\d+)", status_text)
    assert peak_match
    return int(peak_match[1]) // 1024


LIMITS = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, ({0}, {0}))
from factdrift.annotation.receive.connections import most_connections
print(most_connections())
"""


@pytest.mark.parametrize("descriptors", [128, 256, 1024, 4096])
def test_the_limit_is_below_that_of_descriptors(descriptors: int) -> None:
    limit_text = subprocess.run(
        [sys.executable, "-c", LIMITS.format(descriptors)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert 8 <= json.loads(limit_text) < descriptors
    assert most_connections() <= 1000
