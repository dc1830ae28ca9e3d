"""Tasks for evaluation harnesses: what is written, and what the modules beside it do."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import jinja2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from factdrift.builders.core.dataset import Table
from factdrift.builders.core.errors import UserError
from factdrift.builders.release import tasks
from factdrift.builders.release.harness import after
from factdrift.builders.release.manifest import load_manifest
from factdrift.builders.release.parquet import read_source
from factdrift.builders.release.publish import MOST_SPLITS, few_splits
from factdrift.builders.rows import Cloze, PromptFact
from factdrift.builders.rows.frames import read_frames
from factdrift.builders.rows.timeqa import TimeQuestion
from factdrift.builders.text import squad
from factdrift.scoring.views import RowPrompter, ViewRow
from tests.conftest import run_cli
from tests.release_sample import BASE, Rows, Sample, cloze, from_rows, publish
from tests.tables import names_of, read_table

ROWS: Rows = {
    "unchanged": {
        "2020Q4": [cloze(row_number, period="2020Q4") for row_number in range(3)],
        "2021Q3": [cloze(row_number) for row_number in range(5)],
        "2021Q4": [],
    },
    "new": {"2021": [cloze(1, "new", "2021", targets=())]},
    "deleted": {"2021Q3": []},
    "segments": BASE["segments"],
}


@pytest.fixture(scope="module")
def release_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("tasks"), Sample(ROWS)).folder


def read_yaml(task_path: Path) -> Any:
    """A task of lm-eval; `!function` as its text."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: str(node.value))
    return yaml.load(task_path.read_text("utf-8"), Loader)  # noqa: S506 - a SafeLoader


def test_every_split_with_rows_is_a_task_of_lm_eval(release_folder: Path) -> None:
    tasks_folder = release_folder / "tasks" / "lm-eval"
    found_files = {
        task_path.name: read_yaml(task_path)
        for task_path in tasks_folder.iterdir()
        if task_path.suffix not in (".py", ".json", ".parquet")
    }
    names = {"unchanged": ["2020Q4", "2021Q3"], "new": ["2021"]}
    assert found_files.keys() == {
        "sample.yaml",
        *(f"{config_name}.yaml" for config_name in names),
        *(f"_{config_name}_yaml" for config_name in names),
        "unchanged-by-split.yaml",
        *(
            f"{config_name}-{split}.yaml"
            for config_name, splits in names.items()
            for split in splits
        ),
    }
    assert found_files["sample.yaml"]["task"] == ["sample-unchanged", "sample-new"]
    assert found_files["new.yaml"] == found_files["new-2021.yaml"] | {"task": "sample-new"}
    split_files = ["data/unchanged/2020Q4.parquet", "data/unchanged/2021Q3.parquet"]
    assert found_files["unchanged.yaml"] == {
        "include": "_unchanged_yaml",
        "task": "sample-unchanged",
        "dataset_kwargs": {"data_files": {"test": split_files}},
    }
    assert found_files["unchanged-by-split.yaml"]["task"] == [
        f"sample-unchanged-{split}" for split in names["unchanged"]
    ]
    assert found_files["new-2021.yaml"] == {
        "include": "_new_yaml",
        "task": "sample-new-2021",
        "dataset_kwargs": {"data_files": {"test": "data/new/2021.parquet"}},
    }
    base = found_files["_new_yaml"]
    assert base["doc_to_text"] == "Statement: {{ prompt }}\nAnswer:"
    assert base["description"].startswith("Each statement has a gap, _X_. Write what belongs")
    assert base["process_results"] == "judge.config_new"
    assert base["process_docs"] == "after.spread"
    better = {metric["metric"]: metric["higher_is_better"] for metric in base["metric_list"]}
    assert better == {"exact_match": True, "f1": True, "abstained": False, "outdated": False}
    for task_path in tasks_folder.glob("*-2*.yaml"):
        assert (
            release_folder / read_yaml(task_path)["dataset_kwargs"]["data_files"]["test"]
        ).is_file()


