"""From the sample release over verified facts and paraphrases to the next release."""

import shutil
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from factdrift.annotation.batch import Item
from factdrift.builders.release.compare import compare
from factdrift.builders.rows import Decision, Gold, ReleasedAlignedSegment
from tests.asking_rows import check
from tests.conftest import ROOT, run_cli
from tests.gold_rows import batch_items, config_rows, figure_rows, gold_row, write_gold
from tests.tables import column_of, columns_of, keyed_by_id, names_of

RECIPE = ROOT / "builders/recipes/timeqa.yaml"
CHANGES = ("object", "place", "span", "unanswerable", "time")


def words_of(item: Item, number: int) -> dict[str, Any]:
    """The `number`th word with a capital of a page's text, as it would be marked."""
    page: Any = item.fields["page"]
    rows_found = []
    for paragraph_number, paragraph in enumerate(page):
        position = 0
        for word in paragraph["text"].split(" "):
            if word.isalpha() and word[0].isupper():
                rows_found.append(
                    {
                        "paragraph": paragraph_number,
                        "start": position,
                        "end": position + len(word),
                        "text": word,
                    }
                )
            position += len(word) + 1
    return rows_found[number]


def judge(item: Item, number: int) -> Mapping[str, Any]:
    """What people say of an item: most are right, every kind of change is there."""
    right_answers = {"verdict": "correct", "time": "known"}
    none = "mention" not in item.fields
    kind = CHANGES[number // 4 % len(CHANGES)] if number % 4 == 0 else ""
    if none:
        kind = "object" if number % 2 else ""  # where nothing is found its name is not there
    match kind:
        case "object":
            return {"verdict": "other", "time": "known", "objects": [words_of(item, 2)]}
        case "place":
            own_values: Any = item.fields["found"]
            page: Any = item.fields["page"]
            mark = {**own_values[0], "end": own_values[0]["end"] + 1}
            text = page[mark["paragraph"]]["text"][mark["start"] : mark["end"]]
            if text and text[-1] in ".,;:)":
                mark["text"] = text
                return {"verdict": "other", "time": "known", "objects": [mark]}
            return right_answers
        case "unanswerable":
            return {"verdict": "unanswerable"}
        case "time":
            return {"verdict": "correct", "time": "unknown"}
    return {"verdict": "unanswerable"} if none else right_answers


class Run:
    """Release A, what people said of it, and release B; both in one folder of releases."""

    def __init__(self, sample: Path, folder: Path) -> None:
        self.folder, self.build = folder, folder / "build"
        shutil.copytree(sample / "build", self.build)
        shutil.copytree(sample / "releases/timeqa", folder / "releases/timeqa")
        self.old = folder / "releases/timeqa/1.0.0"
        pages = self.old / "data/pages"
        self.items = batch_items("verify_facts", self.old, folder / "hits", number=150, pages=pages)
        rows_found = [
            gold_row("verify_facts", item.row, item.fields, judge(item, number))
            for number, item in enumerate(self.items)
        ]
        write_gold(folder / "judgments/verify_facts", [*rows_found, *self.useless()])
        words = ("--gold", folder / "judgments", "--out", folder / "releases")
        run_cli("release", RECIPE, *words, "--build", self.build)
        self.new = folder / "releases/timeqa/1.1.0"

    def useless(self) -> list[Gold]:
        """Rows that match nothing, are not accepted, or make no sense."""
        row_seen, shown_fields = self.items[0].row, self.items[0].fields
        right_answers = {"verdict": "correct", "time": "known"}
        return [
            gold_row("verify_facts", "0" * 16, shown_fields, right_answers),
            gold_row(
                "verify_facts", row_seen, shown_fields, {"verdict": "unanswerable"}, "rejected"
            ),
            gold_row("verify_facts", row_seen, shown_fields, {"verdict": "who knows"}),
            gold_row("verify_facts", row_seen, shown_fields, {"verdict": "other", "time": "known"}),
        ]


@pytest.fixture(scope="module")
def human_run(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(sample, tmp_path_factory.mktemp("human"))


def test_what_changed_is_what_people_verified(human_run: Run) -> None:
    changed = compare(human_run.old, human_run.new)
    assert changed.level == "minor"
    changed_configs = {name for name, by in changed.rows.items() if any(by.values())}
    assert changed_configs == {"human", "human_timelines"}
    assert set(changed.totals()) == {"added"}
    shown_fields = keyed_by_id(config_rows(human_run.old, "timelines"))
    own_values = {"id", "verification", "segment", "revisions", "suggested", "complete"}
    names = set(names_of(fields(ReleasedAlignedSegment))) - own_values
    place = {"rule", "paragraph", "start", "end", "mention", "score"}
    place |= {"start_stated", "end_stated", "evidence", "contradicted"}
    names_of_it = {"object", "object_label", "aliases"}
    seen_segments = set()
    for row in config_rows(human_run.new, "human_timelines"):
        row_before, revisions = shown_fields[row["segment"]], set(row["revisions"])
        seen_segments.add(row["segment"])
        differ = {name for name in names if row[name] != row_before[name]}
        assert differ <= (place | names_of_it if revisions & {"object", "span"} else place)
        assert bool(differ) == bool(revisions)
        assert (row["verification"], row["suggested"]) == ("human", row_before["object_label"])
    assert seen_segments == {item.row for item in human_run.items}


def test_the_revision_rate_is_of_every_kind(human_run: Run) -> None:
    rate = figure_rows(human_run.new, "revisions")
    facts = config_rows(human_run.new, "human_timelines")
    counted = {row["change"]: row["segments"] for row in rate}
    by_kind = {kind: sum(kind in row["revisions"] for row in facts) for kind in CHANGES}
    assert list(counted.values()) == [
        *by_kind.values(),
        sum(bool(fact_row["revisions"]) for fact_row in facts),
    ]
    assert {kind for kind, change_count in by_kind.items() if not change_count} == {"span"}
    fact_count = len(set(column_of(facts, "segment")))
    for row in rate:
        assert row["share"] == row["segments"] / fact_count
    outcomes = {
        (fact_row["layout"], fact_row["outcome"]): fact_row["rows"]
        for fact_row in figure_rows(human_run.new, "gold")
    }
    assert outcomes == {
        ("verify_facts", "taken"): len(human_run.items),
        ("verify_facts", "no_such_row"): 1,
        ("verify_facts", "rejected"): 1,
        ("verify_facts", "not_understood"): 2,
    }


def test_whole_histories_are_asked_and_no_others(human_run: Run) -> None:
    facts = config_rows(human_run.new, "human_timelines")
    verified = set(column_of(facts, "segment"))
    histories: dict[tuple[str, str], set[str]] = {}
    for row in config_rows(human_run.old, "timelines"):
        histories.setdefault((row["subject"], row["relation"]), set()).add(row["id"])
    whole_histories = {pair for pair, segments in histories.items() if segments <= verified}
    assert 0 < len(whole_histories) < len(histories)
    assert {
        (table_row["subject"], table_row["relation"])
        for table_row in facts
        if table_row["complete"]
    } == whole_histories
    questions = config_rows(human_run.new, "human")
    assert set(columns_of(questions, "subject", "relation")) <= whole_histories
    assert set(column_of(questions, "difficulty")) == {"easy", "hard"}
    assert set(column_of(questions, "verification")) == {"human"}
    automatic = config_rows(human_run.new, "easy") + config_rows(human_run.new, "hard")
    assert set(column_of(automatic, "verification")) == {"automatic"}
    splits = {table_row["subject"]: table_row["split"] for table_row in automatic}
    for table_row in questions:
        assert splits.get(table_row["subject"], table_row["split"]) == table_row["split"]


def test_questions_are_of_the_facts_that_people_verified(human_run: Run) -> None:
    """Whether they are right is for `test_timeqa_questions_oracle`."""
    objects_by_question: dict[tuple[str, str], list[Any]] = {}
    for row in config_rows(human_run.new, "human_timelines"):
        objects_by_question.setdefault((row["subject"], row["relation"]), []).append(row)
    questions = config_rows(human_run.new, "human")
    assert len(questions) > 100
    for row in questions:
        facts, texts = objects_by_question[row["subject"], row["relation"]], row["answers"]["text"]
        objects = set(column_of(row["objects"], "id"))
        assert objects <= set(column_of(facts, "object"))
        assert {*texts} <= {
            row_seen["mention"] for row_seen in facts if row_seen["object"] in objects
        }
        for position, text in zip(row["answers"]["answer_start"], texts, strict=True):
            assert row["context"][position : position + len(text)] == text
    assert set(column_of(questions, "answerable")) >= {"yes", "not_in_page"}


@pytest.mark.slow
def test_paraphrases_have_the_answers_of_their_question(human_run: Run, tmp_path: Path) -> None:
    """Drawn from `human`; of one question a rewording gives the answer away."""
    batch = batch_items("paraphrase", human_run.new, tmp_path / "hits", number=12, config="human")
    questions = keyed_by_id(config_rows(human_run.new, "human"))
    automatic = keyed_by_id(config_rows(human_run.new, "hard"))
    bad_item = next(row_seen for row_seen in batch if questions[row_seen.row]["objects"])
    texts = {row_seen.row: f"Say: {row_seen.fields['question']}" for row_seen in batch}
    texts[bad_item.row] += f" Not {questions[bad_item.row]['objects'][0]['label']}?"
    unasked_row = next(row for row in automatic.values() if row["id"] not in questions)

    def said(row: str, question: str, what: object, decision: Decision = "accepted") -> Gold:
        return gold_row("paraphrase", row, {"question": question}, {"paraphrase": what}, decision)

    row_seen, its = batch[0].row, str(batch[0].fields["question"])
    rows_found = [
        said(batch_item.row, str(batch_item.fields["question"]), [texts[batch_item.row]])
        for batch_item in batch
    ]
    rows_found += [
        said(unasked_row["id"], unasked_row["question"], ["So?", "And?"]),
        said("f" * 16, unasked_row["question"], ["Who?"]),
        said(row_seen, "Another?", ["Who?"]),
        said(row_seen, its, ["Who?"], "rejected"),
        said(row_seen, its, 7),
    ]
    shutil.copytree(human_run.folder / "judgments", tmp_path / "judgments")
    write_gold(tmp_path / "judgments/paraphrase", rows_found)
    shutil.copytree(human_run.folder / "releases", tmp_path / "releases")
    words = ("--gold", tmp_path / "judgments", "--out", tmp_path / "releases")
    run_cli("release", RECIPE, *words, "--build", human_run.build)
    new_release = tmp_path / "releases/timeqa/1.2.0"
    assert compare(human_run.new, new_release).rows["paraphrased"]["added"] == len(batch) + 1
    rows = config_rows(new_release, "paraphrased")
    own_values = {"id", "prompt", "question", "paraphrase_of", "templated", "shown_from"}
    asking = check(new_release)
    assert (asking["paraphrased"], asking["human"]) == (len(rows), len(questions))
    for row in rows:
        source = questions.get(row["paraphrase_of"]) or automatic[row["paraphrase_of"]]
        assert {column: value for column, value in row.items() if column not in own_values} == {
            column: value for column, value in source.items() if column not in own_values
        }
        assert row["templated"] == source["question"] != row["question"]
        assert row["shown_from"] == "timeqa 1.0.0"
    assert set(column_of(rows, "question")) == {
        "So?",
        "And?",
        *(texts[row_seen.row] for row_seen in batch if row_seen is not bad_item),
    }
    outcomes = {
        figure_row["outcome"]: figure_row["rows"]
        for figure_row in figure_rows(new_release, "gold")
        if figure_row["layout"] == "paraphrase"
    }
    assert outcomes == {
        "taken": len(batch) + 1,
        "gives_answer": 1,
        "no_such_row": 1,
        "changed": 1,
        "rejected": 1,
        "not_understood": 1,
    }


@pytest.mark.slow
def test_paraphrases_alone_and_facts_that_wait_for_an_expert(
    human_run: Run, tmp_path: Path
) -> None:
    row_seen = config_rows(human_run.old, "hard")[0]
    rewording = {"paraphrase": ["So?"]}
    write_gold(
        tmp_path / "alone",
        [gold_row("paraphrase", row_seen["id"], {"question": row_seen["question"]}, rewording)],
    )
    words = ("--out", tmp_path / "r", "--build", human_run.build)
    ran = run_cli("release", RECIPE, "--gold", tmp_path / "alone", *words)
    assert "gold rows of paraphrase: 1 taken\n" in ran.stderr
    new_release = tmp_path / "r/timeqa/1.0.0"
    assert compare(human_run.old, new_release).rows["paraphrased"]["added"] == 1
    assert not (new_release / "data/human").exists()
    item = human_run.items[0]
    waits = gold_row("verify_facts", item.row, item.fields, {"verdict": "unanswerable"}, "open")
    write_gold(tmp_path / "open", [waits])
    run_cli("release", RECIPE, "--gold", tmp_path / "open", *words, "--version", "2.0.0")
    new_release = tmp_path / "r/timeqa/2.0.0"
    assert not config_rows(new_release, "human") + config_rows(new_release, "human_timelines")
    assert figure_rows(new_release, "gold") == [
        {"layout": "verify_facts", "outcome": "open", "rows": 1}
    ]
    nobody = {"layout": "verify_facts", "items": 1, "seen by an expert": 0}
    assert figure_rows(new_release, "expert") == [nobody]
    write_gold(tmp_path / "other", [gold_row("judge_question", "a", {}, {})])
    ran = run_cli("release", RECIPE, "--gold", tmp_path / "other", *words, ok=False)
    assert ran.returncode == 1
    assert "no gold rows of verify_facts or paraphrase" in ran.stderr
