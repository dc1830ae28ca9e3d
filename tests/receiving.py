"""`factdrift receive` as a process of its own, and workers that use it by HTTP."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from factdrift.annotation.batch import HitBatch, read_batch
from factdrift.annotation.layout import load_layout
from tests.annotation_workers import handed_in
from tests.conftest import ROOT
from tests.rehearsal import answers_to


class Server:
    """A server of a batch; `address` ends with a slash."""

    def __init__(self, batch: Path, out: Path, *options: str) -> None:
        words = ["receive", str(batch), "--out", str(out), "--port", "0", *options]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "factdrift", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if address_match := re.search(r"serving (http://\S+)", line):
                self.address = address_match[1]
                break
        else:
            raise AssertionError(self.said)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.communicate()

    def stop(self) -> str:
        """End it politely; all that it said."""
        self.process.terminate()
        rest, _ = self.process.communicate(timeout=40)
        return self.said + rest


@contextmanager
def serving(batch: Path, out: Path, *options: str) -> Iterator[Server]:
    server = Server(batch, out, *options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()


def call(
    address: str,
    path: str,
    request_value: Mapping[str, Any] | bytes | None = None,
    headers: Mapping[str, str] = {},
) -> tuple[int, Any]:
    """The status and JSON (else text) of a GET, or of a POST of something."""
    body = (
        request_value
        if isinstance(request_value, bytes | None)
        else json.dumps(request_value).encode()
    )
    method = "GET" if body is None else "POST"
    reply = requests.request(method, address + path, data=body, headers=headers, timeout=30)
    is_json = reply.headers["content-type"].startswith("application/json")
    return reply.status_code, reply.json() if is_json else reply.text


def answers_of(hit: Mapping[str, Any], batch: str, worker: str, **more: Any) -> dict[str, Any]:
    """A submission for a HIT as the server gave it: yes to everything."""
    answers = {item["id"]: {"verdict": "yes"} for item in hit["items"]}
    return handed_in(batch, hit["id"], worker, answers, **more)


def received(out: Path, batch: HitBatch) -> list[dict[str, Any]]:
    """What is in the file of submissions."""
    path = out / f"{batch.layout}-{batch.number:04}" / "submissions.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def study(server: Server, batch: Path, people: int, export: Path) -> int:
    """Have participants of Prolific rehearse a HIT each, and write Prolific's export of them.

    Every tenth leaves before the end. Returns how many have handed in.
    """
    whole = read_batch(batch)
    layout = load_layout(str(batch / "layout"))
    items = {item.id: item for item in whole.items}
    rows, done_count = ["Submission id,Participant id,Status"], 0
    for person_number in range(1, people + 1):
        who = {
            "worker": f"{person_number:024x}",
            "assignment": f"{person_number + 4096:024x}",
            "study": "5" * 24,
        }
        status, hit_reply = call(server.address, "hit", who)
        if status == 200 and person_number % 10:
            ids = [shown_item["id"] for shown_item in hit_reply["hit"]["items"]]
            answers = {
                shown_item: answers_to(whole.layout, layout, items[shown_item])
                for shown_item in ids
            }
            done_by = handed_in(whole.id, hit_reply["hit"]["id"], answers=answers, **who)
            status, reply = call(server.address, "submissions", done_by)
            assert status == 200, reply
            done_count += 1
        gone = "RETURNED" if not person_number % 10 or status != 200 else "AWAITING REVIEW"
        rows.append(f"{who['assignment']},{who['worker']},{gone}")
    export.write_text("\n".join(rows) + "\n", "utf-8")
    return done_count
