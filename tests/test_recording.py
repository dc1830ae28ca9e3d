"""Recorded answers: the file, what is asked for, what answers may be, and prompts to read."""

import gzip
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.config import replace_models
from factdrift.builders.core.errors import UserError
from factdrift.builders.generate.protocol import WAITING, Result
from factdrift.builders.generate.questions import GenerateSettings
from factdrift.builders.generate.recorded import Recorded, Recording, prompt_id
from factdrift.builders.generate.recording import (
    REQUESTS,
    AnswersMissingError,
    RecordingDesk,
    read_answers,
    while_recording,
    write_texts,
)
from factdrift.builders.generate.replies import parse_verdict
from factdrift.builders.release.record import prune, take_answers
from tests.tables import column_of

ARTICLE = "Lindgrove sold its hall to a brewer on Monday, after two years of debate. " * 4


@pytest.fixture
def settings(tmp_path: Path) -> Recorded:
    return Recorded(model="large-1", recordings=tmp_path / "answers.jsonl.gz")


def desk(settings: Recorded) -> RecordingDesk:
    path = settings.recordings
    recording = Recording.read(path) if path.is_file() else Recording("large-1", date(2026, 11, 27))
    return RecordingDesk(path.parent / "desk", recording)


def test_a_walk_of_two_rounds(settings: Recorded) -> None:
    first_desk = desk(settings)
    model = while_recording(settings, first_desk).open(7)
    prompts = ["Who won?", "Who lost?", "Who won?"]
    assert {model_result.reason for model_result in model.complete(prompts, shape="answer")} == {
        WAITING
    }
    with pytest.raises(AnswersMissingError, match="2 prompts wait"):
        model.finish()
    lines = (first_desk.folder / REQUESTS).read_text("utf-8").splitlines()
    calls = [json.loads(line) for line in lines]
    assert column_of(calls, "custom_id") == [prompt_id("Who won?"), prompt_id("Who lost?")]
    assert calls[0]["body"]["messages"][0]["content"] == "Who won?", "a vendor's batch takes it"
    # one answer of our own form, later one of a vendor's results
    own_answer = {"id": prompt_id("Who won?"), "text": "Ada"}
    (first_desk.folder / "a.jsonl").write_text(json.dumps(own_answer) + "\n")
    assert take_answers(first_desk, print) == 1
    first_desk.recording.write(settings.recordings)
    second_desk = desk(settings)
    model = while_recording(settings, second_desk).open(7)
    assert model.complete(prompts)[0] == Result("Ada")
    assert list(second_desk.requests) == [prompt_id("Who lost?")]
    reply_body = {"choices": [{"message": {"content": "Bo"}}]}
    vendor_answer = {"custom_id": prompt_id("Who lost?"), "response": {"body": reply_body}}
    (second_desk.folder / "b.jsonl").write_text(json.dumps(vendor_answer) + "\n")
    assert take_answers(second_desk, print) == 1
    second_desk.recording.write(settings.recordings)
    third_desk = desk(settings)
    model = while_recording(settings, third_desk).open(7)
    model.complete(prompts)
    model.finish()
    third_desk.close()
    assert not (third_desk.folder / REQUESTS).exists()
    settings.check()
    assert settings.open(1).name == "recorded:large-1"
    assert settings.open(1).complete(prompts[:2]) == [Result("Ada"), Result("Bo")]


def test_answers_of_a_dataset_that_asked_nothing_are_not_pruned(settings: Recorded) -> None:
    recording = Recording("large-1", date(2026, 11, 27))
    recording.answers |= {prompt_id("Who won?"): "Ada", prompt_id("Who lost?"): "Bo"}
    recording.write(settings.recordings)
    round_desk = desk(settings)
    while_recording(settings, round_desk).open(7).complete(["Who won?"])
    assert round_desk.answer_count == 1
    with pytest.raises(UserError, match="no prompt of news was asked"):
        prune(round_desk, ["news"], print)
    assert len(round_desk.recording.answers) == 2
    prune(round_desk, [], print)
    assert [*round_desk.recording.answers] == [prompt_id("Who won?")]


def test_other_prompts_name_the_command_to_record_again(settings: Recorded) -> None:
    recording = Recording("large-1", date(2026, 11, 27), {"default.yaml": "0-x"}, ["news-recipe"])
    recording.answers[prompt_id("Who won?")] = "Ada"
    recording.write(settings.recordings)
    with pytest.raises(UserError) as refusal:
        settings.open(1).complete(["Who won?", "Who lost?"])
    assert "1 of 2 prompts have no recorded answer (the prompt file is another one)" in str(
        refusal.value
    )
    assert "factdrift record news-recipe" in str(refusal.value)
    assert "--model NAME" in str(refusal.value)


