"""Servers that misbehave: an answer in the end, or one clear message; and the key stays here."""

import gzip
import http.client
import json
import os
import re
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from random import Random

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import RetryPolicy
from factdrift.builders.core.remote import local
from factdrift.builders.generate.openai_servers import OpenAI, OpenAIBackend
from factdrift.builders.wikidata.sparql import mine_sparql
from factdrift.filters.toxicity.perspective import Perspective
from factdrift.filters.toxicity.scores import ATTRIBUTES
from tests.file_server import QuietHandler, serve_requests
from torture import Outcome, scratch

KEY = "secret0key0that0nobody0may0see"
_VARIABLE = "TORTURE_KEY"
_POLICY = RetryPolicy(timeout=1.5, attempts=3, first_wait=0.02, longest_wait=0.1)
_SECONDS = 15
"""Longer than three tries with all their waits, far less than a server can drip."""
_ROOM = 400 << 20
"""Bytes of memory that an answer may cost."""
FAULTS = (
    *("429", "429 0", "429 0.01", "429 99999", "429 Fri, 31 Dec 2999 23:59:59 GMT", "429 soon"),
    *("500", "502", "503 0", "504", "400", "401", "403", "404", "413", "422", "501", "204", "206"),
    *("drip", "drip head", "cut", "html", "bomb", "redirect", "loop", "reset", "garbage", "empty"),
    *("json []", "json null", 'json {"choices": 3}', 'json {"error": [1]}', 'json {"results": 1}'),
    *("json " + "[" * 100_000, "json \udcff", "headers", "length", "chunks", "gzip"),
)
"""What a server can do; a number is a status, what follows it `Retry-After`."""


@dataclass
class FaultyAnswers:
    """Answers `good` to every request after `bad` ones that meet the fault; keeps what it hears."""

    good: bytes
    fault: str = ""
    bad: int = 0
    elsewhere: str = ""
    heard: str = ""

    @contextmanager
    def serving(self) -> Iterator[str]:
        """`host:port` of a server that reads one request, writes one answer, and closes."""

        class FaultyHandler(QuietHandler):
            def handle(faulty) -> None:  # noqa: N805
                with suppress(OSError):  # a caller that has seen enough goes
                    self._meet(faulty.rfile, faulty.wfile)

        with serve_requests(FaultyHandler) as address:
            yield address.removeprefix("http://")

    def _meet(self, read: BufferedIOBase, write: BufferedIOBase) -> None:
        first, headers = read.readline().decode("latin-1"), http.client.parse_headers(read)
        read.read(int(headers.get("Content-Length") or 0))
        self.heard += f"{first} {headers}"
        self.bad -= 1
        fault = self.fault if self.bad >= 0 else "200"
        path = first.split(" ")[1]
        answer = _answer(fault, self.good, path if fault == "loop" else self.elsewhere)
        slow = fault.startswith("drip")  # five bytes a second
        for position in range(200) if slow else ():
            write.write(answer[position : position + 1])
            time.sleep(0.2)
        write.write(b"" if slow else answer)


def _packed(status: int, body: bytes, **headers: str) -> bytes:
    """A whole answer; a header that is given replaces the usual one."""
    usual = {"Content_Type": "application/json", "Content_Length": str(len(body))}
    lines = [f"{name.replace('_', '-')}: {text}" for name, text in (usual | headers).items()]
    head = "\r\n".join([f"HTTP/1.1 {status} X", *lines, "Connection: close", "", ""])
    return head.encode() + body


