"""A SPARQL endpoint of our own: HTTP and the SPARQL 1.1 protocol over pyoxigraph."""

import gzip
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs

from pyoxigraph import QueryResultsFormat, QuerySolutions, Store

from factdrift.builders.core.compressed import pieces
from tests import wikibase_rdf
from tests.file_server import QuietHandler, serve_requests

STACK_TRACE = b"\njava.util.concurrent.TimeoutException\n\tat java.util.concurrent.FutureTask.get\n"
"""What Blazegraph adds to an answer that it had begun when time ran out."""

TSV = "text/tab-separated-values"

How = Literal["500", "503", "504", "429", "hang", "truncated", "trace"]
"""How an endpoint gives up on an answer that is too large for it."""


@dataclass
class Server:
    """A running server: its data, the faults still to come, the requests so far.

    The next requests fail with `faults`, in turn: `kind` is an HTTP status, `drop` or `pass`,
    `after` a Retry-After, `body` a message. Answers of more than `limit` rows fail too, in the way
    of `how`; every answer waits `delay` seconds. Who asks for tab-separated values gets these, and
    `cut` ends them in the middle of a line, as if that were the end, with `body` behind.
    """

    store: Store
    endpoint: str = ""
    faults: list[dict[str, str]] = field(default_factory=list)
    limit: int | None = None
    how: How = "500"
    delay: float = 0.0
    log: list[dict[str, Any]] = field(default_factory=list)

    def reset(self, *faults: dict[str, str], **orders: Any) -> None:
        """Empty the log and give new orders."""
        vars(self).update({"limit": None, "how": "500", "delay": 0.0, **orders})
        self.faults, self.log = list(faults), []


def row_count(answer: bytes, is_tsv: bool) -> int:
    """The rows of an answer; the first line of tab-separated values has the heads."""
    if is_tsv:
        return answer.count(b"\n") - 1
    return len(json.loads(answer)["results"]["bindings"])


def _handler(server: Server) -> type[QuietHandler]:
    class SparqlHandler(QuietHandler):
        def post(self, body: bytes) -> None:
            query = parse_qs(body.decode())["query"][0]
            names = {"agent": "User-Agent", "form": "Content-Type", "login": "Authorization"}
            entry: dict[str, Any] = {name: self.headers[header] for name, header in names.items()}
            entry |= {
                "query": query,
                "accept": self.headers["Accept"],
                "time": time.monotonic(),
                "status": 200,
            }
            server.log.append(entry)
            time.sleep(server.delay)
            planned_fault = server.faults.pop(0) if server.faults else {"kind": "pass"}
            wants_tsv = self.headers["Accept"] == TSV
            if planned_fault["kind"] == "drop":
                entry["status"] = 0
                self.close_connection = True
            elif planned_fault["kind"] not in ("pass", "cut"):
                entry["status"] = int(planned_fault["kind"])
                text, cut_after = (
                    planned_fault.get("body", "told to fail"),
                    planned_fault.get("after", ""),
                )
                self.send(entry["status"], text.encode(), {"Retry-After": cut_after})
            else:
                query_result = server.store.query(query)
                assert isinstance(query_result, QuerySolutions)
                form = QueryResultsFormat.TSV if wants_tsv else QueryResultsFormat.JSON
                answer = query_result.serialize(format=form) or b""
                entry["rows"] = row_count(answer, wants_tsv)
                if planned_fault["kind"] == "cut":
                    trailer = planned_fault.get("body", "").encode()
                    self.send(200, answer[: len(answer) // 2] + trailer, {})
                elif server.limit and entry["rows"] > server.limit:
                    entry["status"] = 504
                    self.give_up(server.how, answer)
                else:
                    packed = {"Content-Encoding": "gzip"}
                    self.send(200, gzip.compress(answer, 1), packed)

        def give_up(self, how: How, answer: bytes) -> None:
            half = answer[: len(answer) // 2]
            self.close_connection = how in ("hang", "truncated")
            if how == "hang":
                time.sleep(2)
            elif how == "truncated":
                self.send(200, half, {"Content-Length": str(len(answer))})
            elif how == "trace":
                self.send(200, half + STACK_TRACE, {})
            else:
                self.send(int(how), b"SPARQL-QUERY: ..." + STACK_TRACE * (how != "504"), {})

    return SparqlHandler


@contextmanager
def serve(
    *paths: Path,
    flavour: wikibase_rdf.Flavour = "dump",
    relations: Sequence[str] = (),
    dated: str | None = "2026-02-02T00:00:00Z",
) -> Iterator[Server]:
    """Run a server over files of entities (a dump, or one a line) until the block ends."""
    store = Store()
    for line in (line for path in paths for line in b"".join(pieces(path)).splitlines()):
        if line.startswith(b"{"):
            served_relations = {*relations, "P31", "P1001", "P17"} if relations else None
            entity = json.loads(line.rstrip(b", "))
            store.bulk_extend(wikibase_rdf.entity_rdf(entity, flavour, served_relations))
    if dated:
        store.add(wikibase_rdf.dataset(dated))
    sparql_server = Server(store)
    with serve_requests(_handler(sparql_server)) as server_url:
        sparql_server.endpoint = f"{server_url}/sparql"
        yield sparql_server
