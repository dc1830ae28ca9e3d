"""What is asked has one answer: subjects of one name are told apart, or are not asked about.

Two footballers are called Danilo, so that `On 30 June 2021: Danilo plays for the club _X_.` has two
answers. Every dataset that asks hands its rows to this module before it writes their texts:

1. An office is named with its country wherever an office of another country has its name:
   `Minister of Finance (India)`.
2. Another subject that a text would name alike is a rival of a row if it may have another answer on
   the day of the row. All subjects of the dump count, also those that are no row. Answers are
   compared by their labels.
3. A subject with a rival is named with its description, `Danilo (Brazilian footballer)`, if that
   tells the two apart. It does not if all words of one description stand in the other.
4. A row with a rival that its name does not tell apart is dropped as `ambiguous_prompt`.

A description is not used if it has a year or speaks of a time (`former`), for the text is about
another day, or if it names an object of the subject, for that gives the answer away. Neither is a
country that is an object itself.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import ibis
import ibis.expr.types as ir
from ibis import _

from factdrift.builders import rows
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.schema import typed_rows, writing
from factdrift.builders.core.tables import has_label
from factdrift.builders.facts.intervals import DATES, IntervalColumns
from factdrift.builders.facts.relations import ClozeTemplates
from factdrift.builders.facts.release_columns import as_dropped
from factdrift.builders.facts.timeline import PAIR
from factdrift.builders.text.en.lexicon import ADJECTIVES
from factdrift.builders.text.given_away import object_names, padded_words, significant_words
from factdrift.builders.text.names import FUNCTION_WORDS
from factdrift.builders.text.render import query
from factdrift.builders.text.words import word_tokens

REASON = "ambiguous_prompt"
"""The drop reason of a row that another subject would answer in another way."""
NAMES = "names.parquet"
"""The file with the names by which texts call subjects (`rows.SubjectName`)."""
AMBIGUOUS = "ambiguous.parquet"
"""The file with the rows that are not asked (`rows.AmbiguousRow`)."""
OFFICES = "offices.parquet"
"""The file with the offices that are named with their country (`rows.OfficeName`)."""
NAMESAKES = "namesakes.parquet"
"""The file with the items that have to be told from others of their name (`rows.Namesake`)."""
# Wikidata states an office as the object of `position held` or the subject of `officeholder`.
_OFFICE_ROLES = (("P39", "object"), ("P1308", "subject"))
# Each row is compared with all subjects of its name, and descriptions tell few people apart where
# dozens have one name. Offices, of which hundreds have one, have their countries by then.
_MOST_NAMESAKES = 60
"""The number of subjects of one name beyond which none of them is asked about."""
# It matches `born 1991`, `(1950-2010)` and `19th-century`, but not `Formula 1`.
_YEAR = re.compile(r"(?<!\d)\d{3,4}(?!\d)|\d(?:st|nd|rd|th)\b")
_TIME_WORDS = frozenset(
    "former formerly ex late retired current currently incumbent present since until born died"
    .split()
)  # fmt: skip
_COUNTRY_OF = {adjective.lower(): country.replace("_", " ") for adjective, country in ADJECTIVES}


class Told(NamedTuple):
    """The result of `tell_apart`: tables of the files `NAMES` and `AMBIGUOUS`."""

    names: ir.Table
    ambiguous: ir.Table


def read_offices(eng: Engine, mined_folder: Path) -> ir.Table:
    """Return the `office_names` of a dump from the folder with its mined tables."""
    statements = eng.read(mined_folder / "statements.parquet", rows.Statement)
    entities = eng.read(mined_folder / "entities.parquet", rows.Entity)
    return office_names(eng, statements, entities)


def office_names(eng: Engine, statements: ir.Table, entities: ir.Table) -> ir.Table:
    """Return the offices whose name offices of several countries have.

    `statements` are all those of a dump (`rows.Statement`), and `entities` are all its entities.
    Columns: `id`, `label`, `country` (null: not known), `office_name` with the country if it is
    known, and `twin`, another office of that name.
    """
    office_ids = ibis.union(
        *(
            statements.filter(statements.relation == property_id).select(id=role)
            for property_id, role in _OFFICE_ROLES
        ),
        distinct=True,
    )
    offices = entities.semi_join(office_ids, "id").select("id", "label", "country")
    offices = offices.filter(has_label(offices.label)).mutate(form=offices.label.lower())
    several = offices.group_by("form").agg(
        countries=offices.country.nunique(), lowest=offices.id.min(), highest=offices.id.max()
    )
    offices = offices.join(several.filter(several.countries > 1), "form")
    with_country = offices.label + " (" + offices.country + ")"
    return eng.keep(
        offices.select(
            "id",
            "label",
            "country",
            office_name=ibis.coalesce(with_country, offices.label),
            twin=ibis.ifelse(offices.id == offices.lowest, offices.highest, offices.lowest),
        )
    )


def write_offices(eng: Engine, offices: ir.Table, out: Path) -> None:
    """Write `OFFICES`, the offices of `office_names` that are named with their country."""
    offices = offices.filter(offices.country.notnull())
    offices = offices.select(
        "id",
        "label",
        name="office_name",
        names=ibis.array([offices.office_name, offices.label + " of " + offices.country]),
    )
    eng.write(offices, out / OFFICES, rows.OfficeName, ("id",))


def offices_by_id(path: Path) -> dict[str, rows.OfficeName]:
    """Read `OFFICES`."""
    return {office.id: office for office in typed_rows(path, rows.OfficeName)}


def alike_relations(templates: Mapping[str, ClozeTemplates]) -> dict[str, str]:
    """Map a relation to the first one that shares a cloze or a question with it; see `alike`."""
    texts_by_relation: dict[str, list[str]] = {}
    for relation, relation_templates in templates.items():
        texts = [query(cloze_text, "S") for cloze_text in relation_templates.cloze.values()]
        texts += filter(None, (relation_templates.ask, relation_templates.timeless))
        texts_by_relation[relation] = texts
    return alike(texts_by_relation)


def alike(texts_by_relation: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Map a relation to the first one that shares a text with it, directly or through others.

    Relations that share no text with an earlier one are left out.
    """
    group_of = {relation: relation for relation in texts_by_relation}
    by_text: dict[str, list[str]] = {}
    for relation, texts in texts_by_relation.items():
        for text in set(texts):
            by_text.setdefault(text, []).append(relation)
    for relations in by_text.values():
        groups = {group_of[relation] for relation in relations}
        for relation, group in group_of.items():
            group_of[relation] = min(groups) if group in groups else group
    return {relation: group for relation, group in group_of.items() if relation != group}