def test_a_recording_is_of_one_model(settings: Recorded) -> None:
    Recording("large-1", date(2026, 11, 27)).write(settings.recordings)
    other_settings = settings.model_copy(update={"model": "small-2"})
    with pytest.raises(UserError, match="answers of large-1, the recipe names small-2"):
        other_settings.check()
    missing = settings.model_copy(update={"recordings": settings.recordings.with_name("none")})
    with pytest.raises(UserError, match="factdrift record"):
        missing.check()


def test_the_same_answers_are_the_same_bytes(tmp_path: Path) -> None:
    answers = {
        f"{answer_number:016x}": f"Größe {answer_number}\u2028" for answer_number in range(9)
    }
    paths = [tmp_path / name for name in ("a.jsonl.gz", "b.jsonl.gz")]
    for path, names in zip(paths, (sorted(answers), sorted(answers, reverse=True)), strict=True):
        shuffled = {name: answers[name] for name in names}
        Recording("m", date(2026, 1, 2), answers=shuffled).write(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert Recording.read(paths[0]).answers == answers


@pytest.mark.parametrize(
    ("text", "expected_text"),
    [
        ("", "1: no JSON object"),
        ('{"model": "m"}\n', "1: no head of a recording"),
        ('{"model": "m", "day": "yesterday"}\n', "1: no head of a recording"),
        ('{"model": "m", "day": "2026-01-02"}\n{"id": "a"}\n', "2: no answer with id and text"),
        ('{"model": "m", "day": "2026-01-02"}\n{"id": "a", "te', "2: no JSON object"),
    ],
)
def test_a_damaged_recording(settings: Recorded, text: str, expected_text: str) -> None:
    settings.recordings.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(UserError, match=expected_text):
        settings.check()


@pytest.mark.parametrize(
    ("lines", "expected_text"),
    [
        (['{"id": "a"}'], "a.jsonl:1: no answer"),
        (['{"id": "a", "text": " "}'], "a.jsonl:1: no answer"),
        (['{"id": "a", "text": "x"}', "Ada"], "a.jsonl:2: not valid JSON"),
        (['{"id": "a", "text": "x"}', '{"id": "a", "text": "y"}'], "2: a is answered again"),
        (['{"custom_id": "a", "response": {"status_code": 500}}'], "a.jsonl:1: no answer"),
    ],
)
def test_what_is_no_answer(tmp_path: Path, lines: list[str], expected_text: str) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match=expected_text):
        read_answers(tmp_path)


def test_ids_of_no_request_are_said_and_not_taken(settings: Recorded) -> None:
    round_desk = desk(settings)
    while_recording(settings, round_desk).open(7).complete(["Who won?"])
    answers = [{"id": prompt_id("Who won?"), "text": {"answer": "Ada"}}, {"id": "b", "text": "x"}]
    (round_desk.folder / "a.jsonl").write_text("\n".join(map(json.dumps, answers)) + "\n")
    said_lines: list[str] = []
    assert take_answers(round_desk, said_lines.append) == 1
    assert "1 answers have the id of no request: b" in said_lines[0]
    assert round_desk.recording.answers == {prompt_id("Who won?"): '{"answer": "Ada"}'}


def test_useless_answers_are_counted(settings: Recorded) -> None:
    round_desk = desk(settings)
    round_desk.recording.answers[prompt_id("Good?")] = "perhaps"
    model = while_recording(settings, round_desk).open(7)
    model.complete(["Good?"], shape="verdict", parse=parse_verdict)
    assert round_desk.useless == {"no_verdict": 1}
    assert round_desk.useless_ids == [prompt_id("Good?")]


def test_prompts_to_read(settings: Recorded) -> None:
    """The instruction stands in a file of its own, and an article once, before its questions."""
    round_desk = desk(settings)
    model = while_recording(settings, round_desk).open(7)
    layout = "Answer.\n\nArticle: {}\nQuestion: {}\nAnswer:"
    prompts = [layout.format(ARTICLE, "Who sold it?"), layout.format(ARTICLE, "Who bought it?")]
    prompts.append(layout.format(ARTICLE.replace("hall", "mill"), "Who sold it?"))
    model.complete(prompts, shape="answer")
    folder = round_desk.folder / "texts"
    assert write_texts(round_desk.folder / REQUESTS, folder) == 2
    assert (folder / "instructions-answer.txt").read_text("utf-8") == "Answer.\n"
    first_text = (folder / "0001.txt").read_text("utf-8")
    assert first_text.count(ARTICLE.strip()) == 1 and "[the article above]" in first_text
    for prompt in prompts[:2]:
        assert f"=== id {prompt_id(prompt)}" in first_text


def test_every_recorded_model_of_a_recipe_is_replaced(settings: Recorded) -> None:
    generate = GenerateSettings(backend=settings)
    round_desk = desk(settings)
    changed: Any = replace_models(
        generate, Recorded, lambda model: while_recording(model, round_desk)
    )
    assert type(changed.backend).__name__ == "RecordingModel"
    assert replace_models(generate, Recorded, lambda model: model) is generate
