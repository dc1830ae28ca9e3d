"""`factdrift receive`: HITs out, submissions in, by HTTP, with restarts and kills."""

import json
import random
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs uvicorn (extra serve)")
pytest.importorskip("starlette", reason="needs Starlette (extra serve)")

from factdrift.annotation.batch import HitBatch, read_batch
from factdrift.annotation.hits import make_batch
from factdrift.annotation.matching import find_answer_mistake
from factdrift.annotation.order import BatchOrder, Delivery, ServingOrder
from factdrift.annotation.receive.desk import Desk, SearchPassages, open_desk
from factdrift.annotation.receive.journal import Journal
from factdrift.annotation.receive.pool import HitPool
from factdrift.annotation.receive.server import Rates
from factdrift.annotation.submission import Submission, submission_from_text
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.limits import LONGEST_ROW
from tests.annotation_workers import LAYOUT, bare_layout, batch_of, hand_in, order, refusals, take
from tests.browser import Browser, browser
from tests.conftest import ROOT
from tests.receiving import Server, answers_of, call, place_link, received, serving
from tests.tables import column_of, columns_of

__all__ = ["browser"]  # a fixture


def at_desk(
    hit_batch: HitBatch, tmp_folder: Path, find: SearchPassages | None = None, **more_values: Any
) -> AbstractContextManager[Desk]:
    """The desk of a batch, with its results in `tmp`."""
    return open_desk(
        ServingOrder(
            batch=hit_batch.folder,
            out=tmp_folder / "results",
            judgments=tmp_folder / "judgments",
            **{"unsigned": True} | more_values,
        ),
        find=find,
    )


def me(worker_id: str, session: str = "", **more_values: Any) -> dict[str, Any]:
    return {"worker": worker_id, "assignment": session, **more_values}


def test_a_pool_gives_each_hit_to_as_many_as_wanted() -> None:
    hit_pool = HitPool(["a", "b"], 2, 60)
    given_hits = [hit_pool.give((f"w{worker_number}", ""), "", 0) for worker_number in range(5)]
    assert given_hits == ["a", "a", "b", "b", None]
    assert hit_pool.give(("w0", ""), "", 1) == "a"  # a reload
    hit_pool.leave(("w1", ""))
    assert hit_pool.give(("w4", ""), "", 1) == "a"
    for worker_number, hit_id in ((0, "a"), (4, "a"), (2, "b")):
        hit_pool.record_submission((f"w{worker_number}", ""), hit_id)
    assert hit_pool.give(("w5", ""), "", 2) is None  # w3 has it in hand
    assert hit_pool.give(("w5", ""), "", 60) == "b"  # and has left
    assert hit_pool.give(("w2", ""), "", 60) is None  # nobody gets a HIT twice
    pool_counts = hit_pool.counts()
    assert (pool_counts["hits_finished"], pool_counts["received"], pool_counts["in_hand"]) == (
        1,
        3,
        1,
    )


@pytest.mark.parametrize(
    ("session", "named_hit", "ended"),
    [("", "", True), ("", "a", True), ("", "2", False), ("s", "2", True), ("", "none", True)],
)
def test_where_work_has_ended(session: str, named_hit: str, ended: bool) -> None:
    hit_pool = HitPool(["a", "b"], 1, 60)
    visit = ("w", session)
    assert not hit_pool.has_ended(visit, named_hit)
    hit_pool.record_submission(visit, "a")
    assert hit_pool.has_ended(visit, named_hit) is ended
    hit_pool.hand(visit, "b", 60)
    assert not hit_pool.has_ended(visit, named_hit)


@pytest.mark.parametrize("named_hit", ["b", "2"])
def test_a_pool_gives_the_hit_that_a_link_names(named_hit: str) -> None:
    hit_pool = HitPool(["a", "b"], 1, 60)
    assert hit_pool.give(("w1", "s1"), named_hit, 0) == "b"
    assert hit_pool.give(("w2", "s2"), named_hit, 0) == "a"  # that one is full
    assert hit_pool.give(("w3", "s3"), "no such", 0) is None


def test_a_pool_never_gives_more_than_wanted_in_any_order() -> None:
    random_source, now = random.Random(7), 0.0
    hit_pool = HitPool([f"h{worker_number}" for worker_number in range(20)], 3, 50)
    for _ in range(3_000):
        now += random_source.random()
        visit = (f"w{random_source.randrange(80)}", "")
        hit_id = hit_pool.give(visit, "", now)
        if hit_id and random_source.random() < 0.1:
            hit_pool.record_submission(visit, hit_id)
        elif hit_id and random_source.random() < 0.1:
            hit_pool.leave(visit)
        for workers in hit_pool.busy.values():
            assert len(workers) <= 3
    assert hit_pool.counts()["received"] == hit_pool.counts()["useful"] == 60