def held_objects(segments: ir.Table, gaps: ir.Table) -> ir.Table:
    """Return what may hold: subject, relation, object (null: unknown) and `DATES`.

    `segments` and `gaps` are those of timelines, or the facts and gaps of a dump.
    """
    columns = [*PAIR, "object", *DATES]
    return segments.select(columns).union(gaps.select(columns))


def read_held(
    eng: Engine, timelines_folder: Path, relations: Collection[str] | None = None
) -> ir.Table:
    """Return the `held_objects` of the step `Timelines`: of these relations, by default of all.

    All subjects of the dump count, also those without a page.
    """
    segments = eng.read(timelines_folder / "timelines.parquet", rows.Segment)
    held = held_objects(segments, eng.read(timelines_folder / "gaps.parquet", rows.Gap))
    return held if relations is None else held.filter(held.relation.isin(sorted(relations)))


def tell_apart(
    eng: Engine,
    out: Path,
    asked: ir.Table,
    held: ir.Table,
    entities: ir.Table,
    offices: ir.Table,
    alike_texts: Mapping[str, str],
) -> Told:
    """Name the subjects of rows so that no other one is meant, and find rows that stay ambiguous.

    `asked` has the columns `key` (what tells rows apart), `subject`, `relation`, `first` and `last`
    (the days of the row; null: any day) and `answers` (item ids). `held` are rows of
    `held_objects`, `offices` those of `office_names`. `alike_texts` has the relations that share
    texts, by `alike_relations`. Writes `NAMES`, one row for each subject and relation that is named
    with something beside its label, and `AMBIGUOUS`, one for each row that is not to be asked.
    """
    held, asked = eng.keep(held), eng.keep(asked)
    pair_names = eng.keep(_pair_names(asked, held, entities, offices, alike_texts))
    conflicts = _with_descriptions(
        eng.keep(_conflicts(asked, held, entities, pair_names)), entities
    )
    conflicts = conflicts.join(_object_names(held, conflicts, entities), PAIR)
    conflict_path = out / "conflicts.parquet"
    eng.write(conflicts, conflict_path, rows.NameConflict, (*PAIR, "key", "rival"))
    with_country = pair_names.filter(pair_names.name != pair_names.label)
    with_country = with_country.semi_join(asked, PAIR).select(*PAIR, "name")
    described_path = out / "described.parquet"
    with (
        writing(described_path, rows.SubjectName) as name_writer,
        writing(out / AMBIGUOUS, rows.AmbiguousRow) as ambiguous_writer,
    ):
        for pair_conflicts in _by_pair(typed_rows(conflict_path, rows.NameConflict)):
            described_name, ambiguous_rows = _settle(pair_conflicts)
            if described_name:
                name_writer.append(described_name)
            for ambiguous_row in ambiguous_rows:
                ambiguous_writer.append(ambiguous_row)
    described = eng.read(described_path, rows.SubjectName)
    all_names = described.union(with_country.anti_join(described, PAIR))
    eng.write(all_names, out / NAMES, rows.SubjectName, PAIR)
    for path in (conflict_path, described_path):
        path.unlink()
    return Told(
        eng.read(out / NAMES, rows.SubjectName), eng.read(out / AMBIGUOUS, rows.AmbiguousRow)
    )


