"""What the tests of the CKL chain share: releases of the sample, batches, people, and a model.

Gold rows are written as `make judgments` writes them, out of the items of a real batch.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from factdrift.annotation.batch import HitBatch, Item, read_batch
from factdrift.annotation.checks import answer_problems
from factdrift.annotation.hits import make_batch
from factdrift.annotation.layout import load_layout
from factdrift.annotation.order import BatchOrder
from factdrift.builders.core.schema import arrow_schema, batches
from factdrift.builders.release.outcome import Outcome
from factdrift.builders.release.release import ReleaseOptions, release_all
from factdrift.builders.rows import Decision, Gold
from tests.conftest import ROOT
from tests.json_server import Reply, chat_reply, serve_json
from tests.plain_articles import write_plain_news
from tests.tables import read_table

RECIPES = ROOT / "builders" / "recipes"
PEOPLE = read_table("ckl_people")
CLOZES: dict[str, dict[str, Any]] = PEOPLE["clozes"]


@dataclass
class Walk:
    """One folder with everything in it; `said` is what the runs said."""

    folder: Path
    jobs: int = 1
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.news = write_plain_news(self.folder / "news")
        (self.folder / "tokenizer").symlink_to(ROOT / "samples/tokenizer")

    def beside(self, folder: Path) -> "Walk":
        """Another folder with the same gold rows."""
        (folder / "judgments").symlink_to(self.folder / "judgments")
        return Walk(folder, jobs=2)

    def release(self, name: str, **build: Any) -> Outcome:
        """A bundled recipe over the plain articles, with other parameters where given."""
        recipe = yaml.safe_load((RECIPES / f"{name}.yaml").read_text("utf-8"))
        recipe["inputs"]["news"]["path"] = self.news.name  # beside it: the same in every folder
        recipe["build"].pop("generate", None)  # no model has answered about these articles
        if "tokenizer" in recipe["build"]:
            recipe["build"]["tokenizer"] = "tokenizer"
        recipe["build"] |= build
        file_path = self.folder / f"{name}.yaml"
        file_path.write_text(json.dumps(recipe, default=str), "utf-8")
        release_options = ReleaseOptions(
            given={} if name == "ckl-questions" else {"gold": [str(self.folder / "judgments")]},
            snapshot=None,
            version=None,
            out=self.folder / "releases",
            build=self.folder / "build",
            templates=ROOT / "templates",
            engine="duckdb",
            jobs=self.jobs,
            memory="1GB",
            say=self.said.append,
        )
        return release_all([file_path], release_options)[0]

    def batch(self, layout: str, number: int) -> HitBatch:
        """A batch of rows of the newest release."""
        order = BatchOrder(
            layout=layout,
            number=number,
            news=[str(self.news)],
            until=date(2020, 4, 30),
            again=True,
            releases=self.folder / "releases",
            build=self.folder / "build",
            out=self.folder / "hits",
        )
        return read_batch(make_batch(order)[0])

    def items(self, layout: str) -> list[Item]:
        """The items of a batch of all rows, attention items left out."""
        hits = self.batch(layout, 500).hits
        return [item for hit in hits for item in hit.items if item.row]

    def judge(self, layout: str, gold_rows: Sequence[Gold]) -> Path:
        """Put gold rows where `make judgments` puts them, in place of those of before."""
        file_path = self.folder / "judgments" / layout / "gold.parquet"
        file_path.parent.mkdir(parents=True, exist_ok=True)
        judged = pa.Table.from_batches(list(batches(Gold, gold_rows)), schema=arrow_schema(Gold))
        pq.write_table(judged, file_path)
        return file_path


def gold(
    layout: str,
    item: Item | str,
    item_answers: Mapping[str, Any],
    decision: Decision = "accepted",
    judgments: int = 1,
    dataset: str = "ckl-clozes 1.0.0",
) -> Gold:
    """The gold row of an item; free answers are lists, as they are in real ones."""
    free = {
        answer_name
        for answer_name, layout_answer in load_layout(layout).answers.items()
        if layout_answer.agree == "none"
    }
    layout_folders = {
        answer_name: answer_value
        if answer_name not in free or isinstance(answer_value, list)
        else [answer_value]
        for answer_name, answer_value in item_answers.items()
    }
    return Gold(
        row=item if isinstance(item, str) else item.row,
        layout=layout,
        dataset=dataset,
        decision=decision,
        answers=json.dumps(layout_folders, ensure_ascii=False, sort_keys=True),
        shown="{}" if isinstance(item, str) else json.dumps(dict(item.fields), sort_keys=True),
        judgments=judgments,
        agreeing=judgments,
    )


def valid(layout: str, item: Item, item_answers: Mapping[str, Any]) -> Mapping[str, Any]:
    """The answers, after the check that the import of results makes."""
    assert answer_problems(load_layout(layout), item.fields, item_answers) == []
    return item_answers


def mark(text: str, command_words: str, paragraph: int | None = None) -> dict[str, Any]:
    """A marked span, at the first place of the words."""
    start = text.index(command_words)
    span: dict[str, Any] = {
        "start": start,
        "end": start + len(command_words),
        "text": command_words,
    }
    return span if paragraph is None else {"paragraph": paragraph, **span}


def rows(published: Path, table: str = "data/all/test.parquet") -> list[dict[str, Any]]:
    """The rows of a table of a release."""
    table_rows: list[dict[str, Any]] = pq.read_table(published / table).to_pylist()
    return table_rows


def dropped(published: Path) -> dict[str, list[str]]:
    """The reasons of the dropped rows, sorted, by step."""
    dropped_items: dict[str, list[str]] = {}
    for row in rows(published, "dropped.parquet"):
        dropped_items.setdefault(row["step"], []).append(row["reason"])
    return {step: sorted(reasons) for step, reasons in dropped_items.items()}


@contextmanager
def chat_server(answer: Callable[[str], str | None]) -> Iterator[dict[str, Any]]:
    """A prompted step whose chat server answers prompts; None: it fails."""

    def reply(_: object, body: Any) -> Reply:
        model_answer = answer(body["messages"][0]["content"].rstrip())
        return (503, {}) if model_answer is None else (200, chat_reply(model_answer))

    with serve_json(reply) as root:
        backend = {"backend": "openai", "base_url": f"{root}/v1", "model": "m", "retries": 0}
        yield {"backend": backend}


def workers(items: Sequence[Item]) -> list[Gold]:
    """What workers say of the articles in `CLOZES`, and some bad work."""
    layout = "ckl_question"

    def said(start: str, cloze: str, answer: str) -> tuple[Item, dict[str, Any]]:
        shown_item = next(
            shown_item
            for shown_item in items
            if str(shown_item.fields["article"]).startswith(start)
        )
        questions, text = shown_item.fields["questions"], str(shown_item.fields["article"])
        assert isinstance(questions, list)
        edited = cloze.replace("[BLANK]", "who").rstrip(".") + "?"
        span = mark(text, answer)
        return shown_item, {
            "question": questions[0],
            "answer": span,
            "edited": edited,
            "cloze": cloze.replace("[BLANK]", "[BLANK-THING]"),
        }

    submissions = []
    for start, cloze_case in CLOZES.items():
        shown_item, item_answers = said(start, cloze_case["cloze"], cloze_case["answer"])
        submissions.append(gold(layout, shown_item, valid(layout, shown_item, item_answers)))
    hertz, twice = said("Car rental", "[BLANK] and [BLANK] are firms of Hertz.", "Dollar")
    corrected_cloze = "Alexander De Croo succeeded the minister [BLANK]."
    moldova, off = said("Maia Sandu", "[BLANK] won in Moldova.", "Sandu")
    return [
        *submissions,
        gold(layout, hertz, twice),
        gold(layout, *said("Alexander De Croo", corrected_cloze, "De Croo")),
        gold(layout, moldova, off | {"answer": {"start": 3, "end": 7, "text": "Igor"}}),
        gold(layout, "0123456789abcdef", twice),
        gold(layout, "1" * 16, {"question": ["a", "b", "c"], "edited": ["a", "b"]}),
        gold(layout, "2" * 16, twice, decision="open"),
    ]


def experts(items: Sequence[Item]) -> list[Gold]:
    """What experts find in the passages that the search of the old corpus gave."""
    layout, submissions = "ckl_expert", []
    judged = {
        cloze_case["answer"]: cloze_case
        for cloze_case in CLOZES.values()
        if "experts" in cloze_case
    }
    for shown_item in items:
        cloze_case = judged.get(shown_item.fields["new_answer"])
        if cloze_case is None:
            continue
        settled = {"settled": "yes"} if shown_item.fields.get("doubts") else {}
        expert_answers = {
            "keep": "yes",
            "statement": shown_item.fields["cloze"],
            **settled,
            **cloze_case["experts"],
        }
        name, command_words = cloze_case.get("marked", ("", ""))
        search_results = shown_item.fields["results"]
        assert isinstance(search_results, list)
        passage_texts = [
            str(passage["text"]) for passage in search_results if isinstance(passage, dict)
        ]
        marks = [
            mark(text, command_words, place)
            for place, text in enumerate(passage_texts)
            if name and command_words in text
        ]
        expert_answers |= {name: marks[0]} if name else {}
        submissions.append(
            gold(layout, shown_item, valid(layout, shown_item, expert_answers), judgments=2)
        )
    return submissions