def test_a_journal_cuts_what_a_killed_process_left_of_a_line(tmp_path: Path) -> None:
    file_path = tmp_path / "lines"
    file_path.write_bytes(b'{"a": 1}\n' + b'{"b": ' + b"x" * 100_000)
    journal = Journal(file_path)
    assert (journal.cut, list(journal.lines())) == (100_006, ['{"a": 1}\n'])
    journal.append("é")
    assert file_path.read_text("utf-8") == '{"a": 1}\né\n'
    journal.close()
    with closing(Journal(tmp_path / "new")) as journal:  # it holds ids of workers
        assert journal.path.stat().st_mode & 0o777 == 0o600


def test_rates_are_by_address() -> None:
    now = [0.0]
    rates = Rates(1, now=lambda: now[0])
    assert [rates.allows("a") for _ in range(21)] == [True] * 20 + [False]
    assert rates.allows("b")
    now[0] = 1.0
    assert [rates.allows("a"), rates.allows("a")] == [True, False]
    for _ in range(99):
        assert Rates(0).allows("a")


def test_from_the_page_to_the_judgments(tmp_path: Path) -> None:
    """Two workers, one HIT after another; the code comes with the receipt and not before."""
    hit_batch = batch_of(tmp_path)
    results_folder = tmp_path / "results"
    with serving(
        hit_batch.folder, results_folder, "--code", "C0DE-7", "--base", "/lab/x", "--unsigned"
    ) as server:
        assert server.address.endswith("/lab/x/")
        root = server.address.removesuffix("lab/x/")
        for address, name in ((server.address, ""), (root, ""), (root, "task.html")):
            http_status, page = call(address, name)
            assert (http_status, "Is it good?" in page, "C0DE-7" in page) == (200, True, False)
            assert hit_batch.hits[0].items[0].fields["question"] not in page
        for worker_id in ("ada", "bob"):
            for worker_number in (1, 2):
                http_status, hit_reply = call(server.address, "hit", me(worker_id, next=True))
                assert http_status == 200
                assert "row" not in json.dumps(hit_reply)
                submission = answers_of(hit_reply["hit"], hit_batch.id, worker_id)
                for _ in range(2):  # twice, as where the receipt is lost
                    http_status, reply = call(server.address, "submissions", submission)
                    assert (http_status, reply["code"], reply["more"]) == (200, "C0DE-7", True)
                assert call(server.address, "health")[1]["received"] >= worker_number
                # "Thank you", loaded again
                second_reply = call(server.address, "hit", me(worker_id))[1]
                assert second_reply == {"done": {"how": "sent", "code": "C0DE-7", "more": True}}
        other_code = call(server.address, "hit", me("ada", hit="2"))[1]["done"]["code"]
        no_more = call(server.address, "hit", me("ada", next=True))[1]["done"]
        assert (other_code, no_more["code"], no_more["more"]) == ("C0DE-7", "C0DE-7", False)
        assert call(server.address, "hit", me("eve"))[0] == 409
        assert call(server.address, "health")[1]["useful"] == 4
        printed_text = server.stop()
    assert "ada" not in printed_text
    assert "(0 of 4 received)" in printed_text and "stopped; 4 received" in printed_text
    lines = received(results_folder, hit_batch)
    assert Counter(columns_of(lines, "worker", "hit")) == Counter(
        (worker_id, hit_id.id) for worker_id in ("ada", "bob") for hit_id in hit_batch.hits
    )
    for entry in lines:
        assert entry["received"].endswith("+00:00")
    assert take(tmp_path, results_folder / "quick-0001" / "submissions.jsonl").new == 4
    assert refusals(tmp_path) == []


