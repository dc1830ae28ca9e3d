"""How well the alignment finds what annotators marked: `python -m tests.alignment_figures FILE`.

FILE: TimeQA's human-annotated questions (`human_annotated_train.json[.gz]`, repository
wenhuchen/Time-Sensitive-QA). Each marked answer is aligned with its page again: its words, written
as Wikidata might (`as_label`), are the object's label, and the time in the question gives the
segment's dates. The segments of one record are one history. The pages have no links, so only rules
(b) and (c) are measured. `recurring`: answers that people marked in several places of one history.
Pages are split by a hash of their path: rules and weights were set on `develop`, and the errors of
`held back` (30 %) were never read. Marks on headings and titles, no paragraphs here, are left out.
"""

import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

from factdrift.builders import rows
from factdrift.builders.core.hashing import seeded_fraction, seeded_hash
from factdrift.builders.text.dates import dates_in
from factdrift.builders.text.names import all_names
from factdrift.builders.text.words import fold
from factdrift.builders.timeqa.alignment import Alignment, align_page
from factdrift.builders.timeqa.mentions import PageText

DEVELOP = 0.7
"""Share of the pages whose errors may be read."""
PARTS = ("develop", "held back")


class MarkedAnswer(NamedTuple):
    """The segment of one marked answer, and the marks (paragraph, start, end)."""

    segment: rows.NamedSegment
    marks: tuple[tuple[int, int, int], ...]


def as_label(answer: str) -> str:
    """A name as Wikidata would have it rather than as the text does.

    By a hash of the name one of: no full stops after initials; a bracket after it; `F.C.` after
    it; dashes for hyphens and `&` for `and`; full stops in words of two or three capitals.
    """
    labels = (
        re.sub(r"(?<=\b[A-Z])\.", "", answer),
        f"{answer} (organisation)",
        f"{answer} F.C.",
        answer.replace("-", "\N{EN DASH}").replace(" and ", " & "),
        re.sub(r"\b[A-Z]{2,3}\b", lambda mark: "".join(figure + "." for figure in mark[0]), answer),
    )
    return labels[(seeded_hash(answer) >> 56) % len(labels)]


def history(record: dict[str, Any]) -> tuple[rows.Page, list[MarkedAnswer]]:
    """A page and its marked answers; a segment has the dates that its question states."""
    page, segments_found = _page(record), []
    objects: dict[str, str] = {}
    facts: list[Any]
    for question, answers in record["questions"]:
        times = dates_in(question).written
        dates: list[Any] = [
            day for time in (times[:1] + times[-1:]) for day in (time.first, time.last)
        ]
        dates = dates or [None] * 4
        marked: dict[str, set[tuple[int, int, int]]] = defaultdict(set)
        for answer_mark in answers:
            paragraph_number = answer_mark["para"]
            if answer_mark["answer"].strip() and page.paragraphs[paragraph_number].text:
                marked[answer_mark["answer"].strip()].add(
                    (paragraph_number, answer_mark["from"], answer_mark["end"])
                )
        for name, answer_marks in marked.items():
            item = objects.setdefault(fold(name), f"Q{len(objects) + 2}")
            facts = ["Q1", record["type"], item, *dates, False, False, False, ()]
            facts += [date(2021, 1, 1), as_label(name), (), None]
            segments_found.append(
                MarkedAnswer(rows.NamedSegment(*facts), tuple(sorted(answer_marks)))
            )
    return page, segments_found


def _page(record: dict[str, Any]) -> rows.Page:
    """The page; headings, which the file has as paragraphs, become sections and stay empty."""
    paragraphs, section = [], ""
    for paragraph_number, paragraph_record in enumerate(record["paras"]):
        text = paragraph_record
        kind: rows.ParagraphKind = "list" if paragraph_record.startswith("- ") else "text"
        ends = (
            kind == "text" and paragraph_record.endswith(" .") and " ." not in paragraph_record[:-2]
        )
        if paragraph_number > 0 and ends and len(paragraph_record.split()) <= 9:
            section, text = text.rstrip("."), ""
        paragraphs.append(rows.Paragraph(kind, section, text if paragraph_number else "", ()))
    return rows.Page("Q1", unescape(record["paras"][0]), 0, 0, tuple(paragraphs))


def counted(path: Path) -> dict[str, Counter[str]]:
    """Counts by part of the pages: of our choice, the first mention and the annotators' marks."""
    counts_by_part: dict[str, Counter[str]] = {name: Counter() for name in PARTS}
    file_bytes = path.read_bytes()
    for record in json.loads(
        gzip.decompress(file_bytes) if file_bytes[:2] == b"\x1f\x8b" else file_bytes
    ):
        develop = seeded_fraction(0, "held back", record["link"]) < DEVELOP
        counts_by_part["develop" if develop else "held back"].update(_kinds(*history(record)))
    return counts_by_part


def _kinds(page: rows.Page, cases: Sequence[MarkedAnswer]) -> Iterator[str]:
    """All that each answer of a history counts as."""
    text = PageText(page)
    segments = list(dict.fromkeys(case.segment for case in cases))
    aligned = align_page(page, segments, Alignment()) if cases else []
    segments_found = dict(zip(segments, aligned, strict=True))
    for segment, marks in cases:
        row = segments_found[segment]
        mentions = text.named_mentions(all_names(segment.object_label, (), None), None)
        wanted_objects, paragraphs = (
            {mark[0] for mark in marks},
            [mark.paragraph for mark in mentions],
        )
        places = {case.marks for case in cases if case.segment.object == segment.object}
        kinds = {
            "answers": True,
            f"rule {row.rule}": True,
            "any": not wanted_objects.isdisjoint(paragraphs),
            "first: top 1": not wanted_objects.isdisjoint(paragraphs[:1]),
            "nearest: top 1": row.paragraph in wanted_objects,
            "nearest: exact span": (row.paragraph, row.start, row.end) in marks,
            "recurring": len(places) > 1,
            "recurring: top 1": len(places) > 1 and row.paragraph in wanted_objects,
        }
        yield from (kind for kind, holds in kinds.items() if holds)


def main(path: Path) -> None:
    """Print a line a figure: develop, held back, all."""
    counts_by_part = counted(path)
    parts = [*counts_by_part.values(), sum(counts_by_part.values(), Counter())]
    print(f"{'':31}" + "   ".join(f"{name:>12}" for name in (*PARTS, "all")))
    for key in sorted(parts[-1]):
        part_title = "recurring" if key.startswith("recurring:") else "answers"
        cells = (
            f"{figure[key]:5} {figure[key] / max(1, figure[part_title]):6.1%}" for figure in parts
        )
        print(f"  {key:29}" + "   ".join(cells))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
