"""The rules that select facts which do not change.

They follow CKL (Jang et al. 2022, appendix B.1), which takes single facts of 28 relations and
leaves out answers that overlap the subject and answers that are no entity. The rules on starts,
ends, doubts, queries that read alike, popularity and two snapshots are ours.
"""

from collections.abc import Collection

import ibis
import ibis.expr.types as ir
from ibis import _

from factdrift.builders import rows
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.core.tables import seeded_order
from factdrift.builders.facts import name_overlap, namesakes
from factdrift.builders.facts.intervals import DATES
from factdrift.builders.rows.frames import EXAMPLE_COUNT
from factdrift.builders.text import dates

REASONS = (
    "not_functional", "several_objects", "ended", "began", "in_doubt", "not_in_both",
    "no_sitelink", "overlap", "non_entity", "common_subject", "ambiguous_name", "whole_country",
    "ambiguous_prompt", "less_popular", "over_cap", "example",
)  # fmt: skip
"""The reasons to leave out a pair, in the order in which they are checked; the first is stated."""

_PAIR = ["subject", "relation"]
_DATE = dates.whole_date_pattern("label")
_PLACES = ("P19", "P20", "P740")
"""Relations whose answer is a town, or a place in one: birth, death and a company's founding."""
_COUNTRY = "P17"


def unchanging_pairs(facts: ir.Table, gaps: ir.Table, older: ir.Table | None = None) -> ir.Table:
    """Return a row for each pair of subject and relation, with one of its objects and a reason.

    `facts` are `rows.Fact`, and `gaps` are `rows.Gap`. `older` are the facts of an older dump,
    whose ends count too, as that of a capital that moved. Columns are subject, relation, object
    and reason; reason is null where the pair may be kept, or else one of:

    - `several_objects`: the pair has more than one object, at any time.
    - `ended`: an end is stated, or that it was on one day only.
    - `began`: a start is stated, before which the answer was another one or none.
    - `in_doubt`: a gap says that there is a value that cannot be named.
    """
    pair_table = facts.group_by(_PAIR).agg(
        object=facts.object.min(),
        objects=facts.object.nunique(),
        began=facts.start_last.notnull().any(),
    )
    ended_pairs = _ended(facts) if older is None else _ended(facts).union(_ended(older))
    doubtful_pairs = gaps.select(*_PAIR).distinct().mutate(doubt=True)
    for marks in (ended_pairs.distinct().mutate(ended=True), doubtful_pairs):
        pair_table = pair_table.left_join(marks, _PAIR).drop(
            *(f"{column}_right" for column in _PAIR)
        )
    reason = ibis.cases(
        (pair_table.objects > 1, "several_objects"),
        (pair_table.ended.fill_null(False), "ended"),
        (pair_table.began, "began"),
        (pair_table.doubt.fill_null(False), "in_doubt"),
    )
    return pair_table.select(*_PAIR, "object", reason=reason)


def _ended(facts: ir.Table) -> ir.Table:
    """The pairs with a fact that has an end, or that happened on one day."""
    ends = ~facts.end_open | facts.point | facts.end_last.notnull()
    return facts.filter(ends).select(*_PAIR)


def compare_with_older(newer_pairs: ir.Table, changes: ir.Table) -> ir.Table:
    """Give pairs of the newer dump that the older one has not, or differently, `not_in_both`.

    `newer_pairs` are those of `unchanging_pairs`, and `changes` are `rows.FactChange` between the
    dumps. Pairs that only the older dump has are added with the same reason.
    """
    static = (changes.change == "static") & changes.old_end_open.fill_null(False)
    unchanged = changes.group_by(_PAIR).agg(
        only=changes.count(), static=static.all(), old=changes.object.min()
    )
    unchanged = unchanged.mutate(same=(unchanged.only == 1) & unchanged.static).select(
        *_PAIR, "same", "old"
    )
    joined_pairs = unchanged.left_join(newer_pairs, _PAIR)
    missing = ibis.ifelse(joined_pairs.same, ibis.null("string"), "not_in_both")
    return joined_pairs.select(
        *_PAIR,
        object=joined_pairs.object.coalesce(joined_pairs.old),
        reason=joined_pairs.reason.coalesce(missing),
    )


