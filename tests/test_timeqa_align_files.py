"""Aligning files: the join by subject, any number of processes, and which pairs are kept."""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders import rows
from builders.engine import Engine, engine
from builders.errors import UserError
from builders.schema import arrow_schema, batches
from builders.timeqa.align import Alignment, align_file, keep_pairs
from builders.timeqa.align_keep import DROPPED_ORDER
from tests.test_timeqa_align import days, page

BASE = [f.name for f in fields(rows.Segment)]


def named(subject: str, of: str, label: str, relation: str = "P54") -> rows.NamedSegment:
    start, end = days("2003"), days("2009")
    return rows.NamedSegment(
        subject=subject,
        relation=relation,
        object=of,
        start_first=start[0],
        start_last=start[1],
        end_first=end[0],
        end_last=end[1],
        end_open=False,
        end_inferred=False,
        statements=(f"{subject}${of}",),
        snapshot=days("2022-09-15")[0] or pytest.fail(),
        object_label=label,
        aliases=(),
        object_title=None,
    )


def write(path: Path, row: Any, some: Sequence[Any], group: int = 7) -> Path:
    table = pa.Table.from_batches(batches(row, some), schema=arrow_schema(row))
    pq.write_table(table, path, row_group_size=group)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


def made(folder: Path, count: int) -> tuple[Path, Path]:
    """Pages of some of `count` subjects, of Q9 before Q10, and segments of others too."""
    rng = random.Random(3)
    pages, segments = [], []
    for n in range(1, count + 1):
        clubs = rng.sample(["Leeds United", "Hull City", "Aston Villa", "Bury"], 3)
        if rng.random() < 0.8:
            text = f"Subject {n}.\nHe was with {clubs[0]} from 2003 to 2009.\n* {clubs[1]} (2003)"
            pages.append(page(text, f"Q{n}"))
        if rng.random() < 0.8:
            segments += [named(f"Q{n}", f"Q{k}", club) for k, club in enumerate(clubs)]
    return (
        write(folder / "pages.parquet", rows.Page, pages),
        write(folder / "segments.parquet", rows.NamedSegment, segments, 11),
    )


