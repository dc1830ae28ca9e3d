"""Platforms: which one a results file is from, and platforms in packages of others."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from factdrift.annotation.order import ServingOrder
from factdrift.annotation.platforms import (
    ALL_PLATFORMS,
    PLATFORMS,
    detect_platform,
    find_platform,
)
from factdrift.annotation.platforms.static import named_batch
from factdrift.annotation.receive.desk import open_desk
from factdrift.builders.core.errors import UserError
from tests.annotation_workers import batch_of, hand_in, refusals, submission, take
from tests.tables import column_of

CROWD = '''
"""A site that takes a file of tasks and returns lines of `task`, `who` and answers."""

import json

from factdrift.annotation.platforms.base import Recognition, Platform
from factdrift.annotation.reading import read_head
from factdrift.annotation.submission import SUBMISSION_FORMAT, submission_from_value


class Crowd(Platform):
    name = "crowd"
    delivery_fields = ("code",)
    lists_participants = True

    def export(self, batch, layout, folder, delivery):
        tasks = [
            {"task": f"{batch.id} {hit.id}", "items": {i.id: dict(i.fields) for i in hit.items}}
            for hit in batch.hits
        ]
        (folder / "tasks.json").write_text(json.dumps(tasks, sort_keys=True))

    def recognises(self, path):
        return Recognition.SURE if '"crowd_task"' in read_head(path) else Recognition.NO

    def submission(self, value, where, line, *, table):
        batch, hit = value["crowd_task"].split()
        ids = {"batch": batch, "hit": hit, "worker": value["who"], "assignment": value["who"]}
        submission = {"format": SUBMISSION_FORMAT, "answers": value["answers"], **ids}
        return submission_from_value(submission, where, line)

    def excluded_by(self, participants):
        banned = participants.read_text().split()
        return lambda submission: "banned" if submission.worker in banned else ""


class Pages(Crowd):
    """Another site, whose workers use our pages."""

    name = "pages"
    serves_pages = True

    def recognises(self, path):
        return Recognition.SURE if '"crowd_task"' in read_head(path) else Recognition.NO

    def completion_link(self, code):
        return f"https://pages.example/{code}"
'''


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of `sys.path` with a package that offers `crowd`, as pip would install it."""
    folder = tmp_path / "site"
    install(folder, "crowd_package", "crowd = crowd_package:Crowd", CROWD)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "crowd_package", raising=False)
    find_platform.cache_clear()
    yield folder
    find_platform.cache_clear()


def install(folder: Path, module: str, entry: str, code: str) -> None:
    """Write a module and its entry points of the group `factdrift.platforms`."""
    metadata = folder / f"{module}-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    (folder / f"{module}.py").write_text(code)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text(f"[factdrift.platforms]\n{entry}\n")


def test_a_platform_of_a_package_exports_detects_and_imports(site: Path, tmp_path: Path) -> None:
    assert ALL_PLATFORMS.names() == [*PLATFORMS, "crowd"]
    hit_batch = batch_of(tmp_path, platform="crowd")
    tasks = json.loads((hit_batch.folder / "crowd" / "tasks.json").read_text())
    assert column_of(tasks, "task") == [f"{hit_batch.id} {hit.id}" for hit in hit_batch.hits]
    platform_results = [
        {
            "crowd_task": tasks[0]["task"],
            "who": who,
            "answers": submission(hit_batch, who)["answers"],
        }
        for who in ("ann", "bob", "eve")
    ]
    file_path = hand_in(tmp_path, platform_results)
    assert detect_platform(file_path, lambda: None, print).name == "crowd"
    unchecked = take(tmp_path, file_path, out="unchecked")
    assert unchecked.new == 3
    text = "nobody's id was checked; give its export with --participants"
    assert unchecked.remarks == [f"crowd: {text}"]
    (tmp_path / "banned.txt").write_text("eve\n")
    checked = take(tmp_path, file_path, participants=tmp_path / "banned.txt")
    assert (checked.new, checked.remarks) == (2, [])
    assert [reason for _, _, reason, _ in refusals(tmp_path)] == ["banned"]


