"""What people said of segments, read from the gold rows of the layout `verify_facts`."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from builders.gold import told
from builders.rows import Gold

LAYOUT = "verify_facts"
_SEEN = ("subject", "relation", "valid_from", "valid_to", "suggested", "mention")


class Marked(NamedTuple):
    """Words that somebody marked in a page: `paragraphs[paragraph].text[start:end]`."""

    paragraph: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What people said of one segment.

    `correct`: the page says the object. `other`: it says what is `marked`. `unanswerable`: it
    says none. `timed`: the page gives the time. `seen` are the fields that they were shown, by
    name, and `page` the sha256 of the page's text.
    """

    row: str
    verdict: Literal["correct", "other", "unanswerable"]
    marked: tuple[Marked, ...]
    timed: bool
    seen: tuple[str | None, ...]
    page: str


def read_verdicts(flow: Iterable[Gold]) -> tuple[dict[str, Verdict], Counter[str]]:
    """The verdicts by row id, and how many rows were left out by reason.

    Left out: what is not `accepted` (by its decision), `not_understood` (answers that the layout
    cannot give), `contradictory` (rows of one segment that differ). The verdicts are small: pages
    that people saw are kept as a checksum.
    """
    found: dict[str, Verdict] = {}
    lost: Counter[str] = Counter()
    torn: set[str] = set()
    for gold in flow:
        if gold.decision != "accepted":
            lost[gold.decision] += 1
            continue
        verdict = _verdict(gold)
        if verdict is None:
            lost["not_understood"] += 1
        elif gold.row in torn or found.get(gold.row, verdict) != verdict:
            torn.add(gold.row)
            lost["contradictory"] += 1 + (found.pop(gold.row, None) is not None)
        else:
            found[gold.row] = verdict
    return found, lost


def seen_of(row: Any) -> tuple[str | None, ...]:
    """What people are shown of a released segment (`rows.ReleasedAlignedSegment`)."""
    own = {"subject": "subject_label", "relation": "relation_label", "suggested": "object_label"}
    return tuple(getattr(row, own.get(name, name)) or None for name in _SEEN)


def page_sha256(texts: Iterable[str]) -> str:
    """The checksum of a page's paragraphs."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _verdict(gold: Gold) -> Verdict | None:
    both = told(gold)
    if both is None:
        return None
    answers, shown = both
    said, time = answers.get("verdict"), answers.get("time")
    page = shown.get("page")
    if said not in ("correct", "other", "unanswerable") or not isinstance(page, list):
        return None
    if said != "unanswerable" and time not in ("known", "unknown"):
        return None
    marked = _marked(answers.get("objects")) if said == "other" else ()
    if marked is None or (said == "other" and not marked):
        return None
    texts = [p.get("text") if isinstance(p, Mapping) else p for p in page]
    if not all(isinstance(text, str) for text in texts):
        return None
    seen = tuple(shown.get(name) or None for name in _SEEN)
    if not all(one is None or isinstance(one, str) for one in seen):
        return None
    timed = time == "known"
    return Verdict(gold.row, said, marked, timed, seen, page_sha256(map(str, texts)))


def _marked(value: object) -> tuple[Marked, ...] | None:
    """Spans in order of place, each place once; None where one is no span."""
    if not isinstance(value, list):
        return None
    found = set()
    for one in value:
        if not isinstance(one, Mapping) or not {*Marked._fields} <= one.keys():
            return None
        marked = Marked(**{name: one[name] for name in Marked._fields})
        places = marked[:3]
        if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in places):
            return None
        if not isinstance(marked.text, str):
            return None
        found.add(marked)
    return tuple(sorted(found))
