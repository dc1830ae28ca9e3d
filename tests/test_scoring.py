"""`factdrift score`: joined by id, scored, split into strata; what is wrong is told."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.rows import Cloze
from factdrift.builders.text.squad import exact_match, f1
from factdrift.reasoning.rows import ReasoningQuestion
from factdrift.scoring.predictions import LONGEST, Prediction, prompt_hash, read, write
from factdrift.scoring.score import Options, Scores, score
from samples.quarters.simulated import asked_rows, predict, stops_on
from tests.conftest import run
from tests.release_sample import Sample, cloze, edited, publish

Row = Mapping[str, Any]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five pairs in two quarters that do not change, one that does."""
    return publish(tmp_path_factory.mktemp("releases")).folder


def scored(release: Path, file: Path, **more: Any) -> Scores:
    options = {"out": file.parent / "scores", "say": lambda line: None, **more}
    return score(Options(release=release, file=file, **options))


def mean(scores: Scores, metric: str, **wanted: Any) -> tuple[int, Any]:
    """Number of rows and mean of one line of the table."""
    place = {"config": None, "split": None, "stratum": "all", "value": "all", **wanted}
    (found,) = [
        one
        for one in scores.table
        if one.metric == metric and all(getattr(one, k) == v for k, v in place.items())
    ]
    return found.n, found.mean


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def same(path: Path, *keys: str, **more: str) -> Path:
    """One answer for all these rows."""
    return lines(path, *({"id": key, "prediction": "C1", **more} for key in keys))


def ids(release: Path) -> list[str]:
    return [row["id"] for _, _, row in asked_rows(release)]


def rows_of(folder: Path) -> list[Row]:
    found: list[Row] = pq.read_table(folder / "scores/rows.parquet").to_pylist()
    return found


def alone(folder: Path, row: Cloze | ReasoningQuestion, **said: object) -> Row:
    """What a prediction scores where this row is the whole release."""
    name, split = ("updated", "2021Q3") if isinstance(row, Cloze) else ("questions", "test")
    release = publish(folder, Sample({name: {split: [row]}})).folder
    scored(release, lines(folder / "p.jsonl", {"id": row.id, **said}))
    (found,) = rows_of(folder)
    return found


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet"])
def test_predictions_are_read_as_they_were_written(tmp_path: Path, suffix: str) -> None:
    rows = [
        Prediction(id="a", prediction="x", prompt_sha256="0" * 16),
        Prediction(id="b", prediction=None, config="c", split="s"),
        Prediction(id="c", candidates=["x", "y"], evidence=["e"]),
        Prediction(id="d", choice_scores=[0.5, -1.0]),
    ]
    path = tmp_path / f"p{suffix}"
    assert write(path, rows) == 4
    (batch,) = read(path)
    found = batch.to_pylist()
    assert [row["prediction"] for row in found] == ["x", None, None, None]
    assert found[1] | {"prediction": None} == found[1]
    assert (found[1]["config"], found[1]["split"]) == ("c", "s")
    assert (found[2]["candidates"], found[2]["evidence"]) == (["x", "y"], ["e"])
    assert found[3]["choice_scores"] == [0.5, -1.0]
    before = path.read_bytes()
    write(path, rows)
    assert path.read_bytes() == before


def test_scores_of_answers_are_their_order(tmp_path: Path) -> None:
    path = lines(tmp_path / "p.jsonl", {"id": "a", "scores": {"x": -2.0, "z": -1.0, "y": -1.0}})
    assert next(iter(read(path))).column("candidates").to_pylist() == [["y", "z", "x"]]


def test_every_mean_is_that_of_the_rows(release: Path, tmp_path: Path) -> None:
    def says(row: Row) -> str:
        return str(row["targets"][0] if int(row["subject"][1:]) % 2 else "Club of " + row["id"])

    file = predict(release, tmp_path / "p.jsonl", says)
    scores = scored(release, file)
    rows = list(asked_rows(release))
    for metric, of_one in (("exact_match", exact_match), ("f1", f1)):
        for config, split in {(c, s) for c, s, _ in rows}:
            values = [
                of_one(says(row), row["targets"]) for c, s, row in rows if (c, s) == (config, split)
            ]
            found = mean(scores, metric, config=config, split=split)
            assert found == (len(values), pytest.approx(sum(values) / len(values), abs=1e-6))
        every = [of_one(says(row), row["targets"]) for *_, row in rows]
        assert mean(scores, metric) == (len(every), pytest.approx(sum(every) / len(every), 1e-5))


