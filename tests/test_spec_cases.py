"""The cases that the specification of facts and periods names, from a dump's lines to their rows.

One dump holds a subject a case. It is mined, its timelines are made by the rules of the shipped
templates, and its periods are compared once for each granularity and each way with undated
statements. What is expected was worked out by hand from the rules, not by the code.
"""

from collections.abc import Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from factdrift.builders import rows
from factdrift.builders.core.dates import Granularity, Period
from factdrift.builders.core.run import RecipeInput, Source
from factdrift.builders.core.steps import Workspace
from factdrift.builders.facts import steps
from factdrift.builders.facts.period_diff import Undated, compare, ended_periods
from factdrift.builders.facts.relations import Relation, load_relations
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.builders.wikidata.finish import TABLES
from factdrift.builders.wikidata.mine import mine
from factdrift.builders.wikidata.steps import MinedFolder
from tests.dumps import JULIAN, Json, array, item, statement, time_snak
from tests.tables import read_table

TEMPLATES = Path(__file__).parents[1] / "templates"
SNAPSHOT, LAST = date(2026, 1, 15), date(2025, 12, 31)
QUALIFIERS = {
    "start": "P580", "end": "P582", "point": "P585", "earliest": "P1319", "latest": "P1326",
    "latest_start": "P8555", "earliest_end": "P8554", "latest_end": "P12506",
}  # fmt: skip
LIFE = {"born": "P569", "founded": "P571", "died": "P570", "dissolved": "P576"}


class Says(NamedTuple):
    """One statement: object, rank, and the texts of each time qualifier.

    `2019`, `2019-07`, `2019-07-24`, `2010s`, `1385 Julian`, `somevalue`; several: `1 & 2`.
    """

    object: str
    rank: str
    times: dict[str, str]


class Case(NamedTuple):
    """What a dump says of one subject, and the outcomes and segments that follow.

    `outcomes`, by period and perhaps what becomes of undated statements: `unchanged A B | C` (C:
    a possible answer), `updated A`, `new A`, `deleted A`; `-`: nothing to compare; else the reason
    for which the comparison is dropped. `segments`: `A, 2019 to 2020-05-01`, then its flags.
    """

    name: str
    relation: str
    says: tuple[Says, ...]
    outcomes: dict[str, str]
    segments: tuple[str, ...] | None
    life: dict[str, str]


CITIZEN = "P27"

OBJECTS: dict[str, dict[str, str]] = {
    "GDR": {"dissolved": "1990-10-02"},
    "short-lived state": {"founded": "1992-05-01", "dissolved": "1995"},
    "Elizabeth II": {"born": "1926-04-21", "died": "2022-09-08"},
    "late chair": {"died": "2012-08-15"},
    "somebody who died": {"died": "somevalue"},
}
"""Objects with a life; all others have none."""
NAMELESS = "an object without a label"


def _statement(text: str) -> Says:
    """`A!: start 2019, end 2020 & 2021`: the object, `!` for the preferred rank, and its times."""
    thing, _, times = text.partition(": ")
    rank = "preferred" if thing.endswith("!") else "normal"
    return Says(thing.removesuffix("!"), rank, _pairs(times, ", ", " "))


def _pairs(text: str, between: str, inside: str) -> dict[str, str]:
    """`a 1, b 2` as a mapping."""
    return dict(one.split(inside, 1) for one in text.split(between)) if text else {}


def _case(name: str, relation: str, said: str, outcomes: str, segments: str, life: str) -> Case:
    return Case(
        name,
        relation,
        tuple(map(_statement, said.split("; "))),
        _pairs(outcomes, "; ", ": "),
        None if not segments else () if segments == "none" else tuple(segments.split("; ")),
        _pairs(life, ", ", " "),
    )


CASES = [_case(*row) for row in read_table("spec_cases")]

BUILT: list[tuple[Granularity, Undated]] = [
    ("month", "accept"),
    ("quarter", "accept"),
    ("year", "accept"),
    ("quarter", "doubt"),
    ("quarter", "ignore"),
]


# --- From cases to a dump -------------------------------------------------------------------------


def _snak(text: str) -> Json:
    """As `dumps.time_snak`, and `2010s`, `1900c` (a century), `1385 Julian`."""
    if text[-1] in "sc" and text[:-1].isdigit():
        snak = time_snak(text[:-1])
        snak["datavalue"]["value"]["precision"] = 8 if text.endswith("s") else 7
        return snak
    if text.endswith(" Julian"):
        return time_snak(text.removesuffix(" Julian"), JULIAN)
    return time_snak(text)


def _claim(said: Says) -> Json:
    one = statement(_id(said.object), rank=said.rank)
    given = {QUALIFIERS[n]: [*map(_snak, text.split(" & "))] for n, text in said.times.items()}
    return {**one, "qualifiers": given} if given else one


def _life(life: dict[str, str]) -> dict[str, list[Json]]:
    """Dates of birth and the like; `!` after a date: the preferred one."""
    return {
        LIFE[name]: [
            statement(_snak(one.rstrip("!")), rank="preferred" if one.endswith("!") else "normal")
            for one in text.split(" & ")
        ]
        for name, text in life.items()
    }


