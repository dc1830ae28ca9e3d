"""MTurk's API, against a server that speaks its protocol: publish, resume, results, decisions."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("boto3", reason="needs boto3 (extra mturk)")

from factdrift.annotation.batch import Batch
from factdrift.annotation.layout import load_layout
from factdrift.annotation.platforms.mturk_api import hit_type
from factdrift.annotation.results import import_results
from factdrift.builders.cli import app
from factdrift.builders.core.errors import UserError
from tests.conftest import ROOT
from tests.mturk_server import MTurkServer, serving
from tests.simulated_workers import packed, work, written

KEYS = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLEKEY000000", "AWS_SECRET_ACCESS_KEY": "not-a-secret"}


@pytest.fixture
def mturk() -> Iterator[MTurkServer]:
    with serving() as server:
        yield server


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [k for k in os.environ if k.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)
    for name, text in {**KEYS, "AWS_EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(name, text)


def run(*words: object, ok: bool = True) -> str:
    """What `python -m factdrift mturk …` says, to the end of its work or a `UserError`."""
    done = CliRunner().invoke(app, ["mturk", *map(str, words)])
    said = f"{done.output}{done.exception or ''}"
    assert (done.exit_code == 0) == ok, said
    assert ok or isinstance(done.exception, UserError), done.exc_info
    assert KEYS["AWS_ACCESS_KEY_ID"] not in said
    return said


def made(server: MTurkServer) -> list[str]:
    """Our ids of the HITs that the server has."""
    return sorted(one["RequesterAnnotation"].split()[-1] for one in server.hits.values())


def test_a_batch_goes_out_and_comes_back_and_is_decided(mturk: MTurkServer, tmp_path: Path) -> None:
    batch = written(tmp_path / "hits", "judge_question", "mturk")
    layout = load_layout("judge_question")
    mturk.throttle = {1, 3}
    said = run("publish", batch.folder, "--endpoint", mturk.address)
    assert "3 made" in said
    assert "sandbox: 3 HITs, 9.00 USD" in said
    assert made(mturk) == ["hit0", "hit1", "hit2"]
    assert {one["MaxAssignments"] for one in mturk.hits.values()} == {layout.assignments}
    kind = json.loads(next(iter(mturk.types)))
    assert (kind["Reward"], kind["Title"]) == ("1.00", layout.title)
    assert "QualificationRequirements" not in kind  # the sandbox knows nobody's record
    assert "3 known" in run("publish", batch.folder, "--endpoint", mturk.address)
    assert len(mturk.hits) == 3

    names = {one["RequesterAnnotation"].split()[-1]: name for name, one in mturk.hits.items()}
    for one in work(batch, layout):
        hit = names[batch.hits[one.hit].id]
        one.made["assignment"] = f"ASSIGNMENT{len(mturk.assignments):04}"
        mturk.submit(hit, one.made["worker"], packed(one.made))
    total = len(mturk.assignments)
    out = tmp_path / "results"
    said = run("results", batch.folder, "--endpoint", mturk.address, "--out", out)
    assert f"{total} assignments" in said
    done = import_results(
        [str(out)], hits=tmp_path / "hits", out=tmp_path / "j", feedback=tmp_path / "f"
    )
    assert (done.submissions, done.new, done.further) == (total, 9, 1)
    assert sum(done.refused.values()) == 5
    decisions = [json.loads(x) for p in (tmp_path / "f").glob("*.jsonl") for x in p.open()]
    assert len(decisions) == 10
    said = run("decide", tmp_path / "f", "--endpoint", mturk.address)
    states = [one["AssignmentStatus"] for one in mturk.assignments.values()]
    wanted = [one["decision"] for one in decisions]
    assert states.count("Approved") == wanted.count("approve") > 0
    assert states.count("Rejected") == wanted.count("reject")
    assert states.count("Submitted") == 5  # what was refused is for a person to decide
    assert "10 decided before" in run("decide", tmp_path / "f", "--endpoint", mturk.address)
    said = run("decide", tmp_path / "f", "--endpoint", mturk.address, "--production")
    assert "10 of another site" in said


@pytest.mark.parametrize("forget", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_killed_publish_goes_on_without_a_hit_twice(
    forget: bool, mturk: MTurkServer, tmp_path: Path
) -> None:
    batch = written(tmp_path / "hits", "paraphrase", "mturk", hits=4)
    mturk.silent = {3}  # the second HIT is made, but nobody hears of it
    words = ["mturk", "publish", str(batch.folder), "--endpoint", mturk.address]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    first = subprocess.Popen([sys.executable, "-m", "factdrift", *words], cwd=ROOT, env=env)
    assert mturk.reached.wait(300)
    first.kill()
    first.wait()
    assert made(mturk) == ["hit0", "hit1"]
    log = batch.folder / "mturk" / "published-sandbox.jsonl"
    with log.open("a") as file:
        file.write('{"hit": "hit9", "HI')  # and the kill cut a line
    mturk.forget = forget  # a day later, tokens are gone
    said = run("publish", batch.folder, "--endpoint", mturk.address)
    assert "2 made, 1 found, 1 known" in said
    assert made(mturk) == ["hit0", "hit1", "hit2", "hit3"]
    assert "4 known" in run("publish", batch.folder, "--endpoint", mturk.address)


def test_a_hit_that_is_not_listed_yet_is_found_by_its_token(
    mturk: MTurkServer, tmp_path: Path
) -> None:
    batch = written(tmp_path / "hits", "paraphrase", "mturk")
    run("publish", batch.folder, "--endpoint", mturk.address)
    (batch.folder / "mturk" / "published-sandbox.jsonl").unlink()
    assert "3 made" in run("publish", batch.folder, "--endpoint", mturk.address)
    assert made(mturk) == ["hit0", "hit1", "hit2"]


def _unpublished(batch: Batch, server: MTurkServer, tmp: Path) -> tuple[object, ...]:
    return ("results", batch.folder)


def _no_keys(batch: Batch, server: MTurkServer, tmp: Path) -> tuple[object, ...]:
    return ("publish", batch.folder)


def _no_decisions(batch: Batch, server: MTurkServer, tmp: Path) -> tuple[object, ...]:
    return ("decide", tmp)


def _denied_access(batch: Batch, server: MTurkServer, tmp: Path) -> tuple[object, ...]:
    server.do = _denied  # type: ignore[method-assign]
    return ("publish", batch.folder)


def _denied(operation: str, asked: object) -> dict[str, object]:
    from tests.mturk_server import Refusal

    raise Refusal(
        "RequestError", "AccessDenied", "Your AWS account must be linked. AKIAEXAMPLEKEY000000"
    )


def _not_its_own(batch: Batch, server: MTurkServer, tmp: Path) -> tuple[object, ...]:
    return ("publish", written(tmp / "other", "paraphrase", "static", hits=1).folder)


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (_unpublished, "nothing is published on sandbox"),
        (_no_keys, "no AWS credentials"),
        (_no_decisions, "no decisions here"),
        (_denied_access, "no new requesters since 30 July 2026"),
        (_not_its_own, "a batch for static"),
    ],
)
def test_what_is_the_users_to_mend(
    case: object,
    text: str,
    mturk: MTurkServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = written(tmp_path / "hits", "paraphrase", "mturk", hits=1)
    words = case(batch, mturk, tmp_path)  # type: ignore[operator]
    if case is _no_keys:
        for name in KEYS:
            monkeypatch.delenv(name)
    said = run(*words, "--endpoint", mturk.address, ok=False)
    assert text in " ".join(said.split())


def test_who_may_work_on_it() -> None:
    asked = hit_type(load_layout("judge_question"), "production", 7)
    assert asked["QualificationRequirements"] == [
        {
            "QualificationTypeId": "000000000000000000L0",
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [98],
        },
        {
            "QualificationTypeId": "00000000000000000040",
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [500],
        },
        {
            "QualificationTypeId": "00000000000000000071",
            "Comparator": "In",
            "LocaleValues": [{"Country": c} for c in ("US", "GB", "CA", "AU", "NZ", "IE")],
        },
    ]
    with pytest.raises(UserError, match="for experts"):
        hit_type(load_layout("ckl_expert"), "production", 7)
    expert = hit_type(load_layout("ckl_expert"), "production", 7, ["3QUAL"])
    assert {"QualificationTypeId": "3QUAL", "Comparator": "Exists"} in expert[
        "QualificationRequirements"
    ]