def with_labels(pair_table: ir.Table, entities: ir.Table) -> ir.Table:
    """Add labels and popularity, the columns of `rows.NamedInvariant`, and the subject's `page`."""
    popularity = ("sitelinks", "statements")
    subjects = entities.select(*popularity, subject="id", subject_label="label", page="enwiki")
    objects = entities.select("aliases", object="id", object_label="label")
    return pair_table.join(subjects, "subject").join(objects, "object")


def trex_pairs(lines: ir.Table) -> tuple[ir.Table, ir.Table]:
    """Return `rows.TrexFact` as pairs with labels, and the drops of repeated lines (`duplicate`).

    A pair with several objects has one of them and the reason `several_objects`.
    """
    window = ibis.window(group_by=[*_PAIR, "object"], order_by=["file", "line"])
    numbered_lines = lines.mutate(place=ibis.row_number().over(window))
    first_lines = numbered_lines.filter(numbered_lines.place == 0)
    window = ibis.window(group_by=_PAIR, order_by=["object"])
    first_lines = first_lines.mutate(one=ibis.row_number().over(window))
    objects = first_lines.group_by(_PAIR).agg(objects=first_lines.count())
    single_objects = first_lines.filter(first_lines.one == 0).join(objects, _PAIR)
    several = ibis.ifelse(single_objects.objects > 1, "several_objects", ibis.null("string"))
    repeated_lines = numbered_lines.filter(numbered_lines.place > 0)
    null_string = ibis.null("string")
    drops = repeated_lines.select(
        step=ibis.literal("trex"),
        reason=ibis.literal("duplicate"),
        item=repeated_lines.file + ":" + repeated_lines.line.cast("string"),
        subject=repeated_lines.subject,
        relation=repeated_lines.relation,
        period=null_string,
        score=ibis.null("float64"),
        detail=null_string,
    )
    columns = arrow_schema(rows.NamedInvariant).names
    return single_objects.select(*columns, reason=several, page=null_string), drops


def with_reasons(
    pair_table: ir.Table,
    common_nouns: Collection[str],
    excluded_relations: Collection[str] = (),
    pages: bool = False,
) -> ir.Table:
    """Give pairs with labels further reasons, where they have none yet.

    - `not_functional`, which goes before all others: the relation is an excluded one.
    - `no_sitelink`: the subject has no page, where `pages` asks for one.
    - `overlap`: the subject's label and the answer overlap, see `name_overlap.labels_overlap`.
    - `non_entity`: the answer is a number or a date, or it is a common noun and its relation is
      not one of `common_nouns`. A label in lower case is a common noun.
    - `common_subject`: the subject is a common noun.
    - `ambiguous_name`: Wikipedia needs more than the label to name the subject, as in
      `Trinity College, Oxford`.
    - `whole_country`: see `_whole_country`.

    `drop_ambiguous` gives the last of these reasons, `ambiguous_prompt`.
    """
    answer, page = pair_table.object_label, pair_table.page.lower()
    label = pair_table.subject_label.lower()
    takes_nouns = pair_table.relation.isin(sorted(common_nouns))
    is_number = ~answer.re_search(r"\p{L}") | answer.re_search(_DATE)
    is_qualified = page.startswith(label + ", ") | page.startswith(label + " (")
    reason = ibis.cases(
        (pair_table.relation.isin(sorted(excluded_relations)), "not_functional"),
        (pair_table.reason.notnull(), pair_table.reason),
        (ibis.literal(pages) & page.isnull(), "no_sitelink"),
        (name_overlap.labels_overlap(pair_table.subject_label, answer), "overlap"),
        (is_number | (_common(answer) & ~takes_nouns), "non_entity"),
        (_common(pair_table.subject_label) & ~takes_nouns, "common_subject"),
        (is_qualified.fill_null(False), "ambiguous_name"),
        (_whole_country(pair_table), "whole_country"),
    )
    return pair_table.mutate(reason=reason)


def _common(label: ir.StringColumn) -> ir.BooleanValue:
    """Whether a label has letters in lower case alone, as English common nouns have."""
    return label.re_search(r"\p{Ll}") & ~label.re_search(r"[\p{Lu}\p{Lt}]")


def _whole_country(pair_table: ir.Table) -> ir.BooleanValue:
    """Whether a country is given where a town is asked for, as Greece for a birthplace.

    An object counts as a country where more pairs have it as their country than as such a place.
    """
    asks_for_town = pair_table.relation.isin(sorted(_PLACES))
    same_object = ibis.window(group_by=pair_table.object)
    as_country = (pair_table.relation == _COUNTRY).cast("int64").sum().over(same_object)
    return asks_for_town & (as_country > asks_for_town.cast("int64").sum().over(same_object))