@pytest.mark.slow
def test_a_session_of_a_recruiting_site_is_one_hit_and_comes_back_to_its_code(
    tmp_path: Path,
) -> None:
    hit_batch = batch_of(tmp_path)
    results_folder, options = tmp_path / "results", ("--code", "C", "--unsigned")
    with serving(
        hit_batch.folder, results_folder, *options, "--complete", "https://x.org/d?c=1"
    ) as server:
        given_hit = call(server.address, "hit", me("p1", "s1", study="st", hit="2"))[1]["hit"]
        assert given_hit["id"] == hit_batch.hits[1].id
        submission = answers_of(given_hit, hit_batch.id, "p1", assignment="s1", study="st")
        reply = call(server.address, "submissions", submission)[1]
        end = {"how": "sent", "code": "C", "complete": "https://x.org/d?c=1", "more": False}
        assert reply == end
        assert call(server.address, "hit", me("p1", "s1"))[1] == {"done": end}
        assert call(server.address, "hit", me("p1", "s2"))[1]["hit"]["id"] == hit_batch.hits[0].id
        server.kill()
    with serving(hit_batch.folder, results_folder, *options) as server:
        session_end = call(server.address, "hit", me("p1", "s1"))[1]["done"]
        assert session_end == {"how": "sent", "code": "C", "more": False}
        assert call(server.address, "health")[1]["in_hand"] == 1  # s2 has its HIT still
        assert call(server.address, "leave", me("p1", "s2"))[0] == 200
        assert call(server.address, "health")[1]["in_hand"] == 0
        assert call(server.address, "submissions", submission)[0] == 200
    assert column_of(received(results_folder, hit_batch), "study") == ["st"]


def bad(hit_batch: HitBatch, change: dict[str, Any]) -> dict[str, Any]:
    hit_id = {
        "id": hit_batch.hits[0].id,
        "items": [{"id": item.id} for item in hit_batch.hits[0].items],
    }
    return answers_of(hit_id, hit_batch.id, "worker-77") | change