EXAMPLES = [
    PromptFact(
        relation=relation_id,
        subject="Q1",
        prompt=f"On 1 May 1999: {{{{ {answer_text} }}}} is _X_.",
        answer=answer_text,
    )
    for relation_id, answer_text in (("P54", 'FC "A"'), ("P54", "B\\n"), ("P39", "C"))
]


@pytest.mark.parametrize(
    ("prompt", "context", "relation", "examples", "shown_text"),
    [
        ("In 2021: Ann plays for _X_.", "", "P54", [], "Answer: Juventus\n"),
        ("In 2021: Ann plays for _X_.", "", "P54", EXAMPLES, 'Answer: FC "A"\n\nStatement: On 1'),
        ("In 2021: Ann plays for _X_.", "", "P39", EXAMPLES, "_X_.\nAnswer: C\n"),
        ("In 2021: Ann plays for _X_.", "", "P1", EXAMPLES, "_X_.\nAnswer: C\n"),
        ("Who is {{ Ann }} <prompt>?", "", "P54", EXAMPLES, "Neil Armstrong"),
        ("Who is she?", "A <prompt> text about {Ann}.", "P54", EXAMPLES, "Read the text"),
    ],
)
def test_run_model_and_harnesses_use_the_same_words(
    prompt: str,
    context: str,
    relation: str,
    examples: list[PromptFact],
    shown_text: str,
    tmp_path: Path,
) -> None:
    told_row: dict[str, Any] = {
        "id": "1",
        "prompt": prompt,
        "context": context,
        "relation": relation,
    }
    row = {**told_row, "targets": ["x"]}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "a.parquet")
    asking = replace(TimeQuestion.roles, time=(), strata=("relation",), subject="id")
    release_manifest = load_manifest(publish(tmp_path, Sample(ROWS)).folder).model_copy(
        update={"examples": examples}
    )
    harness_config = tasks.HarnessConfig("a", asking, {"test": "a.parquet"})
    frames = read_frames(None, release_manifest.examples, tasks.answer_gaps(release_manifest))
    view = RowPrompter(view="generate", frames=frames, gaps=tasks.answer_gaps(release_manifest))
    model_question = view.question(ViewRow(**told_row, config="a", split="test"))
    tasks._write_lm_eval(tmp_path / "lm", tmp_path, release_manifest, [harness_config], "", None)
    task = read_yaml(tmp_path / "lm" / "_a_yaml")
    filled_prompt = jinja2.Template(task["doc_to_text"]).render(**row)
    assert task["description"] + filled_prompt == model_question.text
    assert shown_text in model_question.text
    tasks._write_inspect(tmp_path / "in", tmp_path, release_manifest, [harness_config], "..", None)
    one_task = json.loads((tmp_path / "in" / "tasks.json").read_text())["configs"]["a"]
    heads, heads_by_relation = one_task["heads"], one_task["relation"]
    filled = tasks.PromptFrame(heads, one_task["layout"]).filled(prompt, context)
    prompt_head = heads.get(row[heads_by_relation] if heads_by_relation else "", heads[""])
    assert f"{prompt_head}\n\n{filled}" == model_question.text


@pytest.mark.parametrize(
    ("configs", "expected_value"),
    [
        ({"recent": "ab", "past": "cd", "all": "abcd", "quarters": "abcd"}, ["recent", "past"]),
        ({"all": "abcd", "quarters": "abcd"}, ["all"]),
        ({"new": "a", "old": "bcd", "choices": "ac"}, ["new", "old"]),
        ({"recent": "ab", "all": "abcd", "other": "ef"}, ["recent", "other"]),
        ({"one": "a"}, ["one"]),
    ],
)
def test_the_group_of_a_dataset_asks_no_row_twice(
    configs: dict[str, str], expected_value: list[str], tmp_path: Path
) -> None:
    given_configs = []
    for split_name, ids in configs.items():
        config_files = {"eval": f"{split_name}-eval.parquet", "more": f"{split_name}-more.parquet"}
        for file, file_ids in zip(config_files.values(), (ids[:1], ids[1:]), strict=True):
            pq.write_table(pa.table({"id": list(file_ids)}), tmp_path / file)
        given_configs.append(tasks.HarnessConfig(split_name, Cloze.roles, config_files))
    assert names_of(tasks.without_repeats(tmp_path, given_configs)) == expected_value