def drop_ambiguous(pair_table: ir.Table, ambiguous: ir.Table) -> ir.Table:
    """Give the pairs of `rows.AmbiguousRow` their reason, `ambiguous_prompt`."""
    marks = ambiguous.select(*_PAIR, is_ambiguous=True)
    pair_table = pair_table.left_join(marks, _PAIR)
    pair_table = pair_table.drop(*(f"{column}_right" for column in _PAIR))
    reason = ibis.ifelse(
        pair_table.reason.isnull() & pair_table.is_ambiguous.fill_null(False),
        namesakes.REASON,
        pair_table.reason,
    )
    return pair_table.mutate(reason=reason).drop("is_ambiguous")


def trex_tables(lines: ir.Table) -> tuple[ir.Table, ir.Table]:
    """Return what `rows.TrexFact` say as `namesakes.held_objects`, and the items that they name."""
    no_day = ibis.null("date")
    held = lines.select(*_PAIR, "object").distinct().mutate(**dict.fromkeys(DATES, no_day))
    subjects = lines.select(id="subject", label="subject_label")
    objects = lines.select(id="object", label="object_label")
    items = subjects.union(objects).group_by("id").agg(label=_.label.min())
    no_text = ibis.null("string")
    return held, items.mutate(
        aliases=ibis.literal([], type="array<string>"), description=no_text, country=no_text
    )


def cap_relations(pair_table: ir.Table, cap: int, seed: int) -> ir.Table:
    """The `cap` pairs of a relation with the most popular subjects; the others have a reason.

    `less_popular`: by number of sitelinks, then of statements; `over_cap`: nothing is known of
    the popularity (T-REx). Ties by the hash of seed and pair.
    """
    pair_table = pair_table.mutate(
        chance=seeded_order(seed, pair_table.subject, pair_table.relation),
        kept=pair_table.reason.isnull(),
        **{
            f"by_{column}": -pair_table[column].fill_null(0)
            for column in ("sitelinks", "statements")
        },
    )
    order = ["by_sitelinks", "by_statements", "chance", "subject"]
    by = ibis.window(group_by=["relation", "kept"], order_by=order)
    pair_table = pair_table.mutate(place=ibis.row_number().over(by))
    over = pair_table.kept & (pair_table.place >= cap)
    why = ibis.ifelse(pair_table.sitelinks.isnull(), "over_cap", "less_popular")
    return pair_table.mutate(reason=ibis.ifelse(over, why, pair_table.reason))


def hold_out_examples(pair_table: ir.Table, seed: int) -> ir.Table:
    """The pairs with `example` as the reason of those that prompts show, and of their subjects.

    Of each relation up to `SHOWN` pairs, but no more than a tenth: those whose subject has the
    fewest, then by the hash of seed and pair.
    """
    pair_table = pair_table.mutate(
        chance=seeded_order(seed, "example", pair_table.subject, pair_table.relation),
        kept=pair_table.reason.isnull(),
    )
    of_subject = ibis.window(group_by="subject")
    pair_table = pair_table.mutate(others=pair_table.kept.cast("int64").sum().over(of_subject))
    order_in_group = ibis.window(
        group_by=["relation", "kept"], order_by=["others", "chance", "subject"]
    )
    group = ibis.window(group_by=["relation", "kept"])
    example_count = ibis.least(pair_table.kept.count().over(group) // 10, EXAMPLE_COUNT)
    pair_table = pair_table.mutate(
        example=pair_table.kept & (ibis.row_number().over(order_in_group) < example_count)
    )
    subject_is_example = pair_table.example.any().over(of_subject)
    return pair_table.mutate(
        reason=ibis.ifelse(pair_table.kept & subject_is_example, "example", pair_table.reason)
    )


def dropped_pairs(pair_table: ir.Table) -> ir.Table:
    """Pairs with a reason as `rows.Dropped`; `detail` is the answer, or one of several."""
    dropped = pair_table.filter(pair_table.reason.notnull())
    return dropped.select(
        "reason",
        *_PAIR,
        step=ibis.literal("invariant"),
        item=dropped.subject + "/" + dropped.relation,
        period=ibis.null("string"),
        score=ibis.null("float64"),
        detail=dropped.object_label,
    ).select(arrow_schema(rows.Dropped).names)