def _answer(fault: str, good: bytes, elsewhere: str) -> bytes:
    """The bytes of the answer to a request."""
    kind, _, rest = fault.partition(" ")
    if kind.isdigit() and kind != "200":
        # vendors answer a wrong key with the key
        error = f'{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}'.encode()
        waits = {"Retry_After": rest} if rest else {}
        return _packed(int(kind), error if int(kind) >= 400 else b"", **waits)
    if kind == "bomb":  # a gigabyte of spaces in a megabyte
        bomb = gzip.compress(b" " * (16 << 20), 9) * 64
        return _packed(200, bomb, Content_Encoding="gzip")
    page = b"<!DOCTYPE html><html><title>Sign in</title></html>"
    broken = gzip.compress(good)[:-9] + b"\x00" * 9
    return {
        "200": _packed(200, good),
        "drip": b"HTTP/1.1 200 OK\r\n" + (b"X-Slow: 1\r\n" if rest else b"\r\n" + good) * 50,
        "cut": _packed(200, good[: len(good) // 2], Content_Length=str(len(good))),
        "html": _packed(200, page, Content_Type="text/html"),
        "redirect": _packed(307, b"", Location=elsewhere),
        "loop": _packed(302, b"", Location=elsewhere),
        "garbage": b"\x00\xff SSH-2.0-OpenSSH_9.9\r\n\r\n" * 10,
        "empty": _packed(200, b""),
        "json": _packed(200, rest.encode("utf-8", "surrogateescape")),
        "headers": _packed(200, good, X_Long="x" * 200_000),
        "length": _packed(200, good, Content_Length="much"),
        "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nxx",
        "gzip": _packed(200, broken, Content_Encoding="gzip"),
        "reset": b"",
    }[kind]


Client = Callable[[str, Path], object]
"""Asks a server at `host:port`, writes below a folder, and gives what a user would see."""


def _fetch(host: str, folder: Path) -> object:
    messages: list[str] = []
    address = f"http://me:{KEY}@{host}/dumps/20260202.json.gz?signature={KEY}"
    return [*local([address], folder, bool, say=messages.append, policy=_POLICY), *messages]


def _chat(host: str, folder: Path) -> object:
    fields = {"model": "m", "base_url": f"http://{host}/v1", "key_variable": _VARIABLE}
    settings = OpenAI.model_validate(fields | {"retries": 2, "timeout": 1.5, "longest_wait": 0.1})
    return OpenAIBackend(settings, 0).complete(["Where is Paris?"])


def _scores(host: str, folder: Path) -> object:
    fields = {"key_env": _VARIABLE, "endpoint": f"http://{host}/v1alpha1/comments:analyze"}
    tries = {"rate": 1000, "attempts": 3, "backoff": 0.02, "timeout": 1.5}
    service = Perspective.model_validate(fields | tries).start(folder / "scores", lambda _: None)
    return list(service(["You are nice."]))


def _sparql(host: str, folder: Path) -> object:
    address, agent = f"http://me:{KEY}@{host}/sparql", "torture/1.0 (mailto:nobody@example.org)"
    out, cache, relations = folder / "mined", folder / "cache", {"P6": False}
    return mine_sparql(
        address, out, relations=relations, user_agent=agent, cache=cache, policy=_POLICY
    ).counts


_SCORED = {name.upper(): {"summaryScore": {"value": 0.1}} for name in ATTRIBUTES}
CLIENTS: Mapping[str, tuple[Client, bytes]] = {
    "fetch": (_fetch, gzip.compress(b'[\n{"id":"Q1"}\n]\n', mtime=0)),
    "chat": (_chat, b'{"choices": [{"message": {"role": "assistant", "content": "In France."}}]}'),
    "scores": (_scores, json.dumps({"attributeScores": _SCORED}).encode()),
    "sparql": (_sparql, b'{"head": {"vars": []}, "results": {"bindings": []}}'),
}


def servers(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """One client and one fault, for some requests or for all of them."""
    combinations = [(client, fault) for fault in FAULTS for client in CLIENTS]
    name, fault = (
        combinations[number] if number < len(combinations) else random.choice(combinations)
    )
    client, good = CLIENTS[name]
    os.environ[_VARIABLE] = KEY
    faulty_server, other_server = (
        FaultyAnswers(good, fault, random.choice((1, 2, 10**6))),
        FaultyAnswers(good),
    )
    with (
        scratch(work) as folder,
        faulty_server.serving() as host,
        other_server.serving() as elsewhere,
    ):
        faulty_server.elsewhere = f"http://{elsewhere.replace('127.0.0.1', 'localhost')}/elsewhere"
        lost = list(_asked(client, host, folder))
        if KEY in other_server.heard:
            lost.append("the key went to another host")
    del os.environ[_VARIABLE]
    yield Outcome(name, 1, tuple(f"{fault[:40]!a}: {text}" for text in lost))


def _asked(client: Client, host: str, folder: Path) -> Iterator[str]:
    begun, before = time.monotonic(), _peak()
    try:
        output = str(client(host, folder))
    except UserError as error:
        output = f"{error!r} {error}"
    except Exception:
        output = traceback.format_exc()
        yield f"a traceback: {output[-2000:]}"
    if (seconds := time.monotonic() - begun) > _SECONDS:
        yield f"it took {seconds:.0f} seconds: {output[-200:]}"
    if (extra_memory := _peak() - before) > _ROOM:
        yield f"it took {extra_memory / 1e6:.0f} MB of memory: {output[-200:]}"
    if KEY in output:
        yield f"the key is shown: {output[-2000:]}"
    for path in folder.rglob("*"):
        if KEY in path.name or (path.is_file() and KEY.encode() in path.read_bytes()):
            yield f"the key is in {path.relative_to(folder)}"


def _peak() -> int:
    """The most bytes of memory of this process since the last call; 0 where that is not told."""
    with suppress(OSError):
        match = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
        Path("/proc/self/clear_refs").write_text("5")
        return int(match[1]) << 10 if match else 0
    return 0