def test_subjects_meet_their_pages(tmp_path: Path) -> None:
    pages, segments = made(tmp_path, 150)
    counts = align_file(pages, segments, tmp_path / "out", Alignment())
    found, dropped = (read(tmp_path / "out" / f"{n}.parquet") for n in counts)
    known = {p["item"] for p in read(pages)}
    wanted = read(segments)
    assert [{n: r[n] for n in BASE} for r in found] == [
        {n: s[n] for n in BASE} for s in wanted if s["subject"] in known
    ]
    assert [(d["item"], d["subject"], d["relation"]) for d in dropped] == [
        (f"{s['subject']}/P54/{s['object']}", s["subject"], "P54")
        for s in wanted
        if s["subject"] not in known
    ]
    assert {(d["step"], d["reason"]) for d in dropped} == {("align", "no_page")}
    assert counts == {"aligned": len(found), "dropped": len(dropped)}
    assert min(counts.values()) > 20
    assert [r["rule"] for r in found] == ["name", "name", "none"] * (len(found) // 3)
    assert {r["paragraph"] for r in found} == {1, 2, None}
    schema = pq.read_schema(tmp_path / "out" / "aligned.parquet")
    assert schema.equals(arrow_schema(rows.AlignedSegment))


def test_the_same_bytes_in_two_processes(tmp_path: Path) -> None:
    pages, segments = made(tmp_path, 120)
    for jobs in (1, 2):
        align_file(pages, segments, tmp_path / str(jobs), Alignment(), jobs)
    for name in ("aligned.parquet", "dropped.parquet"):
        one, two = ((tmp_path / str(j) / name).read_bytes() for j in (1, 2))
        assert one == two


EDGES: list[tuple[str, list[str], list[str], list[str], list[str]]] = [
    ("no pages", [], ["Q1", "Q2"], [], ["Q1", "Q2"]),
    ("no segments", ["Q1"], [], [], []),
    ("before, between and after", ["Q5", "Q10"], ["Q4", "Q5", "Q7", "Q10", "Q11"], ["Q5", "Q10"],
     ["Q4", "Q7", "Q11"]),
    ("by number", ["Q9", "Q10"], ["Q9", "Q10"], ["Q9", "Q10"], []),
]  # fmt: skip


@pytest.mark.parametrize(("items", "subjects", "met", "left"), [e[1:] for e in EDGES])
def test_edges(
    tmp_path: Path, items: list[str], subjects: list[str], met: list[str], left: list[str]
) -> None:
    pages = write(tmp_path / "p", rows.Page, [page("Text.", i) for i in items])
    ones = [named(s, "Q1", "Hull") for s in subjects]
    segments = write(tmp_path / "s", rows.NamedSegment, ones)
    align_file(pages, segments, tmp_path / "out", Alignment())
    assert [r["subject"] for r in read(tmp_path / "out/aligned.parquet")] == met
    assert [r["subject"] for r in read(tmp_path / "out/dropped.parquet")] == left


def test_many_segments_without_a_page(tmp_path: Path) -> None:
    pages = write(tmp_path / "p", rows.Page, [page("Hull.", "Q99999")])
    ones = [named(f"Q{n}", "Q1", "Hull") for n in range(10_000, 40_000)]
    ones.append(named("Q99999", "Q1", "Hull"))
    segments = write(tmp_path / "s", rows.NamedSegment, ones, 5000)
    counts = align_file(pages, segments, tmp_path / "out", Alignment())
    assert counts == {"aligned": 1, "dropped": 30_000}
    dropped = pq.read_table(tmp_path / "out/dropped.parquet").column("subject").to_pylist()
    assert dropped == [f"Q{n}" for n in range(10_000, 40_000)]


def test_wrong_files_are_told(tmp_path: Path) -> None:
    good = write(tmp_path / "p", rows.Page, [page("Text.", "Q1")])
    twice = write(tmp_path / "t", rows.Page, [page("Text.", "Q1"), page("Text.", "Q1")])
    back = write(tmp_path / "b", rows.NamedSegment, [named(q, "Q1", "A") for q in ("Q10", "Q9")])
    fine = write(tmp_path / "f", rows.NamedSegment, [named("Q1", "Q1", "A")])
    (tmp_path / "text").write_text("no Parquet")
    for pages, segments, said in (
        (tmp_path / "none", fine, "no such file"),
        (tmp_path / "text", fine, "not a Parquet file"),
        (fine, fine, "no column item, title"),
        (twice, fine, "item Q1 stands twice"),
        (good, back, "subject Q9 stands after Q10"),
    ):
        with pytest.raises(UserError, match=said):
            align_file(pages, segments, tmp_path / "out", Alignment())


@pytest.fixture(scope="module")
def duck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with engine("duckdb", tmp_path_factory.mktemp("scratch"), threads=2) as opened:
        yield opened


def kept(
    duck: Engine, folder: Path, pairs: dict[tuple[str, str], str], cap: int | None, seed: int = 1
) -> tuple[set[tuple[str, str]], dict[str, tuple[str, float, str]]]:
    """Pairs that stay and drops, of pairs given by the first letters of their segments' rules."""
    names = {"l": "link", "n": "name", "s": "similar", "-": "none"}
    path = folder / "aligned.parquet"
    some = []
    for (subject, relation), rules in pairs.items():
        for k, letter in enumerate(rules):
            one = named(subject, f"Q{k}", "A", relation)
            base = {n: getattr(one, n) for n in BASE}
            gone = dict.fromkeys(("paragraph", "start", "end", "mention", "score"))
            stated = dict.fromkeys(("start_stated", "end_stated"))
            more = {"object_label": "A", "aliases": (), "page": 1, "revision": 1}
            rest = {"rule": names[letter], "verification": "automatic"}
            some.append(rows.AlignedSegment(**base, **more, **gone, **stated, **rest))  # type: ignore[arg-type]
    write(path, rows.AlignedSegment, some)
    result = keep_pairs(duck.read(path, rows.AlignedSegment), 0.5, cap, seed)
    duck.write(result.dropped, folder / "d.parquet", rows.Dropped, DROPPED_ORDER)
    order = ("subject", "relation", "object")
    duck.write(result.segments, folder / "k.parquet", rows.AlignedSegment, order)
    left = {(r["subject"], r["relation"]) for r in read(folder / "k.parquet")}
    assert sum(len(pairs[p]) for p in left) == len(read(folder / "k.parquet"))
    drops = read(folder / "d.parquet")
    assert {d["step"] for d in drops} <= {"align"}
    return left, {d["item"]: (d["reason"], d["score"], d["detail"]) for d in drops}


def test_more_than_half_missing(duck: Engine, tmp_path: Path) -> None:
    pairs = {("Q1", "P54"): "l-", ("Q2", "P54"): "n--", ("Q3", "P54"): "-", ("Q4", "P6"): "sln"}
    left, drops = kept(duck, tmp_path, pairs, None)
    assert left == {("Q1", "P54"), ("Q4", "P6")}
    assert drops == {
        "Q2/P54": ("not_in_page", pytest.approx(2 / 3), "2 of 3 segments are not in the page"),
        "Q3/P54": ("not_in_page", 1.0, "1 of 1 segments are not in the page"),
    }


def test_a_relation_is_cut_to_its_cap_by_hash(duck: Engine, tmp_path: Path) -> None:
    pairs = {(f"Q{n}", "P54"): "l" for n in range(40)} | {("Q7", "P6"): "n", ("Q8", "P54"): "--"}
    left, drops = kept(duck, tmp_path, pairs, 10, seed=5)

    def chance(subject: str) -> str:
        return hashlib.sha256(f"5\t{subject}\tP54".encode()).hexdigest()

    good = [f"Q{n}" for n in range(40) if n != 8]
    assert left == {(s, "P54") for s in sorted(good, key=chance)[:10]} | {("Q7", "P6")}
    assert drops["Q8/P54"][0] == "not_in_page"
    assert [r for r, *_ in drops.values()].count("over_cap") == 29
    other, _ = kept(duck, tmp_path, pairs, 10, seed=6)
    assert other != left
