"""Facts that do not change: which are kept.

After: CKL (paper 004), appendix B.1, which takes single facts of 28 relations and leaves out
answers that overlap the subject and answers that are no entity. The rules on starts, ends,
doubts, queries that read alike, popularity and two snapshots are ours.
"""

from collections.abc import Collection, Mapping

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.core.tables import seeded_order
from factdrift.builders.facts import name_overlap
from factdrift.builders.facts.relations import ClozeTemplates
from factdrift.builders.rows.frames import EXAMPLE_COUNT
from factdrift.builders.text import dates
from factdrift.builders.text.render import query

REASONS = (
    "not_functional", "several_objects", "ended", "began", "in_doubt", "not_in_both",
    "no_sitelink", "overlap", "non_entity", "common_subject", "ambiguous_name", "whole_country",
    "same_query", "less_popular", "over_cap", "example",
)  # fmt: skip
"""Why a pair is left out, in the order in which they are asked."""

_PAIR = ["subject", "relation"]
_DATE = dates.whole_date_pattern("label")
_PLACES = ("P19", "P20", "P740")
"""Relations whose answer is a town, or a place in one."""
_COUNTRY = "P17"


def unchanging_pairs(facts: ir.Table, gaps: ir.Table, older: ir.Table | None = None) -> ir.Table:
    """(subject, relation, object, reason) of `rows.Fact`: one row a pair, with one of its objects.

    `older`: the facts of an older dump, whose ends count too: a capital that moved.

    `several_objects`: at any time; `ended`: an end or one day alone is stated; `began`: a start is
    stated, before which the answer was another or none; `in_doubt`: a `rows.Gap` says that there
    is a value that cannot be named.
    """
    found = facts.group_by(_PAIR).agg(
        object=facts.object.min(),
        objects=facts.object.nunique(),
        began=facts.start_last.notnull().any(),
    )
    ended = _ended(facts) if older is None else _ended(facts).union(_ended(older))
    doubt = gaps.select(*_PAIR).distinct().mutate(doubt=True)
    for more in (ended.distinct().mutate(ended=True), doubt):
        found = found.left_join(more, _PAIR).drop(*(f"{c}_right" for c in _PAIR))
    reason = ibis.cases(
        (found.objects > 1, "several_objects"),
        (found.ended.fill_null(False), "ended"),
        (found.began, "began"),
        (found.doubt.fill_null(False), "in_doubt"),
    )
    return found.select(*_PAIR, "object", reason=reason)


def _ended(facts: ir.Table) -> ir.Table:
    """The pairs of which a fact has an end, or happened on one day."""
    ends = ~facts.end_open | facts.point | facts.end_last.notnull()
    return facts.filter(ends).select(*_PAIR)


def compare_with_older(found: ir.Table, changes: ir.Table) -> ir.Table:
    """`pairs` of the newer dump with `not_in_both` for those that are not the same in the older.

    `changes` are `rows.FactChange`. Pairs that only the older dump has are added with it.
    """
    static = (changes.change == "static") & changes.old_end_open.fill_null(False)
    same = changes.group_by(_PAIR).agg(
        only=changes.count(), static=static.all(), old=changes.object.min()
    )
    same = same.mutate(same=(same.only == 1) & same.static).select(*_PAIR, "same", "old")
    met = same.left_join(found, _PAIR)
    missing = ibis.ifelse(met.same, ibis.null("string"), "not_in_both")
    return met.select(
        *_PAIR, object=met.object.coalesce(met.old), reason=met.reason.coalesce(missing)
    )


def with_labels(found: ir.Table, entities: ir.Table) -> ir.Table:
    """`pairs` with the columns of `rows.NamedInvariant`; `page`: the title of the subject's."""
    popularity = ("sitelinks", "statements")
    subjects = entities.select(*popularity, subject="id", subject_label="label", page="enwiki")
    objects = entities.select("aliases", object="id", object_label="label")
    return found.join(subjects, "subject").join(objects, "object")


