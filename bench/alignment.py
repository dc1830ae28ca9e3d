"""How well the alignment finds what annotators marked.

`python -m bench.alignment FILE` prints it.

FILE: TimeQA's human-annotated questions (`human_annotated_train.json[.gz]`, repository
wenhuchen/Time-Sensitive-QA). Each marked answer is aligned with its page again: its words are the
object's label, the time in the question gives the segment's dates. The segments of one record are
one history and are aligned together. The pages have no links, so only rules (b) and (c) are
measured. An answer that is marked in several places may be found in any of them.

Names: `marked`: the answer as it is written where it was marked, which is optimistic; `label`:
perturbed as Wikidata's labels differ from text (`as_label`). Choices: `first`, the first
mention; `nearest`, that of the alignment. `several segments`: answers that have several in their
history; `recurring`: those of them that people marked in several places. Their shares are of their
own number. Pages are split by a hash of their path: rules and weights were set on `develop`, and
the errors of `held back` (30 %) were never read; an older edition set some weights on all pages.
Marks on headings and titles, which are no paragraphs here, are left out.
"""

import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

from factdrift.builders import rows
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import first_byte, share, text_sha256
from factdrift.builders.text.dates import dates_in
from factdrift.builders.text.names import names_of
from factdrift.builders.text.words import fold
from factdrift.builders.timeqa.alignment import Alignment, align_page
from factdrift.builders.timeqa.evidence import near, stated
from factdrift.builders.timeqa.mentions import PageMention, PageText

DEVELOP = 0.7
"""Share of the pages whose errors may be read."""
PARTS = ("develop", "held back")
_TIGHT = re.compile(r" (?=[,.;:!?)\]%])|(?<=[(\[$£€]) |(?<=[^\W\d_]) (?=['’](?:s|t|re|ll|d)\b)")


class MarkedAnswer(NamedTuple):
    """One marked answer: its page, its segment, and the marks (paragraph, start, end)."""

    path: str
    question: str
    page: rows.Page
    segment: rows.NamedSegment
    answer: str
    marks: tuple[tuple[int, int, int], ...]


def joined(text: str) -> tuple[str, list[int]]:
    """Tokens as people write them (`Jr .` is `Jr.`), and the new place of each old character."""
    kept: list[str] = []
    places: list[int] = []
    dropped = {m.start() for m in _TIGHT.finditer(text)}
    for n, char in enumerate(text):
        places.append(len(kept))
        if n not in dropped:
            kept.append(char)
    return "".join(kept), [*places, len(kept)]


def as_label(answer: str) -> str:
    """A name as Wikidata would have it rather than as the text does.

    By a hash of the name one of: no full stops after initials; a bracket after it; `F.C.` after
    it; dashes for hyphens and `&` for `and`; full stops in words of two or three capitals.
    """
    kind = first_byte(answer) % 5
    if kind == 0:
        return re.sub(r"(?<=\b[A-Z])\.", "", answer)
    if kind == 1:
        return f"{answer} (organisation)"
    if kind == 2:
        return f"{answer} F.C."
    if kind == 3:
        return answer.replace("-", "\N{EN DASH}").replace(" and ", " & ")
    return re.sub(r"\b[A-Z]{2,3}\b", lambda m: "".join(c + "." for c in m[0]), answer)


def histories(path: Path) -> Iterator[list[MarkedAnswer]]:
    """The marked answers of each record; a segment has the dates that its question states."""
    for record in _records(path):
        page, places = _page(record)
        found = []
        objects: dict[str, str] = {}
        for question, answers in record["questions"]:
            times = dates_in(question).written
            start, end = (times[0], times[-1]) if times else (None, None)
            marked: dict[str, set[tuple[int, int, int]]] = {}
            for a in answers:
                if a["answer"].strip():
                    n = a["para"]
                    mark = (n, places[n][a["from"]], places[n][a["end"]])
                    marked.setdefault(joined(a["answer"])[0].strip(), set()).add(mark)
            for name, marks in marked.items():
                marks = {m for m in marks if page.paragraphs[m[0]].text}
                if not marks:
                    continue
                segment = rows.NamedSegment(
                    subject="Q1",
                    relation=record["type"],
                    object=objects.setdefault(fold(name), f"Q{len(objects) + 2}"),
                    start_first=start.first if start else None,
                    start_last=start.last if start else None,
                    end_first=end.first if end else None,
                    end_last=end.last if end else None,
                    end_open=False,
                    end_inferred=False,
                    rival=False,
                    statements=(),
                    snapshot=date(2021, 1, 1),
                    object_label=name,
                    aliases=(),
                    object_title=None,
                )
                found.append(
                    MarkedAnswer(
                        record["link"], question, page, segment, name, tuple(sorted(marks))
                    )
                )
        yield found


def _page(record: dict[str, Any]) -> tuple[rows.Page, list[list[int]]]:
    """The page; headings, which the file has as paragraphs, become sections and stay empty."""
    paragraphs, places, section = [], [], ""
    for n, old in enumerate(record["paras"]):
        text, place = joined(old)
        kind: rows.ParagraphKind = "list" if old.startswith("- ") else "text"
        heading = (
            n > 0
            and kind == "text"
            and old.endswith(" .")
            and len(old.split()) <= 9
            and " ." not in old[:-2]
        )
        if heading:
            section = text.rstrip(".")
        if heading or n == 0:
            text = ""
        paragraphs.append(rows.Paragraph(kind, section, text, ()))
        places.append(place)
    return rows.Page("Q1", unescape(record["paras"][0]), 0, 0, tuple(paragraphs)), places


