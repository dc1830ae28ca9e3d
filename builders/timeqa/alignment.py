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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path

import ibis
import ibis.expr.types as ir
from pydantic import Field

from factdrift.builders import rows
from factdrift.builders.core.config import Strict
from factdrift.builders.core.parallel import ordered_map
from factdrift.builders.core.schema import typed_rows, writing
from factdrift.builders.core.tables import seeded_order
from factdrift.builders.facts import release_columns
from factdrift.builders.text.names import Name, all_names, is_name, other_forms
from factdrift.builders.text.words import name_words
from factdrift.builders.timeqa.evidence import evidence_columns, evidence_of
from factdrift.builders.timeqa.mentions import PageMention, PageText, Passages
from factdrift.builders.timeqa.sorted_rows import SortedRows

PAGES = 32
"""Subjects in a piece of work: few, as each comes with its page."""
_PAIR = ["subject", "relation"]
DROPPED_ORDER = ("reason", "subject", "relation")
"""Total order of the dropped rows of `keep_pairs`, for `Engine.write`."""
_NAMED = tuple(column.name for column in fields(rows.NamedSegment) if column.name != "object_title")


class Alignment(Strict):
    """Parameters of the alignment; the defaults of the first two are the paper's (section 2.1).

    `min_similarity`: rule (c) needs a greater similarity than this; `max_missing`: a (subject,
    relation) with a greater share of unanswerable segments is dropped; `pairs_per_relation`: at
    most so many (subject, relation) of one relation are kept, all of them with null.
    """

    min_similarity: float = Field(default=0.40, ge=0, le=1)
    max_missing: float = Field(default=0.5, ge=0, le=1)
    pairs_per_relation: int | None = Field(default=None, ge=1)


def align_page(
    page: rows.Page, segments: Sequence[rows.NamedSegment], settings: Alignment
) -> list[rows.AlignedSegment]:
    """Align the segments of the page's subject; each gets its best mention."""
    aligner = _PageAligner(page, segments, settings)
    aligned: dict[int, rows.AlignedSegment] = {}
    for object_id, indexes in aligner.indexes_by_object.items():
        rule, mentions = aligner.mentions(object_id)
        object_segments = [segments[segment_index] for segment_index in indexes]
        best_mentions = evidence_of(aligner.page_text, mentions, object_segments)
        for segment_index, best_mention in zip(indexes, best_mentions, strict=True):
            used_rule: rows.AlignmentRule = rule if best_mention else "none"
            aligned[segment_index] = _aligned(
                aligner.page_text, segments[segment_index], used_rule, best_mention
            )
    return [aligned[segment_index] for segment_index in range(len(segments))]


class _PageAligner:
    """Finds the mentions of the objects of one subject in its page, by the rules (a) to (c)."""

    def __init__(
        self, page: rows.Page, segments: Sequence[rows.NamedSegment], settings: Alignment
    ) -> None:
        self.page_text, self.settings = PageText(page), settings
        self.indexes_by_object: dict[str, list[int]] = {}
        for segment_index, segment in enumerate(segments):
            self.indexes_by_object.setdefault(segment.object, []).append(segment_index)
        self.objects: dict[str, rows.NamedSegment] = {}
        for object_id, indexes in self.indexes_by_object.items():
            self.objects[object_id] = segments[indexes[0]]
        self.names = _names(self.objects)
        self.forms = {object_id: other_forms(names) for object_id, names in self.names.items()}
        self.owners = _owners(self.names) + _owners(self.forms)
        self.passages = Passages(self.page_text)

    def mentions(self, object_id: str) -> tuple[rows.AlignmentRule, list[PageMention]]:
        """The rule by which the page mentions an object, and the mentions by this rule."""
        page_text, object_names = self.page_text, self.names[object_id]
        object_title = self.objects[object_id].object_title
        links = page_text.linked_mentions(object_title)
        # A link by other words (`his deputy`) says that the page mentions it, but is no answer.
        linked_mentions = list(_linked_names(page_text, links, object_names))
        link_names = _link_texts(page_text, linked_mentions, self.names)
        mentions = list(linked_mentions)
        for mention in page_text.named_mentions([*object_names, *link_names], object_title):
            if not any(map(mention.overlaps, linked_mentions)):
                mentions.append(mention)
        if not mentions:
            other_names = [form for form in self.forms[object_id] if self.owners[form.words] == 1]
            mentions = page_text.named_mentions(other_names, object_title)
        if mentions:
            return "link" if links else "name", mentions
        similar_passage = self.passages.most_similar(object_names, self.settings.min_similarity)
        return "similar", [similar_passage] if similar_passage else []


