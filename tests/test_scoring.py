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
from factdrift.builders.rows import Cloze
from factdrift.builders.text.squad import exact_match, f1
from factdrift.reasoning.rows import ReasoningQuestion
from factdrift.scoring.predictions import (
    LONGEST,
    Prediction,
    prompt_hash,
    read_predictions,
    write_predictions,
)
from factdrift.scoring.score import ScoreOptions, Scores, score_predictions
from samples.quarters.simulated import asked_rows, predict, stops_on
from tests.conftest import run_cli
from tests.release_sample import Sample, cloze, edited, publish
from tests.tables import read_table

Row = Mapping[str, Any]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five pairs in two quarters that do not change, one that does."""
    return publish(tmp_path_factory.mktemp("releases")).folder


def scored(release: Path, file: Path, **more: Any) -> Scores:
    options = {"out": file.parent / "scores", "say": lambda line: None, **more}
    return score_predictions(ScoreOptions(release=release, file=file, **options))


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


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet"])
def test_predictions_are_read_as_they_were_written(tmp_path: Path, suffix: str) -> None:
    given: list[dict[str, Any]] = [
        {"id": "a", "prediction": "x", "prompt_sha256": "0" * 16},
        {"id": "b", "prediction": None, "config": "c", "split": "s"},
        {"id": "c", "candidates": ["x", "y"], "evidence": ["e"]},
        {"id": "d", "choice_scores": [0.5, -1.0]},
    ]
    path = tmp_path / f"p{suffix}"
    again = tmp_path / f"again{suffix}"
    assert [
        write_predictions(file, [Prediction(**one) for one in given]) for file in (path, again)
    ] == [4, 4]
    assert path.read_bytes() == again.read_bytes()
    (batch,) = read_predictions(path)
    nothing = dict.fromkeys(batch.schema.names) | {"from_scores": False}
    assert batch.to_pylist() == [nothing | one for one in given]


def test_scores_of_answers_are_their_order(tmp_path: Path) -> None:
    path = lines(tmp_path / "p.jsonl", {"id": "a", "scores": {"x": -2.0, "z": -1.0, "y": -1.0}})
    assert next(iter(read_predictions(path))).column("candidates").to_pylist() == [["y", "z", "x"]]


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
    for name in ("scores.json", "rows.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


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


BEFORE = cloze(70).answers
ROWS: dict[str, Cloze | ReasoningQuestion] = {
    "changed": cloze(7, "updated", previous_answers=BEFORE),
    "stays": cloze(7, "updated", previous_answers=BEFORE, still_true=BEFORE),
    "choices": question(7, "Club 9", "Club 7", "Club 8"),
}
CASES = read_table("scoring_cases")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_a_prediction_scores(tmp_path: Path, case: dict[str, Any]) -> None:
    row, said, *expected = case.items()
    one = ROWS[row[1]]
    name, split = ("updated", "2021Q3") if isinstance(one, Cloze) else ("questions", "test")
    release = publish(tmp_path, Sample({name: {split: [one]}})).folder
    file = lines(tmp_path / "p.jsonl", {"id": one.id, **said[1]})
    with pytest.raises(UserError, match=case["error"]) if "error" in case else nullcontext():
        scored(release, file)
        (found,) = pq.read_table(tmp_path / "scores/rows.parquet").to_pylist()
        assert {key: found.get(key) for key, _ in expected} == pytest.approx(dict(expected))


def test_what_was_right_in_an_earlier_period_is_outdated(tmp_path: Path) -> None:
    rows = {
        "2021Q3": [cloze(1)],
        "2021Q4": [cloze(1, "updated", "2021Q4", targets=("Club 9",), previous_answers=())],
    }
    release = publish(tmp_path, Sample({"all": rows})).folder
    scores = scored(release, predict(release, tmp_path / "p.jsonl", lambda row: "Club 1"))
    assert pq.read_table(tmp_path / "scores/rows.parquet")["verdict"].to_pylist() == [
        "right",
        "outdated",
    ]
    assert mean(scores, "outdated", config="all") == (1, 1)


def test_what_is_not_scored_is_counted(tmp_path: Path) -> None:
    stays = replace(ROWS["stays"], id="stays")
    release = publish(tmp_path, Sample({"updated": {"2021Q3": [stays, cloze(8), cloze(9)]}})).folder
    said = [{"id": "stays", "prediction": "Club 70"}, {"id": cloze(8).id, "scores": {"Club 8": -2}}]
    told: list[str] = []
    file = lines(tmp_path / "p.jsonl", *said, {"id": cloze(9).id, "prediction": "Club 9"})
    scores = scored(release, file, say=told.append)
    counts = {name: scores.summary["counts"][name] for name in ("rows", "neutral", "undecided")}
    assert counts == {"rows": 3, "neutral": 1, "undecided": 1}
    assert mean(scores, "exact_match", config="updated") == (1, 1)
    assert [line[:18] for line in told] == ["1 rows have likeli", "1 predictions name"]


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
    counts = {"predictions": 11, "rows": 10, "missing": 1, "unknown": 1}
    assert partly.summary["counts"] == counts | dict.fromkeys(("undecided", "neutral"), 0)


def test_predictions_of_another_version_of_the_prompts_are_refused(
    release: Path, tmp_path: Path
) -> None:
    file = predict(release, tmp_path / "p.jsonl", lambda row: "C1")
    reworded = [cloze(n, prompt=f"{n}?") for n in range(5)]
    other = publish(tmp_path / "other", edited("unchanged", "2021Q3", reworded)).folder
    with pytest.raises(
        UserError, match=r"another version of the prompt(.|\n)*this is sample 1.0.0"
    ):
        scored(other, file)
    whole = [
        {"id": row["id"], "prediction": "x", "prompt_sha256": prompt_hash(row["prompt"]) + "0" * 48}
        for _, _, row in asked_rows(release)
    ]
    scored(release, lines(tmp_path / "q.jsonl", *whole))


def test_a_config_and_a_split_may_be_named(release: Path, tmp_path: Path) -> None:
    every = [r["id"] for c, s, r in asked_rows(release) if (c, s) == ("unchanged", "2021Q3")]
    file = same(tmp_path / "p.jsonl", *every, config="unchanged", split="2021Q3")
    assert scored(release, file).summary["counts"]["rows"] == 5
    elsewhere = same(tmp_path / "p.jsonl", every[0], config="updated", split="2021Q3")
    with pytest.raises(UserError, match="all predictions are of rows"):
        scored(release, elsewhere)
    with pytest.raises(UserError, match=r"no config 'updatd' that asks\n  did you mean updated"):
        scored(release, elsewhere, configs=("updatd",))


@pytest.mark.parametrize(
    ("beside", "message"),
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
    release: Path, tmp_path: Path, beside: str, message: str | None
) -> None:
    file = predict(release, tmp_path / "p.jsonl", lambda row: "C1")
    (tmp_path / "p.json").write_text(beside)
    with pytest.raises(UserError, match=message) if message else nullcontext():
        scored(release, file)
        summary = json.loads((tmp_path / "scores/scores.json").read_text())
        assert summary["model"] == "some/model"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": ["a"], "text": ["b"]}, "no column id, or none of prediction"),
        ({"id": ["a", None], "prediction": ["b", "b"]}, r"p.parquet:2: no prediction: .*`id`"),
    ],
)
def test_parquet_without_the_columns_is_refused(
    release: Path, tmp_path: Path, columns: dict[str, list[str]], message: str
) -> None:
    pq.write_table(pa.table(columns), tmp_path / "p.parquet")
    with pytest.raises(UserError, match=message):
        scored(release, tmp_path / "p.parquet")


def test_parquet_with_scores_by_answer(release: Path, tmp_path: Path) -> None:
    every = ids(release)
    scores = pa.array([[("C1", -1.0), ("C2", -0.5)]] * len(every), pa.map_("string", "float64"))
    pq.write_table(pa.table({"id": every, "scores": scores}), tmp_path / "p.parquet")
    assert mean(scored(release, tmp_path / "p.parquet"), "accuracy")[0] == len(every)


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
    file = predict(
        release, tmp_path / "p.jsonl", lambda r: r["targets"][0] if known else "nobody", configs
    )
    scores = scored(release, file, configs=configs)
    assert scores.stop is None and mean(scores, "exact_match")[1] == known


def test_unanswerable_questions_and_groups_of_probes(sample: Path, tmp_path: Path) -> None:
    release = sample / "releases/timeqa/1.0.0"
    silent = predict(release, tmp_path / "p.jsonl", lambda row: "unanswerable")
    rows = [row for config, _, row in asked_rows(release) if config == "hard"]
    unanswerable = sum(not row["targets"] for row in rows) / len(rows)
    scores = scored(release, silent)
    for metric in ("exact_match", "f1"):
        found = mean(scores, metric, config="hard")
        assert found == (len(rows), pytest.approx(unanswerable, abs=1e-6))
    groups = {row["probe_of"] for c, _, row in asked_rows(release) if c == "consistency"}
    fooled = min(groups)

    def says(row: Row) -> str:
        return "no" if row["id"] == fooled else [*row["targets"], ""][0]

    scores = scored(release, predict(release, tmp_path / "q.jsonl", says))
    share = pytest.approx(1 - 1 / len(groups), abs=1e-6)
    assert mean(scores, "consistency", config="consistency") == (len(groups), share)


def test_what_a_search_found(sample: Path, tmp_path: Path) -> None:
    release = sample / "releases/streamingqa/1.0.0"
    rows = {row["id"]: row for _, _, row in asked_rows(release)}
    found = [
        {"id": key, "prediction": row["answers"][0]}
        | {"evidence": ["x", "y_0", "y_1", "y_2", row["evidence_id"] + "_2"]}
        for key, row in rows.items()
    ]
    file = lines(tmp_path / "p.jsonl", *found)
    words = ["--predictions", file, "--cutoff", "2020-06-30", "--out", tmp_path / "s"]
    assert "100.0" in run_cli("score", release, *words).stdout
    scores = Scores.read(tmp_path / "s")
    assert mean(scores, "recall@1")[1] == 0
    assert mean(scores, "recall@5") == mean(scores, "exact_match") == (len(rows), 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give either --predictions FILE or --run FILE"),
        (["--predictions", "none"], "none: No such file or directory"),
        (["--predictions", "none", "--cutoff", "June"], "not a day: 'June'"),
    ],
)
def test_mistakes_of_the_command(release: Path, words: list[str], message: str) -> None:
    done = run_cli("score", release, *words, ok=False)
    assert done.returncode == 1 and message in done.stderr
