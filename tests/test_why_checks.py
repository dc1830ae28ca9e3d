"""What `factdrift why` checks of a row: each mistake is told, and none where there is none."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import pytest

from factdrift.builders.core.dataset import Dataset, Table
from factdrift.builders.release.manifest import Manifest, load_manifest
from factdrift.builders.release.publish import write_release
from factdrift.builders.release.why.agreement import RowCheck
from factdrift.builders.release.why.claims import ClaimedItem, Claims, claims_of
from factdrift.builders.release.why.days import day_checks
from factdrift.builders.release.why.explain import WhySources, explain
from factdrift.builders.release.why.histories import AskedTime, FactHistory, FactPair, Term
from factdrift.builders.release.why.lookup import ReleasedRow
from factdrift.builders.release.why.paths import path_checks
from factdrift.builders.rows import Segment
from factdrift.reasoning.as_of.rows import AsOfQuestion, PassageFact
from tests.release_sample import Sample, cloze, dataset, from_rows, meta, segment
from tests.tables import read_table

CASES = read_table("why")


def assert_told(checks: Iterator[RowCheck], told: str | None) -> None:
    """Assert that the checks tell this mistake, or none where `told` is None."""
    mistakes = [check.words for check in checks if not check.agrees]
    assert mistakes == [] if told is None else any(told in words for words in mistakes), mistakes


# --- Paths ---------------------------------------------------------------------------------------


def history_of(pair: FactPair, *terms: tuple[str, str, str]) -> FactHistory:
    """A history of terms: object, first and last day, a year where it is any day of it."""

    def days_of(text: str) -> tuple[date, date]:
        if len(text) == 4:
            return date(int(text), 1, 1), date(int(text), 12, 31)
        return date.fromisoformat(text), date.fromisoformat(text)

    made_terms = tuple(
        Term(
            *(item, f"Club {item[1:]}", *days_of(start), *days_of(end), False, False, False),
            *(None, None, (f"{pair.subject}${item}",)),
        )
        for item, start, end in terms
    )
    return FactHistory(pair.subject, "", pair.relation, "", "", made_terms, "timelines", (), (), ())


@pytest.mark.parametrize("case", CASES["paths"], ids=lambda case: case["what"])
def test_what_follows_from_several_facts(case: Mapping[str, Any]) -> None:
    histories = [
        history_of(FactPair(subject, "P54"), *map(tuple, terms))
        for subject, terms in case["terms"].items()
    ]
    asked_day = date.fromisoformat(case.get("day", "2010-06-01"))
    claims = Claims(
        prompt="",
        targets=tuple(case.get("targets", ())),
        items=tuple(
            ClaimedItem(item, f"Club {item[1:]}", "answer") for item in case.get("answers", ())
        ),
        pair=histories[-1].pair,
        statements=tuple(
            name for history in histories for term in history.terms for name in term.statements
        ),
        asked_time=AskedTime(asked_day, asked_day, f"on {asked_day}"),
        time_before=None,
    )
    assert_told(path_checks(case["row"], claims, histories), case["told"])


# --- Days ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    """A release whose rows ask what holds at the end of a period, and of recent articles."""
    parameters: dict[str, Any] = {
        "at": "end",
        "views": {"recent_days": 30, "past_days": 30, "recent_before": 60},
    }
    end_meta = replace(meta(Sample({})), parameters=parameters)
    out = tmp_path_factory.mktemp("days")
    published = write_release(
        dataset(Sample({"updated": {"2021Q3": [cloze(1, "updated")]}})), end_meta, out, "1.0.0"
    )
    return load_manifest(published.folder)


@pytest.mark.parametrize("case", CASES["days of a row"], ids=lambda case: case["what"])
def test_days_that_a_row_writes_twice(case: Mapping[str, Any], manifest: Manifest) -> None:
    (config,) = manifest.configs
    row_values = {
        column: date.fromisoformat(value) if column.endswith(("_day", "_last", "as_of")) else value
        for column, value in case["row"].items()
    }
    row = ReleasedRow(config, config.splits[0], row_values, tuple(case.get("also in", ())))
    assert_told(day_checks(row, claims_of(row, manifest), manifest), case["told"])


# --- Choices and passages ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """A question with choices."""

    id: Annotated[str, "id"]
    prompt: Annotated[str, "prompt"]
    targets: Annotated[tuple[str, ...], "accepted answers"]
    choices: Annotated[tuple[str, ...], "choices"]
    answer_index: Annotated[int, "place of the right one"]


@pytest.mark.parametrize("case", CASES["choices"], ids=lambda case: case["what"])
def test_the_right_choice(case: Mapping[str, Any], tmp_path: Path) -> None:
    row = ChoiceRow("aaaa000000000001", "Who?", ("Ann", "Ann B."), tuple(case["choices"]), 1)
    tables = (Table("own", ChoiceRow, "Rows.", {"test": from_rows(ChoiceRow, [row])}),)
    released = write_release(Dataset(tables), meta(Sample({})), tmp_path, "1.0.0").folder
    assert_told(iter(explain(row.id, released, WhySources(tmp_path / "none")).checks), case["told"])


OLDER = segment(
    1,
    subject="Q1",
    object="Q10",
    statements=("Q1$10",),
    start_first=date(2015, 7, 1),
    start_last=date(2015, 7, 1),
    end_first=date(2021, 6, 30),
    end_last=date(2021, 6, 30),
    end_open=False,
)
NEWER = replace(
    OLDER,
    object="Q11",
    statements=("Q1$11",),
    start_first=date(2021, 7, 1),
    start_last=date(2021, 7, 1),
    end_first=date(2026, 2, 2),
    end_last=date(2026, 2, 2),
    end_open=True,
)
PROVING = PassageFact(
    *("proving", "Q1", "P54", "Q10", "Club 10", date(2015, 7, 1), date(2020, 1, 1), "", True),
    *(False, None, None, 0, 5, (), ("Q1$10",)),
)
FACTS = (
    PROVING,
    replace(PROVING, passage="earlier", day=date(2018, 1, 1)),
    replace(
        PROVING,
        passage="of another",
        object="Q11",
        object_label="Club 11",
        since=date(2021, 7, 1),
        day=date(2022, 1, 1),
        statements=("Q1$11",),
    ),
)
QUESTION = AsOfQuestion(
    *("aaaa000000000001", "older", "Where on 1 January 2020?", ("Club 10",), "Where?", "Q1"),
    *("Person 1", "P54", date(2020, 1, 1), date(2023, 1, 1), "yes", "36 months and more"),
    answer_ids=("Q10",),
    earlier=(),
    later=(),
    evidence=("proving",),
    supporting=("earlier",),
    unjudged=(),
    stale=("of another",),
    statements=("Q1$10",),
    sitelinks=3,
)


@pytest.mark.parametrize("case", CASES["passages"], ids=lambda case: case["what"])
def test_what_passages_are_worth(case: Mapping[str, Any], tmp_path: Path) -> None:
    changes: dict[str, Any] = {
        column: tuple(value) if isinstance(value, list) else value
        for column, value in case["row"].items()
    }
    sources = {
        "questions": (AsOfQuestion, [replace(QUESTION, **changes)]),
        "stated": (PassageFact, FACTS),
        "timelines": (Segment, (OLDER, NEWER)),
    }
    tables = tuple(
        Table(name, row_type, "Rows.", {"full": from_rows(row_type, table_rows)})
        for name, (row_type, table_rows) in sources.items()
    )
    released = write_release(Dataset(tables), meta(Sample({})), tmp_path, "1.0.0").folder
    explanation = explain(QUESTION.id, released, WhySources(tmp_path / "none"))
    of_passages = [check for check in explanation.checks if "passage" in check.words]
    of_passages += [check for check in explanation.checks if "superseded" in check.words]
    assert of_passages
    assert_told(iter(of_passages), case["told"])