def _linked_names(
    page_text: PageText, links: Iterable[PageMention], object_names: Sequence[Name]
) -> Iterator[PageMention]:
    """The links whose words are a name of the object, as whole words.

    A link that cuts a word or a name is none (`East [[Germany]]`), unless all of it is a name
    of the object: `East [[East Germany|Germany]]`.
    """
    known_words = {name.words for name in object_names}
    for link in links:
        whole_link = page_text.whole_words(link)
        if whole_link == link:
            if is_name(page_text.words(link), object_names):
                yield link
        elif name_words(page_text.words(whole_link)) in known_words:
            yield whole_link


def _names(objects: Mapping[str, rows.NamedSegment]) -> dict[str, list[Name]]:
    """The names to search for, by object.

    A name that several objects have counts only for the objects that have it as their label.
    """
    found_names: dict[str, list[Name]] = {}
    for object_id, segment in objects.items():
        found_names[object_id] = all_names(
            segment.object_label, segment.aliases, segment.object_title
        )
    owners = _owners(found_names)
    own_names: dict[str, list[Name]] = {}
    for object_id, names in found_names.items():
        label = objects[object_id].object_label
        own_names[object_id] = [
            name for name in names if owners[name.words] == 1 or name.text == label
        ]
    return own_names


def _owners(names_by_object: Mapping[str, Sequence[Name]]) -> Counter[tuple[str, ...]]:
    """Return the number of objects that have each name."""
    return Counter(name.words for object_names in names_by_object.values() for name in object_names)


def _link_texts(
    page_text: PageText,
    linked_mentions: Sequence[PageMention],
    names_by_object: Mapping[str, Sequence[Name]],
) -> list[Name]:
    """The texts of the links to an object that look like names and name no other object."""
    known_words = {name.words for object_names in names_by_object.values() for name in object_names}
    link_names: dict[tuple[str, ...], Name] = {}
    for link_text in map(page_text.words, linked_mentions):
        folded_words = name_words(link_text)
        if (
            link_text[0].isupper()
            and sum(map(str.isalpha, link_text)) > 3
            and folded_words not in known_words
        ):
            link_names.setdefault(folded_words, Name(link_text, weak=True))
    return list(link_names.values())


def _aligned(
    page_text: PageText,
    segment: rows.NamedSegment,
    rule: rows.AlignmentRule,
    best_mention: PageMention | None,
) -> rows.AlignedSegment:
    """Return a segment with its best mention in the page, and the evidence around it."""
    return rows.AlignedSegment(
        **{column: getattr(segment, column) for column in _NAMED},
        page=page_text.page.page,
        revision=page_text.page.revision,
        rule=rule,
        paragraph=best_mention.paragraph if best_mention else None,
        start=best_mention.start if best_mention else None,
        end=best_mention.end if best_mention else None,
        mention=page_text.words(best_mention) if best_mention else None,
        score=best_mention.score if best_mention else None,
        **evidence_columns(page_text, best_mention, segment),
        verification="automatic",
    )


Piece = Sequence[tuple[rows.Page | None, Sequence[rows.NamedSegment]]]
"""Subjects with their segments, some of them without a page."""


