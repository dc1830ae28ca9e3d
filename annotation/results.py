"""`make judgments`: results of a platform in, judgments and gold rows out.

Judgments of earlier runs stay; a file that was read before changes nothing. Files of any size are
read in bounded memory; the judgments taken of one layout are held, about 1 KB each. What cannot
be taken is in `refused.jsonl` of the run, with file, line and reason, and counted.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import pyarrow.parquet as pq

from annotation.ids import check_salt, read_salt
from annotation.matching import Batches, match
from annotation.platforms import PLATFORMS, Platform
from annotation.quality.spot_checks import add_experts
from annotation.shelf import JUDGMENTS, Shelf
from annotation.submission import Refused, Submission
from builders.config import did_you_mean, shown
from builders.errors import UserError
from builders.files import find_files
from builders.folders import alone, replacing

REFUSED = "refused.jsonl"
_TAKEN = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")
_SHOWN = 20
_SAVED = re.compile(r"([0-9a-f]{16}-[0-9a-f]{16}-).*(\.[a-z]+)$", re.DOTALL)
"""The name of a file that a page saves: it ends with the worker's id, which no output holds."""


@dataclass
class Imported:
    """What a run of `make judgments` came to; `refused` counts by reason."""

    files: int = 0
    submissions: int = 0
    new: int = 0
    known: int = 0
    further: int = 0
    corrected: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    examples: list[Refused] = field(default_factory=list)
    judgments: dict[str, int] = field(default_factory=dict)
    decisions: dict[str, dict[str, int]] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def taken(self) -> int:
        """Submissions that were not refused."""
        return self.new + self.known + self.further + self.corrected

    def lines(self) -> list[str]:
        """The report, a line each; refused lines by their place, the first few."""
        refused = sum(self.refused.values())
        read = [
            f"{self.taken + refused:,} entries in {self.files} files: "
            f"{self.new:,} new, {self.known:,} known already, "
            f"{self.further:,} a worker's further ones for a HIT, {refused:,} refused"
            + (f", {self.corrected:,} corrected" if self.corrected else "")
        ]
        out = read if self.files else []
        out += [f"  refused, {reason}: {n:,}" for reason, n in sorted(self.refused.items())]
        out += [f"  {_said(one)}" for one in self.examples]
        for layout, n in sorted(self.judgments.items()):
            gold = ", ".join(f"{k} {v:,}" for k, v in sorted(self.decisions[layout].items()))
            out.append(f"{layout}: {n:,} judgments; rows: {gold or 'none'}")
        return out + self.said + self.written