def trex_pairs(lines: ir.Table) -> tuple[ir.Table, ir.Table]:
    """`rows.TrexFact` as `named` pairs, and what is left out: a line said before (`duplicate`).

    A pair with several objects has one of them and the reason `several_objects`.
    """
    by = ibis.window(group_by=[*_PAIR, "object"], order_by=["file", "line"])
    placed = lines.mutate(place=ibis.row_number().over(by))
    first = placed.filter(placed.place == 0)
    by = ibis.window(group_by=_PAIR, order_by=["object"])
    first = first.mutate(one=ibis.row_number().over(by))
    objects = first.group_by(_PAIR).agg(objects=first.count())
    one = first.filter(first.one == 0).join(objects, _PAIR)
    several = ibis.ifelse(one.objects > 1, "several_objects", ibis.null("string"))
    again = placed.filter(placed.place > 0)
    none = ibis.null("string")
    drops = again.select(
        step=ibis.literal("trex"),
        reason=ibis.literal("duplicate"),
        item=again.file + ":" + again.line.cast("string"),
        subject=again.subject,
        relation=again.relation,
        period=none,
        score=ibis.null("float64"),
        detail=none,
    )
    columns = arrow_schema(rows.NamedInvariant).names
    return one.select(*columns, reason=several, page=none), drops


def with_reasons(
    found: ir.Table,
    common_nouns: Collection[str],
    many: Collection[str] = (),
    pages: bool = False,
    alike: Mapping[str, str] | None = None,
) -> ir.Table:
    """Named pairs with further reasons, for those that have none yet.

    `not_functional`, before all others: the relation is one of `many`; `no_sitelink`, where
    `pages`; `overlap`: `name_overlap.labels_overlap`; `non_entity`: the answer is a number or a
    date or, unless its relation is one of `common_nouns`, has letters in lower case alone;
    `common_subject`: the subject has; `ambiguous_name`: Wikipedia needs more than the label to name
    the subject, as in `Trinity College, Oxford`; `whole_country`: see `_whole_country`;
    `same_query`: see `_asked_twice`.
    """
    answer, page = found.object_label, found.page.lower()
    label = found.subject_label.lower()
    noun = found.relation.isin(sorted(common_nouns))
    number = ~answer.re_search(r"\p{L}") | answer.re_search(_DATE)
    qualified = page.startswith(label + ", ") | page.startswith(label + " (")
    why = ibis.cases(
        (found.relation.isin(sorted(many)), "not_functional"),
        (found.reason.notnull(), found.reason),
        (ibis.literal(pages) & page.isnull(), "no_sitelink"),
        (name_overlap.labels_overlap(found.subject_label, answer), "overlap"),
        (number | (_common(answer) & ~noun), "non_entity"),
        (_common(found.subject_label) & ~noun, "common_subject"),
        (qualified.fill_null(False), "ambiguous_name"),
        (_whole_country(found), "whole_country"),
        (_asked_twice(found, many, pages, alike or {}), "same_query"),
    )
    return found.mutate(reason=why)


def _common(label: ir.StringColumn) -> ir.BooleanValue:
    """Whether a label has letters in lower case alone, as English common nouns have."""
    return label.re_search(r"\p{Ll}") & ~label.re_search(r"[\p{Lu}\p{Lt}]")


def _whole_country(found: ir.Table) -> ir.BooleanValue:
    """Whether a country stands where a town is asked for: the birthplace that is Greece.

    A country is what more of the pairs have as their country than as the place of `_PLACES`.
    """
    place = found.relation.isin(sorted(_PLACES))
    same = ibis.window(group_by=found.object)
    as_country = (found.relation == _COUNTRY).cast("int64").sum().over(same)
    return place & (as_country > place.cast("int64").sum().over(same))


