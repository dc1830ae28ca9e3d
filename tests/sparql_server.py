"""A SPARQL endpoint of our own: HTTP and the SPARQL 1.1 protocol over pyoxigraph.

A process of its own, started by `serve`. `POST /faults` makes it misbehave, `GET /log` gives the
requests it had. Run by hand: `python -m tests.sparql_server entities.jsonl.gz`.
"""

import argparse
import gzip
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs

import requests
from pyoxigraph import QueryResultsFormat, QuerySolutions, Store

from factdrift.builders.core.compressed import pieces
from tests import wikibase_rdf

STACK_TRACE = "\njava.util.concurrent.TimeoutException\n\tat java.util.concurrent.FutureTask.get\n"
"""What Blazegraph adds to an answer that it had begun when time ran out."""

How = Literal["500", "504", "429", "hang", "truncated", "trace"]
"""How an endpoint gives up on an answer that is too large for it."""


@dataclass
class State:
    """What the server knows: its data, faults still to come, requests so far."""

    store: Store
    faults: list[dict[str, str]]
    limit: dict[str, Any]
    delay: float
    log: list[dict[str, Any]]


class Handler(BaseHTTPRequestHandler):
    """One request; `state` is set on the class that `run` makes."""

    state: State
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/log":
            self.reply(200, json.dumps(self.state.log).encode(), "application/json")
        else:
            self.reply(405, b"queries are POSTed here")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/faults":
            orders = json.loads(body)
            self.state.faults[:] = orders.get("faults", [])
            self.state.limit = orders.get("limit", {})
            self.state.delay = orders.get("delay", 0.0)
            self.state.log.clear()
            self.reply(200, b"")
        elif self.path.partition("?")[0] == "/sparql":
            self.sparql(parse_qs(body.decode())["query"][0])
        else:
            self.reply(404, b"nothing here")

    def sparql(self, query: str) -> None:
        entry: dict[str, Any] = {
            "query": query,
            "agent": self.headers["User-Agent"],
            "form": self.headers["Content-Type"],
            "login": self.headers["Authorization"],
            "time": time.monotonic(),
            "status": 200,
            "rows": 0,
        }
        self.state.log.append(entry)
        time.sleep(self.state.delay)
        fault = self.state.faults.pop(0) if self.state.faults else {"kind": "pass"}
        if fault["kind"] != "pass":
            if fault["kind"] == "drop":
                entry["status"] = 0
                self.close_connection = True
                return
            entry["status"] = int(fault["kind"])
            headers = {"Retry-After": fault["after"]} if "after" in fault else {}
            self.reply(entry["status"], fault.get("body", "told to fail").encode(), **headers)
            return
        found = self.state.store.query(query)
        assert isinstance(found, QuerySolutions)
        answer = found.serialize(format=QueryResultsFormat.JSON) or b""
        entry["rows"] = answer.count(b'{"type":') and len(json.loads(answer)["results"]["bindings"])
        if self.state.limit and entry["rows"] > self.state.limit["rows"]:
            entry["status"] = 504
            self.give_up(self.state.limit["how"], answer)
            return
        self.reply(200, answer, "application/sparql-results+json")

    def give_up(self, how: How, answer: bytes) -> None:
        if how in ("500", "429"):
            self.reply(int(how), b"SPARQL-QUERY: queryStr=..." + STACK_TRACE.encode())
        elif how == "504":
            self.reply(504, b"upstream request timeout")
        elif how == "hang":
            time.sleep(2)
            self.close_connection = True
        elif how == "trace":
            self.reply(200, answer[: len(answer) // 2] + STACK_TRACE.encode())
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer[: len(answer) // 2])
            self.close_connection = True

    def reply(self, status: int, body: bytes, kind: str = "text/plain", **headers: str) -> None:
        if "gzip" in self.headers.get("Accept-Encoding", "") and len(body) > 500:
            body = gzip.compress(body, 1)
            headers["Content-Encoding"] = "gzip"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""


@dataclass(frozen=True)
class Server:
    """A running server as tests see it."""

    root: str

    @property
    def endpoint(self) -> str:
        return f"{self.root}/sparql"

    def reset(
        self,
        *faults: dict[str, str],
        limit: int | None = None,
        how: How = "500",
        delay: float = 0.0,
    ) -> None:
        """Empty the log and give new orders.

        The next requests fail with these faults, in turn: `kind` is an HTTP status, `drop` or
        `pass`, `after` a Retry-After, `body` a message. Answers of more than `limit` rows fail
        too, in the way of `how`; every answer waits `delay` seconds.
        """
        orders: dict[str, Any] = {"faults": faults, "delay": delay}
        orders["limit"] = {"rows": limit, "how": how} if limit else {}
        requests.post(f"{self.root}/faults", json=orders, timeout=10).raise_for_status()

    def log(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = requests.get(f"{self.root}/log", timeout=10).json()
        return found


@contextmanager
def serve(
    *paths: Path,
    flavour: wikibase_rdf.Flavour = "dump",
    relations: Sequence[str] = (),
    dated: str | None = "2026-02-02T00:00:00Z",
) -> Iterator[Server]:
    """Run a server over files of entities (a dump, or one a line) until the block ends."""
    options = ["--flavour", flavour, *(f"--relation={r}" for r in relations)]
    options += ["--dated", dated] if dated else []
    command = [sys.executable, "-m", "tests.sparql_server", *options, *map(str, paths)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            root = process.stdout.readline().strip()
            assert root, "the server did not start"
            yield Server(root)
        finally:
            process.kill()


def read_entities(path: Path) -> Iterator[dict[str, Any]]:
    """The entities of a dump or of JSON lines; redirects, where a file has them, too."""
    for line in b"".join(pieces(path)).splitlines():
        if line.startswith(b"{"):
            yield json.loads(line.rstrip(b", "))


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("paths", nargs="+", type=Path)
    words.add_argument("--flavour", choices=["dump", "wdqs"], default="dump")
    words.add_argument("--relation", action="append")
    words.add_argument("--dated")
    args = words.parse_args()
    only = {*args.relation, "P31"} if args.relation else None
    store = Store()
    for path in args.paths:
        for entity in read_entities(path):
            store.bulk_extend(wikibase_rdf.entity_rdf(entity, args.flavour, only))
    if args.dated:
        store.add(wikibase_rdf.dataset(args.dated))
    Handler.state = State(store, [], {}, 0.0, [])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
