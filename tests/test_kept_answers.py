"""Answers of a memory that breaks off are kept, and the next run goes on after them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import factdrift
from factdrift.builders.core.errors import UserError

QUESTION_COUNT = 5


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    """Passages p0 to p4, a question after each."""
    stream_file = tmp_path / "stream.jsonl"
    events = [
        {"kind": kind, "id": f"{kind[0]}{number}", "day": "2024-01-01", "text": "A text."}
        for number in range(QUESTION_COUNT)
        for kind in ("passage", "question")
    ]
    stream_file.write_text("".join(json.dumps(event) + "\n" for event in events), "utf-8")
    return stream_file


class Counting:
    """A memory with a state: it answers how many passages it heard, and may fail at a question."""

    def __init__(self, failing_id: str = "", failure: BaseException | None = None) -> None:
        self.heard_count = 0
        self.asked_ids: list[str] = []
        self._failing_id = failing_id
        self._failure = failure

    def hear(self, passage: Mapping[str, Any]) -> None:
        self.heard_count += 1

    def answer(self, question: Mapping[str, Any]) -> Any:
        self.asked_ids.append(question["id"])
        if question["id"] == self._failing_id:
            if self._failure is None:
                return None
            raise self._failure
        return f"heard {self.heard_count}"


def predictions(answers_file: Path) -> dict[str, str]:
    rows = map(json.loads, answers_file.read_text("utf-8").splitlines())
    return {row["id"]: row["prediction"] for row in rows}


ALL_ANSWERS = {f"q{number}": f"heard {number + 1}" for number in range(QUESTION_COUNT)}


@pytest.mark.parametrize(
    "failure", [RuntimeError("boom"), ConnectionRefusedError(111, "refused"), KeyboardInterrupt()]
)
@pytest.mark.parametrize("ending", ["", '{"id":"q3","predi'], ids=["whole", "torn"])
def test_the_next_run_goes_on(
    stream: Path, tmp_path: Path, failure: BaseException, ending: str
) -> None:
    answers_file, kept_file = tmp_path / "answers.jsonl", tmp_path / "answers.jsonl.kept"
    with pytest.raises(type(failure)) as raised:
        factdrift.answer_stream(stream, Counting("q3", failure), answers_file)
    assert raised.value is failure
    assert "3 answers are kept in" in raised.value.__notes__[0]
    assert not answers_file.exists()
    with kept_file.open("a") as file:
        file.write(ending)
    second_memory = Counting()
    assert factdrift.answer_stream(stream, second_memory, answers_file) == QUESTION_COUNT
    assert second_memory.asked_ids == ["q3", "q4"]
    assert predictions(answers_file) == ALL_ANSWERS
    assert not kept_file.exists()
    whole_file = tmp_path / "whole.jsonl"
    factdrift.answer_stream(stream, Counting(), whole_file)
    assert whole_file.read_bytes() == answers_file.read_bytes()


@pytest.mark.parametrize("answer", [None, 3, b"Ana Luz", ["Ana Luz"], "\ud800"])
def test_what_is_no_text_is_no_answer(stream: Path, tmp_path: Path, answer: object) -> None:
    class Odd(Counting):
        def answer(self, question: Mapping[str, Any]) -> Any:
            return answer

    with pytest.raises(UserError, match=r"question q0: `answer` returned") as raised:
        factdrift.answer_stream(stream, Odd(), tmp_path / "answers.jsonl")
    assert ('return "unknown"' in str(raised.value)) == (not isinstance(answer, str))
    assert [path.name for path in tmp_path.iterdir()] == ["stream.jsonl"]


class Another(Counting):
    """A memory of another class."""


def test_other_answers_are_not_taken_up(stream: Path, tmp_path: Path) -> None:
    answers_file, kept_file = tmp_path / "answers.jsonl", tmp_path / "answers.jsonl.kept"
    with pytest.raises(UserError, match="q2"):
        factdrift.answer_stream(stream, Counting("q2"), answers_file)
    kept_text = kept_file.read_text("utf-8")
    with pytest.raises(UserError, match="of another stream, or of another memory"):
        factdrift.answer_stream(stream, Another(), answers_file)
    stream_text = stream.read_text("utf-8")
    stream.write_text(stream_text.replace("A text", "Another text"), "utf-8")
    with pytest.raises(UserError, match="of another stream, or of another memory"):
        factdrift.answer_stream(stream, Counting(), answers_file)
    assert kept_file.read_text("utf-8") == kept_text
    stream.write_text(stream_text, "utf-8")
    for damaged_text in ("{}\n", kept_text.replace("q1", "q9"), kept_text.replace("heard", "\x00")):
        kept_file.write_text(damaged_text, "utf-8")
        with pytest.raises(UserError, match="not what was kept here"):
            factdrift.answer_stream(stream, Counting(), answers_file)


def test_a_planted_link_is_not_followed(stream: Path, tmp_path: Path) -> None:
    (victim := tmp_path / "victim").write_text("mine")
    (tmp_path / "answers.jsonl.kept").symlink_to(victim)
    with pytest.raises(UserError):
        factdrift.answer_stream(stream, Counting(), tmp_path / "answers.jsonl")
    assert victim.read_text() == "mine"


def test_one_run_at_a_time(stream: Path, tmp_path: Path) -> None:
    answers_file = tmp_path / "answers.jsonl"

    class Doubled(Counting):
        def answer(self, question: Mapping[str, Any]) -> Any:
            with pytest.raises(UserError, match="another run keeps its answers here"):
                factdrift.answer_stream(stream, Counting(), answers_file)
            return super().answer(question)

    factdrift.answer_stream(stream, Doubled(), answers_file)
    assert predictions(answers_file) == ALL_ANSWERS