def import_results(
    given: Sequence[str],
    *,
    hits: Path,
    out: Path,
    platform: str | None = None,
    feedback: Path | None = None,
    experts: Path | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Imported:
    """Read results files (or folders of them) and write `<out>/<layout>/judgments.parquet`.

    Nothing given: the judgments that are there are settled anew, as after an expert's checks.
    `platform`: by default each file says itself. `feedback`: a folder for the files by which the
    platform approves or rejects work. `experts`: a file of worker ids that are experts' from now
    on. The same files in the same order give the same tables.
    """
    hint = "results are .json, .jsonl or .csv files"
    if feedback is not None and not given:
        hint = "name the results that are to be approved or rejected, with --feedback"
        raise UserError("feedback is of results files, and none is named", hint=hint)
    files = find_files(list(given), _is_taken, "results", hint) if given else []
    batches = Batches(hits)
    with alone(out):
        salt = read_salt(hits)
        check_salt(salt, out)
        named = add_experts(out, experts, salt, PLATFORMS) if experts is not None else []
        run = _Run(batches, salt, out, {} if given else _all(out), Imported(files=len(files)))
        sources = [(path, _platform(path, platform)) for path in files]
        if sources:
            run.read(sources, say)
        run.settle()
        if named:
            workers = _workers(out)
            known = sum(not one.isdisjoint(workers) for one in named)
            hint = "" if known else "; the file has one worker id a line and nothing else"
            run.done.said.append(f"experts: {known} of {len(named)} ids have judged{hint}")
        if feedback is not None:
            run.tell(sources, feedback)
    return run.done


@dataclass
class _Run:
    """One import at work: where it looks things up, and what it has so far."""

    batches: Batches
    salt: bytes
    out: Path
    shelves: dict[str, Shelf]
    done: Imported

    def read(self, sources: Sequence[tuple[Path, Platform]], say: Callable[[str], None]) -> None:
        """Take every file; what is refused is written down as it comes."""
        with replacing(self.out / REFUSED) as path, path.open("w", encoding="utf-8") as report:
            for source, by in sources:
                say(f"  {shown(source)}: {by.name}")
                if not self._read_one(source, by, report):
                    self._refuse(Refused(shown(source), 0, "no submissions in it"), report)

    def _read_one(self, path: Path, by: Platform, report: TextIO) -> bool:
        """Take one file; whether anything was in it."""
        any_found = False
        for one in by.read(path):
            any_found = True
            found = (
                one if isinstance(one, Refused) else match(one, self.batches, by.name, self.salt)
            )
            self.done.submissions += not isinstance(one, Refused)
            if isinstance(found, Refused):
                self._refuse(found, report)
                continue
            name = found[0].layout
            if name not in self.shelves:
                self.shelves[name] = Shelf(self.out / name)
            came = self.shelves[name].add(found)
            self.done.new += came == "new"
            self.done.known += came == "known"
            self.done.further += came == "further"
            self.done.corrected += came == "corrected"
        return any_found

    def _refuse(self, one: Refused, report: TextIO) -> None:
        self.done.refused[one.reason] = self.done.refused.get(one.reason, 0) + 1
        if len(self.done.examples) < _SHOWN:
            self.done.examples.append(one)
        value = {
            "file": _SAVED.sub(r"\1…\2", one.where),
            "line": one.line,
            "reason": one.reason,
            "detail": one.detail,
        }
        report.write(json.dumps(value, sort_keys=True) + "\n")

    def settle(self) -> None:
        """Have quality control look at every layout, and write its tables and its report."""
        for name in sorted(self.shelves):
            counts = self.done.decisions.setdefault(name, {})
            for row in self.shelves[name].settle(self.batches):
                counts[row.decision] = counts.get(row.decision, 0) + 1
            self.done.judgments[name] = len(self.shelves[name].by_id)
            self.done.written.append(
                shown(self.shelves[name].report(self.batches, self.out / REFUSED))
            )

    def tell(self, sources: Sequence[tuple[Path, Platform]], folder: Path) -> None:
        """Write what the platforms take to approve or reject work."""
        folder.mkdir(parents=True, exist_ok=True)
        counts = {"approved": 0, "rejected": 0, "undecided": 0}
        for path, by in sources:

            def decide(one: Submission, by: Platform = by) -> str | None:
                found = match(one, self.batches, by.name, self.salt)
                why = None
                if not isinstance(found, Refused):
                    why = self.shelves[found[0].layout].reason(found, self.batches)
                counts["undecided" if why is None else "rejected" if why else "approved"] += 1
                return why

            names = by.feedback(path, decide, folder)
            self.done.written += [shown(folder / name) for name in names]
            if not names:
                text = f"{shown(path)}: {by.name} takes no file of approvals; mturk alone does"
                self.done.said.append(text)
        if any(counts.values()):
            told = ", ".join(f"{n:,} {name}" for name, n in counts.items())
            self.done.said.append(f"feedback: {told}")
        if not any(folder.iterdir()):
            folder.rmdir()


def _is_taken(name: str) -> bool:
    return name.lower().endswith(_TAKEN)


def _all(out: Path) -> dict[str, Shelf]:
    """Every layout that there are judgments of."""
    places = sorted(out.glob(f"*/{JUDGMENTS}"))
    if not places:
        hint = "name the results of a platform"
        raise UserError("no judgments yet", where=shown(out), hint=hint)
    return {place.parent.name: Shelf(place.parent) for place in places}


def _workers(out: Path) -> set[str]:
    """The hashes of all who judged anything."""
    found: set[str] = set()
    for place in out.glob(f"*/{JUDGMENTS}"):
        found.update(pq.read_table(place, columns=["worker"])["worker"].unique().to_pylist())
    return found


def _said(one: Refused) -> str:
    place = f"{one.where}:{one.line}" if one.line else one.where
    detail = "".join(c if c.isprintable() else "?" for c in one.detail)
    return f"{place}: {one.reason}" + (f": {detail}" if detail else "")


def _platform(path: Path, name: str | None) -> Platform:
    if name is None:
        return next(one for one in PLATFORMS.values() if one.knows(path))
    if name not in PLATFORMS:
        near = did_you_mean(name, PLATFORMS)
        hint = f"did you mean {near}?" if near else f"there are {', '.join(PLATFORMS)}"
        raise UserError(f"no platform {name!r}", hint=hint)
    return PLATFORMS[name]