def test_the_same_predictions_give_the_same_bytes(release: Path, tmp_path: Path) -> None:
    file = predict(release, tmp_path / "p.jsonl", lambda row: "C3")
    for folder in ("a", "b"):
        scored(release, file, out=tmp_path / folder, cutoff=date(2021, 6, 30))
    for name in ("scores.json", "scores.parquet", "rows.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_ranked_candidates(release: Path, tmp_path: Path) -> None:
    first, *others = ids(release)
    right = next(row["targets"][0] for _, _, row in asked_rows(release))
    rows = [{"id": first, "candidates": ["no", "nor this", right]}]
    file = lines(tmp_path / "p.jsonl", *rows, *({"id": one, "candidates": []} for one in others))
    scores = scored(release, file)
    n = len(others) + 1
    assert mean(scores, "p@1") == (n, 0)
    assert not [one for one in scores.table if one.metric in ("p@5", "p@10")]  # lists of three
    assert mean(scores, "mrr") == (n, pytest.approx(1 / 3 / n, abs=1e-6))
    assert mean(scores, "abstained") == (n, pytest.approx((n - 1) / n, abs=1e-6))


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("Club 7", "right"),
        ("the c7!", "right"),
        ("Club 70", "outdated"),
        ("Club 71", "wrong"),
        ("", "abstained"),
        (" \n", "abstained"),
        ("Unanswerable.", "abstained"),
        (None, "abstained"),
    ],
)
def test_verdicts(tmp_path: Path, said: str | None, verdict: str) -> None:
    row = cloze(7, "updated", previous_answers=cloze(70).answers)
    assert alone(tmp_path, row, prediction=said)["verdict"] == verdict


@pytest.mark.parametrize(
    ("said", "marks"), [("Club 7", [1.0]), ("Club 70", []), ("the C70", []), ("Club 71", [0.0])]
)
def test_what_stayed_is_neither_right_nor_wrong(
    tmp_path: Path, said: str, marks: list[float]
) -> None:
    stays = cloze(70).answers
    row = cloze(7, "updated", previous_answers=stays, still_true=stays)
    release = publish(tmp_path, Sample({"updated": {"2021Q3": [row, cloze(8)]}})).folder
    told = {row.id: said, cloze(8).id: "Club 8"}
    scores = scored(release, predict(release, tmp_path / "p.jsonl", lambda r: told[r["id"]]))
    assert [one["exact_match"] for one in rows_of(tmp_path) if one["id"] == row.id] == marks
    assert scores.counts["neutral"] == (not marks)
    assert mean(scores, "exact_match", config="updated")[0] == 1 + len(marks)


def test_what_was_right_in_an_earlier_period_is_outdated(tmp_path: Path) -> None:
    rows = {
        "2021Q3": [cloze(1)],
        "2021Q4": [cloze(1, "updated", "2021Q4", targets=("Club 9",), previous_answers=())],
    }
    release = publish(tmp_path, Sample({"all": rows})).folder
    scores = scored(release, predict(release, tmp_path / "p.jsonl", lambda row: "Club 1"))
    assert [one["verdict"] for one in rows_of(tmp_path)] == ["right", "outdated"]
    assert mean(scores, "outdated", config="all") == (1, 1)


