"""`factdrift receive` as a process of its own, and workers that use it by HTTP."""

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from factdrift.annotation.batch import HitBatch, read_batch
from factdrift.annotation.layout import load_layout
from factdrift.annotation.links import place_query
from factdrift.annotation.rehearsal import answers_to
from tests.annotation_workers import handed_in
from tests.conftest import ROOT
from tests.tables import column_of


class Server:
    """A server of a batch; `address` ends with a slash."""

    def __init__(self, hit_batch: Path, results_folder: Path, *options: str) -> None:
        command_words = [
            "receive",
            str(hit_batch),
            "--out",
            str(results_folder),
            "--port",
            "0",
            *options,
        ]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "factdrift", *command_words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout
        self.said = ""
        for text_line in self.process.stdout:
            self.said += text_line
            if address_match := re.search(r"serving (http://\S+)", text_line):
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
def serving(hit_batch: Path, results_folder: Path, *options: str) -> Iterator[Server]:
    pages_server = Server(hit_batch, results_folder, *options)
    try:
        yield pages_server
    finally:
        if pages_server.process.poll() is None:
            pages_server.kill()


def call(
    address: str,
    file_path: str,
    request_value: Mapping[str, Any] | bytes | None = None,
    headers: Mapping[str, str] = {},
    link: str = "",
) -> tuple[int, Any]:
    """The status and JSON (else text) of a GET, or of a POST of something by a link."""
    headers = {"X-Factdrift-Link": link, **headers} if link else headers
    request_body = (
        request_value
        if isinstance(request_value, bytes | None)
        else json.dumps(request_value).encode()
    )
    method = "GET" if request_body is None else "POST"
    reply = requests.request(
        method, address + file_path, data=request_body, headers=headers, timeout=30
    )
    is_json = reply.headers["content-type"].startswith("application/json")
    return reply.status_code, reply.json() if is_json else reply.text


def answers_of(
    hit: Mapping[str, Any], hit_batch: str, worker_id: str, **more_values: Any
) -> dict[str, Any]:
    """A submission for a HIT as the server gave it: yes to everything."""
    item_answers = {item["id"]: {"verdict": "yes"} for item in hit["items"]}
    return handed_in(hit_batch, hit["id"], worker_id, item_answers, **more_values)


def received(results_folder: Path, hit_batch: HitBatch) -> list[dict[str, Any]]:
    """What is in the file of submissions."""
    file_path = results_folder / f"{hit_batch.layout}-{hit_batch.number:04}" / "submissions.jsonl"
    return [json.loads(text_line) for text_line in file_path.read_text("utf-8").splitlines()]


def place_link(hit_batch: HitBatch, hit_number: int = 1, slot_number: int = 1) -> str:
    """The query of a signed link, as `links.csv` has it but for the ids."""
    return f"?{place_query(hit_batch.link_key, hit_batch.id, hit_number, slot_number)}"


def study(server: Server, hit_batch: Path, people: int, export: Path) -> int:
    """Have participants of Prolific rehearse a HIT each, and write Prolific's export of them.

    Each comes by the next link of `taskflow.csv`, and from the first again when all have been
    given out. Every tenth leaves before the end. Returns how many have handed in.
    """
    with (hit_batch / "prolific" / "taskflow.csv").open(encoding="utf-8", newline="") as table:
        links = [urlsplit(link).query for link, _ in csv.reader(table)]
    whole_batch = read_batch(hit_batch)
    layout = load_layout(str(hit_batch / "layout"))
    items = {item.id: item for item in whole_batch.items}
    table_rows, done_count = ["Submission id,Participant id,Status"], 0
    for person_number in range(1, people + 1):
        who = {
            "worker": f"{person_number:024x}",
            "assignment": f"{person_number + 4096:024x}",
            "study": "5" * 24,
        }
        link = links[(person_number - 1) % len(links)]
        http_status, hit_reply = call(server.address, "hit", who, link=link)
        if http_status == 200 and person_number % 10:
            ids = column_of(hit_reply["hit"]["items"], "id")
            item_answers = {
                shown_item: answers_to(whole_batch.layout, layout, items[shown_item])
                for shown_item in ids
            }
            own_ids = {"assignment": who["assignment"], "study": who["study"]}
            hit_id = hit_reply["hit"]["id"]
            done_by = handed_in(whole_batch.id, hit_id, who["worker"], item_answers, **own_ids)
            http_status, reply = call(server.address, "submissions", done_by, link=link)
            assert http_status == 200, reply
            done_count += 1
        gone = "RETURNED" if not person_number % 10 or http_status != 200 else "AWAITING REVIEW"
        table_rows.append(f"{who['assignment']},{who['worker']},{gone}")
    export.write_text("\n".join(table_rows) + "\n", "utf-8")
    return done_count
