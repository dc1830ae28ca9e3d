"""Audits of what has no name in the dump, or dates that lives cut: nothing is wrong by silence."""

import json
from datetime import date
from pathlib import Path

import pytest

from factdrift.builders.facts.intervals import Interval
from factdrift.scoring.audit.forms import ColumnChoice, form_of
from factdrift.scoring.audit.rows import Holder, TableAnswer
from factdrift.scoring.audit.run import AuditOptions, audit
from factdrift.scoring.audit.verdicts import PairHistory, Stretch, judge
from tests.dumps import array, compressed, item, prop, statement

ENTITIES = [
    prop("P6", "head of government"),
    prop("P19", "place of birth"),
    item("Q1", "City", {"P6": [statement("Q90", "2000", "2009"), statement("Q91", "2010")]}),
    item("Q2", "Person", {"P19": [statement("Q92")]}),
    item("Q3", "", {"P6": [statement("Q11", "2010")]}),
    item("Q4", "Town", {"P571": [statement("1997")], "P6": [statement("Q11", "1995")]}),
    item("Q11", "Rome"),
]
"""Q90, Q91 and Q92 are named as objects alone, as where a dump was cut to some subjects."""
CASES = [
    # subject, property, answer, date -> verdict, reason
    (("Q1", "P6", "Q90", None), "true before", None),
    (("Q1", "P6", "Q91", None), "in doubt", "object without a name"),
    (("Q1", "P6", "Q91", "2005"), "true later", None),
    (("Q1", "P6", "Q11", None), "never stated", None),
    (("Q1", "P6", "Rome", None), "in doubt", "object without a name"),
    (("Q2", "P19", "Q92", None), "in doubt", "undated"),
    (("Q2", "P19", "Q11", None), "never stated", None),
    (("Q2", "P19", "Rome", None), "in doubt", "object without a name"),
    (("Q3", "P6", "Q11", None), "in doubt", "subject without a name"),
    (("Q3", "P6", "Q90", None), "never stated", None),
    (("Q4", "P6", "Q11", None), "still true", None),
    (("Q4", "P6", "Q11", "1996"), "in doubt", "other readings"),
    (("Q4", "P6", "Q11", "1994"), "true later", None),
]


@pytest.mark.slow
def test_what_has_no_name_is_compared_by_its_id(tmp_path: Path) -> None:
    dump = compressed(array(ENTITIES), tmp_path / "wikidata-20260101-all.json")
    table = tmp_path / "table.jsonl"
    records = [dict(zip("spad", values, strict=True)) for values, _, _ in CASES]
    table.write_text("".join(json.dumps(record) + "\n" for record in records))
    columns = ColumnChoice(subject="s", relation="p", answers="a", date="d")
    out = tmp_path / "out"
    audit(
        AuditOptions(
            file=table,
            dump=[str(dump)],
            columns=columns,
            jobs=1,
            repair=True,
            build=tmp_path / "build",
            out=out,
            say=lambda text: None,
        )
    )
    lines = map(json.loads, (out / "rows.jsonl").read_text().splitlines())
    verdicts = [(line["verdict"], line.get("reason")) for line in lines]
    assert verdicts == [(verdict, reason) for _, verdict, reason in CASES]
    assert "Q91" not in (out / "repaired.jsonl").read_text().splitlines()[0], "no id as a name"


TERM = Interval(date(1980, 1, 1), date(1980, 1, 1), date(1984, 12, 31), date(1984, 12, 31))
LIFE = Interval(date(1939, 1, 1), None, date(1939, 1, 1), date(2016, 12, 31), doubtful=True)
RIVAL = Interval(date(2014, 1, 1), date(2014, 1, 1), date(2026, 1, 1), None, doubtful=True)


@pytest.mark.parametrize(
    ("stretches", "day", "verdict", "reason", "until"),
    [
        # an undated statement of the same object may have held until the end of the life
        ([(TERM, ""), (LIFE, "undated")], 2020, "true before", None, (1984, 2016)),
        ([(TERM, "")], 2020, "true before", None, (1984, 1984)),
        # the dead had it at some time, or never
        ([(LIFE, "undated")], 2020, "in doubt", "undated", None),
        ([(LIFE, "contradictory")], 2020, "in doubt", "contradictory statement", None),
        ([(RIVAL, "rival")], 2008, "true later", None, None),
        ([(RIVAL, "rival")], 2015, "in doubt", "rival", None),
    ],
)
def test_what_may_have_held_beside_what_did(
    stretches: list[tuple[Interval[date], str]],
    day: int,
    verdict: str,
    reason: str | None,
    until: tuple[int, int] | None,
) -> None:
    history = PairHistory(
        [Stretch("Q11", interval, cause) for interval, cause in stretches],
        names={"Q11": Holder("Q11", "Rome", ())},
    )
    first_day = date(day, 6, 1)
    judgment = judge(history, [TableAnswer("Q11", ())], first_day, first_day)
    assert (judgment.verdict, judgment.reason) == (verdict, reason)
    last_days = (judgment.until_first, judgment.until_last)
    assert tuple(last_day.year for last_day in last_days if last_day) == (until or ())


def test_ids_of_popqa_may_be_a_list() -> None:
    record = {
        "s_uri": "Q1",
        "prop": "P463",
        "obj": "a",
        "o_uri": '["Q11", "http://www.wikidata.org/entity/Q12"]',
        "possible_answers": '["a", "b"]',
    }
    form = form_of(record)
    assert form
    (claim,) = form.claims(record, {})
    assert [answer.id for answer in claim.answers] == ["Q11", "Q12"]
    repaired = form.repaired(record, [Holder("Q13", "c", ())]) or {}
    assert repaired["o_uri"] == '["http://www.wikidata.org/entity/Q13"]'
