"""A SPARQL endpoint of our own: HTTP and the SPARQL 1.1 protocol over pyoxigraph."""

import gzip
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Literal
from urllib.parse import parse_qs

from pyoxigraph import QueryResultsFormat, QuerySolutions, Store

from factdrift.builders.core.compressed import pieces
from tests import wikibase_rdf

STACK_TRACE = "\njava.util.concurrent.TimeoutException\n\tat java.util.concurrent.FutureTask.get\n"
"""What Blazegraph adds to an answer that it had begun when time ran out."""

How = Literal["500", "504", "429", "hang", "truncated", "trace"]
"""How an endpoint gives up on an answer that is too large for it."""


class Server(ThreadingHTTPServer):
    """A running server: its data, the faults still to come, the requests so far."""

    def __init__(self, store: Store) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.store = store
        self.requests: list[dict[str, Any]] = []
        self.endpoint = f"http://127.0.0.1:{self.server_port}/sparql"
        self.reset()

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
        self.faults = list(faults)
        self.limit, self.how, self.delay = limit, how, delay
        self.requests.clear()

    def log(self) -> list[dict[str, Any]]:
        return list(self.requests)

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing on stderr where a client went away."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.sparql(parse_qs(body.decode())["query"][0])

    def sparql(self, query: str) -> None:
        entry: dict[str, Any] = {
            "query": query,
            "agent": self.headers["User-Agent"],
            "form": self.headers["Content-Type"],
            "login": self.headers["Authorization"],
            "time": time.monotonic(),
            "status": 200,
        }
        self.server.requests.append(entry)
        time.sleep(self.server.delay)
        fault = self.server.faults.pop(0) if self.server.faults else {"kind": "pass"}
        if fault["kind"] != "pass":
            if fault["kind"] == "drop":
                entry["status"] = 0
                self.close_connection = True
                return
            entry["status"] = int(fault["kind"])
            headers = {"Retry-After": fault["after"]} if "after" in fault else {}
            self.reply(entry["status"], fault.get("body", "told to fail").encode(), **headers)
            return
        found = self.server.store.query(query)
        assert isinstance(found, QuerySolutions)
        answer = found.serialize(format=QueryResultsFormat.JSON) or b""
        limit = self.server.limit
        if limit and len(json.loads(answer)["results"]["bindings"]) > limit:
            entry["status"] = 504
            self.give_up(self.server.how, answer)
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


@contextmanager
def serve(
    *paths: Path,
    flavour: wikibase_rdf.Flavour = "dump",
    relations: Sequence[str] = (),
    dated: str | None = "2026-02-02T00:00:00Z",
) -> Iterator[Server]:
    """Run a server over files of entities (a dump, or one a line) until the block ends."""
    store = Store()
    for path in paths:
        for entity in read_entities(path):
            some = {*relations, "P31"} if relations else None
            store.bulk_extend(wikibase_rdf.entity_rdf(entity, flavour, some))
    if dated:
        store.add(wikibase_rdf.dataset(dated))
    with Server(store) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


def read_entities(path: Path) -> Iterator[dict[str, Any]]:
    """The entities of a dump or of JSON lines; redirects, where a file has them, too."""
    for line in b"".join(pieces(path)).splitlines():
        if line.startswith(b"{"):
            yield json.loads(line.rstrip(b", "))