def test_tasks_are_in_the_manifest_and_other_tasks_are_a_patch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_release = publish(tmp_path, Sample(ROWS))
    written_files = {
        task_file.relative_to(first_release.folder).as_posix()
        for task_file in first_release.folder.rglob("tasks/**/*.*")
    }
    assert set() < written_files <= load_manifest(first_release.folder).sha256s().keys()
    assert publish(tmp_path, Sample(ROWS)).level == "none"
    monkeypatch.setattr(tasks, "MAX_TOKENS", 8)
    assert publish(tmp_path, Sample(ROWS)).level == "patch"


def test_a_release_that_asks_nothing_has_no_tasks(tmp_path: Path) -> None:
    tasks_folder = publish(tmp_path, Sample({"segments": BASE["segments"]})).folder
    assert not (tasks_folder / "tasks").exists()
    completed_run = run_cli(
        "tasks", tasks_folder, "--for", "inspect", "--out", tmp_path / "out", ok=False
    )
    assert "the release has no tasks" in completed_run.stderr


@pytest.mark.parametrize(
    ("command_words", "expected_value"),
    [
        ([], "{release}/data/unchanged/2021Q3.parquet"),
        (["--path", "me/mine"], "hf://datasets/me/mine/data/unchanged/2021Q3.parquet"),
        (["--path", "me/mine@1.0.0"], "hf://datasets/me/mine@1.0.0/data/unchanged/2021Q3.parquet"),
    ],
)
def test_tasks_for_another_place(
    release_folder: Path, tmp_path: Path, command_words: list[str], expected_value: str
) -> None:
    for _ in range(2):  # they may be written again
        run_cli("tasks", release_folder, "--for", "lm-eval", "--out", tmp_path, *command_words)
    task = read_yaml(tmp_path / "lm-eval" / "unchanged-2021Q3.yaml")
    assert task["dataset_kwargs"]["data_files"]["test"] == expected_value.format(
        release=release_folder
    )
    run_cli("tasks", release_folder, "--for", "inspect", "--out", tmp_path, *command_words)
    told_row = json.loads((tmp_path / "inspect" / "tasks.json").read_text("utf-8"))
    assert f"{told_row['data']}/data/unchanged/2021Q3.parquet" == expected_value.format(
        release=release_folder
    )


@pytest.mark.slow
def test_only_what_lies_after_a_cut_off(release_folder: Path, tmp_path: Path) -> None:
    command_words = ["tasks", release_folder, "--for", "lm-eval", "--out", tmp_path]
    completed_run = run_cli(*command_words, "--after", "2020-12-31")
    assert "unchanged: 5 rows" in completed_run.stderr + completed_run.stdout
    tasks_folder = tmp_path / "lm-eval"
    assert not (tasks_folder / "unchanged-2020Q4.yaml").exists()
    assert read_yaml(tasks_folder / "_unchanged_yaml")["process_docs"] == "after.keep"
    told_row = json.loads((tasks_folder / "after.json").read_text("utf-8"))
    assert told_row == {"after": "2020-12-31", "time": ["period_last"]}
    refused_run = run_cli(*command_words, "--after", "2022-01-01", ok=False)
    assert "no row asks about a time after 2022" in refused_run.stderr
    run_cli(*command_words, "--after", "2021-09-30")
    assert read_yaml(tasks_folder / "sample.yaml")["task"] == ["sample-new"]