def align_file(pages: Path, segments: Path, out: Path, settings: Alignment, jobs: int = 1) -> None:
    """Align a file of `rows.NamedSegment`, sorted by subject, with one of `rows.Page`, by item.

    Writes `aligned.parquet` (`rows.AlignedSegment`, in the order of the segments) and
    `dropped.parquet` (`rows.Dropped`: the segments whose subject has no page, reason `no_page`)
    into the folder `out`. Memory holds a few pages a process; the bytes do not depend on `jobs`.
    """
    out.mkdir(parents=True, exist_ok=True)
    with (
        writing(out / "aligned.parquet", rows.AlignedSegment) as aligned,
        writing(out / "dropped.parquet", rows.Dropped) as dropped,
    ):
        align_piece = partial(_align_piece, settings=settings)
        for piece_rows in ordered_map(align_piece, _pieces(pages, segments), jobs=jobs):
            for row in piece_rows:
                (dropped if isinstance(row, rows.Dropped) else aligned).append(row)


def _pieces(pages: Path, segments: Path) -> Iterator[Piece]:
    """The pieces of work in order of the subject; every segment is in one of them."""
    page_rows = SortedRows(pages, rows.Page, "item", batch=PAGES)
    by_subject = groupby(typed_rows(segments, rows.NamedSegment), key=attrgetter("subject"))
    subjects = (
        (next(iter(page_rows.with_key(subject)), None), tuple(subject_segments))
        for subject, subject_segments in by_subject
    )
    while piece := tuple(islice(subjects, PAGES)):
        yield piece


def _align_piece(piece: Piece, settings: Alignment) -> list[rows.AlignedSegment | rows.Dropped]:
    """The segments of a piece that are aligned, and the dropped rows of those without a page."""
    piece_rows: list[rows.AlignedSegment | rows.Dropped] = []
    for page, subject_segments in piece:
        if page:
            piece_rows += align_page(page, subject_segments, settings)
            continue
        for segment in subject_segments:
            item_name, detail = (
                f"{segment.subject}/{segment.relation}/{segment.object}",
                " ".join(segment.statements) or None,
            )
            piece_rows.append(
                rows.Dropped(
                    "align", "no_page", item_name, segment.subject, segment.relation, detail=detail
                )
            )
    return piece_rows


def keep_pairs(aligned: ir.Table, settings: Alignment, seed: int) -> tuple[ir.Table, ir.Table]:
    """The segments of the pairs that become questions, and a row of `rows.Dropped` for the others.

    `not_in_page`: more than the share `max_missing` of the segments have rule `none`; the score
    is the share. `over_cap`: of the rest a relation keeps the `pairs_per_relation` pairs with the
    least sha256 of seed and pair, so that a pair's rank depends on nothing else.
    """
    missing_count = (aligned.rule == "none").cast("int64")
    pairs = aligned.group_by(_PAIR).agg(segments=aligned.count(), missing=missing_count.sum())
    pairs = pairs.mutate(share=pairs.missing.cast("float64") / pairs.segments)
    drop_reason = ibis.ifelse(
        pairs.share > settings.max_missing, "not_in_page", ibis.null("string")
    )
    pairs = pairs.mutate(reason=drop_reason)
    if settings.pairs_per_relation is not None:
        seeded_rank = seeded_order(seed, pairs.subject, pairs.relation)
        ranked_pairs = ibis.window(
            group_by=[pairs.relation, pairs.reason.isnull()], order_by=[seeded_rank, pairs.subject]
        )
        is_over = ibis.row_number().over(ranked_pairs) >= settings.pairs_per_relation
        cap_reason = ibis.ifelse(is_over, "over_cap", ibis.null("string"))
        pairs = pairs.mutate(reason=pairs.reason.fill_null(cap_reason))
    kept_segments = aligned.semi_join(pairs.filter(pairs.reason.isnull()), _PAIR)
    dropped_pairs = pairs.filter(pairs.reason.notnull())
    missing_share = (
        dropped_pairs.missing.cast("string") + " of " + dropped_pairs.segments.cast("string")
    )
    detail = missing_share + " segments are not in the page"
    return kept_segments, release_columns.as_dropped(
        dropped_pairs, "align", score=dropped_pairs.share, detail=detail
    )
