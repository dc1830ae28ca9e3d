"""A batch, its pool and its journals: what a visit gets, and what becomes of a submission."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from factdrift.annotation.batch import (
    ITEMS,
    LAYOUT_COPY,
    BatchManifest,
    Hit,
    Item,
    checked_manifest,
)
from factdrift.annotation.layout import Layout, load_layout
from factdrift.annotation.matching import answers_mistake
from factdrift.annotation.page import hit_file, render
from factdrift.annotation.receive.journal import Journal
from factdrift.annotation.receive.pool import HitPool, Visit
from factdrift.annotation.submission import Refused, decode, from_text
from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, locked

SUBMISSIONS, GIVEN, NOT_TAKEN = "submissions.jsonl", "given.log", "not-taken.log"
SERVED = ("static", "prolific")
"""The platforms whose batches are pages."""
_LONGEST_QUERY = 300
_MOST_ANSWERS = 5
"""Different submissions of one worker for one HIT that are kept."""


@dataclass(frozen=True)
class DeskReply:
    """What a visitor is told: an HTTP status and JSON."""

    status: int
    value: Mapping[str, Any]


def _says(status: int, text: str) -> DeskReply:
    return DeskReply(status, {"says": text})


@dataclass
class Desk:
    """One batch that is being worked on; made by `opened`.

    Of the items of a HIT only the places in the batch's file are held.
    """

    manifest: BatchManifest
    layout: Layout
    page: str
    pool: HitPool
    submissions: Journal
    given: Journal
    not_taken: Journal
    ending: Mapping[str, str]
    """What is told once a submission is on the disk: `code` and `complete`."""
    now: Callable[[], float]
    find: Callable[[str], list[dict[str, str]]] | None
    """Searches the old corpus, where it is served: passages with `id` and `text`."""
    _items: Path
    _places: Mapping[str, tuple[int, int]]
    refused: int = 0
    arrived: Callable[[int], object] = lambda n: None
    """Hears how many more submissions are on the disk."""
    _taken: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    _writing: dict[str, "asyncio.Task[None]"] = field(default_factory=dict)

    async def give(self, asked: Mapping[str, Any]) -> DeskReply:
        """A HIT for a visit, the end of a session that is done, or why there is nothing to do."""
        visit = _visit(asked)
        if visit is None:
            return _says(400, "The address lacks your participant ID.")
        self.pool.expire(self.now())
        named = str(asked.get("hit") or "")[:40]
        if not (asked.get("next") and not visit[1]) and self.pool.ended(visit, named):
            return DeskReply(200, {"done": self._end(visit)})
        before = self.pool.handed.get(visit)
        hit = self.pool.give(visit, named, self.now())
        if hit is None and visit in self.pool.finished:
            return DeskReply(200, {"done": {**self._end(visit), "more": False}})
        if hit is None:
            return _says(
                409,
                "There is nothing left to do for you here at the moment. Please return the task "
                "where you found it, or come back later.",
            )
        if before is None or before.hit != hit:
            await self._note(visit, hit, self.pool.handed[visit].until)
        return DeskReply(200, {"hit": json.loads(hit_file(self.hit(hit)))})

    async def leave(self, asked: Mapping[str, Any]) -> DeskReply:
        """Put the HIT of a visit back into the pool."""
        visit = _visit(asked)
        hit = self.pool.leave(visit) if visit else None
        if visit and hit:
            await self._note(visit, hit, 0)
        return DeskReply(200, {})

    async def search(self, asked: Mapping[str, Any]) -> DeskReply:
        """Passages for a worker who has a HIT in hand; what was searched is in the answers."""
        visit, query = _visit(asked), asked.get("query")
        if self.find is None or visit is None or visit not in self.pool.handed:
            return _says(409, "There is nothing to search here.")
        if not isinstance(query, str) or not 0 < len(query.strip()) <= _LONGEST_QUERY:
            return _says(400, "Give a few words.")
        return DeskReply(200, {"passages": await asyncio.to_thread(self.find, query.strip())})

    async def take(self, body: bytes) -> DeskReply:
        """Keep a submission, and only then say so, with the completion code.

        The same submission again is answered in the same way and not kept twice.
        """
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            return _says(400, "not UTF-8")
        given = from_text(text, "", 0)
        if isinstance(given, Refused):
            return _says(400, given.reason)
        if given.batch != self.manifest.id or given.hit not in self.pool:
            return _says(404, "These answers are to another batch.")
        visit = (given.worker.strip(), given.assignment.strip())
        value = decode(text)
        sign = sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
        key = (given.hit, visit[0])
        if sign in self._taken.get(key, ()):
            return DeskReply(200, self._end(visit))
        wrong = answers_mistake(given, self.hit(given.hit), self.layout)
        if wrong or not visit[0]:
            self.refused += 1
            why = ": ".join(wrong) if wrong else "no worker"
            await self.not_taken.append(json.dumps({"why": why, "given": value}))
            return _says(422, f"These answers cannot be taken: {why[:200]}")
        if len(self._taken.get(key, ())) >= _MOST_ANSWERS:
            return _says(409, "This set of items was handed in several times already.")
        if sign not in self._writing:
            value["received"] = datetime.fromtimestamp(self.now(), UTC).isoformat(
                timespec="seconds"
            )
            line = json.dumps(value, ensure_ascii=False)
            self._writing[sign] = asyncio.create_task(self.submissions.append(line))
        try:
            await asyncio.shield(self._writing[sign])
        finally:
            self._writing.pop(sign, None)
        self._taken.setdefault(key, set()).add(sign)
        self.pool.took(visit, given.hit)
        self.arrived(1)
        return DeskReply(200, self._end(visit))

    def health(self) -> dict[str, Any]:
        """Counts, and nothing of any worker."""
        self.pool.expire(self.now())
        about = {"layout": self.manifest.layout, "batch": self.manifest.id}
        return {"status": "ok", **about, **self.pool.counts(), "not_taken": self.refused}

    def hit(self, name: str) -> Hit:
        """A HIT as workers see it, read from the batch's file."""
        start, end = self._places[name]
        with self._items.open("rb") as file:
            file.seek(start)
            lines = file.read(end - start).decode("utf-8").splitlines()
        made = (json.loads(line) for line in lines)
        return Hit(name, tuple(Item(one["id"], "", one["fields"]) for one in made))

    def replay(self) -> None:
        """Take up what the journals say of earlier runs; forget what is in hand no more."""
        until: dict[Visit, tuple[str, float]] = {}
        for line in self.given.lines():
            one = json.loads(line)
            visit = (one["worker"], one["session"])
            if one["hit"] in self.pool and one["until"] > self.now():
                until[visit] = one["hit"], one["until"]
            else:
                until.pop(visit, None)
        for visit, (hit, end) in until.items():
            self.pool.hand(visit, hit, end)
        for number, line in enumerate(self.submissions.lines(), 1):
            try:
                value = decode(line)
                value.pop("received", None)
                visit = (value["worker"].strip(), (value.get("assignment") or "").strip())
                known = value["batch"] == self.manifest.id and value["hit"] in self.pool
            except (ValueError, AttributeError, KeyError, TypeError):
                known = False
            if not known:
                where = shown(self.submissions.path)
                hint = "results of each batch lie in a folder of their own"
                raise UserError("not of this batch", where=where, line=number, hint=hint)
            sign = sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
            self._taken.setdefault((value["hit"], visit[0]), set()).add(sign)
            self.pool.took(visit, value["hit"])
        self.refused = sum(1 for _ in self.not_taken.lines())

    def _end(self, visit: Visit) -> dict[str, Any]:
        # who has no session of a recruiting site may go on with the next HIT
        return {"how": "sent", **self.ending, "more": not visit[1]}

    async def _note(self, visit: Visit, hit: str, until: float) -> None:
        one = {"worker": visit[0], "session": visit[1], "hit": hit, "until": round(until)}
        await self.given.append(json.dumps(one))