def test_pages_are_served_for_a_platform_of_a_package(site: Path, tmp_path: Path) -> None:
    entry_points = site / "crowd_package-0.1.0.dist-info/entry_points.txt"
    entry_points.write_text(entry_points.read_text() + "pages = crowd_package:Pages\n")
    hit_batch = batch_of(tmp_path, platform="pages")
    served = ServingOrder(batch=hit_batch.folder, out=tmp_path / "results", code="AB")
    with open_desk(served) as desk:
        assert desk.ending == {"code": "AB", "complete": "https://pages.example/AB"}


@pytest.mark.parametrize(
    ("entry", "expected_message"),
    [
        ("crowd = odd_package:Missing", "the platform 'crowd' cannot be loaded: AttributeError"),
        ("crowd = odd_package:NUMBER", "odd_package:NUMBER is not a Platform"),
        ("other = odd_package:Crowd", "the platform 'other' calls itself 'crowd'"),
    ],
)
def test_a_broken_package_is_named_and_does_not_stop_other_platforms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, expected_message: str
) -> None:
    install(tmp_path / "site", "odd_package", entry, f"NUMBER = 1\n{CROWD}")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.delitem(sys.modules, "odd_package", raising=False)
    find_platform.cache_clear()
    with pytest.raises(UserError, match=expected_message):
        find_platform(entry.split()[0])
    hit_batch = batch_of(tmp_path)
    file_path = hand_in(tmp_path, [submission(hit_batch, "ann")])
    said_messages: list[str] = []
    assert detect_platform(file_path, lambda: None, said_messages.append).name == "static"
    assert expected_message in said_messages[0]


STATIC_LINE = '{"format": "factdrift-submission/1", "batch": "0123456789abcdef"}'


@pytest.mark.parametrize(
    ("name", "text", "batch_platform", "platform"),
    [
        ("a.jsonl", STATIC_LINE, None, "static"),
        ("a.jsonl", STATIC_LINE, "static", "static"),
        ("a.jsonl", STATIC_LINE, "prolific", "prolific"),
        ("a.jsonl", STATIC_LINE, "mturk", "static"),
        ("a.csv", '"x"\n"{""batch"": ""0123456789abcdef""}"\n', "prolific", "prolific"),
        ("a.csv", f"WorkerId,AssignmentId\n{STATIC_LINE}\n", "prolific", "mturk"),
        ("a.json", '[{"data": {"factdrift": 1}}]', "prolific", "label_studio"),
        ("a.jsonl", '{"neither": "nor"}', "prolific", "static"),
        ("a.jsonl", "", None, "static"),
    ],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_detection_does_not_depend_on_the_order_of_the_table(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    text: str,
    batch_platform: str | None,
    platform: str,
    backwards: bool,
) -> None:
    file_path = tmp_path / name
    file_path.write_text(text)
    names = sorted(PLATFORMS, reverse=backwards)
    monkeypatch.setattr(type(ALL_PLATFORMS), "names", lambda self: names)
    assert detect_platform(file_path, lambda: batch_platform, print).name == platform


def test_two_platforms_that_are_both_sure(site: Path, tmp_path: Path) -> None:
    entry_points = site / "crowd_package-0.1.0.dist-info/entry_points.txt"
    entry_points.write_text(entry_points.read_text() + "pages = crowd_package:Pages\n")
    file_path = hand_in(tmp_path, [{"crowd_task": "b h"}])
    with pytest.raises(UserError, match=r"(?s)may be results of crowd or pages.*--platform"):
        detect_platform(file_path, lambda: None, print)
    assert detect_platform(file_path, lambda: "pages", print).name == "pages"


@pytest.mark.parametrize(
    ("text", "hit_batch"),
    [
        ('{"batch": "0123456789abcdef"}', "0123456789abcdef"),
        ('"{""batch"":""0123456789abcdef""}"', "0123456789abcdef"),
        ('{"batch": "7"}', None),
        ('{"batch": "0123456789ABCDEF"}', None),
    ],
)
def test_the_batch_that_a_file_names(tmp_path: Path, text: str, hit_batch: str | None) -> None:
    file_path = tmp_path / "a.jsonl"
    file_path.write_text(text)
    assert named_batch(file_path) == hit_batch