def test_likelihoods_of_accepted_answers_alone_say_nothing(release: Path, tmp_path: Path) -> None:
    rows = {row["id"]: row["targets"] for _, _, row in asked_rows(release)}
    right = [{"id": key, "scores": {targets[0]: -2.0}} for key, targets in rows.items()]
    with pytest.raises(UserError, match="nothing can be scored"):
        scored(release, lines(tmp_path / "p.jsonl", *right))
    right[0]["scores"] = {**right[0]["scores"], "Club 99": -1.0}
    scores = scored(release, lines(tmp_path / "p.jsonl", *right))
    assert (scores.counts["rows"], scores.counts["undecided"]) == (11, 10)
    assert mean(scores, "accuracy") == (1, 0)
    assert {one.metric for one in scores.table}.isdisjoint(("exact_match", "f1", "p@1", "mrr"))


CHOOSING: list[tuple[dict[str, float], tuple[float | None, ...]]] = [
    # candidates with numbers, and of them: accuracy, chance, shortest, before
    ({"Club 7": -1, "Club 70": -2, "Boys": -3, "Girls": -4}, (1, 1 / 4, 0, 0)),
    ({"Club 7": -2, "Club 70": -1, "C7": -3}, (0, 2 / 3, 1, 0)),
    ({"Club 7": -2, "Club 8": -1}, (0, 1 / 2, 1 / 2, None)),
]


@pytest.mark.parametrize(("said", "expected"), CHOOSING)
def test_choosing_stands_beside_what_needs_no_knowledge(
    tmp_path: Path, said: dict[str, float], expected: tuple[float | None, ...]
) -> None:
    row = cloze(7, "updated", previous_answers=cloze(70).answers)
    found = alone(tmp_path, row, scores=said)
    got = tuple(found.get(name) for name in ("accuracy", "chance", "shortest", "before"))
    assert got == tuple(one if one is None else pytest.approx(one, abs=1e-6) for one in expected)


def question(n: int, *choices: str) -> ReasoningQuestion:
    one = cloze(n)
    asked = "id prompt targets question subject subject_label relation sitelinks"
    values: dict[str, Any] = {name: getattr(one, name) for name in asked.split()}
    values |= dict.fromkeys(("context", "family", "wording", "path", "answer_kind"), "")
    values |= dict.fromkeys(("answer_ids", "statements", "evidence"), ())
    values |= dict.fromkeys(("shortcut_newest", "shortcut_longest", "shortcut_first_hop"))
    values |= {"question_id": one.id, "hops": 1, "as_of": one.period_last}
    values |= {"changed": one.period_first, "changed_since": False}
    index = choices.index(one.targets[0])
    return ReasoningQuestion(**values, choices=choices, answer_index=index)


@pytest.mark.parametrize(
    ("said", "metric", "value"),
    [
        ({"prediction": "Club 7"}, "exact_match", 1),
        ({"prediction": "Club 8"}, "exact_match", 0),
        ({"choice_scores": [0, 1, 0]}, "accuracy", 1),
        ({"choice_scores": [1, 0, 0]}, "accuracy", 0),
        ({"choice_scores": [0, 0, 0]}, "accuracy", 0),  # none is chosen
        ({"choice_scores": [0, 1, 1]}, "accuracy", 1),
    ],
)
def test_rows_that_are_asked_both_ways(
    tmp_path: Path, said: dict[str, Any], metric: str, value: int
) -> None:
    found = alone(tmp_path, question(7, "Club 9", "Club 7", "Club 8"), **said)
    assert found[metric] == value
    assert ("f1" in found, "accuracy" in found) == (metric == "exact_match", metric == "accuracy")


@pytest.mark.parametrize("numbers", [[], [1, 2], [1, 2, 3, 4]])
def test_numbers_for_choices_are_as_many(tmp_path: Path, numbers: list[float]) -> None:
    row = question(7, "Club 9", "Club 7", "Club 8")
    with pytest.raises(UserError, match=f"not as many as their choices: {row.id}"):
        alone(tmp_path, row, choice_scores=numbers)