@pytest.mark.parametrize(
    ("prepare", "command_words", "answer_line"),
    [
        (lambda out: (out / "lm-eval").mkdir(), [], "there is something else already"),
        (lambda out: None, ["--path", "no/such/place"], "neither a folder nor a name on the Hub"),
        (lambda out: None, ["--after", "summer"], "not a day"),
    ],
)
def test_tasks_that_cannot_be_written(
    release_folder: Path,
    tmp_path: Path,
    prepare: Callable[[Path], object],
    command_words: list[str],
    answer_line: str,
) -> None:
    prepare(tmp_path)
    tasks_command = ["tasks", release_folder, "--for", "lm-eval", "--out", tmp_path, *command_words]
    assert answer_line in run_cli(*tasks_command, ok=False).stderr


@pytest.mark.parametrize(
    ("row", "expected_value"),
    [
        *[({"day": date(2024, 6, 30)}, False), ({"day": date(2024, 7, 1)}, True)],
        *[({"first": date(2024, 7, 1)}, True), ({"day": None, "first": None}, False)],
        *[({"ts": 1719705600}, False), ({"ts": 1719792000}, True)],  # 30 June and 1 July
        *[({"evidence": {"day": date(2025, 1, 1)}}, True), ({"evidence": None}, False)],
    ],
)
def test_after(row: dict[str, Any], expected_value: bool) -> None:
    columns = ["day", "first", "ts", "evidence.day"]
    assert after.is_after(row, date(2024, 6, 30), columns) is expected_value


@pytest.mark.parametrize(("answer_line", "targets", "exact", "overlap"), read_table("squad_scores"))
def test_scores(answer_line: str, targets: str, exact: str, overlap: str) -> None:
    names = [name for name in targets.split(" | ") if name]
    answer_marks = squad.marks(f" {answer_line}\n", names)
    assert answer_marks["exact_match"] == float(exact)
    assert answer_marks["f1"] == pytest.approx(float(overlap), abs=1e-4)


def names(first_release: int, last: int, period_form: str = "{}Q{}") -> list[str]:
    return [
        period_form.format(year, row_number)
        for year in range(first_release, last + 1)
        for row_number in range(1, 5)
    ]


@pytest.mark.parametrize(
    ("periods", "count", "example_split"),
    [
        (names(2015, 2021), 28, "2015Q1"),
        (names(2010, 2021), 12, "2010"),
        (names(2010, 2021, "{}M0{}"), 12, "2021"),
        ([str(year) for year in range(1900, 2021)], 13, "1950s"),
    ],
)
def test_many_periods_become_years_or_decades(
    periods: list[str], count: int, example_split: str
) -> None:
    rows_by_split = {
        split_name: from_rows(Cloze, [cloze(row_number, period="2021")])
        for row_number, split_name in enumerate(periods)
    }
    release_manifest = few_splits(Table("updated", Cloze, "Rows.", rows_by_split))
    assert len(release_manifest.splits) == count <= MOST_SPLITS
    assert example_split in release_manifest.splits
    row_numbers: list[int] = []
    for split_source in release_manifest.splits.values():
        for row_batch in read_source(split_source):
            row_numbers += row_batch["sitelinks"].to_pylist()
    assert row_numbers == list(range(len(periods)))


def test_splits_that_are_no_periods_and_too_many() -> None:
    splits = {f"part{row_number}": from_rows(Cloze, []) for row_number in range(31)}
    with pytest.raises(UserError, match="31 splits, and the Hub shows no more than 30"):
        few_splits(Table("updated", Cloze, "Rows.", splits))


def test_a_window_that_outgrows_its_splits_is_announced_as_major(tmp_path: Path) -> None:
    periods = names(2014, 2021)
    for wanted_periods, expected_value in (
        (periods[-30:], "1.0.0 first"),
        (periods, "2.0.0 major"),
    ):
        rows_by_split = {
            split_name: [cloze(row_number, period=split_name)]
            for row_number, split_name in enumerate(wanted_periods)
        }
        found_files = publish(tmp_path, Sample({"updated": rows_by_split}))
        assert f"{found_files.version} {found_files.level}" == expected_value
    assert names_of(load_manifest(found_files.folder).configs[0].splits)[:2] == [
        "2014",
        "2015",
    ]