@cache
def _relations() -> dict[str, Relation]:
    """The shipped relations that the cases are of."""
    asked = {case.relation for case in CASES}
    return {r: one for r, one in load_relations(TEMPLATES).items() if r in asked}


@cache
def _ids() -> dict[str, str]:
    """A number for every subject and object, subjects after objects."""
    objects = dict.fromkeys(said.object for case in CASES for said in case.says)
    names = [*objects, *(case.name for case in CASES)]
    assert len(set(names)) == len(names)
    return {name: f"Q{n}" for n, name in enumerate(names, 1)}


def _id(name: str) -> str:
    return _ids()[name]


def _dump() -> bytes:
    things: dict[str, Any] = dict.fromkeys(s.object for case in CASES for s in case.says)
    objects = [
        item(_id(o), None if o == NAMELESS else o, _life(OBJECTS.get(o, {}))) for o in things
    ]
    subjects = [
        item(
            _id(case.name),
            case.name,
            {**_life(case.life), case.relation: [_claim(s) for s in case.says]},
        )
        for case in CASES
    ]
    return array([*subjects, *objects])


# --- From the dump to outcomes --------------------------------------------------------------------


class Found(NamedTuple):
    """What is compared, by subject, granularity and way with undated statements, as the indexes of
    the first and last period and the outcome; and the segments of each subject.
    """

    compared: dict[tuple[str, Granularity, str], list[tuple[int, int, str]]]
    segments: dict[str, tuple[str, ...]]

    def outcome(self, subject: str, period: Period, undated: str) -> str:
        """What is said of a subject in a period."""
        every = self.compared.get((subject, period.granularity, undated), [])
        met = [outcome for first, last, outcome in every if first <= period.index <= last]
        assert len(met) <= 1
        return met[0] if met else "-"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """The one dump, mined once, with its timelines made once."""
    folder = tmp_path_factory.mktemp("cases")
    (folder / "dump.json").write_bytes(_dump())
    mined = mine([folder / "dump.json"], folder / "mined", undated=[CITIZEN], snapshot=SNAPSHOT)
    files = tuple(mined.summary.with_name(name) for name in TABLES)
    source = Source("dump", files, ("",) * len(files), SNAPSHOT, RecipeInput(licence="CC0-1.0"))
    relations = _relations()
    facts = Facts(
        mined=MinedFolder(tables=source),
        relations=tuple(relations),
        pointwise=tuple(r for r, one in relations.items() if one.mode == "pointwise"),
        undated=tuple(r for r, one in relations.items() if one.undated == "keep"),
    )
    lines = Timelines(facts=facts, rules=steps.time_rules(relations))
    workspace = Workspace(folder / "build", lambda text: None)
    made = workspace.folder(lines)
    compared: dict[tuple[str, Granularity, str], list[tuple[int, int, str]]] = {}
    with workspace.engine() as eng:
        segments = eng.read(made / "timelines.parquet", rows.Segment)
        gaps = eng.read(made / "gaps.parquet", rows.Gap)
        for granularity, undated in BUILT:
            first = Period.of(date(1380, 1, 1), granularity)
            window = ended_periods(first, None, SNAPSHOT, granularity)
            for row in eng.rows(compare(segments, window, gaps, undated=undated)):
                accepted = " |" * bool(row["possible_answers"])
                names = (_names(row[c]) for c in ("answers", "possible_answers"))
                outcome = row["reason"] or f"{row['split']} {f'{accepted} '.join(names).rstrip()}"
                key = (f"Q{row['subject']}", granularity, undated)
                compared.setdefault(key, []).append((row["first"], row["last"], outcome))
            # No comparison is of a period that had not ended by the snapshot.
            lasts = [one[1] for key, some in compared.items() for one in some
                     if key[1:] == (granularity, undated)]  # fmt: skip
            assert max(lasts) == window[-1].index == Period.of(LAST, granularity).index
        told = _segments(eng.rows(steps.released_segments(segments)))
    return Found(compared, told)


def _segments(released: Sequence[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    told: dict[str, list[str]] = {}
    for row in released:
        until = row["valid_to"] or ("open" if row["end_open"] else "?")
        text = f"{_names([row['object']])}, {row['valid_from'] or '?'} to {until}"
        text += ", inferred" * row["end_inferred"] + ", rival" * row["rival"]
        told.setdefault(row["subject"], []).append(text)
    return {subject: tuple(sorted(texts)) for subject, texts in told.items()}


def _names(ids: Sequence[str]) -> str:
    names = {number: name for name, number in _ids().items()}
    return " ".join(sorted(names[one] for one in ids))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(case: Case, found: Found) -> None:
    """Every outcome of a case, and its segments."""
    subject = _id(case.name)
    outcomes = {}
    for asked in case.outcomes:
        period, _, undated = asked.partition(" ")
        outcomes[asked] = found.outcome(subject, Period.parse(period), undated or "accept")
    assert outcomes == case.outcomes
    if case.segments is not None:
        assert found.segments.get(subject, ()) == case.segments
