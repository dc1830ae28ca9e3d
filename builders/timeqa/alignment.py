"""Segments of timelines aligned with the page of their subject (TimeQA, paper 001, section 2.1).

`align_file` reads pages and segments side by side, `align_page` aligns the segments of one page,
and `keep_pairs` chooses the pairs of subject and relation that the pages answer often enough.

Each segment is aligned by the first rule that holds: (a) `link`: the page links to the object's
page; (b) `name`: a name of the object stands in the text, or where none does another form of it;
(c) `similar`: a passage is similar to one of its names; else `none`: the segment is unanswerable
from the page. The rule says why the page is taken to mention the object; mentions are its names in
the text and the links by words that are a name of it (not `his deputy`), and
`builders.timeqa.evidence` chooses one for each segment and says what stands beside it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import ibis
import ibis.expr.types as ir
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from factdrift.builders import rows
from factdrift.builders.core.config import Strict
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.parallel import ordered_map
from factdrift.builders.core.schema import arrow_schema, batches, reading
from factdrift.builders.text.names import Name, is_name, names_of, other_forms
from factdrift.builders.text.words import name_words
from factdrift.builders.timeqa.evidence import evidence_columns, evidence_of
from factdrift.builders.timeqa.mentions import Mention, PageText, Passages

PAGES = 32
"""Pages of a piece of work."""
_SEGMENTS = 8_192
"""Segments without a page that are held before they become a piece of work."""
_GROUP = 65_536
"""Least rows of a row group."""
_PAIR = ["subject", "relation"]
DROPPED_ORDER = ("reason", "subject", "relation")
"""Total order of the dropped rows of `keep_pairs`, for `Engine.write`."""
_SEGMENT = tuple(f.name for f in fields(rows.Segment))


class Alignment(Strict):
    """Parameters of the alignment; the defaults of the first two are the paper's (section 2.1).

    `min_similarity`: rule (c) needs a greater similarity than this; `max_missing`: a (subject,
    relation) with a greater share of unanswerable segments is dropped; `pairs_per_relation`: at
    most so many (subject, relation) of one relation are kept, all of them with null.
    """

    min_similarity: float = Field(default=0.40, ge=0, le=1)
    max_missing: float = Field(default=0.5, ge=0, le=1)
    pairs_per_relation: int | None = Field(default=None, ge=1)


@dataclass(frozen=True, slots=True)
class ObjectNames:
    """The names of an object; `title`: of its English Wikipedia page, None where it has none."""

    label: str
    aliases: tuple[str, ...]
    title: str | None


def align_page(
    page: rows.Page,
    segments: Sequence[tuple[rows.Segment, ObjectNames]],
    settings: Alignment,
) -> list[rows.AlignedSegment]:
    """The segments of the page's subject in order, each with its best mention."""
    text = PageText(page)
    names = _names(segments)
    passages: Passages | None = None
    forms = _sole({o: other_forms(own) for o, own in names.items()}, names)
    by_object: dict[str, list[rows.Segment]] = {}
    for segment, _ in segments:
        by_object.setdefault(segment.object, []).append(segment)
    found: dict[rows.Segment, tuple[rows.AlignmentRule, Mention | None]] = {}
    titles = {s.object: n.title for s, n in segments}
    for object_, own in by_object.items():
        title = titles[object_]
        links = text.linked(title)
        linked = [
            m for m in links if is_name(text.texts[m.paragraph][m.start : m.end], names[object_])
        ]
        shown = _link_texts(text, linked, names)
        rule: rows.AlignmentRule = "link" if links else "name"
        mentions = _joined(linked, text.named([*names[object_], *shown], title))
        if not mentions:
            mentions = text.named([f for f in forms[object_] if text.may_hold(f)], title)
        if not mentions:
            passages = passages or Passages(text)
            similar = passages.most_similar(names[object_], settings.min_similarity)
            rule, mentions = "similar", [similar] if similar else []
        for segment, best in zip(own, evidence_of(text, mentions, own), strict=True):
            found[segment] = (rule if best else "none"), best
    return [_aligned(text, segment, own, *found[segment]) for segment, own in segments]


def _names(segments: Sequence[tuple[rows.Segment, ObjectNames]]) -> Mapping[str, list[Name]]:
    """The names to search for, by object; a name that several objects have only as a label."""
    objects = {s.object: n for s, n in segments}
    names = {o: _with_turned(names_of(n.label, n.aliases, n.title)) for o, n in objects.items()}
    owners: dict[tuple[str, ...], int] = {}
    for own in names.values():
        for name in own:
            owners[name.words] = owners.get(name.words, 0) + 1
    return {
        o: [n for n in own if owners[n.words] == 1 or n.text == objects[o].label]
        for o, own in names.items()
    }


def _with_turned(names: list[Name]) -> list[Name]:
    """The names, and those of two capitalised words the other way round: `Choi Tae-ji`."""
    known = {n.words for n in names}
    turned = (" ".join(reversed(n.text.split())) for n in names if not n.weak)
    return names + [
        Name(text, weak=True)
        for text in turned
        if text.count(" ") == 1 and all(w[0].isupper() for w in text.split())
        if name_words(text) not in known
    ]