@contextmanager
def opened(
    batch: Path,
    out: Path,
    *,
    minutes: float | None = None,
    ending: Mapping[str, str] = {},
    now: Callable[[], float] = time.time,
    find: Callable[[str], list[dict[str, str]]] | None = None,
) -> Iterator[Desk]:
    """The desk of a batch, with what earlier runs left in `<out>/<layout>-<number>`.

    `minutes`: how long a HIT stays in hand, by default six times what it is paid for, at least 30.
    `UserError`: no batch of pages, an edited one, or another server at work on it.
    """
    manifest = checked_manifest(batch)
    if manifest.platform not in SERVED:
        text = f"a batch for {manifest.platform}, which has pages of its own"
        raise UserError(text, where=shown(batch), hint=f"make one for {' or '.join(SERVED)}")
    layout = load_layout(str((batch / LAYOUT_COPY).resolve()))
    usual = max(30.0, 6 * float(layout.pay.minutes_per_hit))
    folder = out / f"{manifest.layout}-{manifest.number:04}"
    with disk_errors(folder), locked(folder, "it is served already"), ExitStack() as stack:
        submissions, given, not_taken = (
            stack.enter_context(Journal(folder / name)) for name in (SUBMISSIONS, GIVEN, NOT_TAKEN)
        )
        desk = Desk(
            manifest=manifest,
            layout=layout,
            page=render(
                layout, [], batch=manifest.id, mode="static", served=True, search=find is not None
            ),
            pool=HitPool(manifest.hits, manifest.assignments, 60 * (minutes or usual)),
            submissions=submissions,
            given=given,
            not_taken=not_taken,
            ending={name: text for name, text in ending.items() if text},
            now=now,
            find=find,
            _items=batch / ITEMS,
            _places=_hit_places(batch / ITEMS),
        )
        desk.replay()
        yield desk


def _hit_places(path: Path) -> dict[str, tuple[int, int]]:
    """Where in the file of items each HIT begins and ends, in bytes."""
    found: dict[str, tuple[int, int]] = {}
    at = 0
    with path.open("rb") as file:
        for line in file:
            hit = json.loads(line)["hit"]
            found[hit] = (found.get(hit, (at, at))[0], at + len(line))
            at += len(line)
    return found


def _visit(asked: Mapping[str, Any]) -> Visit | None:
    worker, session = (asked.get(name) or "" for name in ("worker", "assignment"))
    if not isinstance(worker, str) or not isinstance(session, str):
        return None
    if not worker.strip() or max(len(worker), len(session)) > 200:
        return None
    return worker.strip(), session.strip()
