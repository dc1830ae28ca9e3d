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
from tests.tables import names_of, read_table

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
    object_name, _, times = text.partition(": ")
    rank = "preferred" if object_name.endswith("!") else "normal"
    return Says(object_name.removesuffix("!"), rank, _pairs(times, ", ", " "))


def _pairs(text: str, between: str, inside: str) -> dict[str, str]:
    """`a 1, b 2` as a mapping."""
    return dict(pair_text.split(inside, 1) for pair_text in text.split(between)) if text else {}


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


def _claim(stated: Says) -> Json:
    bare_statement = statement(_id(stated.object), rank=stated.rank)
    time_qualifiers = {
        QUALIFIERS[qualifier_name]: [*map(_snak, times_text.split(" & "))]
        for qualifier_name, times_text in stated.times.items()
    }
    return {**bare_statement, "qualifiers": time_qualifiers} if time_qualifiers else bare_statement


def _life(life: dict[str, str]) -> dict[str, list[Json]]:
    """Dates of birth and the like; `!` after a date: the preferred one."""
    return {
        LIFE[name]: [
            statement(
                _snak(date_text.rstrip("!")),
                rank="preferred" if date_text.endswith("!") else "normal",
            )
            for date_text in dates_text.split(" & ")
        ]
        for name, dates_text in life.items()
    }


@cache
def _relations() -> dict[str, Relation]:
    """The shipped relations that the cases are of."""
    case_relations = {case.relation for case in CASES}
    return {
        relation_id: relation
        for relation_id, relation in load_relations(TEMPLATES).items()
        if relation_id in case_relations
    }


@cache
def _ids() -> dict[str, str]:
    """A number for every subject and object, subjects after objects."""
    objects = dict.fromkeys(said_segment.object for case in CASES for said_segment in case.says)
    names = [*objects, *names_of(CASES)]
    assert len(set(names)) == len(names)
    return {name: f"Q{item_number}" for item_number, name in enumerate(names, 1)}


def _id(name: str) -> str:
    return _ids()[name]


def _dump() -> bytes:
    object_names: dict[str, Any] = dict.fromkeys(
        stated_segment.object for case in CASES for stated_segment in case.says
    )
    objects = [
        item(
            _id(object_name),
            None if object_name == NAMELESS else object_name,
            _life(OBJECTS.get(object_name, {})),
        )
        for object_name in object_names
    ]
    subjects = [
        item(
            _id(case.name),
            case.name,
            {
                **_life(case.life),
                case.relation: [_claim(stated_segment) for stated_segment in case.says],
            },
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
        subject_outcomes = self.compared.get((subject, period.granularity, undated), [])
        outcomes = [
            outcome for first, last, outcome in subject_outcomes if first <= period.index <= last
        ]
        assert len(outcomes) <= 1
        return outcomes[0] if outcomes else "-"


@pytest.fixture(scope="module")
def built_cases(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """The one dump, mined once, with its timelines made once."""
    folder = tmp_path_factory.mktemp("cases")
    (folder / "dump.json").write_bytes(_dump())
    mined_folder = mine(
        [folder / "dump.json"], folder / "mined", undated=[CITIZEN], snapshot=SNAPSHOT
    )
    mined_files = tuple(mined_folder.summary.with_name(name) for name in TABLES)
    source = Source(
        "dump", mined_files, ("",) * len(mined_files), SNAPSHOT, RecipeInput(licence="CC0-1.0")
    )
    relations = _relations()
    facts_step = Facts(
        mined=MinedFolder(tables=source),
        relations=tuple(relations),
        pointwise=tuple(
            relation_id
            for relation_id, relation in relations.items()
            if relation.mode == "pointwise"
        ),
        undated=tuple(
            relation_id for relation_id, relation in relations.items() if relation.undated == "keep"
        ),
    )
    timelines_step = Timelines(facts=facts_step, rules=steps.time_rules(relations))
    workspace = Workspace(folder / "build", lambda text: None)
    timelines_folder = workspace.folder(timelines_step)
    compared: dict[tuple[str, Granularity, str], list[tuple[int, int, str]]] = {}
    with workspace.engine() as eng:
        segments = eng.read(timelines_folder / "timelines.parquet", rows.Segment)
        gaps = eng.read(timelines_folder / "gaps.parquet", rows.Gap)
        for granularity, undated in BUILT:
            first_period = Period.of(date(1380, 1, 1), granularity)
            window = ended_periods(first_period, None, SNAPSHOT, granularity)
            for row in eng.rows(compare(segments, window, gaps, undated=undated)):
                accepted = " |" * bool(row["possible_answers"])
                answer_names = (
                    _names(row[column_name]) for column_name in ("answers", "possible_answers")
                )
                outcome = (
                    row["reason"] or f"{row['split']} {f'{accepted} '.join(answer_names).rstrip()}"
                )
                key = (f"Q{row['subject']}", granularity, undated)
                compared.setdefault(key, []).append((row["first"], row["last"], outcome))
            # No comparison is of a period that had not ended by the snapshot.
            last_indexes = [span[1] for key, spans in compared.items() for span in spans
                     if key[1:] == (granularity, undated)]  # fmt: skip
            assert max(last_indexes) == window[-1].index == Period.of(LAST, granularity).index
        segment_texts = _segments(eng.rows(steps.released_segments(segments)))
    return Found(compared, segment_texts)


def _segments(released: Sequence[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    texts_by_subject: dict[str, list[str]] = {}
    for row in released:
        end_text = row["valid_to"] or ("open" if row["end_open"] else "?")
        segment_text = f"{_names([row['object']])}, {row['valid_from'] or '?'} to {end_text}"
        segment_text += ", inferred" * row["end_inferred"] + ", rival" * row["rival"]
        texts_by_subject.setdefault(row["subject"], []).append(segment_text)
    return {subject: tuple(sorted(texts)) for subject, texts in texts_by_subject.items()}


def _names(ids: Sequence[str]) -> str:
    name_by_id = {item_number: name for name, item_number in _ids().items()}
    return " ".join(sorted(name_by_id[item_id] for item_id in ids))


@pytest.mark.parametrize("case", CASES, ids=names_of(CASES))
def test_case(case: Case, built_cases: Found) -> None:
    """Every outcome of a case, and its segments."""
    subject = _id(case.name)
    outcomes = {}
    for asked_case in case.outcomes:
        period, _, undated = asked_case.partition(" ")
        outcomes[asked_case] = built_cases.outcome(
            subject, Period.parse(period), undated or "accept"
        )
    assert outcomes == case.outcomes
    if case.segments is not None:
        assert built_cases.segments.get(subject, ()) == case.segments