def _sole(
    forms: Mapping[str, Sequence[Name]], names: Mapping[str, Sequence[Name]]
) -> Mapping[str, list[Name]]:
    """The forms that are no name and no form of another object."""
    owners = Counter(n.words for own in (*forms.values(), *names.values()) for n in own)
    return {o: [n for n in own if owners[n.words] == 1] for o, own in forms.items()}


def _link_texts(
    text: PageText, linked: Sequence[Mention], names: Mapping[str, Sequence[Name]]
) -> list[Name]:
    """The texts of the links to an object that look like names and name no other object."""
    known = {n.words for own in names.values() for n in own}
    found: dict[tuple[str, ...], Name] = {}
    for m in linked:
        shown = text.texts[m.paragraph][m.start : m.end]
        key = name_words(shown)
        if shown[0].isupper() and sum(map(str.isalpha, shown)) > 3 and key not in known:
            found.setdefault(key, Name(shown, weak=True))
    return list(found.values())


def _joined(linked: Sequence[Mention], named: Sequence[Mention]) -> list[Mention]:
    """Links, and the names that do not overlap them."""
    return [
        *linked,
        *(
            m
            for m in named
            if not any(
                m.paragraph == k.paragraph and m.start < k.end and k.start < m.end for k in linked
            )
        ),
    ]


def _aligned(
    text: PageText,
    segment: rows.Segment,
    names: ObjectNames,
    rule: rows.AlignmentRule,
    best: Mention | None,
) -> rows.AlignedSegment:
    evidence = evidence_columns(text, best, segment)
    return rows.AlignedSegment(
        **{f: getattr(segment, f) for f in _SEGMENT},
        object_label=names.label,
        aliases=names.aliases,
        page=text.page.page,
        revision=text.page.revision,
        rule=rule,
        paragraph=best.paragraph if best else None,
        start=best.start if best else None,
        end=best.end if best else None,
        mention=text.texts[best.paragraph][best.start : best.end] if best else None,
        score=best.score if best else None,
        **evidence,
        verification="automatic",
    )


def align_file(
    pages: Path, segments: Path, out: Path, settings: Alignment, jobs: int = 1
) -> Mapping[str, int]:
    """Align a file of `rows.NamedSegment`, sorted by subject, with one of `rows.Page`, by item.

    Writes `aligned.parquet` (`rows.AlignedSegment`, in the order of the segments) and
    `dropped.parquet` (`rows.Dropped`: the segments whose subject has no page, reason `no_page`)
    into the folder `out`. Memory holds a few pages a process; the bytes do not depend on `jobs`.
    Returns the number of rows of each. `UserError` where a file is missing, is no Parquet, lacks a
    column or is out of order, or an item has two pages.
    """
    out.mkdir(parents=True, exist_ok=True)
    kinds = {"aligned": rows.AlignedSegment, "dropped": rows.Dropped}
    counts = dict.fromkeys(kinds, 0)
    writers = {
        name: pq.ParquetWriter(out / f"{name}.parquet", arrow_schema(row), compression="zstd")
        for name, row in kinds.items()
    }
    held: dict[str, list[pa.RecordBatch]] = {name: [] for name in kinds}

    def write(name: str, least: int) -> None:
        """Write what is held as one row group, if it has so many rows."""
        count = sum(batch.num_rows for batch in held[name])
        if count >= least:
            writers[name].write_table(pa.Table.from_batches(held[name]))
            counts[name] += count
            held[name] = []

    try:
        done = ordered_map(
            partial(_align_piece, settings=settings), _pieces(pages, segments), jobs=jobs
        )
        for made in done:
            for name, some in zip(kinds, made, strict=True):
                held[name] += some
                write(name, _GROUP)
        for name in kinds:
            write(name, 1)
    finally:
        for writer in writers.values():
            writer.close()
    return counts


class _Piece(NamedTuple):
    """A piece of work: a few pages and segments, as rows; some segments may have no page."""

    pages: Sequence[pa.RecordBatch]
    segments: Sequence[dict[str, Any]]


def _align_piece(
    piece: _Piece, settings: Alignment
) -> tuple[list[pa.RecordBatch], list[pa.RecordBatch]]:
    """The segments of a piece that are aligned, and the dropped rows of those without a page."""
    segments: dict[str, list[tuple[rows.Segment, ObjectNames]]] = {}
    for segment in msgspec.convert(piece.segments, list[rows.NamedSegment]):
        names = ObjectNames(segment.object_label, segment.aliases, segment.object_title)
        segments.setdefault(segment.subject, []).append((segment, names))
    aligned: list[rows.AlignedSegment] = []
    for batch in piece.pages:
        for row in batch.to_pylist():
            if own := segments.pop(row["item"], None):
                aligned += align_page(msgspec.convert(row, rows.Page), own, settings)
    dropped = (
        rows.Dropped(
            step="align",
            reason="no_page",
            item=f"{segment.subject}/{segment.relation}/{segment.object}",
            subject=segment.subject,
            relation=segment.relation,
            period=None,
            score=None,
            detail=" ".join(segment.statements) or None,
        )
        for own in segments.values()
        for segment, _ in own
    )
    return list(batches(rows.AlignedSegment, aligned)), list(batches(rows.Dropped, dropped))