def _records(path: Path) -> list[dict[str, Any]]:
    try:
        data = path.read_bytes()
        found = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except (OSError, ValueError) as error:
        raise UserError(f"cannot be read: {error}", where=path) from error
    if not isinstance(found, list):
        raise UserError("not a list of records", where=path)
    return found


class AlignedCase(NamedTuple):
    """One case aligned: the row, and every mention by its name.

    `several`: its object has several segments; `recurring`: they are marked in several places.
    """

    case: MarkedAnswer
    part: str
    row: rows.AlignedSegment
    text: PageText
    mentions: list[PageMention]
    several: bool
    recurring: bool

    @property
    def agrees(self) -> bool:
        return self.row.paragraph in {m[0] for m in self.case.marks}


def part(path: str) -> str:
    """The part of the pages that a page is in, by a hash of its path."""
    return "develop" if share(0, "held back", path) < DEVELOP else "held back"


def aligned(path: Path, label: bool) -> Iterator[AlignedCase]:
    """Every case of the file, aligned with the others of its history."""
    for history in histories(path):
        names = {c.segment.object: as_label(c.answer) if label else c.answer for c in history}
        given = {
            c.segment: replace(c.segment, object_label=names[c.segment.object]) for c in history
        }
        if not history:
            continue
        found = align_page(history[0].page, list(given.values()), Alignment())
        by_segment = dict(zip(given, found, strict=True))
        text = PageText(history[0].page)
        spans = {o: {s for s in given if s.object == o} for o in names}
        marks = {o: {c.marks for c in history if c.segment.object == o} for o in names}
        for case in history:
            own = case.segment.object
            mentions = text.named(names_of(names[own], (), None), None)
            several = len(spans[own]) > 1
            yield AlignedCase(
                case,
                part(case.path),
                by_segment[case.segment],
                text,
                mentions,
                several,
                several and len(marks[own]) > 1,
            )


def counted(found: Sequence[AlignedCase]) -> dict[str, Counter[str]]:
    """Counts by part of the pages: of our choice, the first mention and the annotators' marks."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in PARTS}
    for one in found:
        count, case, row = counts[one.part], one.case, one.row
        wanted = {m[0] for m in case.marks}
        first = one.mentions[0] if one.mentions else None
        best = one.mentions and row.paragraph is not None
        exact = (row.paragraph, row.start, row.end) in case.marks
        count["answers"] += 1
        count[f"rule {row.rule}"] += 1
        count["any"] += bool(wanted & {m.paragraph for m in one.mentions})
        count["several paragraphs"] += len({m.paragraph for m in one.mentions}) > 1
        count["nearest: top 1"] += one.agrees
        count["nearest: exact span"] += exact
        for kind, belongs in (("several segments", one.several), ("recurring", one.recurring)):
            count[kind] += belongs
            count[f"{kind}: top 1"] += belongs and one.agrees
            count[f"{kind}: exact span"] += belongs and exact
        count["first: top 1"] += first is not None and first.paragraph in wanted
        if first and best and row.start_stated is not None:
            marks = [PageMention(*m) for m in case.marks]
            count["start stated: nearest"] += row.start_stated
            count["start stated: first"] += bool(stated(near(one.text, first), case.segment)[0])
            count["start stated: people"] += any(
                stated(near(one.text, m), case.segment)[0] for m in marks
            )
    return counts


def disagreement(one: AlignedCase) -> str:
    """A disagreement to read: what annotators marked and what the alignment chose."""
    lines = [f"{one.case.path} {one.case.segment.relation}: {one.case.question}"]
    spans = [("people", *m) for m in one.case.marks]
    if one.row.paragraph is not None and one.row.start is not None and one.row.end is not None:
        spans.append(("chosen", one.row.paragraph, one.row.start, one.row.end))
    for who, n, start, end in spans:
        text = one.text.texts[n]
        left, right = text[max(0, start - 150) : start], text[end : end + 150]
        lines.append(f"  {who} {n}: {left}[[{text[start:end]}]]{right}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Print a line a figure (develop, held back, all), then so many disagreements of `develop`."""
    if len(arguments) not in (1, 2) or not all(a.isdecimal() for a in arguments[1:]):
        print(
            "usage: python -m bench.alignment FILE [DISAGREEMENTS]",
            file=sys.stderr,
        )
        return 2
    for label in (True, False):
        try:
            found = list(aligned(Path(arguments[0]), label))
        except UserError as error:
            print(error, file=sys.stderr)
            return 1
        counts = counted(found)
        parts = [*counts.values(), sum(counts.values(), Counter())]
        heads = "   ".join(f"{name:>12}" for name in (*PARTS, "all"))
        print(f"names: {'label' if label else 'marked':24}{heads}")
        for key in sorted(parts[-1], key=lambda k: (":" in k, k)):
            kind = key.partition(":")[0]
            whole = kind if f"{kind}:" in key and kind in parts[-1] else "answers"
            cells = (f"{c[key]:5} {c[key] / max(1, c[whole]):6.1%}" for c in parts)
            print(f"  {key:29}" + "   ".join(cells))
    unlike = [f for f in found if not f.agrees and f.part == "develop"]
    unlike.sort(key=lambda f: text_sha256(f.case.question))
    for one in unlike[: int(arguments[1]) if len(arguments) > 1 else 0]:
        print(disagreement(one))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