def test_what_is_not_taken(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    results_folder = tmp_path / "results"
    item = hit_batch.hits[0].items[0].id
    posts: dict[int, list[Any]] = {
        400: [b"", b"\xff", b'{"format": 1}', b" " * LONGEST_ROW],
        404: [bad(hit_batch, {"batch": "0" * 16}), bad(hit_batch, {"hit": "../../etc"})],
        403: [bad(hit_batch, {"worker": worker_id}) for worker_id in ("  ", "mallory")],
        405: [None],
        413: [b" " * (LONGEST_ROW + 1)],
        422: [
            bad(hit_batch, {"answers": {}}),
            bad(hit_batch, {"answers": {item: {"verdict": "<script>"}}}),
        ],
    }
    visits: dict[int, list[Any]] = {
        200: [me("x" * 200, "y" * 200)],
        400: [b'{"a": NaN}', b"[]", {}, me("x" * 201), me("x", "y" * 201), {"worker": ["a"]}],
    }
    wrong_requests = [
        (request_body, "submissions", http_status)
        for http_status, bodies in posts.items()
        for request_body in bodies
    ]
    wrong_requests += [
        (request_body, "hit", http_status)
        for http_status, bodies in visits.items()
        for request_body in bodies
    ]
    wrong_requests += [(None, file_path, 404) for file_path in ("items.jsonl", "..%2fprivate.json")]
    options = ("--code", "C0DE", "--unsigned")
    with serving(hit_batch.folder, results_folder, *options) as server:
        assert call(server.address, "hit", me("worker-77", hit="1"))[0] == 200
        for posted_body, file_path, http_status in wrong_requests:
            found_status, reply = call(server.address, file_path, posted_body)
            assert (file_path, found_status) == (file_path, http_status)
            assert "C0DE" not in str(reply)
        # A worker that sends ever other answers is kept within bounds.
        for worker_number in range(7):
            submission = bad(hit_batch, {"seconds": float(worker_number)})
            assert call(server.address, "submissions", submission)[0] == (
                200 if worker_number < 5 else 409
            )
        assert call(server.address, "health")[1]["not_taken"] == 2
        printed_text = server.stop()
    assert "worker-77" not in printed_text and "Traceback" not in printed_text
    kept_lines = (results_folder / "quick-0001" / "not-taken.log").read_text("utf-8").splitlines()
    assert len(kept_lines) == 2
    assert len(received(results_folder, hit_batch)) == 5


def test_a_full_rate_is_refused_by_forwarded_address(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    with serving(hit_batch.folder, tmp_path / "results", "--rate", "0.1", "--unsigned") as server:
        first_address, other_address = (
            {"X-Forwarded-For": f"192.0.2.{worker_number}"} for worker_number in (1, 2)
        )
        http_status = [call(server.address, "hit", me("a"), first_address)[0] for _ in range(4)]
        assert http_status == [200, 200, 429, 429]
        assert call(server.address, "hit", me("b"), other_address)[0] == 200


def test_progress_hears_of_each_submission_once(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    heard: list[int] = []
    with at_desk(hit_batch, tmp_path) as desk:
        desk.arrived = heard.append
        assert desk.give(me("worker-77", hit="1"))[0] == 200
        for submission in (bad(hit_batch, {}), bad(hit_batch, {}), {}):
            desk.take(json.dumps(submission))
    assert heard == [1]


PROLIFIC = "https://app.prolific.com/submissions/complete?cc=A%2FB"


@pytest.mark.parametrize(
    ("platform", "code", "complete", "ending"),
    [
        ("static", "A/B", None, {"code": "A/B"}),
        ("static", None, None, {}),
        ("prolific", "A/B", None, {"code": "A/B", "complete": PROLIFIC}),
        ("prolific", "A/B", "https://x.org", {"code": "A/B", "complete": "https://x.org"}),
        ("prolific", None, None, {}),
    ],
)
def test_what_is_told_at_the_end(
    platform: str, code: str | None, complete: str | None, ending: dict[str, str], tmp_path: Path
) -> None:
    end_address = "https://x.org" if platform == "prolific" else None
    hit_batch = batch_of(tmp_path, platform=platform, delivery=Delivery(url=end_address))
    with at_desk(hit_batch, tmp_path, code=code, complete=complete) as desk:
        assert desk.ending == ending


@pytest.mark.parametrize(
    ("paid", "minutes", "seconds"), [(2, None, 1800), (6, None, 2160), (9, 1, 60)]
)
def test_how_long_a_hit_stays_in_hand(
    paid: int, minutes: float | None, seconds: float, tmp_path: Path
) -> None:
    serving_order = order(tmp_path)
    file_path = tmp_path / "quick" / "layout.yaml"
    file_path.write_text(LAYOUT.replace("minutes_per_hit: 2", f"minutes_per_hit: {paid}"), "utf-8")
    hit_batch = read_batch(make_batch(serving_order)[0])
    with at_desk(hit_batch, tmp_path, minutes=minutes) as desk:
        assert desk.pool.seconds == seconds


def test_only_who_has_a_hit_may_search(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    passages = [{"id": "1", "text": "t"}]
    with at_desk(hit_batch, tmp_path, find=lambda query: passages) as desk:
        assert desk.search(me("ada", query="x"))[0] == 409
        assert desk.give(me("ada"))[0] == 200
        found_statuses = [
            desk.search(me("ada", query=entry))[0]
            for entry in (" x ", "x" * 300, "x" * 301, " ", 7)
        ]
        assert found_statuses == [200, 200, 400, 400, 400]
        assert desk.search(me("ada", query="x"))[1] == {"passages": passages}
    with at_desk(hit_batch, tmp_path) as desk:
        assert desk.search(me("ada", query="x"))[0] == 409  # no corpus is served


def test_a_batch_of_pages_has_one_server_at_a_time(tmp_path: Path) -> None:
    hit_batch, other_batch = batch_of(tmp_path), batch_of(tmp_path, platform="mturk")
    refused_start = pytest.raises(UserError, match="it is served already")
    with at_desk(hit_batch, tmp_path), refused_start, at_desk(hit_batch, tmp_path):
        pass
    with pytest.raises(UserError, match="a batch for mturk"), at_desk(other_batch, tmp_path):
        pass


def crowd(
    hit_batch: HitBatch, results_folder: Path, workers: int, kills: int, most: float = 900
) -> list[tuple[str, str]]:
    """Workers who do HITs until there are none left, while the server is killed and restarted.

    Returns the (worker, HIT) of every receipt.
    """
    server_options = ("--code", "C", "--rate", "0", "--minutes", "60")
    server = [Server(hit_batch.folder, results_folder, *server_options)]
    done_work: list[tuple[str, str]] = []
    deadline = time.monotonic() + most

    def until_answered(link: str, file_path: str, request_value: dict[str, Any]) -> tuple[int, Any]:
        while True:
            assert time.monotonic() < deadline
            try:
                return call(server[0].address, file_path, request_value, link=link)
            except Exception:  # no server, or a reply that was cut by the kill
                time.sleep(0.05)

    def work(worker_number: int) -> None:
        worker_id, link = f"w{worker_number}", place_link(hit_batch, worker_number + 1)
        visit_request = me(worker_id, next=True)
        while "hit" in (request_value := until_answered(link, "hit", visit_request)[1]):
            submission = answers_of(request_value["hit"], hit_batch.id, worker_id)
            http_status, reply = until_answered(link, "submissions", submission)
            assert (http_status, reply["code"]) == (200, "C")
            done_work.append((worker_id, request_value["hit"]["id"]))

    with ThreadPoolExecutor(workers) as worker_threads:
        try:
            working = [
                worker_threads.submit(work, worker_number) for worker_number in range(workers)
            ]
            for kill_number in range(1, kills + 1):
                while len(done_work) < len(hit_batch.hits) * 2 * kill_number // (kills + 1):
                    assert time.monotonic() < deadline
                    for future in filter(Future.done, working):
                        future.result()  # a worker who failed ends the test at once
                    time.sleep(0.01)
                server[0].kill()
                server[0] = Server(hit_batch.folder, results_folder, *server_options)
            for future in working:
                future.result()
        finally:
            deadline = 0.0
            server[0].kill()
    return done_work


@pytest.mark.slow
@pytest.mark.parametrize(("hits", "workers", "kills"), [(20, 8, 2), (5_000, 200, 3)])
def test_nothing_is_lost_or_doubled_by_kills(
    tmp_path: Path, hits: int, workers: int, kills: int
) -> None:
    """Each HIT is wanted twice; 10,000 submissions in the long one."""
    hit_batch = batch_of(tmp_path, rows=3 * hits, number=3 * hits)
    assert len(hit_batch.hits) == hits
    done_work = crowd(hit_batch, tmp_path / "results", workers, kills)
    kept_work = columns_of(received(tmp_path / "results", hit_batch), "worker", "hit")
    assert len(kept_work) == len(set(kept_work))  # nothing double
    assert set(kept_work) == set(done_work)  # nothing that was acknowledged is lost
    work_counts = Counter(hit_id for _, hit_id in kept_work)
    assert min(work_counts.values()) >= 2
    assert len(work_counts) == hits


# An expert searches the old corpus in a real browser, opens a passage and marks in it.

ROW = {
    "id": "0" * 16,
    "cloze": "The prime minister of Ireland is [BLANK].",
    "new_answer": "Micheál Martin",
    "question": "Who is the prime minister of Ireland?",
    "doubts": ["The chosen question was made for another answer: “93”."],
}
UNTIL = date(2020, 4, 30)


@pytest.mark.slow
def test_a_search_is_recorded_and_marked_in(tmp_path: Path, browser: Browser) -> None:
    table_rows, news = hand_in(tmp_path, [ROW], "rows.jsonl"), [str(ROOT / "samples/news")]
    places: dict[str, Any] = {"build": tmp_path / "build", "out": tmp_path / "hits"}
    order = BatchOrder(
        layout=bare_layout(tmp_path, "ckl_expert"),
        dataset=str(table_rows),
        news=news,
        until=UNTIL,
        **places,
    )
    hit_batch = read_batch(make_batch(order)[0])
    query, command_words = "Duplantis vaults for a world record", "Duplantis"
    more_values = (
        "--until",
        str(UNTIL),
        "--build",
        str(tmp_path / "build"),
        "--code",
        "C0DE",
    )
    with serving(hit_batch.folder, tmp_path / "results", *more_values) as server:
        browser.size("wide")
        browser.go(f"{server.address}task.html{place_link(hit_batch)}&participant=ada")
        browser.click('[data-answer="keep"] label')
        browser.click('[data-answer="searches"] input')
        browser.insert(query)
        browser.press("Search")
        browser.click(".found button")
        browser.click('[data-answer="found"] label')
        browser.drag(command_words)
        browser.click('[data-answer="other_answer"] textarea')
        browser.insert("Leo Varadkar")
        browser.click('[data-answer="other_is"] label')
        browser.click('[data-answer="settled"] label')
        assert browser.overflow() == 0
        browser.press("Submit")
        browser.wait("return !document.querySelector('#end').hidden")
        (text_line,) = browser.until(
            lambda: received(tmp_path / "results", hit_batch), "the submission"
        )
        browser.wait("return document.querySelector('#end h2').textContent === 'Thank you'")
        browser.refresh()  # without the session of a recruiting site the code comes again, too
        assert browser.text("#code") == "C0DE"
    text_line.pop("received")
    read_submission = submission_from_text(json.dumps(text_line), "", 0)
    assert isinstance(read_submission, Submission)
    assert find_answer_mistake(read_submission, hit_batch.hits[0], hit_batch.layout_as_sent) is None
    item_answers: dict[str, Any]
    (item_answers,) = text_line["answers"].values()
    (search,) = item_answers["searches"]
    assert search["query"] == query
    assert column_of(search["opened"], "id") == search["found"][:1]
    marked = item_answers["other_evidence"]  # behind the passages that were shown
    assert (marked["text"], marked["paragraph"]) == (command_words, 10)
