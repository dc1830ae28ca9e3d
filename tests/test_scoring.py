"""`factdrift score`: joined by id, scored, split into strata; what is wrong is told."""

import gzip
import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.limits import LONGEST_ROW
from factdrift.builders.rows import Answer, Cloze
from factdrift.builders.text.squad import exact_match, f1
from factdrift.reasoning.rows import ReasoningQuestion
from factdrift.scoring.predictions import (
    Prediction,
    prompt_hash,
    read_predictions,
    write_predictions,
)
from factdrift.scoring.score import ScoreOptions, Scores, score_predictions
from samples.quarters.simulated import asked_rows, predict, stops_on
from tests.conftest import run_cli
from tests.release_sample import PERIODS, Sample, cloze, edited, publish
from tests.tables import read_table

Row = Mapping[str, Any]


@pytest.fixture(scope="module")
def release_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five pairs in two quarters that do not change, one that does."""
    return publish(tmp_path_factory.mktemp("releases")).folder


def scored(release_folder: Path, predictions_file: Path, **further_values: Any) -> Scores:
    options = {
        "out": predictions_file.parent / "scores",
        "say": lambda output_line: None,
        **further_values,
    }
    return score_predictions(ScoreOptions(release=release_folder, file=predictions_file, **options))


def mean(release_scores: Scores, metric_name: str, **wanted_place: Any) -> tuple[int, Any]:
    """Number of rows and mean of one line of the table."""
    mean_place = {"config": None, "split": None, "stratum": "all", "value": "all", **wanted_place}
    (found_values,) = [
        any_score
        for any_score in release_scores.table
        if any_score.metric == metric_name
        and all(
            getattr(any_score, stratum_key) == stratum_days
            for stratum_key, stratum_days in mean_place.items()
        )
    ]
    return found_values.n, found_values.mean


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def same(path: Path, *keys: str, **further_values: str) -> Path:
    """One answer for all these rows."""
    return lines(
        path, *({"id": answer_key, "prediction": "C1", **further_values} for answer_key in keys)
    )


def ids(release_folder: Path) -> list[str]:
    return [row["id"] for _, _, row in asked_rows(release_folder)]


@pytest.mark.parametrize("file_suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet"])
def test_predictions_are_read_as_they_were_written(tmp_path: Path, file_suffix: str) -> None:
    given_values: list[dict[str, Any]] = [
        {"id": "a", "prediction": "x", "prompt_sha256": "0" * 16},
        {"id": "b", "prediction": None, "config": "c", "split": "s"},
        {"id": "c", "candidates": ["x", "y"], "evidence": ["e"]},
        {"id": "d", "choice_scores": [0.5, -1.0]},
    ]
    path = tmp_path / f"p{file_suffix}"
    second_file = tmp_path / f"again{file_suffix}"
    assert [
        write_predictions(predictions_file, [Prediction(**any_score) for any_score in given_values])
        for predictions_file in (path, second_file)
    ] == [4, 4]
    assert path.read_bytes() == second_file.read_bytes()
    (batch,) = read_predictions(path)
    empty_fields = dict.fromkeys(batch.schema.names) | {"from_scores": False}
    assert batch.to_pylist() == [empty_fields | any_score for any_score in given_values]


def test_scores_of_answers_are_their_order(tmp_path: Path) -> None:
    path = lines(tmp_path / "p.jsonl", {"id": "a", "scores": {"x": -2.0, "z": -1.0, "y": -1.0}})
    assert next(iter(read_predictions(path))).column("candidates").to_pylist() == [["y", "z", "x"]]


def test_every_mean_is_that_of_the_rows(release_folder: Path, tmp_path: Path) -> None:
    def says(row: Row) -> str:
        return str(row["targets"][0] if int(row["subject"][1:]) % 2 else "Club of " + row["id"])

    predictions_file = predict(release_folder, tmp_path / "p.jsonl", says)
    release_scores = scored(release_folder, predictions_file)
    rows = list(asked_rows(release_folder))
    for metric_name, of_one in (("exact_match", exact_match), ("f1", f1)):
        for config, split in {(config_name, split_name) for config_name, split_name, _ in rows}:
            values = [
                of_one(says(row), row["targets"])
                for config_name, split_name, row in rows
                if (config_name, split_name) == (config, split)
            ]
            found_values = mean(release_scores, metric_name, config=config, split=split)
            assert found_values == (len(values), pytest.approx(sum(values) / len(values), abs=1e-6))
        all_ids = [of_one(says(row), row["targets"]) for *_, row in rows]
        assert mean(release_scores, metric_name) == (
            len(all_ids),
            pytest.approx(sum(all_ids) / len(all_ids), 1e-5),
        )


def test_the_same_predictions_give_the_same_bytes(release_folder: Path, tmp_path: Path) -> None:
    predictions_file = predict(release_folder, tmp_path / "p.jsonl", lambda row: "C3")
    for folder in ("a", "b"):
        scored(release_folder, predictions_file, out=tmp_path / folder, cutoff=date(2021, 6, 30))
    for name in ("scores.json", "rows.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_few_answers_are_judged_as_among_all(tmp_path: Path) -> None:
    """The names of facts without an answer are not read; earlier ones of the other facts are."""
    answer = {
        period: {"answers": (Answer("Q1", club, ()),), "targets": (club,), "previous_answers": ()}
        for period, club in zip(PERIODS, ("Old", "New"), strict=True)
    }
    rows = {
        period: [cloze(n, "updated", period, **answer[period]) for n in range(3)]
        for period in PERIODS
    }
    release_folder = publish(tmp_path, Sample({"updated": rows})).folder
    predictions_file = predict(release_folder, tmp_path / "all.jsonl", lambda row: "Old")
    of_all = verdicts(scored(release_folder, predictions_file))
    assert sorted(of_all.values()) == ["outdated"] * 3 + ["right"] * 3
    last_line = predictions_file.read_text().splitlines()[-1]
    single_file = lines(tmp_path / "single.jsonl", json.loads(last_line))
    (of_single,) = verdicts(scored(release_folder, single_file, partial=True)).items()
    assert of_single in of_all.items() and of_single[1] == "outdated"


def verdicts(scores: Scores) -> dict[str, str]:
    """Id -> verdict of every row."""
    rows = pq.read_table(scores.folder / "rows.parquet").to_pylist()
    return {row["id"]: row["verdict"] for row in rows}


def question(number: int, *choices: str) -> ReasoningQuestion:
    any_score = cloze(number)
    question_fields = "id prompt targets question subject subject_label relation sitelinks"
    values: dict[str, Any] = {name: getattr(any_score, name) for name in question_fields.split()}
    values |= dict.fromkeys(("context", "family", "wording", "path", "answer_kind"), "")
    values |= dict.fromkeys(("answer_ids", "statements", "evidence"), ())
    values |= dict.fromkeys(("shortcut_newest", "shortcut_longest", "shortcut_first_hop"))
    values |= dict.fromkeys(("shortcut_first", "shortcut_before_newest", "twin"))
    values |= {"variant": 0, "table_size": 3}
    values |= {"question_id": any_score.id, "hops": 1, "as_of": any_score.period_last}
    values |= {"changed": any_score.period_first, "changed_since": False}
    number_index = choices.index(any_score.targets[0])
    return ReasoningQuestion(**values, choices=choices, answer_index=number_index)


BEFORE = cloze(70).answers
ROWS: dict[str, Cloze | ReasoningQuestion] = {
    "changed": cloze(7, "updated", previous_answers=BEFORE),
    "stays": cloze(7, "updated", previous_answers=BEFORE, still_true=BEFORE),
    "choices": question(7, "Club 9", "Club 7", "Club 8"),
}
CASES = read_table("scoring_cases")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_a_prediction_scores(tmp_path: Path, case: dict[str, Any]) -> None:
    row, printed_text, *expected_values = case.items()
    any_score = ROWS[row[1]]
    name, split = ("updated", "2021Q3") if isinstance(any_score, Cloze) else ("questions", "test")
    release_folder = publish(tmp_path, Sample({name: {split: [any_score]}})).folder
    predictions_file = lines(tmp_path / "p.jsonl", {"id": any_score.id, **printed_text[1]})
    with pytest.raises(UserError, match=case["error"]) if "error" in case else nullcontext():
        scored(release_folder, predictions_file)
        (found_values,) = pq.read_table(tmp_path / "scores/rows.parquet").to_pylist()
        assert {
            answer_key: found_values.get(answer_key) for answer_key, _ in expected_values
        } == pytest.approx(dict(expected_values))


def test_what_was_right_in_an_earlier_period_is_outdated(tmp_path: Path) -> None:
    rows = {
        "2021Q3": [cloze(1)],
        "2021Q4": [cloze(1, "updated", "2021Q4", targets=("Club 9",), previous_answers=())],
    }
    release_folder = publish(tmp_path, Sample({"all": rows})).folder
    release_scores = scored(
        release_folder, predict(release_folder, tmp_path / "p.jsonl", lambda row: "Club 1")
    )
    assert pq.read_table(tmp_path / "scores/rows.parquet")["verdict"].to_pylist() == [
        "right",
        "outdated",
    ]
    assert mean(release_scores, "outdated", config="all") == (1, 1)


def test_what_is_not_scored_is_counted(tmp_path: Path) -> None:
    kept_answers = replace(ROWS["stays"], id="stays")
    release_folder = publish(
        tmp_path, Sample({"updated": {"2021Q3": [kept_answers, cloze(8), cloze(9)]}})
    ).folder
    printed_text = [
        {"id": "stays", "prediction": "Club 70"},
        {"id": cloze(8).id, "scores": {"Club 8": -2}},
    ]
    told_answers: list[str] = []
    predictions_file = lines(
        tmp_path / "p.jsonl", *printed_text, {"id": cloze(9).id, "prediction": "Club 9"}
    )
    release_scores = scored(release_folder, predictions_file, say=told_answers.append)
    row_counts = {
        name: release_scores.summary["counts"][name] for name in ("rows", "neutral", "undecided")
    }
    assert row_counts == {"rows": 3, "neutral": 1, "undecided": 1}
    assert mean(release_scores, "exact_match", config="updated") == (1, 1)
    assert [output_line[:18] for output_line in told_answers] == [
        "left out: 1 row wi",
        "left out: 1 predic",
    ]


LAGS = {
    "-20 or less": ("2015-06-30", "2001-01-01"),
    "-19": ("2015-07-01",),
    "-1": ("2020-03-31",),
    "+0": ("2020-04-01", "2020-06-30"),
    "+1": ("2020-07-01",),
    "+19": ("2025-03-31",),
    "+20 or more": ("2025-04-01", "2030-01-01"),
}


def days_of_years(first_year: int, year_count: int) -> list[str]:
    """A day of each of so many years."""
    return [f"{first_year + number}-02-01" for number in range(year_count)]


STRATA: list[tuple[str, list[str], dict[str, int] | None]] = [
    # of questions that ask about these days, or of subjects so well known: rows by value
    ("year", days_of_years(1980, 40), dict.fromkeys(map(str, range(1980, 2020)), 1)),
    ("year", days_of_years(1980, 41), None),
    ("decade", days_of_years(1980, 40), None),
    ("decade", days_of_years(1979, 41), {"1970s": 1, **dict.fromkeys(
        ("1980s", "1990s", "2000s", "2010s"), 10)}),
    ("lag", [day for days in LAGS.values() for day in days],
        {lag: len(days) for lag, days in LAGS.items()}),
    ("popularity", ["3"] * 4, None),
    ("popularity", ["1", "2", "3", "4", "5"], dict.fromkeys(
        ("1 (least known)", "2", "3", "4", "5 (best known)"), 1)),
    ("popularity", ["7"] * 5, {"5 (best known)": 5}),
]  # fmt: skip


@pytest.mark.parametrize(("stratum", "given_values", "expected_values"), STRATA)
def test_rows_by_stratum(
    tmp_path: Path, stratum: str, given_values: list[str], expected_values: dict[str, int] | None
) -> None:
    rows = []
    for number, stratum_text in enumerate(given_values):
        row = question(number, f"Club {number}", "Club 99")
        known_values = (
            {"sitelinks": int(stratum_text)}
            if stratum_text.isdigit()
            else {"as_of": date.fromisoformat(stratum_text)}
        )
        rows.append(replace(row, subject=f"Q{number}", **known_values))
    release_folder = publish(tmp_path, Sample({"questions": {"test": rows}})).folder
    predictions_file = predict(release_folder, tmp_path / "p.jsonl", lambda row: row["targets"][0])
    release_scores = scored(release_folder, predictions_file, cutoff=date(2020, 6, 30))
    found_values = {
        mean_line.value: mean_line.n
        for mean_line in release_scores.table
        if (mean_line.stratum, mean_line.metric) == (stratum, "f1")
    }
    assert found_values == (expected_values or {})
    assert list(found_values) == list(expected_values or {})  # in order


def test_an_answer_again_and_again_is_told_unless_it_is_right(
    release_folder: Path, tmp_path: Path
) -> None:
    told_answers: list[str] = []
    rows = {row["id"]: row["subject"] for _, _, row in asked_rows(release_folder)}
    right_answer = [
        {"id": answer_key, "prediction": "C3"}
        for answer_key, subject in rows.items()
        if subject == "Q3"
    ]
    scored(
        release_folder,
        lines(tmp_path / "p.jsonl", *right_answer),
        say=told_answers.append,
        partial=True,
    )
    assert not any("example of its prompt" in output_line for output_line in told_answers)
    scored(
        release_folder,
        predict(release_folder, tmp_path / "p.jsonl", lambda _: "C3"),
        say=told_answers.append,
    )
    assert any(
        "11 of 11 answers are 'c3', which is right in 2 rows" in output_line
        for output_line in told_answers
    )
    # of a guess, which does not read the question, it says nothing
    guess_file = predict(release_folder, tmp_path / "guess.jsonl", lambda _: "C3")
    guess_file.with_suffix(".json").write_text('{"model": "m", "guess": "most frequent"}')
    told_answers.clear()
    scored(release_folder, guess_file, say=told_answers.append)
    assert not any("which is right in" in output_line for output_line in told_answers)


@pytest.mark.parametrize(
    ("file_content", "error_text"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "no predictions"),
        (b'{"id": "x", "prediction": "a"}\nnot json\n', "p.jsonl:2: no prediction"),
        (b'{"id": "x", "prediction": "a"}\n\n{"id": [7], "prediction": "a"}\n', "p.jsonl:3: "),
        (b'{"id": "x"}\n', "p.jsonl:1: no answer"),
        (b'{"id": "x", "prediction": "a", "candidates": []}', "more than one kind of answer"),
        (b'{"id": "x", "scores": {"a": 1e999}}', "p.jsonl:1: "),
        (b'{"id": "x", "scores": {"a": NaN}}', "p.jsonl:1: a score that is not a finite"),
        (b'{"id": "\\ud800", "prediction": "a"}', "p.jsonl:1: no prediction"),
        (b'{"id": "x", "prediction": "\xc3"}', "p.jsonl:1: no prediction"),
        (b'{"id": "x", "evidence": ' + b"[" * 100_000, "p.jsonl:1: "),
        (
            b'{"id": "' + b"x" * LONGEST_ROW + b'", "prediction": "a"}',
            "p.jsonl:1: a line of more than",
        ),
        (b'{"id": "unknown", "prediction": "a"}\n', "all predictions are of rows that sample"),
        (b"PK\x03\x04 a zip", "this is a zip archive"),
        (b"PAR1 is no Parquet", "no predictions: "),
        (gzip.compress(b'{"id": "x", "prediction": "a"}\n' * 1000)[:60], "cut short or damaged"),
    ],
    ids=lambda field_value: field_value if isinstance(field_value, str) else "",
)
def test_a_broken_file_is_told(
    release_folder: Path, tmp_path: Path, file_content: bytes, error_text: str
) -> None:
    predictions_file = tmp_path / "p.jsonl"
    predictions_file.write_bytes(file_content)
    with pytest.raises(UserError) as error:
        scored(release_folder, predictions_file)
    assert error_text in str(error.value)
    assert not (tmp_path / "scores").exists()


def test_missing_double_and_unknown_ids_are_told(release_folder: Path, tmp_path: Path) -> None:
    first_id, *further_ids = ids(release_folder)
    for further_values, error_text in (
        ([], f"no prediction for 1 rows of .*: {first_id}"),
        ([first_id, further_ids[1]], f"more than one prediction for 1 rows: {further_ids[1]}"),
        ([first_id, "elsewhere"], r"1 of 12 predictions are of rows that .*: elsewhere"),
    ):
        with pytest.raises(UserError, match=error_text):
            scored(release_folder, same(tmp_path / "p.jsonl", *further_ids, *further_values))
    partial_scores = scored(
        release_folder, same(tmp_path / "p.jsonl", *further_ids, "elsewhere"), partial=True
    )
    row_counts = {"predictions": 11, "rows": 10, "missing": 1, "unknown": 1}
    assert partial_scores.summary["counts"] == row_counts | dict.fromkeys(
        ("elsewhere", "undecided", "neutral"), 0
    )


def test_predictions_of_other_configs_are_counted_and_not_unknown(
    release_folder: Path, tmp_path: Path
) -> None:
    predictions_file = predict(release_folder, tmp_path / "p.jsonl", lambda row: "C1")
    counts = scored(release_folder, predictions_file, configs=("updated",)).summary["counts"]
    assert counts["unknown"] == 0
    assert counts["elsewhere"] == len(ids(release_folder)) - counts["rows"] > 0
    unchanged_file = predict(release_folder, tmp_path / "q.jsonl", lambda row: "C1", ("unchanged",))
    with pytest.raises(UserError, match="rows of other configs than updated"):
        scored(release_folder, unchanged_file, configs=("updated",))


def test_an_object_without_ids_is_told_the_form(release_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"foo": 1}')
    with pytest.raises(UserError, match=r'p.jsonl:1: one object(.|\n)*a line is {"id"'):
        scored(release_folder, tmp_path / "p.jsonl")


def test_predictions_of_another_version_of_the_prompts_are_refused(
    release_folder: Path, tmp_path: Path
) -> None:
    predictions_file = predict(release_folder, tmp_path / "p.jsonl", lambda row: "C1")
    reworded_rows = [cloze(number, prompt=f"{number}?") for number in range(5)]
    other_release = publish(tmp_path / "other", edited("unchanged", "2021Q3", reworded_rows)).folder
    with pytest.raises(
        UserError, match=r"another version of the prompt(.|\n)*this is sample 1.0.0"
    ):
        scored(other_release, predictions_file)
    whole_scores = [
        {"id": row["id"], "prediction": "x", "prompt_sha256": prompt_hash(row["prompt"]) + "0" * 48}
        for _, _, row in asked_rows(release_folder)
    ]
    scored(release_folder, lines(tmp_path / "q.jsonl", *whole_scores))


def test_a_config_and_a_split_may_be_named(release_folder: Path, tmp_path: Path) -> None:
    all_ids = [
        any_row["id"]
        for config_name, split_name, any_row in asked_rows(release_folder)
        if (config_name, split_name) == ("unchanged", "2021Q3")
    ]
    predictions_file = same(tmp_path / "p.jsonl", *all_ids, config="unchanged", split="2021Q3")
    assert scored(release_folder, predictions_file).summary["counts"]["rows"] == 5
    elsewhere = same(tmp_path / "p.jsonl", all_ids[0], config="updated", split="2021Q3")
    with pytest.raises(UserError, match="all predictions are of rows"):
        scored(release_folder, elsewhere)
    with pytest.raises(UserError, match=r"no config 'updatd' that asks\n  did you mean updated"):
        scored(release_folder, elsewhere, configs=("updatd",))


@pytest.mark.parametrize(
    ("beside_text", "error_text"),
    [
        ('{"model": "some/model", "dataset": "sample", "tokens": 3}', None),
        (
            '{"model": "m", "dataset": "timeqa"}',
            "predictions for timeqa, and the release is sample",
        ),
        ("[]", "does not say what model"),
    ],
)
def test_what_stands_beside_the_predictions(
    release_folder: Path, tmp_path: Path, beside_text: str, error_text: str | None
) -> None:
    predictions_file = predict(release_folder, tmp_path / "p.jsonl", lambda row: "C1")
    (tmp_path / "p.json").write_text(beside_text)
    with pytest.raises(UserError, match=error_text) if error_text else nullcontext():
        scored(release_folder, predictions_file)
        summary = json.loads((tmp_path / "scores/scores.json").read_text())
        assert summary["model"] == "some/model"


@pytest.mark.parametrize(
    ("columns", "error_text"),
    [
        ({"id": ["a"], "text": ["b"]}, "no column id, or none of prediction"),
        ({"id": ["a", None], "prediction": ["b", "b"]}, r"p.parquet:2: no prediction: .*`id`"),
    ],
)
def test_parquet_without_the_columns_is_refused(
    release_folder: Path, tmp_path: Path, columns: dict[str, list[str]], error_text: str
) -> None:
    pq.write_table(pa.table(columns), tmp_path / "p.parquet")
    with pytest.raises(UserError, match=error_text):
        scored(release_folder, tmp_path / "p.parquet")


def test_parquet_with_scores_by_answer(release_folder: Path, tmp_path: Path) -> None:
    all_ids = ids(release_folder)
    release_scores = pa.array(
        [[("C1", -1.0), ("C2", -0.5)]] * len(all_ids), pa.map_("string", "float64")
    )
    pq.write_table(pa.table({"id": all_ids, "scores": release_scores}), tmp_path / "p.parquet")
    assert mean(scored(release_folder, tmp_path / "p.parquet"), "accuracy")[0] == len(all_ids)


@pytest.mark.parametrize(
    ("day", "quarters"),
    [
        pytest.param(date(2020, 11, 10), ("2020Q3", "2021Q1"), marks=pytest.mark.slow),
        pytest.param(date(2021, 8, 15), ("2021Q2", "2021Q4"), marks=pytest.mark.slow),
        (date(2023, 5, 20), ("2023Q1", "2023Q3")),
    ],
)
def test_the_day_on_which_knowledge_stops_is_found(
    sample: Path, tmp_path: Path, day: date, quarters: tuple[str, str]
) -> None:
    release_folder = sample / "releases/dynamic-templama/1.0.0"
    configs = ("updated", "new", "unchanged")
    predictions_file = predict(
        release_folder, tmp_path / "p.jsonl", stops_on(release_folder, day), configs
    )
    release_scores = scored(release_folder, predictions_file, configs=configs, partial=True)
    knowledge_stop = release_scores.stop
    assert knowledge_stop is not None
    first_id, last_day = quarters
    assert first_id <= knowledge_stop.last_known <= last_day
    assert first_id <= knowledge_stop.low <= knowledge_stop.high <= last_day
    begun_quarters = {
        any_score.value: any_score.mean
        for any_score in release_scores.table
        if (any_score.config, any_score.stratum, any_score.metric) == (None, "began", "stale")
    }
    assert (
        max(
            known_share
            for field_value, known_share in begun_quarters.items()
            if field_value <= first_id
        )
        < 0.2
    )
    assert (
        min(
            known_share
            for field_value, known_share in begun_quarters.items()
            if field_value > last_day
        )
        > 0.8
    )


@pytest.mark.slow
@pytest.mark.parametrize("known_values", [True, False])
def test_who_knows_all_or_nothing_has_no_day(
    sample: Path, tmp_path: Path, known_values: bool
) -> None:
    release_folder = sample / "releases/dynamic-templama/1.0.0"
    configs = ("updated", "new")
    predictions_file = predict(
        release_folder,
        tmp_path / "p.jsonl",
        lambda any_row: any_row["targets"][0] if known_values else "nobody",
        configs,
    )
    release_scores = scored(release_folder, predictions_file, configs=configs)
    assert release_scores.stop is None and mean(release_scores, "exact_match")[1] == known_values


def test_unanswerable_questions_and_groups_of_probes(sample: Path, tmp_path: Path) -> None:
    release_folder = sample / "releases/timeqa/1.0.0"
    silent_rows = predict(release_folder, tmp_path / "p.jsonl", lambda row: "unanswerable")
    rows = [row for config, _, row in asked_rows(release_folder) if config == "hard"]
    unanswerable = sum(not row["targets"] for row in rows) / len(rows)
    release_scores = scored(release_folder, silent_rows)
    for metric_name in ("exact_match", "f1"):
        found_values = mean(release_scores, metric_name, config="hard")
        assert found_values == (len(rows), pytest.approx(unanswerable, abs=1e-6))
    groups = {
        row["probe_of"]
        for config_name, _, row in asked_rows(release_folder)
        if config_name == "consistency"
    }
    fooled_share = min(groups)

    def says(row: Row) -> str:
        return "no" if row["id"] == fooled_share else [*row["targets"], ""][0]

    release_scores = scored(release_folder, predict(release_folder, tmp_path / "q.jsonl", says))
    known_share = pytest.approx(1 - 1 / len(groups), abs=1e-6)
    assert mean(release_scores, "consistency", config="consistency") == (len(groups), known_share)


def test_what_a_search_found(sample: Path, tmp_path: Path) -> None:
    release_folder = sample / "releases/streamingqa/1.0.0"
    rows = {row["id"]: row for _, _, row in asked_rows(release_folder)}
    found_values = [
        {"id": answer_key, "prediction": row["answers"][0]}
        | {"evidence": ["x", "y_0", "y_1", "y_2", row["evidence_id"] + "_2"]}
        for answer_key, row in rows.items()
    ]
    predictions_file = lines(tmp_path / "p.jsonl", *found_values)
    command_words = [
        "--predictions",
        predictions_file,
        "--cutoff",
        "2020-06-30",
        "--out",
        tmp_path / "s",
    ]
    assert "100.0" in run_cli("score", release_folder, *command_words).stdout
    release_scores = Scores.read(tmp_path / "s")
    assert mean(release_scores, "recall@1")[1] == 0
    assert mean(release_scores, "recall@5") == mean(release_scores, "exact_match") == (len(rows), 1)


@pytest.mark.parametrize(
    ("command_words", "error_text"),
    [
        ([], "give either --predictions FILE or --run FILE"),
        (["--predictions", "none"], "none: No such file or directory"),
        (["--predictions", "none", "--cutoff", "June"], "not a day: 'June'"),
    ],
)
def test_mistakes_of_the_command(
    release_folder: Path, command_words: list[str], error_text: str
) -> None:
    completed_run = run_cli("score", release_folder, *command_words, ok=False)
    assert completed_run.returncode == 1 and error_text in completed_run.stderr
