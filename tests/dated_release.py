"""A tiny release of dated passages with questions of every kind, for tests of what is made of it.

Ann, Bob and Cid led the Bank of Rome one after another; Rome and the bank stand in other passages,
too, which answer nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from factdrift.builders.core.dataset import Dataset, Table
from factdrift.builders.release.publish import write_release
from factdrift.reasoning.as_of.rows import AsOfQuestion, DatedPassage, PassageFact
from tests.release_sample import Sample, from_rows, meta

LEADERS = ("Ann Arden", "Bob Bell", "Cid Cole")
SINCE = (date(2019, 1, 10), date(2020, 3, 1), date(2021, 6, 15))
HAY = 60
"""Passages that have nothing to do with the questions."""


def news(article: str, day: date, *texts: str) -> list[DatedPassage]:
    """The passages of an article."""
    return [
        DatedPassage(
            f"{article}-0_{number}", day, "", f"{day:%A}. {text}", "news", f"{article}_{number}"
        )
        for number, text in enumerate(texts)
    ]


def passages() -> list[DatedPassage]:
    rows = [
        *news(
            "a1", date(2019, 2, 1), "Rain in Rome.", "Ann Arden leads the Bank of Rome, it said."
        ),
        *news("a2", date(2020, 3, 2), "Bob Bell took over the Bank of Rome from Ann Arden."),
        *news("a3", date(2020, 3, 20), "Bob Bell, who leads the Bank of Rome, met Dee Dorn."),
        *news("a4", date(2021, 6, 16), "Cid Cole became head of the Bank of Rome."),
        *news("a5", date(2021, 9, 1), "The Bank of Rome, so Cid Cole, has no plans."),
        DatedPassage("p1", date(2021, 8, 1), "Bank of Rome", "It lies in Rome.", "page", "7-70-0"),
        DatedPassage(
            "p2", date(2021, 8, 1), "Bank of Rome", "Ann led it in 2019.", "page", "7-70-1"
        ),
    ]
    for number in range(HAY):
        day = date(2019 + number % 3, 1 + number % 12, 1 + number % 28)
        rows += news(f"h{number}", day, f"Item {number}: nothing of Oslo.", "More of the same.")
    return sorted(rows, key=lambda row: (row.day, row.id))


def stated(passage: str, leader: int, day: date, *, is_change: bool = False) -> PassageFact:
    return PassageFact(
        passage=passage,
        subject="Q1",
        relation="P488",
        object=f"Q1{leader}",
        object_label=LEADERS[leader],
        since=SINCE[leader],
        day=day,
        relation_word="leads",
        is_current=True,
        is_change=is_change,
        stated_from=None,
        stated_until=None,
        start=0,
        end=10,
        also_named=(),
        statements=(f"Q1$s{leader}",),
    )


def facts() -> list[PassageFact]:
    return [
        stated("a1-0_1", 0, date(2019, 2, 1)),
        stated("a2-0_0", 1, date(2020, 3, 2), is_change=True),
        stated("a3-0_0", 1, date(2020, 3, 20)),
        stated("a4-0_0", 2, date(2021, 6, 16), is_change=True),
        stated("a5-0_0", 2, date(2021, 9, 1)),
        stated("p2", 0, date(2021, 8, 1)),
    ]


def question(
    name: str,
    kind: str,
    as_of: date,
    asked_on: date,
    leader: int | None,
    *,
    evidence: Sequence[str] = (),
    supporting: Sequence[str] = (),
    unjudged: Sequence[str] = (),
    stale: Sequence[str] = (),
) -> AsOfQuestion:
    text = f"On {as_of.day} {as_of:%B %Y}, who was the head of the Bank of Rome?"
    return AsOfQuestion(
        id=name,
        kind=kind,  # type: ignore[arg-type]
        prompt=f"Today is {asked_on}. {text}",
        targets=() if leader is None else (LEADERS[leader],),
        question=text,
        subject="Q1",
        subject_label="Bank of Rome",
        relation="P488",
        as_of=as_of,
        asked_on=asked_on,
        superseded="no",
        age="00-02 months",
        answer_ids=() if leader is None else (f"Q1{leader}",),
        earlier=LEADERS[: leader or 0],
        later=() if leader is None else LEADERS[leader + 1 :],
        evidence=tuple(evidence),
        supporting=tuple(supporting),
        unjudged=tuple(unjudged),
        stale=tuple(stale),
        statements=(),
        sitelinks=1,
    )


def questions() -> list[AsOfQuestion]:
    return [
        question(
            *("q1", "newest", date(2020, 4, 1), date(2020, 4, 1), 1),
            evidence=["a3-0_0"],
            supporting=["a2-0_0"],
            stale=["a1-0_1"],
        ),
        question(
            *("q2", "older", date(2020, 4, 1), date(2021, 9, 30), 1),
            evidence=["a3-0_0"],
            supporting=["a2-0_0"],
            stale=["a1-0_1", "a4-0_0", "a5-0_0", "p2"],
        ),
        question(
            *("q3", "older", date(2019, 6, 1), date(2021, 9, 30), 0),
            supporting=["a1-0_1"],
            unjudged=["p2"],
            stale=["a2-0_0", "a3-0_0", "a4-0_0", "a5-0_0"],
        ),
        question(*("q4", "abstain", date(2019, 1, 20), date(2019, 1, 20), None)),
    ]


def corrected_rows() -> tuple[list[DatedPassage], list[PassageFact]]:
    """Two statements with a wrong day, each with the one that takes it back."""
    rows: list[DatedPassage] = []
    corrected_facts: list[PassageFact] = []
    for name, leader in (("wa", 1), ("wb", 2)):
        wrong_day = SINCE[leader] - timedelta(40)
        for passage, day in ((name, wrong_day), (f"{name}-back", SINCE[leader])):
            text = f"{LEADERS[leader]} became head of the Bank of Rome on {day}."
            rows.append(DatedPassage(passage, day, "", text, "statement", None))
            fact = replace(stated(passage, leader, day), since=day)
            corrected_facts.append(fact if day != wrong_day else replace(fact, statements=()))
    return rows, corrected_facts


def dated_release(out: Path, prefix: str = "") -> Path:
    """Write the release and return its folder; `prefix` stands before the names of its configs.

    With a prefix it has statements that are taken back, too.
    """
    passage_rows, fact_rows = passages(), facts()
    if prefix:
        corrected_passages, corrected_facts = corrected_rows()
        passage_rows = sorted(
            [*passage_rows, *corrected_passages], key=lambda row: (row.day, row.id)
        )
        fact_rows += corrected_facts
    tables = (
        Table(
            f"{prefix}questions", AsOfQuestion, "Q.", {"test": from_rows(AsOfQuestion, questions())}
        ),
        Table(
            f"{prefix}passages",
            DatedPassage,
            "P.",
            {"corpus": from_rows(DatedPassage, passage_rows)},
        ),
        Table(f"{prefix}stated", PassageFact, "S.", {"corpus": from_rows(PassageFact, fact_rows)}),
    )
    about = replace(meta(Sample({})), dataset="as-of", tasks=("question-answering",))
    return write_release(Dataset(tables=tables), about, out).folder
