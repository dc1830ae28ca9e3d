"""Segments of timelines aligned with the subject's page (TimeQA, paper 001, section 2.1).

Each segment is aligned by the first rule that holds: (a) `link`: the object is hyperlinked in the
page; (b) `name`: a name of it stands in the text (`mentions`); (c) `similar`: a passage is like
its name (`similarity`); else `none`, unanswerable from the page. The rule says why the page is
taken to mention the object; which mention is kept is said by its surroundings (`nearest`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import pyarrow as pa
from pydantic import Field

from builders import rows
from builders.config import Strict
from builders.schema import batches
from builders.timeqa.align_files import Piece, page_of, segment_of
from builders.timeqa.alike import Alike
from builders.timeqa.mentions import Mention, PageText
from builders.timeqa.nearest import nearest, stated
from builders.timeqa.similarity import Passages, Similar
from builders.timeqa.spelling import Name, names_of, words

_SEGMENT = tuple(f.name for f in fields(rows.Segment))


class Alignment(Strict):
    """Parameters of the alignment; the defaults of the first two are the paper's (section 2.1).

    `min_similarity`: rule (c) wants more than this; `max_missing`: a (subject, relation) with a
    greater share of unanswerable segments is dropped; `pairs_per_relation`: at most so many
    (subject, relation) of one relation are kept, all with null.
    """

    min_similarity: float = Field(default=0.40, ge=0, le=1)
    max_missing: float = Field(default=0.5, ge=0, le=1)
    pairs_per_relation: int | None = Field(default=None, ge=1)


@dataclass(frozen=True, slots=True)
class Named:
    """The names of an object; `title`: of its English Wikipedia page, None where it has none."""

    label: str
    aliases: tuple[str, ...]
    title: str | None


def align_page(
    page: rows.Page,
    wanted: Sequence[tuple[rows.Segment, Named]],
    settings: Alignment,
) -> list[rows.AlignedSegment]:
    """The segments of the page's subject, each with the mention that says it best, in order."""
    text = PageText(page)
    names = _names(wanted)
    titles = {s.object: n.title for s, n in wanted}
    passages: Passages | None = None
    found: dict[str, tuple[rows.AlignmentRule, list[Mention], float | None]] = {}
    aligned = []
    for segment, named in wanted:
        if segment.object not in found:
            linked = text.linked(named.title)
            shown = _shown(text, linked, names, segment.object)
            mentions, refused = text.named([*names[segment.object], *shown], named.title)
            if linked:
                found[segment.object] = "link", _joined(linked, mentions), None
            elif mentions:
                found[segment.object] = "name", mentions, None
            else:
                passages = passages or Passages(text)
                own = names[segment.object], named.title
                others = [(names[o], t) for o, t in titles.items() if o != segment.object]
                near = Alike(text, passages, own, others).best(settings.min_similarity, refused)
                found[segment.object] = _similar(near)
        rule, mentions, score = found[segment.object]
        aligned.append(_aligned(text, segment, named, rule, mentions, score))
    return aligned


def _names(wanted: Sequence[tuple[rows.Segment, Named]]) -> Mapping[str, list[Name]]:
    """The names to look for, by object; of names that several objects have, their labels alone."""
    objects = {s.object: n for s, n in wanted}
    names = {o: names_of(n.label, n.aliases, n.title) for o, n in objects.items()}
    owners: dict[tuple[str, ...], int] = {}
    for own in names.values():
        for name in own:
            owners[name.words] = owners.get(name.words, 0) + 1
    return {
        o: [n for n in own if owners[n.words] == 1 or n.text == objects[o].label]
        for o, own in names.items()
    }


def _shown(
    text: PageText,
    linked: Sequence[Mention],
    names: Mapping[str, Sequence[Name]],
    of: str,
) -> list[Name]:
    """What links to the object show, where it looks like a name and is none of another object."""
    taken = {n.words for o, own in names.items() if o != of for n in own}
    found: dict[tuple[str, ...], Name] = {}
    for m in linked:
        shown = text.texts[m.paragraph][m.start : m.end]
        if shown[0].isupper() and sum(map(str.isalpha, shown)) > 3 and words(shown) not in taken:
            found.setdefault(words(shown), Name(shown, weak=True))
    known = {n.words for n in names[of]}
    return [n for w, n in found.items() if w not in known]


def _joined(linked: Sequence[Mention], named: Sequence[Mention]) -> list[Mention]:
    """Links, and names that do not overlap them."""
    apart = [
        m
        for m in named
        if not any(
            m.paragraph == k.paragraph and m.start < k.end and k.start < m.end for k in linked
        )
    ]
    return [*linked, *apart]


def _similar(near: Similar | None) -> tuple[rows.AlignmentRule, list[Mention], float | None]:
    if near is None:
        return "none", [], None
    return "similar", [Mention(near.paragraph, near.start, near.end)], near.score


def _aligned(
    text: PageText,
    segment: rows.Segment,
    named: Named,
    rule: rows.AlignmentRule,
    mentions: Sequence[Mention],
    score: float | None,
) -> rows.AlignedSegment:
    best = nearest(text, mentions, segment) if mentions else None
    start_stated, end_stated = stated(text, best, segment) if best else (None, None)
    return rows.AlignedSegment(
        **{f: getattr(segment, f) for f in _SEGMENT},
        object_label=named.label,
        aliases=named.aliases,
        page=text.page.page,
        revision=text.page.revision,
        rule=rule,
        paragraph=best.paragraph if best else None,
        start=best.start if best else None,
        end=best.end if best else None,
        mention=text.texts[best.paragraph][best.start : best.end] if best else None,
        score=score,
        start_stated=start_stated,
        end_stated=end_stated,
        verification="automatic",
    )


def align_piece(
    piece: Piece, settings: Alignment
) -> tuple[list[pa.RecordBatch], list[pa.RecordBatch]]:
    """The segments of a piece, aligned, and what is dropped."""
    wanted: dict[str, list[tuple[rows.Segment, Named]]] = {}
    for row in piece.segments.to_pylist():
        segment = segment_of(row)
        named = Named(segment.object_label, segment.aliases, segment.object_title)
        wanted.setdefault(segment.subject, []).append((segment, named))
    aligned: list[rows.AlignedSegment] = []
    for row in piece.pages.to_pylist():
        page = page_of(row)
        aligned += align_page(page, wanted[page.item], settings)
    dropped = (
        rows.Dropped(
            step="align",
            reason="no_page",
            item=f"{row['subject']}/{row['relation']}/{row['object']}",
            subject=row["subject"],
            relation=row["relation"],
            period=None,
            score=None,
            detail=" ".join(row["statements"]) or None,
        )
        for row in piece.without_page.to_pylist()
    )
    return list(batches(rows.AlignedSegment, aligned)), list(batches(rows.Dropped, dropped))