def _pieces(pages: Path, segments: Path) -> Iterator[_Piece]:
    """The pieces of work in order of the subject; every segment is in one of them.

    Items and subjects ascend by length, then text (Q9 before Q10).
    """
    flow = (
        row
        for batch in _batches(segments, rows.NamedSegment, _SEGMENTS, "subject", several=True)
        for row in batch.to_pylist()
    )
    subjects = groupby(flow, key=itemgetter("subject"))
    following = next(subjects, None)
    for batch in _batches(pages, rows.Page, PAGES, "item"):
        items = batch.column("item").to_pylist()
        found: list[dict[str, Any]] = []
        without_page: list[dict[str, Any]] = []
        while following and _order(following[0]) <= _order(items[-1]):
            (found if following[0] in items else without_page).extend(following[1])
            following = next(subjects, None)
            if len(without_page) >= _SEGMENTS:
                yield _Piece((), without_page)
                without_page = []
        if found or without_page:
            yield _Piece((batch,), [*found, *without_page])
    rest = chain(following[1] if following else (), (row for _, own in subjects for row in own))
    while without_page := list(islice(rest, _SEGMENTS)):
        yield _Piece((), without_page)


def _batches(
    path: Path, row: Any, size: int, ordered_by: str, several: bool = False
) -> Iterator[pa.RecordBatch]:
    """A Parquet file in batches, whose columns and the order of one of them are checked."""
    if not path.is_file():
        raise UserError("no such file", where=path)
    names = arrow_schema(row).names
    try:
        file = reading(path)
    except pa.ArrowInvalid as error:
        raise UserError(f"not a Parquet file ({error})", where=path) from error
    with file:
        if missing := [n for n in names if n not in file.schema_arrow.names]:
            raise UserError(f"no column {', '.join(missing)} for {row.__name__}", where=path)
        before: tuple[int, str] = (0, "")
        for batch in file.iter_batches(size, columns=names):
            for value in batch.column(ordered_by).to_pylist():
                key = _order(value)
                if key < before or (key == before and not several):
                    what = "twice" if key == before else f"after {before[1]}"
                    hint = f"sort it by {ordered_by}: shorter ids first, then by text"
                    raise UserError(f"{ordered_by} {value} stands {what}", where=path, hint=hint)
                before = key
            if batch.num_rows:
                yield batch


def _order(item: str) -> tuple[int, str]:
    return len(item), item


def keep_pairs(aligned: ir.Table, settings: Alignment, seed: int) -> tuple[ir.Table, ir.Table]:
    """The segments of the pairs that become questions, and a row of `rows.Dropped` for the others.

    `not_in_page`: more than the share `max_missing` of the segments have rule `none`; the score
    is the share. `over_cap`: of the rest a relation keeps the `pairs_per_relation` pairs with the
    least sha256 of seed and pair, so that a pair's rank depends on nothing else.
    """
    missing = (aligned.rule == "none").cast("int64")
    pairs = aligned.group_by(_PAIR).agg(segments=aligned.count(), missing=missing.sum())
    pairs = pairs.mutate(share=pairs.missing.cast("float64") / pairs.segments)
    pairs = pairs.mutate(
        reason=ibis.ifelse(pairs.share > settings.max_missing, "not_in_page", ibis.null("string"))
    )
    if settings.pairs_per_relation is not None:
        pairs = _capped(pairs, settings.pairs_per_relation, seed)
    segments = aligned.semi_join(pairs.filter(pairs.reason.isnull()), _PAIR)
    left_out = pairs.filter(pairs.reason.notnull())
    of = left_out.missing.cast("string") + " of " + left_out.segments.cast("string")
    dropped = left_out.mutate(
        step=ibis.literal("align"),
        item=left_out.subject + "/" + left_out.relation,
        period=ibis.null("string"),
        score=left_out.share,
        detail=of + " segments are not in the page",
    )
    return segments, dropped.select(arrow_schema(rows.Dropped).names)


def _capped(pairs: ir.Table, cap: int, seed: int) -> ir.Table:
    text = ibis.literal(f"{seed}\t") + pairs.subject + "\t" + pairs.relation
    pairs = pairs.mutate(chance=text.hexdigest("sha256"))
    by = ibis.window(
        group_by=[pairs.relation, pairs.reason.isnull()],
        order_by=[pairs.chance, pairs.subject],
    )
    pairs = pairs.mutate(place=ibis.row_number().over(by))
    over = pairs.reason.isnull() & (pairs.place >= cap)
    return pairs.mutate(reason=ibis.ifelse(over, "over_cap", pairs.reason))