LAGS = {
    "-20 or less": ("2015-06-30", "2001-01-01"),
    "-19": ("2015-07-01",),
    "-1": ("2020-03-31",),
    "+0": ("2020-04-01", "2020-06-30"),
    "+1": ("2020-07-01",),
    "+19": ("2025-03-31",),
    "+20 or more": ("2025-04-01", "2030-01-01"),
}
STRATA: list[tuple[str, list[str], dict[str, int] | None]] = [
    # of questions that ask about these days, or of subjects so well known: rows by value
    ("year", [f"{1980 + n}-02-01" for n in range(40)], {f"{1980 + n}": 1 for n in range(40)}),
    ("year", [f"{1980 + n}-02-01" for n in range(41)], None),
    ("decade", [f"{1980 + n}-02-01" for n in range(40)], None),
    ("decade", [f"{1979 + n}-02-01" for n in range(41)], {"1970s": 1, **dict.fromkeys(
        ("1980s", "1990s", "2000s", "2010s"), 10)}),
    ("lag", [day for days in LAGS.values() for day in days], {k: len(v) for k, v in LAGS.items()}),
    ("popularity", ["3"] * 4, None),
    ("popularity", ["1", "2", "3", "4", "5"], dict.fromkeys(
        ("1 (least known)", "2", "3", "4", "5 (best known)"), 1)),
    ("popularity", ["7"] * 5, {"5 (best known)": 5}),
]  # fmt: skip


@pytest.mark.parametrize(("stratum", "given", "expected"), STRATA)
def test_rows_by_stratum(
    tmp_path: Path, stratum: str, given: list[str], expected: dict[str, int] | None
) -> None:
    rows = []
    for n, text in enumerate(given):
        row = question(n, f"Club {n}", "Club 99")
        known = {"sitelinks": int(text)} if text.isdigit() else {"as_of": date.fromisoformat(text)}
        rows.append(replace(row, subject=f"Q{n}", **known))
    release = publish(tmp_path, Sample({"questions": {"test": rows}})).folder
    file = predict(release, tmp_path / "p.jsonl", lambda row: row["targets"][0])
    scores = scored(release, file, cutoff=date(2020, 6, 30))
    found = {m.value: m.n for m in scores.table if (m.stratum, m.metric) == (stratum, "f1")}
    assert found == (expected or {})
    assert list(found) == list(expected or {})  # in order


