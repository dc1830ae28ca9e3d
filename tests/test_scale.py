"""What the page on scale says: its commands run, and its lines are lines."""

import re
import sys
from dataclasses import fields
from pathlib import Path

import duckdb
import pytest

from bench import Cost, cost
from bench.page_figures import SCALE
from bench.period_diff import FACTS, LIVES
from bench.scale import fit, table
from factdrift.builders.rows import Entity, Fact
from tests.conftest import ROOT, run_process

PAGE = (ROOT / "SCALE.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)
DUMP = "wikidata-20261109-all.json.gz"


def test_a_line_goes_through_its_points() -> None:
    assert fit((1, 2, 4), (3, 5, 9), 100) == pytest.approx((201, 0), abs=1e-9)
    full, off = fit((1, 2, 4), (9, 5, 3), 100)
    assert full < 12
    assert off > 0


def test_the_table_says_what_the_whole_costs() -> None:
    costs = [
        (float(share_count), Cost(share_count, 2.0 * share_count, 10**9, 10**6 * share_count, 0))
        for share_count in (1, 2, 4)
    ]
    lines = list(table({"mine": costs}))
    assert "**1,700 GB of JSON**: 57 min of processor, memory 1 GB, disk 1.7 GB |" in lines[2]


def test_what_a_command_costs(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "subprocess.run([sys.executable, '-c', 'sum(range(20_000_000))'])\n"
        f"open(r'{tmp_path}/made', 'wb').write(bytes(1000))\ntime.sleep(1)\n"
    )
    spent = cost([sys.executable, "-c", code], tmp_path, interval=0.02)
    assert spent.wall > spent.processor > 0
    assert spent.disk == 1000
    assert spent.memory > 2**20
    with pytest.raises(RuntimeError, match="no module"):
        cost([sys.executable, "-c", "raise SystemExit('no module')"])


def test_the_page_holds_the_figures_of_a_run() -> None:
    assert "| step | sizes | wall | processor |" in SCALE.text()


def test_facts_that_are_made_have_the_columns_of_today() -> None:
    with duckdb.connect() as connection:
        connection.execute(FACTS, {"careers": 5})
        for columns, row in (
            (connection.table("facts").columns, Fact),
            (connection.sql(LIVES).columns, Entity),
        ):
            assert set(columns) == {field.name for field in fields(row)}


@pytest.mark.slow
def test_shares_and_their_merge_run_as_written(tmp_path: Path) -> None:
    """The block of shares, with the sample as its dump."""
    (block,) = [block_text for block_text in BLOCKS if "--shard " in block_text]
    (tmp_path / DUMP).symlink_to(ROOT / "samples/wikidata/wikidata-20260202-all.json.gz")
    program = f'factdrift() {{ "{sys.executable}" -m factdrift "$@"; }}\nset -e\n'
    run_process("bash", "-c", program + block, cwd=tmp_path)
    assert (tmp_path / "releases/dynamic-templama-latest/1.0.0/README.md").is_file()
    for share_number in (1, 2, 3, 4):
        assert (tmp_path / f"share{share_number}").is_dir()
