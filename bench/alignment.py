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
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from html import unescape
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from factdrift.builders import rows
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import bits, share
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
    """The segment of one marked answer, and the marks (paragraph, start, end)."""

    segment: rows.NamedSegment
    marks: tuple[tuple[int, int, int], ...]


def joined(text: str) -> tuple[str, list[int]]:
    """Tokens as people write them (`Jr .` is `Jr.`), and the new place of each old character."""
    dropped = {m.start() for m in _TIGHT.finditer(text)}
    kept = [n not in dropped for n in range(len(text))]
    shown = "".join(char for char, stays in zip(text, kept, strict=True) if stays)
    return shown, [*accumulate(kept, initial=0)]


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
        re.sub(r"\b[A-Z]{2,3}\b", lambda m: "".join(c + "." for c in m[0]), answer),
    )
    return labels[(bits(answer) >> 56) % len(labels)]


def history(record: dict[str, Any]) -> tuple[rows.Page, list[MarkedAnswer]]:
    """A page and its marked answers; a segment has the dates that its question states."""
    page, places = _page(record)
    found = []
    objects: dict[str, str] = {}
    facts: list[Any]
    for question, answers in record["questions"]:
        times = dates_in(question).written
        dates: list[Any] = [day for t in (times[:1] + times[-1:]) for day in (t.first, t.last)]
        dates = dates or [None] * 4
        marked: dict[str, set[tuple[int, int, int]]] = defaultdict(set)
        for a in answers:
            n = a["para"]
            if a["answer"].strip() and page.paragraphs[n].text:
                mark = (n, places[n][a["from"]], places[n][a["end"]])
                marked[joined(a["answer"])[0].strip()].add(mark)
        for name, marks in marked.items():
            item = objects.setdefault(fold(name), f"Q{len(objects) + 2}")
            facts = ["Q1", record["type"], item, *dates, False, False, False, ()]
            facts += [date(2021, 1, 1), name, (), None]
            found.append(MarkedAnswer(rows.NamedSegment(*facts), tuple(sorted(marks))))
    return page, found


def _page(record: dict[str, Any]) -> tuple[rows.Page, list[list[int]]]:
    """The page; headings, which the file has as paragraphs, become sections and stay empty."""
    paragraphs, places, section = [], [], ""
    for n, old in enumerate(record["paras"]):
        text, place = joined(old)
        kind: rows.ParagraphKind = "list" if old.startswith("- ") else "text"
        ends = kind == "text" and old.endswith(" .") and " ." not in old[:-2]
        if n > 0 and ends and len(old.split()) <= 9:
            section, text = text.rstrip("."), ""
        paragraphs.append(rows.Paragraph(kind, section, text if n else "", ()))
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


def counted(path: Path, label: bool) -> dict[str, Counter[str]]:
    """Counts by part of the pages: of our choice, the first mention and the annotators' marks."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in PARTS}
    for record in _records(path):
        develop = share(0, "held back", record["link"]) < DEVELOP
        counts["develop" if develop else "held back"].update(_kinds(*history(record), label))
    return counts


def _kinds(page: rows.Page, cases: Sequence[MarkedAnswer], label: bool) -> Iterator[str]:
    """All that each answer of a history counts as."""
    shown = {c.segment.object: c.segment.object_label for c in cases}
    names = {thing: as_label(name) if label else name for thing, name in shown.items()}
    given = {c.segment: replace(c.segment, object_label=names[c.segment.object]) for c in cases}
    found = align_page(page, list(given.values()), Alignment()) if given else []
    by_segment, text = dict(zip(given, found, strict=True)), PageText(page)
    for segment, marks in cases:
        row = by_segment[segment]
        mentions = text.named(names_of(names[segment.object], (), None), None)
        wanted, paragraphs = {m[0] for m in marks}, [m.paragraph for m in mentions]
        top, exact = row.paragraph in wanted, (row.paragraph, row.start, row.end) in marks
        several = sum(s.object == segment.object for s in given) > 1
        places = {c.marks for c in cases if c.segment.object == segment.object}
        recurring = several and len(places) > 1
        kinds = {
            "answers": True,
            f"rule {row.rule}": True,
            "any": not wanted.isdisjoint(paragraphs),
            "several paragraphs": len(set(paragraphs)) > 1,
            "first: top 1": paragraphs[:1] != [] and paragraphs[0] in wanted,
            "nearest: top 1": top,
            "nearest: exact span": exact,
        }
        for kind, belongs in (("several segments", several), ("recurring", recurring)):
            kinds |= {kind: belongs, f"{kind}: top 1": belongs and top}
            kinds[f"{kind}: exact span"] = belongs and exact
        if mentions and row.paragraph is not None and row.start_stated is not None:
            first, *people = (
                bool(stated(near(text, m), segment)[0])
                for m in (mentions[0], *(PageMention(*m) for m in marks))
            )
            kinds["start stated: nearest"] = row.start_stated
            kinds["start stated: first"] = first
            kinds["start stated: people"] = any(people)
        yield from (kind for kind, holds in kinds.items() if holds)


def main(arguments: Sequence[str]) -> int:
    """Print a line a figure: develop, held back, all."""
    if len(arguments) != 1:
        print("usage: python -m bench.alignment FILE", file=sys.stderr)
        return 2
    for label in (True, False):
        try:
            counts = counted(Path(arguments[0]), label)
        except UserError as error:
            print(error, file=sys.stderr)
            return 1
        parts = [*counts.values(), sum(counts.values(), Counter())]
        heads = "   ".join(f"{name:>12}" for name in (*PARTS, "all"))
        print(f"names: {'label' if label else 'marked':24}{heads}")
        for key in sorted(parts[-1], key=lambda k: (":" in k, k)):
            kind = key.partition(":")[0]
            whole = kind if f"{kind}:" in key and kind in parts[-1] else "answers"
            cells = (f"{c[key]:5} {c[key] / max(1, c[whole]):6.1%}" for c in parts)
            print(f"  {key:29}" + "   ".join(cells))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