def _pair_names(
    asked: ir.Table,
    held: ir.Table,
    entities: ir.Table,
    offices: ir.Table,
    alike_texts: Mapping[str, str],
) -> ir.Table:
    """Return the name of the subject of each pair before descriptions, and its `group`.

    Pairs of one group and `form`, which is the name in lower case, would be asked alike. `twin` is
    set if the subject is an office that has to be named with its country, and cannot be.
    """
    pairs = asked.select(PAIR).union(held.select(PAIR), distinct=True)
    pairs = pairs.join(entities.select(subject="id", label="label"), "subject")
    pairs = pairs.filter(has_label(pairs.label))
    named_offices = offices.select("country", "office_name", "twin", subject="id")
    pairs = pairs.left_join(named_offices, "subject").drop("subject_right")
    object_labels = held.join(entities, held.object == entities.id)
    object_labels = object_labels.select(*PAIR, country=object_labels.label).distinct()
    given_away = object_labels.mutate(is_object=True)
    pairs = pairs.left_join(given_away, [*PAIR, "country"])
    has_country = pairs.country.notnull() & pairs.is_object.isnull()
    name = ibis.ifelse(has_country, pairs.office_name, pairs.label)
    return pairs.select(
        *PAIR,
        "label",
        name=name,
        form=name.lower(),
        group=pairs.relation.substitute(dict(alike_texts)) if alike_texts else pairs.relation,
        twin=ibis.ifelse(has_country, ibis.null("string"), pairs.twin),
    )


def _conflicts(
    asked: ir.Table, held: ir.Table, entities: ir.Table, pair_names: ir.Table
) -> ir.Table:
    """Return the rivals of each row: `key`, subject, relation, `name`, `rival`.

    A rival is an item id. It is the subject's own if two relations ask about it alike.
    """
    group_columns = ["group", "form"]
    group_sizes = pair_names.group_by(group_columns).agg(size=pair_names.count())
    shared = pair_names.join(group_sizes.filter(group_sizes["size"] > 1), group_columns)
    shared = shared.select(*PAIR, *group_columns, "name", "size")
    labels = entities.filter(has_label(entities.label)).select(item="id", answer="label")
    asked_shared = asked.join(shared, PAIR)
    crowded = asked_shared.filter(asked_shared["size"] > _MOST_NAMESAKES)
    compared = asked_shared.filter(asked_shared["size"] <= _MOST_NAMESAKES)
    own_answers = compared.select("key", item=compared.answers.unnest()).left_join(labels, "item")
    own_answers = own_answers.mutate(answer=_answer_form(own_answers.answer))
    own_answers = own_answers.group_by("key").agg(own=_sorted(own_answers.answer))
    held_shared = held.join(shared.filter(shared["size"] <= _MOST_NAMESAKES), PAIR)
    held_shared = held_shared.left_join(labels, held_shared.object == labels.item)
    held_shared = held_shared.select(
        *group_columns,
        *DATES,
        rival="subject",
        rival_relation="relation",
        answer=_answer_form(held_shared.answer),
    )
    met = compared.join(held_shared, group_columns)
    met = met.filter((met.subject != met.rival) | (met.relation != met.rival_relation))
    # A row without days is compared with what may hold at any time.
    may_hold = IntervalColumns.of(met).holds_within(met["first"], met["last"]).possible
    met = met.filter(may_hold)
    rival_answers = met.group_by(["key", *PAIR, "name", "rival", "rival_relation"]).agg(
        others=_sorted(met.answer)
    )
    rival_answers = rival_answers.join(own_answers, "key")
    different = rival_answers.filter(rival_answers.others != rival_answers.own)
    columns = ["key", *PAIR, "name", "rival"]
    without_country = asked.join(pair_names.filter(pair_names.twin.notnull()), PAIR)
    return ibis.union(
        different.select(columns),
        crowded.mutate(rival=crowded.subject).select(columns),
        without_country.mutate(rival=without_country.twin).select(columns),
        distinct=True,
    )


