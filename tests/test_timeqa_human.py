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

RECIPE = ROOT / "builders/recipes/timeqa.yaml"
CHANGES = ("object", "place", "span", "unanswerable", "time")


def words_of(item: Item, number: int) -> dict[str, Any]:
    """The `number`th word with a capital of a page's text, as it would be marked."""
    page: Any = item.fields["page"]
    found = []
    for n, paragraph in enumerate(page):
        at = 0
        for word in paragraph["text"].split(" "):
            if word.isalpha() and word[0].isupper():
                found.append({"paragraph": n, "start": at, "end": at + len(word), "text": word})
            at += len(word) + 1
    return found[number]


def judge(item: Item, number: int) -> Mapping[str, Any]:
    """What people say of an item: most are right, every kind of change is there."""
    right = {"verdict": "correct", "time": "known"}
    none = "mention" not in item.fields
    kind = CHANGES[number // 4 % len(CHANGES)] if number % 4 == 0 else ""
    if none:
        kind = "object" if number % 2 else ""  # where nothing is found its name is not there
    match kind:
        case "object":
            return {"verdict": "other", "time": "known", "objects": [words_of(item, 2)]}
        case "place":
            own: Any = item.fields["found"]
            page: Any = item.fields["page"]
            mark = {**own[0], "end": own[0]["end"] + 1}
            text = page[mark["paragraph"]]["text"][mark["start"] : mark["end"]]
            if text and text[-1] in ".,;:)":
                mark["text"] = text
                return {"verdict": "other", "time": "known", "objects": [mark]}
            return right
        case "unanswerable":
            return {"verdict": "unanswerable"}
        case "time":
            return {"verdict": "correct", "time": "unknown"}
    return {"verdict": "unanswerable"} if none else right


class Run:
    """Release A, what people said of it, and release B; both in one folder of releases."""

    def __init__(self, sample: Path, folder: Path) -> None:
        self.folder, self.build = folder, folder / "build"
        shutil.copytree(sample / "build", self.build)
        shutil.copytree(sample / "releases/timeqa", folder / "releases/timeqa")
        self.old = folder / "releases/timeqa/1.0.0"
        pages = self.old / "data/pages"
        self.items = batch_items("verify_facts", self.old, folder / "hits", number=150, pages=pages)
        found = [
            gold_row("verify_facts", item.row, item.fields, judge(item, number))
            for number, item in enumerate(self.items)
        ]
        write_gold(folder / "judgments/verify_facts", [*found, *self.useless()])
        words = ("--gold", folder / "judgments", "--out", folder / "releases")
        run_cli("release", RECIPE, *words, "--build", self.build)
        self.new = folder / "releases/timeqa/1.1.0"

    def useless(self) -> list[Gold]:
        """Rows that match nothing, are not accepted, or make no sense."""
        one, shown = self.items[0].row, self.items[0].fields
        right = {"verdict": "correct", "time": "known"}
        return [
            gold_row("verify_facts", "0" * 16, shown, right),
            gold_row("verify_facts", one, shown, {"verdict": "unanswerable"}, "rejected"),
            gold_row("verify_facts", one, shown, {"verdict": "who knows"}),
            gold_row("verify_facts", one, shown, {"verdict": "other", "time": "known"}),
        ]


@pytest.fixture(scope="module")
def done(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(sample, tmp_path_factory.mktemp("human"))


def test_what_changed_is_what_people_verified(done: Run) -> None:
    changed = compare(done.old, done.new)
    assert changed.level == "minor"
    more = {name for name, by in changed.rows.items() if any(by.values())}
    assert more == {"human", "human_timelines"}
    assert set(changed.totals()) == {"added"}
    shown = {row["id"]: row for row in config_rows(done.old, "timelines")}
    own = {"id", "verification", "segment", "revisions", "suggested", "complete"}
    names = {f.name for f in fields(ReleasedAlignedSegment)} - own
    place = {"rule", "paragraph", "start", "end", "mention", "score"}
    place |= {"start_stated", "end_stated", "evidence", "contradicted"}
    names_of_it = {"object", "object_label", "aliases"}
    seen = set()
    for row in config_rows(done.new, "human_timelines"):
        before, revisions = shown[row["segment"]], set(row["revisions"])
        seen.add(row["segment"])
        differ = {name for name in names if row[name] != before[name]}
        assert differ <= (place | names_of_it if revisions & {"object", "span"} else place)
        assert bool(differ) == bool(revisions)
        assert (row["verification"], row["suggested"]) == ("human", before["object_label"])
    assert seen == {item.row for item in done.items}


def test_the_revision_rate_is_of_every_kind(done: Run) -> None:
    rate = figure_rows(done.new, "revisions")
    facts = config_rows(done.new, "human_timelines")
    counted = {row["change"]: row["segments"] for row in rate}
    by_kind = {kind: sum(kind in row["revisions"] for row in facts) for kind in CHANGES}
    assert list(counted.values()) == [*by_kind.values(), sum(bool(r["revisions"]) for r in facts)]
    assert {kind for kind, number in by_kind.items() if not number} == {"span"}
    whole = len({row["segment"] for row in facts})
    assert all(row["share"] == row["segments"] / whole for row in rate)
    outcomes = {(r["layout"], r["outcome"]): r["rows"] for r in figure_rows(done.new, "gold")}
    assert outcomes == {
        ("verify_facts", "taken"): len(done.items),
        ("verify_facts", "no_such_row"): 1,
        ("verify_facts", "rejected"): 1,
        ("verify_facts", "not_understood"): 2,
    }


def test_whole_histories_are_asked_and_no_others(done: Run) -> None:
    facts = config_rows(done.new, "human_timelines")
    verified = {row["segment"] for row in facts}
    histories: dict[tuple[str, str], set[str]] = {}
    for row in config_rows(done.old, "timelines"):
        histories.setdefault((row["subject"], row["relation"]), set()).add(row["id"])
    whole = {pair for pair, segments in histories.items() if segments <= verified}
    assert 0 < len(whole) < len(histories)
    assert {(r["subject"], r["relation"]) for r in facts if r["complete"]} == whole
    asked = config_rows(done.new, "human")
    assert {(r["subject"], r["relation"]) for r in asked} <= whole
    assert {r["difficulty"] for r in asked} == {"easy", "hard"}
    assert {r["verification"] for r in asked} == {"human"}
    automatic = config_rows(done.new, "easy") + config_rows(done.new, "hard")
    assert {r["verification"] for r in automatic} == {"automatic"}
    splits = {r["subject"]: r["split"] for r in automatic}
    assert all(splits.get(r["subject"], r["split"]) == r["split"] for r in asked)


def test_questions_are_of_the_facts_that_people_verified(done: Run) -> None:
    """Whether they are right is for `test_timeqa_questions_oracle`."""
    of: dict[tuple[str, str], list[Any]] = {}
    for row in config_rows(done.new, "human_timelines"):
        of.setdefault((row["subject"], row["relation"]), []).append(row)
    asked = config_rows(done.new, "human")
    assert len(asked) > 100
    for row in asked:
        facts, texts = of[row["subject"], row["relation"]], row["answers"]["text"]
        objects = {one["id"] for one in row["objects"]}
        assert objects <= {one["object"] for one in facts}
        assert {*texts} <= {one["mention"] for one in facts if one["object"] in objects}
        for at, text in zip(row["answers"]["answer_start"], texts, strict=True):
            assert row["context"][at : at + len(text)] == text
    assert {row["answerable"] for row in asked} >= {"yes", "not_in_page"}


@pytest.mark.slow
def test_paraphrases_have_the_answers_of_their_question(done: Run, tmp_path: Path) -> None:
    """Drawn from `human`; of one question a rewording gives the answer away."""
    made = batch_items("paraphrase", done.new, tmp_path / "hits", number=12, config="human")
    asked = {row["id"]: row for row in config_rows(done.new, "human")}
    automatic = {row["id"]: row for row in config_rows(done.new, "hard")}
    bad = next(one for one in made if asked[one.row]["objects"])
    texts = {one.row: f"Say: {one.fields['question']}" for one in made}
    texts[bad.row] += f" Not {asked[bad.row]['objects'][0]['label']}?"
    alone = next(row for row in automatic.values() if row["id"] not in asked)

    def said(row: str, question: str, what: object, decision: Decision = "accepted") -> Gold:
        return gold_row("paraphrase", row, {"question": question}, {"paraphrase": what}, decision)

    one, its = made[0].row, str(made[0].fields["question"])
    found = [said(m.row, str(m.fields["question"]), [texts[m.row]]) for m in made]
    found += [
        said(alone["id"], alone["question"], ["So?", "And?"]),
        said("f" * 16, alone["question"], ["Who?"]),
        said(one, "Another?", ["Who?"]),
        said(one, its, ["Who?"], "rejected"),
        said(one, its, 7),
    ]
    shutil.copytree(done.folder / "judgments", tmp_path / "judgments")
    write_gold(tmp_path / "judgments/paraphrase", found)
    shutil.copytree(done.folder / "releases", tmp_path / "releases")
    words = ("--gold", tmp_path / "judgments", "--out", tmp_path / "releases")
    run_cli("release", RECIPE, *words, "--build", done.build)
    new = tmp_path / "releases/timeqa/1.2.0"
    assert compare(done.new, new).rows["paraphrased"]["added"] == len(made) + 1
    rows = config_rows(new, "paraphrased")
    own = {"id", "prompt", "question", "paraphrase_of", "templated", "shown_from"}
    asking = check(new)
    assert (asking["paraphrased"], asking["human"]) == (len(rows), len(asked))
    for row in rows:
        source = asked.get(row["paraphrase_of"]) or automatic[row["paraphrase_of"]]
        assert {k: v for k, v in row.items() if k not in own} == {
            k: v for k, v in source.items() if k not in own
        }
        assert row["templated"] == source["question"] != row["question"]
        assert row["shown_from"] == "timeqa 1.0.0"
    assert {r["question"] for r in rows} == {
        "So?",
        "And?",
        *(texts[one.row] for one in made if one is not bad),
    }
    outcomes = {
        r["outcome"]: r["rows"] for r in figure_rows(new, "gold") if r["layout"] == "paraphrase"
    }
    assert outcomes == {
        "taken": len(made) + 1,
        "gives_answer": 1,
        "no_such_row": 1,
        "changed": 1,
        "rejected": 1,
        "not_understood": 1,
    }


@pytest.mark.slow
def test_paraphrases_alone_and_facts_that_wait_for_an_expert(done: Run, tmp_path: Path) -> None:
    one = config_rows(done.old, "hard")[0]
    rewording = {"paraphrase": ["So?"]}
    write_gold(
        tmp_path / "alone",
        [gold_row("paraphrase", one["id"], {"question": one["question"]}, rewording)],
    )
    words = ("--out", tmp_path / "r", "--build", done.build)
    ran = run_cli("release", RECIPE, "--gold", tmp_path / "alone", *words)
    assert "gold rows of paraphrase: 1 taken\n" in ran.stderr
    new = tmp_path / "r/timeqa/1.0.0"
    assert compare(done.old, new).rows["paraphrased"]["added"] == 1
    assert not (new / "data/human").exists()
    item = done.items[0]
    waits = gold_row("verify_facts", item.row, item.fields, {"verdict": "unanswerable"}, "open")
    write_gold(tmp_path / "open", [waits])
    run_cli("release", RECIPE, "--gold", tmp_path / "open", *words, "--version", "2.0.0")
    new = tmp_path / "r/timeqa/2.0.0"
    assert not config_rows(new, "human") + config_rows(new, "human_timelines")
    assert figure_rows(new, "gold") == [{"layout": "verify_facts", "outcome": "open", "rows": 1}]
    write_gold(tmp_path / "other", [gold_row("judge_question", "a", {}, {})])
    ran = run_cli("release", RECIPE, "--gold", tmp_path / "other", *words, ok=False)
    assert ran.returncode == 1
    assert "no gold rows of verify_facts or paraphrase" in ran.stderr
