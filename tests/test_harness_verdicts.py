"""lm-eval, Inspect and `factdrift score` judge the same 2,000 answers: no verdict apart.

The answers are hostile: blanks, signs, dashes, quotation marks of every kind, full-width letters,
letters whose lower case is another, numbers with separators; and names that were right before,
will be later, or are true and not asked for.

All of them are judged in this process by the functions of `tasks/` that the harnesses call; the
harnesses themselves, which take half an hour for all, ask the first rows of each config, and all of
them with CAMPAIGNS=1.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift import score
from factdrift.builders.core.dataset import Dataset, Table
from factdrift.builders.release.publish import write_release
from factdrift.builders.rows import Answer, Cloze
from factdrift.reasoning.as_of.rows import AsOfQuestion
from tests.conftest import CAMPAIGNS
from tests.json_server import Reply, model_reply, serve_json
from tests.release_sample import Sample, cloze, from_rows, meta
from tests.test_harness import harness, inspected

NAMES = (
    *("$", "The The", "A", "C++", "C#", "!!!", "?", "1,000,000", "1.000.000", "3.14", "２０２０"),
    *("O’Neill", "O'Neil", "“Heroes”", "«Ça ira»", "Jean-Luc", "Jean–Luc", "Ünal—Şahin", "Straße"),
    *("İstanbul", "Istanbul", "ISTANBUL", "ıspanak", "Ｆｕｌｌ Ｗｉｄｔｈ", "Full Width", "ﬁnal"),
    *("Café", "Cafe\u0301", "Unknown", "No Answer", "the Bob", "Bob", "Al\u00adly", "東京", "שלום"),
    *("St. John's", "S\u200bpace", "N\u2011B", "−5", "-5", "5 %", "ά", "Ά", "ſ", "K", "\u2019s"),
)
ANSWERS = (
    *("", " ", "\n", "\u200b", "\ufeff", "\u00ad", "...", "…", "-", "–", "—", "“”", "''", "the"),
    *(
        "a an the",
        "$",
        "€",
        "unknown",
        "Unanswerable.",
        "I don’t know",
        "I don't know.",
        "no answer",
    ),
    *("No-Answer", "nobody", "1000000", "1 000 000", "314", "2020", "５％", "The", "ſtraße", "0"),
)
PERIODS = ("2020Q1", "2020Q2", "2021Q1", "2021Q2")
ROWS = 2000
ASKED = ROWS if CAMPAIGNS else 40
"""Rows of a config that a harness asks."""


def variants(name: str) -> list[str]:
    """A name as models write it."""
    wide = "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in name)
    return [
        *(
            name,
            name.lower(),
            name.upper(),
            name.swapcase(),
            f"the {name}",
            f"{name}.",
            f"“{name}”",
        ),
        *(f" {name}\n", f"{name}\nIt is so.", f"{name} F.C.", name.replace("-", "–"), wide),
        *(name.replace("–", "-"), name.replace("’", "'"), name.replace("'", "’"), name[:-1]),
        *(unicodedata.normalize("NFD", name), unicodedata.normalize("NFKC", name), f"\u200e{name}"),
    ]


def closed_rows() -> Iterator[tuple[str, str, Cloze]]:
    """Rows of facts over four periods, in two configs: what one accepted, the other's is later."""
    for number in range(ROWS // 5):
        random = Random(number)
        names = [random.sample(NAMES, random.choice([0, 1, 1, 2])) for _ in PERIODS]
        for place, period in enumerate(PERIODS):
            before = names[place - 1] if place and random.random() < 0.5 else []
            row = cloze(
                number,
                "updated" if place % 2 else "unchanged",
                period,
                prompt=f"Row {len(PERIODS) * number + place} is about _X_.",
                targets=tuple(names[place]),
                answers=tuple(Answer("Q1", name, ()) for name in names[place]),
                previous_answers=tuple(Answer("Q2", name, (f"{name} II",)) for name in before),
                still_true=tuple(
                    Answer("Q3", name, ("also",)) for name in random.sample(NAMES, place // 2)
                ),
            )
            yield row.split, period, row


def day_rows() -> Iterator[AsOfQuestion]:
    """Rows that say what held before and later."""
    for number in range(ROWS // 5):
        random = Random(f"day {number}")
        names = random.sample(NAMES, 5)
        yield AsOfQuestion(
            id=f"day-{number}",
            kind="newest",
            prompt=f"Row {ROWS - ROWS // 5 + number} asks about a day.",
            targets=tuple(names[: number % 3]),
            question="?",
            subject=f"Q{number}",
            subject_label="Ann",
            relation="P39",
            as_of=date(2020, 1, 1 + number % 28),
            asked_on=date(2024, 1, 1),
            superseded="yes",
            age="00-02 months",
            answer_ids=("Q1",),
            earlier=tuple(names[2:4]),
            later=tuple(names[4:]),
            evidence=(),
            supporting=(),
            unjudged=(),
            stale=(),
            statements=(),
            sitelinks=1,
        )


@pytest.fixture(scope="module")
def release_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows: dict[str, dict[str, list[Any]]] = {}
    for config, split, row in closed_rows():
        rows.setdefault(config, {}).setdefault(split, []).append(row)
    rows["days"] = {"test": list(day_rows())}
    tables = []
    for config, splits in rows.items():
        row_type = AsOfQuestion if config == "days" else Cloze
        sources = {split: from_rows(row_type, split_rows) for split, split_rows in splits.items()}
        tables.append(Table(config, row_type, "Rows.", sources))
    folder = tmp_path_factory.mktemp("verdicts")
    return write_release(Dataset(tables=tuple(tables)), meta(Sample({})), folder).folder


def prompts(release_folder: Path) -> dict[str, str]:
    """Id of a row -> what it asks."""
    return {
        row["id"]: row["prompt"]
        for path in (release_folder / "data").rglob("*.parquet")
        if path.parent.name != "dropped"
        for row in pq.read_table(path, columns=["id", "prompt"]).to_pylist()
    }


def predicted(row_number: int) -> str:
    """The answer to a row: a name in some form, or a text that is none."""
    random = Random(f"answer {row_number}")
    if random.random() < 0.3:
        return random.choice(ANSWERS)
    # the names of the row itself are drawn more often than the others
    rows = Random(row_number // len(PERIODS))
    of_row = [name for _ in PERIODS for name in rows.sample(NAMES, rows.choice([0, 1, 1, 2]))]
    if row_number >= ROWS - ROWS // 5:
        of_row = Random(f"day {row_number - ROWS + ROWS // 5}").sample(NAMES, 5)
    name = random.choice(of_row or NAMES) if random.random() < 0.9 else random.choice(NAMES)
    return random.choice(variants(name)) if random.random() < 0.6 else name


def number_of(prompt: str) -> int:
    return int(re.findall(r"Row (\d+)", prompt)[-1])


def reply(_: BaseHTTPRequestHandler, body: Any) -> Reply:
    return model_reply(body, lambda prompt: predicted(number_of(prompt)))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve_json(reply) as address:
        yield f"{address}/v1"


@pytest.fixture(scope="module")
def expected(
    release_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """Id -> what `factdrift score` says of a row: its verdict and metrics."""
    answers = {
        row_id: predicted(number_of(prompt)) for row_id, prompt in prompts(release_folder).items()
    }
    assert len(answers) == ROWS
    folder = tmp_path_factory.mktemp("scores")
    score(release_folder, answers, out=folder)
    rows = pq.read_table(folder / "rows.parquet").to_pylist()
    counts = Counter(row["verdict"] for row in rows)
    assert min(counts[verdict] for verdict in ("right", "outdated", "early", "abstained")) > 20
    return {row["id"]: row for row in rows}


METRICS = ("exact_match", "f1", "outdated", "early", "abstained")


def same_as(expected: dict[str, dict[str, Any]], judged: dict[str, dict[str, float]]) -> None:
    """The same metrics; one that a row has not is missing or null, and a neutral row has none."""
    for row_id, marks in judged.items():
        row = expected.get(row_id, dict.fromkeys(METRICS))
        scored = {name: row[name] for name in METRICS if row[name] is not None}
        shown = {name: marks[name] for name in METRICS if name in marks}
        assert shown == pytest.approx(scored, abs=1e-5), row_id


@pytest.mark.parametrize("folder", ["lm-eval", "inspect"])
def test_the_code_of_the_tasks(
    folder: str, release_folder: Path, expected: dict[str, dict[str, Any]]
) -> None:
    """What lm-eval calls, and the verdict that Inspect writes down, for every row."""
    spec = spec_from_file_location("judge", release_folder / "tasks" / folder / "judge.py")
    assert spec and spec.loader
    judge = module_from_spec(spec)
    spec.loader.exec_module(judge)
    judged = {}
    for config in ("unchanged", "updated", "days"):
        for path in (release_folder / "data" / config).rglob("*.parquet"):
            for row in pq.read_table(path).to_pylist():
                answer = predicted(number_of(row["prompt"]))
                judged[row["id"]] = getattr(judge, f"config_{config}")(row, [answer])
                verdict = judge.squad.verdict(answer.strip(), **judge.answers_of(row, config))
                assert verdict == expected.get(row["id"], {"verdict": "neutral"})["verdict"]
    same_as(expected, judged)
    assert len(judged) == ROWS and len(judged.keys() - expected.keys()) > 5


def test_the_tasks_of_lm_eval(
    release_folder: Path, server: str, expected: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    if not find_spec("lm_eval"):
        pytest.skip("lm-eval is not installed (extra: harness)")
    address = f"model=m,base_url={server}/completions,num_concurrent=8,max_retries=1"
    model = f"{address},tokenizer_backend=None,tokenized_requests=False"
    words = ["lm_eval", "run", "--model", "local-completions", "--model_args", model]
    words += ["--include_path", "tasks/lm-eval", "--tasks", "sample", "--log_samples"]
    words += ["--limit", str(ASKED)]
    words += ["--output_path", str(tmp_path / "out")]
    environment = {"OPENAI_API_KEY": "x", "HF_HOME": str(tmp_path)}
    harness(*words, cwd=release_folder, PYTHONDONTWRITEBYTECODE="1", **environment)
    judged = {}
    for path in (tmp_path / "out").rglob("samples_*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            sample = json.loads(line)
            judged[sample["doc"]["id"]] = {name: sample[name] for name in sample["metrics"]}
    same_as(expected, judged)
    assert len(judged) == min(3 * ASKED, ROWS)


@pytest.mark.parametrize("config", ["unchanged", "updated", "days"])
def test_the_tasks_of_inspect(
    config: str,
    release_folder: Path,
    server: str,
    expected: dict[str, dict[str, Any]],
    tmp_path: Path,
) -> None:
    if not find_spec("inspect_ai"):
        pytest.skip("Inspect is not installed (extra: harness)")
    words = ["openai-api/local/m", "-T", f"config={config}", "--limit", str(ASKED)]
    log = inspected(release_folder, tmp_path, *words, LOCAL_API_KEY="x", LOCAL_BASE_URL=server)
    assert log["status"] == "success"
    judged, verdicts = {}, {}
    for sample in log["samples"]:
        (record,) = sample["scores"].values()
        values = {name: value for name, value in record["value"].items() if value == value}
        judged[sample["id"]] = values
        verdicts[sample["id"]] = record["metadata"]["verdict"]
    assert len(judged) == min(ASKED, ROWS // 5 * (1 if config == "days" else 2))
    same_as(expected, judged)
    for row_id, verdict in verdicts.items():
        assert verdict == expected.get(row_id, {"verdict": "neutral"})["verdict"]
