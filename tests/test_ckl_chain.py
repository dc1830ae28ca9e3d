"""From the sample news, through real batches and people's gold rows, to the CKL releases."""

import json
import shutil
import threading
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.release.compare import compare
from factdrift.builders.rows import Gold
from factdrift.builders.wmt.read import read
from tests.asking_rows import check
from tests.ckl_people import SAID, WRITTEN, experts, workers
from tests.ckl_walk import NEWS, Walk, dropped, gold, rows


class ChainModel(BaseHTTPRequestHandler):
    """A chat server that fills gaps; `fails` of its first calls do."""

    fails = 0
    calls = 0

    def log_message(self, *args: object) -> None:
        """Nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = body["messages"][0]["content"].split("Statement: ")[-1].split("\n")[0]
        type(self).calls += 1
        broken = type(self).calls > 3 and type(self).fails > 0
        type(self).fails -= broken
        message = {"role": "assistant", "content": SAID.get(asked, "nothing")}
        reply = json.dumps({"choices": [{"message": message}]}).encode()
        self.send_response(503 if broken else 200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    served = ThreadingHTTPServer(("127.0.0.1", 0), ChainModel)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{served.server_port}/v1"
    served.shutdown()


def model(server: str) -> dict[str, Any]:
    return {"backend": {"backend": "openai", "base_url": server, "model": "m", "retries": 0}}


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory, server: str) -> Walk:
    """The chain to `updated-lama` and `new-lama`, with a model that fails once on the way."""
    made = Walk(tmp_path_factory.mktemp("ckl"))
    made.release("ckl-questions")
    made.judge("ckl_question", workers(made.items("ckl_question")))
    ChainModel.fails = 1
    with pytest.raises(UserError, match="run again to go on"):
        made.release("ckl-clozes", predict=model(server))
    made.release("ckl-clozes", predict=model(server))
    made.judge("ckl_expert", experts(made.items("ckl_expert")))
    return made


def latest(walk: Walk, name: str) -> Path:
    return max((walk.folder / "releases" / name).iterdir())


def test_questions_and_words_of_recent_articles(walk: Walk) -> None:
    folder = latest(walk, "ckl-questions")
    asked = rows(folder, "data/questions/full.parquet")
    words = rows(folder, "data/words/full.parquet")
    assert len(asked) > 40
    assert len(words) >= len(asked)
    assert {len(r["questions"]) == len(r["answers"]) > 0 for r in asked} == {True}
    assert min(r["article_day"] for r in asked) >= date(2020, 5, 1)
    assert max(len(r["questions"]) for r in asked) > 4
    castex = next(r for r in words if "Jean Castex" in r["candidates"])
    assert len(set(castex["candidates"])) == len(castex["candidates"])


def test_clozes_are_checked_against_their_articles_and_predicted(walk: Walk) -> None:
    folder = latest(walk, "ckl-clozes")
    found = {r["new_answer"]: r for r in rows(folder, "data/all/full.parquet")}
    assert {answer: r["cloze"] for answer, r in found.items()} == {
        answer: cloze for cloze, answer in WRITTEN.values()
    }
    for article in read(str(NEWS), [r["evidence_id"] for r in found.values()]):
        (row,) = [r for r in found.values() if r["evidence_id"] == article.id]
        end = row["answer_start"] + len(row["new_answer"])
        assert article.text[row["answer_start"] : end] == row["new_answer"]
    assert check(folder) == {"all": len(found)}
    assert found["Yoshihide Suga"]["prediction"] == "Shinzo Abe"
    assert found["Atlético Madrid"]["prediction"] is None  # it said that it does not know
    assert {r["predictor"] for r in found.values()} == {"openai:m"}
    bad = "answer_in_cloze answer_not_in_article damaged_gold no_article not_one_blank open"
    assert dropped(folder) == {"ckl-clozes": bad.split()}


def test_a_model_is_asked_once_for_each_cloze_and_a_failure_goes_on(walk: Walk) -> None:
    assert ChainModel.calls == len(WRITTEN) + 1  # one failed, and nothing was asked twice


def test_updated_and_new(walk: Walk) -> None:
    updated, new = walk.release("updated-lama"), walk.release("new-lama")
    by_answer = {r["answer"]: r for r in rows(updated.folder)}
    assert {
        a: (r["query"], r["old_answer"], r["grounds"], r["prediction"])
        for a, r in by_answer.items()
    } == {
        "Yoshihide Suga": (
            "The prime minister of Japan is _X_.",
            "Shinzo Abe",
            "supported",
            "Shinzo Abe",
        ),
        "Atlético Madrid": ("Luis Suárez plays football for _X_.", "Barcelona", "found", None),
    }
    assert (check(updated.folder), check(new.folder)) == ({"all": 2}, {"all": 1})
    (row,) = rows(new.folder)
    assert row["query"] == "_X_ resigned as chief executive of Wirecard in June 2020."
    assert (row["answer"], row["grounds"], row["prediction"]) == (
        "Markus Braun",
        "not_found",
        "Tim Cook",
    )
    assert "old_answer" not in row
    decided = ["known_answer", "known_prediction", "not_judged"]
    assert dropped(updated.folder)["ckl-decide"] == sorted([*decided, "new"])
    assert dropped(new.folder)["ckl-decide"] == sorted([*decided, "updated", "updated"])
    evidence = {
        "Yoshihide Suga": "parliament elected Shinzo Abe as prime minister",
        "Atlético Madrid": "Barcelona agreed to sign Luis Suárez",
    }
    for answer, words in evidence.items():
        for side, text in (("old", words), ("new", answer)):
            place = by_answer[answer][f"{side}_evidence"]
            (article,) = read(str(NEWS), [place["article"]])
            assert article.text[place["start"] : place["end"]] == text
            assert article.day == place["day"]
            assert (article.day <= date(2020, 4, 30)) is (side == "old")


@pytest.mark.slow
def test_the_same_bytes_with_two_jobs_in_another_folder(walk: Walk, tmp_path: Path) -> None:
    other = Walk(tmp_path, jobs=2)
    (tmp_path / "judgments").symlink_to(walk.folder / "judgments")
    for name in ("ckl-questions", "updated-lama", "new-lama"):
        made = other.release(name)
        walk.release(name)
        files = sorted(p for p in made.folder.rglob("*") if p.is_file())
        assert files
        for file in files:
            twin = latest(walk, name) / file.relative_to(made.folder)
            assert file.read_bytes() == twin.read_bytes(), file


def test_offline_from_the_cache_alone(walk: Walk, server: str, tmp_path: Path) -> None:
    calls = ChainModel.calls
    other = Walk(tmp_path)
    (tmp_path / "judgments").symlink_to(walk.folder / "judgments")
    with pytest.raises(UserError, match="not in the cache"):
        other.release("ckl-clozes", predict=model(server), offline=True)
    (tmp_path / "build" / "work").mkdir(parents=True, exist_ok=True)
    shutil.rmtree(tmp_path / "build" / "work" / "answers")
    (tmp_path / "build" / "work" / "answers").symlink_to(walk.folder / "build" / "work" / "answers")
    made = other.release("ckl-clozes", predict=model(server), offline=True)
    table = "data/all/full.parquet"
    assert rows(made.folder, table) == rows(latest(walk, "ckl-clozes"), table)
    assert ChainModel.calls == calls


def test_without_a_model_the_step_is_skipped_and_says_so(walk: Walk, tmp_path: Path) -> None:
    other = Walk(tmp_path)
    (tmp_path / "judgments").symlink_to(walk.folder / "judgments")
    made = other.release("ckl-clozes")
    found = rows(made.folder, "data/all/full.parquet")
    assert {(r["prediction"], r["predictor"]) for r in found} == {(None, None)}
    assert "  prediction: skipped (the recipe names no backend for it)" in other.said
    assert "skipped: no backend" in (made.folder / "README.md").read_text("utf-8")
    items = other.items("ckl_expert")
    assert len(items) == len(WRITTEN)
    assert all("prediction" not in item.fields for item in items)


def test_a_further_judgment_is_a_new_version_with_just_its_row(walk: Walk, tmp_path: Path) -> None:
    other = Walk(tmp_path)
    for layout in ("ckl_question", "ckl_expert"):
        path = walk.folder / "judgments" / layout / "gold.parquet"
        other.judge(layout, [Gold(**r) for r in rows(path.parent, path.name)])
    first = other.release("new-lama")
    experts_said = [
        Gold(**r) for r in rows(other.folder / "judgments" / "ckl_expert", "gold.parquet")
    ]
    (juventus,) = [i for i in walk.items("ckl_expert") if i.fields["new_answer"] == "Andrea Pirlo"]
    answers = {"statement": juventus.fields["cloze"], "supported": "no", "found": "no"}
    further = gold("ckl_expert", juventus, {"settled": "yes", **answers}, judgments=2)
    other.judge("ckl_expert", [*experts_said, further])
    second = other.release("new-lama")
    assert (first.version, second.version, second.level) == ("1.0.0", "1.1.0", "minor")
    found = compare(first.folder, second.folder, tmp_path / "diff.parquet")
    assert "1 added" in found.summary() or "+1" in found.summary(), found.summary()
    assert {r["answer"] for r in rows(second.folder)} == {"Markus Braun", "Andrea Pirlo"}


def test_gold_of_other_layouts_alone_is_refused(tmp_path: Path) -> None:
    other = Walk(tmp_path)
    other.judge("easy_select", [gold("easy_select", "0" * 16, {"newness": "none"}, "rejected")])
    for name in ("ckl-clozes", "updated-lama", "new-lama"):
        with pytest.raises(UserError, match="no gold rows of ckl_question"):
            other.release(name)