def test_an_answer_again_and_again_is_told_unless_it_is_right(
    release: Path, tmp_path: Path
) -> None:
    told: list[str] = []
    rows = {row["id"]: row["subject"] for _, _, row in asked_rows(release)}
    right = [{"id": key, "prediction": "C3"} for key, subject in rows.items() if subject == "Q3"]
    scored(release, lines(tmp_path / "p.jsonl", *right), say=told.append, partial=True)
    assert not any("example of its prompt" in line for line in told)
    scored(release, predict(release, tmp_path / "p.jsonl", lambda _: "C3"), say=told.append)
    assert any("11 of 11 answers are 'c3', which is right in 2 rows" in line for line in told)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "no predictions"),
        (b'{"id": "x", "prediction": "a"}\nnot json\n', "p.jsonl:2: no prediction"),
        (b'{"id": "x", "prediction": "a"}\n\n{"id": 7, "prediction": "a"}\n', "p.jsonl:3: "),
        (b'{"id": "x"}\n', "p.jsonl:1: no answer"),
        (b'{"id": "x", "prediction": "a", "candidates": []}', "more than one kind of answer"),
        (b'{"id": "x", "scores": {"a": 1e999}}', "p.jsonl:1: "),
        (b'{"id": "x", "scores": {"a": NaN}}', "p.jsonl:1: no prediction"),
        (b'{"id": "\\ud800", "prediction": "a"}', "p.jsonl:1: no prediction"),
        (b'{"id": "x", "prediction": "\xc3"}', "p.jsonl:1: no prediction"),
        (b'{"id": "x", "evidence": ' + b"[" * 100_000, "p.jsonl:1: "),
        (b'{"id": "' + b"x" * LONGEST + b'", "prediction": "a"}', "p.jsonl:1: a line of more than"),
        (b'{"id": "unknown", "prediction": "a"}\n', "all predictions are of rows that sample"),
        (b"PK\x03\x04 a zip", "this is a zip archive"),
        (b"PAR1 is no Parquet", "no predictions: "),
        (gzip.compress(b'{"id": "x", "prediction": "a"}\n' * 1000)[:60], "cut short or damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_file_is_told(release: Path, tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "p.jsonl"
    file.write_bytes(content)
    with pytest.raises(UserError) as error:
        scored(release, file)
    assert message in str(error.value)
    assert not (tmp_path / "scores").exists()


def test_missing_double_and_unknown_ids_are_told(release: Path, tmp_path: Path) -> None:
    first, *some = ids(release)
    for more, message in (
        ([], f"no prediction for 1 rows of .*: {first}"),
        ([first, some[1]], f"more than one prediction for 1 rows: {some[1]}"),
        ([first, "elsewhere"], r"1 of 12 predictions are of rows that .*: elsewhere"),
    ):
        with pytest.raises(UserError, match=message):
            scored(release, same(tmp_path / "p.jsonl", *some, *more))
    partly = scored(release, same(tmp_path / "p.jsonl", *some, "elsewhere"), partial=True)
    nothing = dict.fromkeys(("undecided", "neutral"), 0)
    assert partly.counts == {"predictions": 11, "rows": 10, "missing": 1, "unknown": 1, **nothing}


def test_predictions_of_another_version_of_the_prompts_are_refused(
    release: Path, tmp_path: Path
) -> None:
    file = predict(release, tmp_path / "p.jsonl", lambda row: "C1")
    reworded = [cloze(n, prompt=f"{n}?") for n in range(5)]
    other = publish(tmp_path / "other", edited("unchanged", "2021Q3", reworded)).folder
    with pytest.raises(UserError, match="made for another version of the prompt") as error:
        scored(other, file)
    assert "this is sample 1.0.0" in str(error.value)
    whole = [
        {"id": row["id"], "prediction": "x", "prompt_sha256": prompt_hash(row["prompt"]) + "0" * 48}
        for _, _, row in asked_rows(release)
    ]
    scored(release, lines(tmp_path / "q.jsonl", *whole))


def test_a_config_and_a_split_may_be_named(release: Path, tmp_path: Path) -> None:
    every = [r["id"] for c, s, r in asked_rows(release) if (c, s) == ("unchanged", "2021Q3")]
    file = same(tmp_path / "p.jsonl", *every, config="unchanged", split="2021Q3")
    assert scored(release, file).counts["rows"] == 5
    elsewhere = same(tmp_path / "p.jsonl", every[0], config="updated", split="2021Q3")
    with pytest.raises(UserError, match="all predictions are of rows"):
        scored(release, elsewhere)
    with pytest.raises(UserError, match=r"no config 'updatd' that asks\n  did you mean updated"):
        scored(release, elsewhere, configs=("updatd",))


def test_what_stands_beside_the_predictions(release: Path, tmp_path: Path) -> None:
    file = predict(release, tmp_path / "p.jsonl", lambda row: "C1")
    beside = tmp_path / "p.json"
    beside.write_text('{"model": "some/model", "dataset": "sample", "tokens": 3}')
    scored(release, file)
    assert json.loads((tmp_path / "scores/scores.json").read_text())["model"] == "some/model"
    beside.write_text('{"model": "m", "dataset": "timeqa"}')
    with pytest.raises(UserError, match="predictions for timeqa, and the release is sample"):
        scored(release, file)
    beside.write_text("[]")
    with pytest.raises(UserError, match="does not say what model"):
        scored(release, file)


def test_parquet_without_the_columns_is_refused(release: Path, tmp_path: Path) -> None:
    file = tmp_path / "p.parquet"
    pq.write_table(pa.table({"id": ["a"], "text": ["b"]}), file)
    with pytest.raises(UserError, match="no column id, or none of prediction"):
        scored(release, file)
    pq.write_table(pa.table({"id": ["a", None], "prediction": ["b", "b"]}), file)
    with pytest.raises(UserError, match=r"p.parquet:2: no prediction: .*`id`"):
        scored(release, file)


def test_parquet_with_scores_by_answer(release: Path, tmp_path: Path) -> None:
    every = ids(release)
    scores = pa.array([[("C1", -1.0), ("C2", -0.5)]] * len(every), pa.map_("string", "float64"))
    file = tmp_path / "p.parquet"
    pq.write_table(pa.table({"id": every, "scores": scores}), file)
    assert mean(scored(release, file), "accuracy")[0] == len(every)


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
    release = sample / "releases/dynamic-templama/1.0.0"
    configs = ("updated", "new", "unchanged")
    file = predict(release, tmp_path / "p.jsonl", stops_on(release, day), configs)
    scores = scored(release, file, configs=configs, partial=True)
    stop = scores.stop
    assert stop is not None
    first, last = quarters
    assert first <= stop.last_known <= last
    assert first <= stop.low <= stop.high <= last
    begun = {
        one.value: one.mean
        for one in scores.table
        if (one.config, one.stratum, one.metric) == (None, "began", "stale")
    }
    assert max(share for value, share in begun.items() if value <= first) < 0.2
    assert min(share for value, share in begun.items() if value > last) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_who_knows_all_or_nothing_has_no_day(sample: Path, tmp_path: Path, known: bool) -> None:
    release = sample / "releases/dynamic-templama/1.0.0"
    configs = ("updated", "new")

    def says(row: Row) -> str:
        return str(row["targets"][0]) if known else "nobody"

    scores = scored(release, predict(release, tmp_path / "p.jsonl", says, configs), configs=configs)
    assert scores.stop is None
    assert mean(scores, "exact_match")[1] == (1 if known else 0)


def test_unanswerable_questions_and_groups_of_probes(sample: Path, tmp_path: Path) -> None:
    release = sample / "releases/timeqa/1.0.0"
    silent = predict(release, tmp_path / "p.jsonl", lambda row: "unanswerable")
    scores = scored(release, silent)
    rows = [row for config, _, row in asked_rows(release) if config == "hard"]
    unanswerable = sum(not row["targets"] for row in rows) / len(rows)
    for metric in ("exact_match", "f1"):
        found = mean(scores, metric, config="hard")
        assert found == (len(rows), pytest.approx(unanswerable, abs=1e-6))
    fooled = next(row["probe_of"] for c, _, row in asked_rows(release) if c == "consistency")

    def says(row: Row) -> str:
        return "no" if row["id"] == fooled else [*row["targets"], ""][0]

    scores = scored(release, predict(release, tmp_path / "q.jsonl", says))
    groups = {row["probe_of"] for c, _, row in asked_rows(release) if c == "consistency"}
    share = pytest.approx(1 - 1 / len(groups), abs=1e-6)
    assert mean(scores, "consistency", config="consistency") == (len(groups), share)


def test_what_a_search_found(sample: Path, tmp_path: Path) -> None:
    release = sample / "releases/streamingqa/1.0.0"
    rows = {row["id"]: row for _, _, row in asked_rows(release)}
    fifth = {
        key: ["x", "y_0", "y_1", "y_2", row["evidence_id"] + "_2"] for key, row in rows.items()
    }
    found = [
        {"id": key, "prediction": row["answers"][0], "evidence": fifth[key]}
        for key, row in rows.items()
    ]
    scores = scored(release, lines(tmp_path / "p.jsonl", *found))
    assert mean(scores, "recall@1")[1] == 0
    assert mean(scores, "recall@5") == (len(rows), 1)
    assert mean(scores, "exact_match") == (len(rows), 1)


def test_the_command(sample: Path, tmp_path: Path) -> None:
    release = sample / "releases/streamingqa/1.0.0"
    file = predict(release, tmp_path / "p.jsonl", lambda row: row["targets"][0])
    words = ["--predictions", file, "--cutoff", "2020-06-30", "--out", tmp_path / "s"]
    said = run("score", release, *words).stdout
    assert "100.0" in said
    refused = run("score", release, "--predictions", tmp_path / "none", ok=False)
    assert refused.returncode == 1
    assert "none: No such file or directory" in refused.stderr
    assert "not a day" in run("score", release, *words, "--cutoff", "June", ok=False).stderr