def _answer_form(label: ir.StringValue) -> ir.StringValue:
    return label.lower().fill_null("")


def _sorted(forms: ir.StringColumn) -> ir.ArrayValue:
    return forms.collect(distinct=True).sort()


def _with_descriptions(conflicts: ir.Table, entities: ir.Table) -> ir.Table:
    for role, column_name in (("subject", "description"), ("rival", "rival_description")):
        texts = entities.select(**{role: "id", column_name: "description"})
        conflicts = conflicts.left_join(texts, role).drop(f"{role}_right")
    return conflicts


def _object_names(held: ir.Table, conflicts: ir.Table, entities: ir.Table) -> ir.Table:
    """Return all names of the objects of each pair that has a rival."""
    objects = held.semi_join(conflicts, PAIR).select(*PAIR, "object").distinct()
    names = entities.select(object="id", label="label", aliases="aliases")
    objects = objects.left_join(names, "object")
    name = ibis.struct(
        {
            "id": objects.object.fill_null(""),
            "label": objects.label.fill_null(""),
            "aliases": objects.aliases.fill_null(ibis.literal([], type="array<string>")),
        }
    )
    return objects.group_by(PAIR).agg(objects=name.collect())


def _by_pair(conflicts: Iterable[rows.NameConflict]) -> Iterator[list[rows.NameConflict]]:
    for _pair, pair_conflicts in groupby(conflicts, key=attrgetter(*PAIR)):
        yield list(pair_conflicts)


def _settle(
    conflicts: Sequence[rows.NameConflict],
) -> tuple[rows.SubjectName | None, list[rows.AmbiguousRow]]:
    """Return the name of a subject with its description, and the rows that stay ambiguous.

    `conflicts` are all those of the rows of one subject and relation.
    """
    pair = conflicts[0]
    is_usable = can_name(pair.description, pair.objects)
    rivals_by_row: dict[str, list[str]] = {}
    is_told = False
    for conflict in conflicts:
        if is_usable and _tells_apart(pair.description, conflict.rival_description):
            is_told = True
        else:
            rivals_by_row.setdefault(conflict.key, []).append(conflict.rival)
    name = None
    if is_told:
        name = rows.SubjectName(pair.subject, pair.relation, f"{pair.name} ({pair.description})")
    return name, [
        rows.AmbiguousRow(key, pair.subject, pair.relation, " ".join(sorted(rivals)))
        for key, rivals in rivals_by_row.items()
    ]


def can_name(description: str | None, objects: Iterable[rows.Answer]) -> bool:
    """Whether a description may stand behind a name, when these are the objects that are asked for.

    >>> can_name("Brazilian footballer", [])
    True
    >>> can_name("former Brazilian footballer", []), can_name("actor (1950-2010)", [])
    (False, False)
    """
    if description is None or _YEAR.search(description):
        return False
    words = word_tokens(description)
    if not words or not _TIME_WORDS.isdisjoint(words):
        return False
    # The adjective of a country names the country.
    countries = [word for place in words for word in word_tokens(_COUNTRY_OF.get(place, ""))]
    described_words, text = significant_words([*words, *countries]), padded_words(words)
    for answer in objects:
        if object_names(answer.label, tuple(answer.aliases)).given_away(described_words, text):
            return False
    return True


def may_mean_others(namesake: rows.Namesake | None, answers: Iterable[rows.Answer]) -> bool:
    """Whether a text that asks for `answers` cannot tell an item from others of its name.

    It cannot where nothing tells them apart, or where what does gives an answer away.
    """
    if namesake is None:
        return False
    text = namesake.description
    return namesake.name is None or bool(text and not can_name(text, answers))


def _tells_apart(description: str | None, other_description: str | None) -> bool:
    """Whether neither of two descriptions has all words of the other."""
    words, other_words = map(_telling_words, (description, other_description))
    return not (words <= other_words or other_words <= words)