def _asked_twice(
    found: ir.Table, many: Collection[str], pages: bool, alike: Mapping[str, str]
) -> ir.BooleanValue:
    """Whether a query reads like that of another pair with another answer.

    Such are pairs of one relation whose subjects have the same label, in any case, and pairs of
    relations with a query in common (`alike`: relation -> the first of those that it reads like).
    Those that are left out for another reason count too: that the country Georgia has had two
    capitals does not make "the capital of Georgia" the state's. Subjects without a page do not,
    where `pages`.
    """
    relation = found.relation.substitute(alike) if alike else found.relation
    counts = ~found.relation.isin(sorted(many))
    if pages:
        counts = counts & found.page.notnull()
    # A pair with several objects shows one of them: it differs from every other pair.
    several = (found.reason == "several_objects").fill_null(False)
    answer = ibis.ifelse(several, found.subject + "/" + found.relation, found.object)
    same = ibis.window(group_by=[relation, found.subject_label.lower()])
    answer = ibis.ifelse(counts, answer, ibis.null("string"))
    return answer.min().over(same) != answer.max().over(same)


def alike_relations(templates: Mapping[str, ClozeTemplates]) -> dict[str, str]:
    """Relation -> the first one that has a query in common with it, directly or through others."""
    first = {relation: relation for relation in templates}
    by_text: dict[str, list[str]] = {}
    for relation, about in templates.items():
        for text in about.cloze.values():
            by_text.setdefault(query(text, "S"), []).append(relation)
    for relations in by_text.values():
        joined = {first[one] for one in relations}
        for relation, one in first.items():
            first[relation] = min(joined) if one in joined else one
    return {relation: one for relation, one in first.items() if relation != one}


def cap_relations(found: ir.Table, cap: int, seed: int) -> ir.Table:
    """The `cap` pairs of a relation with the most popular subjects; the others have a reason.

    `less_popular`: by number of sitelinks, then of statements; `over_cap`: nothing is known of
    the popularity (T-REx). Ties by the hash of seed and pair.
    """
    found = found.mutate(
        chance=seeded_order(seed, found.subject, found.relation),
        kept=found.reason.isnull(),
        **{f"by_{c}": -found[c].fill_null(0) for c in ("sitelinks", "statements")},
    )
    order = ["by_sitelinks", "by_statements", "chance", "subject"]
    by = ibis.window(group_by=["relation", "kept"], order_by=order)
    found = found.mutate(place=ibis.row_number().over(by))
    over = found.kept & (found.place >= cap)
    why = ibis.ifelse(found.sitelinks.isnull(), "over_cap", "less_popular")
    return found.mutate(reason=ibis.ifelse(over, why, found.reason))


def hold_out_examples(found: ir.Table, seed: int) -> ir.Table:
    """The pairs with `example` as the reason of those that prompts show, and of their subjects.

    Of each relation up to `SHOWN` pairs, but no more than a tenth: those whose subject has the
    fewest, then by the hash of seed and pair.
    """
    found = found.mutate(
        chance=seeded_order(seed, "example", found.subject, found.relation),
        kept=found.reason.isnull(),
    )
    of_subject = ibis.window(group_by="subject")
    found = found.mutate(others=found.kept.cast("int64").sum().over(of_subject))
    by = ibis.window(group_by=["relation", "kept"], order_by=["others", "chance", "subject"])
    every = ibis.window(group_by=["relation", "kept"])
    shown = ibis.least(found.kept.count().over(every) // 10, EXAMPLE_COUNT)
    found = found.mutate(example=found.kept & (ibis.row_number().over(by) < shown))
    theirs = found.example.any().over(of_subject)
    return found.mutate(reason=ibis.ifelse(found.kept & theirs, "example", found.reason))


def dropped_pairs(found: ir.Table) -> ir.Table:
    """Pairs with a reason as `rows.Dropped`; `detail` is the answer, or one of several."""
    left = found.filter(found.reason.notnull())
    return left.select(
        "reason",
        *_PAIR,
        step=ibis.literal("invariant"),
        item=left.subject + "/" + left.relation,
        period=ibis.null("string"),
        score=ibis.null("float64"),
        detail=left.object_label,
    ).select(arrow_schema(rows.Dropped).names)
