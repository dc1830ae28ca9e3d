"""Servers that misbehave: an answer in the end, or one clear message; and the key stays here."""

import gzip
import json
import os
import shutil
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import Patience
from factdrift.builders.core.remote import local
from factdrift.builders.generate.openai_servers import OpenAI, OpenAIBackend
from factdrift.builders.wikidata.sparql import mine_sparql
from factdrift.filters.toxicity.perspective import Perspective
from factdrift.filters.toxicity.scores import ATTRIBUTES
from torture import Outcome

KEY = "secret0key0that0nobody0may0see"
_VARIABLE = "TORTURE_KEY"
_AGENT = "torture/1.0 (mailto:nobody@example.org)"
_PATIENCE = Patience(timeout=1.5, tries=3, first_wait=0.02, longest_wait=0.1, gives_up=True)
_SECONDS = 15
"""Longer than three tries with all their waits, far less than a server can drip."""
_ROOM = 400 << 20
"""Bytes of memory that an answer may cost."""
_DRIP = 0.2
_LAST = 40
"""Seconds after which a server has enough of dripping."""
FAULTS = (
    *("429", "429 0", "429 0.01", "429 99999", "429 Fri, 31 Dec 2999 23:59:59 GMT", "429 soon"),
    *("500", "502", "503 0", "504", "400", "401", "403", "404", "413", "422", "501", "204", "206"),
    *("drip", "drip head", "cut", "html", "bomb", "redirect", "loop", "reset", "garbage", "empty"),
    *("json []", "json null", 'json {"choices": 3}', 'json {"error": [1]}', 'json {"results": 1}'),
    *("json " + "[" * 100_000, "json \udcff", "headers", "length", "chunks", "gzip"),
)
"""What a server can do; a number is a status, what follows it `Retry-After`."""