def _telling_words(description: str | None) -> frozenset[str]:
    """The words of a description, without numbers and function words."""
    tokens = word_tokens(description or "")
    return frozenset(word for word in tokens if not word.isdigit()) - FUNCTION_WORDS


def write_namesakes(
    eng: Engine,
    out: Path,
    held: ir.Table,
    entities: ir.Table,
    offices: ir.Table,
    items: ir.Table | None = None,
) -> None:
    """Write `NAMESAKES`: the items that texts about several facts cannot name by their labels.

    They are items whose name another item has as a subject, or as an object, of the same relation.
    Such texts speak of many days, so that days are not compared. `items` has the column `id` of
    those that matter, by default all.
    """
    roles = [
        held.select("relation", id=role, role=ibis.literal(role)).distinct()
        for role in ("subject", "object")
    ]
    named = roles[0].union(roles[1]).join(entities.select("id", "label", "description"), "id")
    named = named.filter(has_label(named.label))
    named = named.left_join(offices.select("id", "office_name"), "id").drop("id_right")
    named = named.mutate(name=named.office_name.coalesce(named.label))
    named = eng.keep(named.mutate(form=named.name.lower()))
    place = ["relation", "role", "form"]
    sizes = named.group_by(place).agg(size=named.id.nunique())
    shared = named.join(sizes.filter(sizes["size"] > 1), place)
    wanted = shared if items is None else shared.semi_join(items, "id")
    is_crowded = wanted["size"] > _MOST_NAMESAKES
    few, crowded = wanted.filter(~is_crowded), wanted.filter(is_crowded)
    other_items = shared.select(*place, other="id", text=shared.description.fill_null(""))
    met = few.join(other_items, place)
    item_columns = ["id", "role", "name", "description"]
    met = met.filter(met.id != met.other).select(*item_columns, "text")
    met = met.union(crowded.select(*item_columns, text=ibis.literal("")))
    conflicts = met.group_by(item_columns).agg(others=_.text.collect(distinct=True).sort())
    conflict_path = out / "conflicts.parquet"
    eng.write(conflicts, conflict_path, rows.ItemNames, ("id", "role"))
    known_offices = offices.filter(offices.country.notnull()).select("id", "office_name")
    if items is not None:
        known_offices = known_offices.semi_join(items, "id")
    known_offices = known_offices.mutate(role=ibis.array(["object", "subject"]).unnest())
    told_offices = known_offices.anti_join(conflicts, ["id", "role"])
    with writing(out / NAMESAKES, rows.Namesake) as namesake_writer:
        for row in eng.rows(told_offices.order_by("id", "role")):
            namesake_writer.append(rows.Namesake(row["id"], row["role"], row["office_name"], None))
        for item in typed_rows(conflict_path, rows.ItemNames):
            text = item.description
            is_told = can_name(text, ()) and all(
                _tells_apart(text, other_text) for other_text in item.others
            )
            name = f"{item.name} ({text})" if is_told else None
            namesake_writer.append(
                rows.Namesake(item.id, item.role, name, text if is_told else None)
            )
    conflict_path.unlink()


def namesake_subjects(path: Path) -> dict[str, rows.Namesake]:
    """Read the subjects of `NAMESAKES` by item id."""
    return {item.id: item for item in typed_rows(path, rows.Namesake) if item.role == "subject"}


def not_ambiguous(table: ir.Table, told: Told, key: str) -> ir.Table:
    """Return the rows of a table whose column `key` names no ambiguous row."""
    return table.anti_join(told.ambiguous, table[key] == told.ambiguous.key)


def with_subject_names(table: ir.Table, told: Told) -> ir.Table:
    """Add `subject_name`, what texts call the subject of a row that has a `subject_label`."""
    joined = table.left_join(told.names, PAIR)
    subject_name = joined.name.fill_null(joined.subject_label)
    return joined.select(table.columns, subject_name=subject_name)


def names_by_pair(path: Path) -> dict[tuple[str, str], str]:
    """Read `NAMES`: the name of a subject and relation that is not the label."""
    return {(row.subject, row.relation): row.name for row in typed_rows(path, rows.SubjectName)}


def dropped_rows(ambiguous: ir.Table, step: str, period: ir.Value | None = None) -> ir.Table:
    """Return `rows.AmbiguousRow` as `rows.Dropped`; `detail` has the items of the same name."""
    return as_dropped(
        ambiguous,
        step,
        reason=ibis.literal(REASON),
        item=ambiguous.key,
        period=ibis.null("string") if period is None else period,
        detail=ambiguous.rivals,
    )
