"""Answers that are no name alone: sentences that name something, and ways to say nothing."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from factdrift import score
from factdrift.builders.text.squad import says_nothing, verdict
from factdrift.scoring.score import Scores
from factdrift.scoring.sentences import SentenceAnswers
from tests.dated_release import dated_release


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dated_release(tmp_path_factory.mktemp("sentences"))


RIGHT, OUTDATED, EARLY = (1, 0, 0), (0, 1, 0), (0, 0, 1)


@pytest.mark.parametrize(
    ("answer", "counts"),  # of q1, where Bob Bell leads after Ann Arden and before Cid Cole
    [
        ("It was Bob Bell.", RIGHT),
        ("the BOB BELL, I think", RIGHT),
        ("It is Ann Arden.", OUTDATED),
        ("It is Cid Cole.", EARLY),
        ("Not Ann Arden but Bob Bell.", (0, 0, 0)),
        ("Bob Bellini, they say", (0, 0, 0)),
        ("Bob Bell", (0, 0, 0)),  # right as it stands
        ("Ann Arden", (0, 0, 0)),  # outdated as it stands
        ("Somebody else entirely", (0, 0, 0)),
    ],
)
def test_a_sentence_is_what_the_one_name_in_it_is(
    answer: str, counts: tuple[int, int, int], release: Path, tmp_path: Path
) -> None:
    score(release, {"q1": answer}, out=tmp_path, partial=True)
    sentence_counts = Scores.read(tmp_path).summary["sentences"]
    assert (
        sentence_counts["right"],
        sentence_counts["outdated"],
        sentence_counts["early"],
    ) == counts


def sentence_rows(text: str) -> Mapping[str, str]:
    return dict.fromkeys(("q1", "q2", "q3", "q4"), text)


def test_a_warning_needs_many_sentences(release: Path, tmp_path: Path) -> None:
    said_lines: list[str] = []
    score(release, sentence_rows("It was Bob Bell."), out=tmp_path, say=said_lines.append)
    assert not any("among other words" in line for line in said_lines)  # four are few
    sentence_counts = Scores.read(tmp_path).summary["sentences"]
    assert sentence_counts == {"answers": 4, "exact": 0, "right": 2, "outdated": 0, "early": 1}


@pytest.mark.parametrize(
    ("answer", "is_silent"),
    [
        ("", True),
        ("Unknown.", True),
        ("I do not know.", True),
        ("I don't know", True),
        ("N/A", True),
        ("None", True),
        ("Not known.", True),
        ("The passages do not say it.", True),
        ("The passages don't say who led the Bank of Rome.", True),
        ("The context does not mention it.", True),
        ("Nothing that was published by 20 January 2019 says it.", True),
        ("Nothing that was published by today says it", True),
        ("Nothing that I have been given by today says it.", True),
        ("Nothing I was given says who it was", True),
        ("The passages do not say, but it was Bob Bell.", False),
        ("The passages do not say who, though probably Bob Bell.", False),
        ("The passages do not mention Bob Bell.", False),
        ("Nothing Compares 2 U", False),
        ("Nothing But Thieves", False),
        ("Nobody", False),
        ("None of the Above", False),
        ("The Context", False),
    ],
)
def test_ways_to_say_nothing(answer: str, is_silent: bool, release: Path, tmp_path: Path) -> None:
    assert says_nothing(answer) is is_silent
    score(release, {"q1": answer, "q4": answer}, out=tmp_path, partial=True)
    verdict_counts = Scores.read(tmp_path).summary["verdicts"]
    assert (verdict_counts["abstained"], verdict_counts["right"]) == (
        (1, 1) if is_silent else (0, 0)
    )


@pytest.mark.parametrize(
    ("known_names", "expected"),
    [
        ({"targets": ["None"]}, "right"),
        ({"targets": ["Bob"], "previous": ["None"]}, "outdated"),
        ({"targets": ["Bob"], "later": ["None"]}, "early"),
        ({"targets": ["Bob"]}, "abstained"),
        ({"targets": []}, "right"),
    ],
)
def test_somebody_may_be_called_none(known_names: dict[str, list[str]], expected: str) -> None:
    assert verdict("None", **known_names) == expected


@pytest.mark.parametrize(
    ("sentences", "answers", "are_many"),
    [(5, 49, True), (5, 50, False), (4, 4, False), (6, 59, True)],
)
def test_five_sentences_that_are_over_a_tenth_are_many(
    sentences: int, answers: int, are_many: bool
) -> None:
    counts = SentenceAnswers(answers, exact=0, right=sentences - 2, outdated=1, early=1)
    assert counts.are_many is are_many
    assert f"of {answers:,} answers" in counts.warning