class Server(ThreadingHTTPServer):
    """Answers `good` to every request after `bad` ones that meet the fault; notes what it hears."""

    daemon_threads = True
    fault = ""
    bad = 0
    good = b""
    elsewhere = ""
    heard = ""

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that has seen enough goes: that is no error."""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing is said."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._answer()

    def _answer(self) -> None:
        server = self.server
        server.heard += f"{self.path} {self.headers}"
        self.close_connection = True
        if server.bad <= 0:
            self._send(200, server.good)
            return
        server.bad -= 1
        kind, _, rest = server.fault.partition(" ")
        with suppress(OSError):
            if kind.isdigit():
                body = self._words() if int(kind) >= 400 else b""
                self._send(int(kind), body, {"Retry-After": rest} if rest else {})
            else:
                getattr(self, f"_{kind}")(rest)

    def _words(self) -> bytes:
        """What vendors say to a wrong key: the key."""
        return f'{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}'.encode()

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def _drip(self, rest: str) -> None:
        body = self.server.good
        if rest:
            data = b"HTTP/1.1 200 OK\r\n" + b"X-Slow: 1\r\n" * 1000
        else:
            self._begin(len(body) * 50)
            data = body * 50
        until = time.monotonic() + _LAST
        for byte in data:
            if time.monotonic() > until:
                return
            self.wfile.write(bytes([byte]))
            time.sleep(_DRIP)

    def _begin(self, length: int, kind: str = "application/json", **more: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        for name, text in more.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()

    def _cut(self, _: str) -> None:
        self._begin(len(self.server.good))
        self.wfile.write(self.server.good[: len(self.server.good) // 2])

    def _html(self, _: str) -> None:
        page = b"<!DOCTYPE html><html><title>Sign in</title></html>"
        self._begin(len(page), "text/html")
        self.wfile.write(page)

    def _bomb(self, _: str) -> None:
        data = _bomb()
        self._begin(len(data), Content_Encoding="gzip")
        self.wfile.write(data)

    def _redirect(self, _: str) -> None:
        self._send(307, b"", {"Location": self.server.elsewhere})

    def _loop(self, _: str) -> None:
        self._send(302, b"", {"Location": self.path})

    def _reset(self, _: str) -> None:
        self.connection.close()

    def _garbage(self, _: str) -> None:
        self.wfile.write(b"\x00\xff SSH-2.0-OpenSSH_9.9\r\n\r\n" * 10)

    def _empty(self, _: str) -> None:
        self._send(200, b"")

    def _json(self, rest: str) -> None:
        self._send(200, rest.encode("utf-8", "surrogateescape"))

    def _headers(self, _: str) -> None:
        self._send(200, self.server.good, {"X-Long": "x" * 200_000})

    def _length(self, _: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "much")
        self.end_headers()
        self.wfile.write(self.server.good)

    def _chunks(self, _: str) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"ZZ\r\nxx")

    def _gzip(self, _: str) -> None:
        data = gzip.compress(self.server.good)[:-9] + b"\x00" * 9
        self._begin(len(data), Content_Encoding="gzip")
        self.wfile.write(data)


@lru_cache
def _bomb() -> bytes:
    """A gigabyte of spaces in a megabyte."""
    return gzip.compress(b" " * (16 << 20), 9) * 64


@contextmanager
def _serving() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), _Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


Client = Callable[[str, Path], str]
"""Asks a server at `host:port`, writes below a folder, and gives what a user would see."""


def _fetch(host: str, folder: Path) -> str:
    said: list[str] = []
    address = f"http://me:{KEY}@{host}/dumps/20260202.json.gz?signature={KEY}"
    found = local([address], folder, bool, say=said.append, patience=_PATIENCE)
    return "\n".join([*said, *found])


def _chat(host: str, folder: Path) -> str:
    settings = OpenAI(
        model="m",
        base_url=f"http://{host}/v1",
        key_variable=_VARIABLE,
        retries=_PATIENCE.tries - 1,
        timeout=_PATIENCE.timeout,
        longest_wait=_PATIENCE.longest_wait,
    )
    found = OpenAIBackend(settings, 0).complete(["Where is Paris?"])
    (folder / "answers.txt").write_text(str(found), "utf-8")
    return str(found)


def _scores(host: str, folder: Path) -> str:
    settings = Perspective(
        key_env=_VARIABLE,
        endpoint=f"http://{host}/v1alpha1/comments:analyze",
        rate=1000,
        attempts=_PATIENCE.tries,
        backoff=_PATIENCE.first_wait,
        timeout=_PATIENCE.timeout,
    )
    service = settings.start(folder / "scores", lambda text: None)
    return str(list(service.score(["You are nice."])))


def _sparql(host: str, folder: Path) -> str:
    mined = mine_sparql(
        f"http://me:{KEY}@{host}/sparql",
        folder / "mined",
        relations={"P6": False},
        user_agent=_AGENT,
        cache=folder / "cache",
        patience=_PATIENCE,
    )
    return str(mined.counts)


_SCORED = {name.upper(): {"summaryScore": {"value": 0.1}} for name in ATTRIBUTES}
CLIENTS: Mapping[str, tuple[Client, bytes]] = {
    "fetch": (_fetch, gzip.compress(b'[\n{"id":"Q1"}\n]\n', mtime=0)),
    "chat": (_chat, b'{"choices": [{"message": {"role": "assistant", "content": "In France."}}]}'),
    "scores": (_scores, json.dumps({"attributeScores": _SCORED}).encode()),
    "sparql": (_sparql, b'{"head": {"vars": []}, "results": {"bindings": []}}'),
}


def servers(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """One client and one fault, for some requests or for all of them."""
    every = [(client, fault) for fault in FAULTS for client in CLIENTS]
    name, fault = every[number] if number < len(every) else random.choice(every)
    client, good = CLIENTS[name]
    folder = work / f"cycle-{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ[_VARIABLE] = KEY
    try:
        with _serving() as server, _serving() as other:
            server.fault, server.bad, server.good = fault, random.choice((1, 2, 10**6)), good
            server.elsewhere = f"http://localhost:{other.server_port}/elsewhere"
            other.good = good
            lost = list(_asked(client, f"127.0.0.1:{server.server_port}", folder))
            if KEY in other.heard:
                lost.append("the key went to another host")
    finally:
        del os.environ[_VARIABLE]
        shutil.rmtree(folder, ignore_errors=True)
    yield Outcome(name, 1, tuple(f"{fault[:40]!a}: {text}" for text in lost))


def _asked(client: Client, host: str, folder: Path) -> Iterator[str]:
    begun, before = time.monotonic(), _peak()
    try:
        said = client(host, folder)
    except UserError as error:
        said = f"{error!r} {error}"
    except Exception:
        said = traceback.format_exc()
        yield f"a traceback: {said[-2000:]}"
    if time.monotonic() - begun > _SECONDS:
        yield f"it took {time.monotonic() - begun:.0f} seconds: {said[-200:]}"
    if (more := _peak() - before) > _ROOM:
        yield f"it took {more / 1e6:.0f} MB of memory: {said[-200:]}"
    if KEY in said:
        yield f"the key is shown: {said[-2000:]}"
    for path in folder.rglob("*"):
        if KEY in path.name or (path.is_file() and KEY.encode() in path.read_bytes()):
            yield f"the key is in {path.relative_to(folder)}"


def _peak() -> int:
    """The most bytes of memory of this process since the last call; 0 where that is not told."""
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not status.is_file():
        return 0
    found = next((line for line in status.read_text().splitlines() if "VmHWM" in line), "")
    with suppress(OSError):
        reset.write_text("5")
    return int(found.split()[1]) << 10 if found else 0
