"""The pool of processes: order, memory, death, Ctrl-C, and nothing left running."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.parallel import ordered_map
from tests.conftest import run_process, start_process
from tests.tables import names_of


def square(n: int) -> int:
    time.sleep(0.05 * (n % 3 == 0))
    return n * n


def refuse(n: int) -> int:
    if n == 3:
        raise UserError("three", where="here", hint="take four")
    return n


def die(n: int) -> int:
    if n == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return n


@pytest.mark.parametrize("jobs", [0, 1, 2])
def test_results_in_order_and_few_items_ahead(jobs: int) -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for item_number in range(1, 21):
            taken = item_number
            yield item_number

    work = square if jobs > 1 else lambda n: n * n  # which no other process could be sent
    for results_taken, found_result in enumerate(ordered_map(work, items(), jobs=jobs), 1):
        assert found_result == results_taken * results_taken
        assert taken - results_taken <= max(jobs * 2, 0)
    assert taken == 20


@pytest.mark.parametrize(
    ("work", "jobs", "told"),
    [
        (refuse, 1, r"^here: three\n  take four$"),
        (refuse, 2, r"^here: three\n  take four$"),
        (die, 2, r"a working process died\n  .* fewer jobs; or rest"),
    ],
)
def test_errors_pass_as_they_are_and_a_death_is_told(
    work: Callable[[int], int], jobs: int, told: str
) -> None:
    with pytest.raises(UserError, match=told):
        list(ordered_map(work, range(9), jobs=jobs, hint="or rest"))


@pytest.mark.slow
def test_who_stops_early_leaves_nothing_running(tmp_path: Path) -> None:
    begun = time.monotonic()
    flow = ordered_map(note_and_sleep, [(tmp_path, 0), *[(tmp_path, 600)] * 8], jobs=2)
    next(flow)
    with pytest.raises(KeyboardInterrupt):
        flow.throw(KeyboardInterrupt)
    assert not alive(tmp_path)
    assert time.monotonic() - begun < 300  # what runs would sleep for longer


def note_and_sleep(given: tuple[Path, int]) -> None:
    folder, seconds = given
    (folder / str(os.getpid())).touch()
    time.sleep(seconds)


def alive(folder: Path) -> list[str]:
    process_ids = names_of(folder.iterdir())
    assert process_ids
    return [pid for pid in process_ids if Path("/proc", pid, "stat").exists() and not zombie(pid)]


def zombie(pid: str) -> bool:
    return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] == "Z"


RUN = """
import sys
from pathlib import Path
from factdrift.builders.core.parallel import ordered_map
from tests.test_core_parallel import note_and_sleep

if __name__ == "__main__":
    try:
        print("ready", flush=True)
        list(ordered_map(note_and_sleep, [(Path(sys.argv[1]), 600)] * 9, jobs=2))
    except KeyboardInterrupt:
        sys.exit("stopped")
"""


def test_ctrl_c_while_processes_start(tmp_path: Path) -> None:
    """At a terminal it goes to the whole group: no child has anything to say of it."""
    script, notes = tmp_path / "run.py", tmp_path / "notes"
    notes.mkdir()
    script.write_text(RUN)
    process = start_process(sys.executable, script, notes)
    assert process.stdout
    process.stdout.readline()
    time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)
    printed_text = process.communicate(timeout=300)[1]
    assert (process.returncode, printed_text) == (1, "stopped\n")
    assert not any(notes.iterdir()) or not alive(notes)


LOADING = """
import signal, sys

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "factdrift.builders.cli":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""
IN_A_QUERY = """
import os, signal, threading
import duckdb
from factdrift.builders import cli

def query(**given):
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    con = duckdb.connect()
    sql = "SELECT md5(range::VARCHAR) AS a FROM range(30000000) ORDER BY a"
    con.sql(sql).to_arrow_reader(1000).read_next_batch()

cli.from_make = lambda environment: {}
cli.app = query
"""


@pytest.mark.parametrize("code", [LOADING, IN_A_QUERY])
def test_ctrl_c_is_one_line(code: str) -> None:
    program_text = f"{code}\nfrom factdrift.__main__ import main\nmain()"
    ended_process = run_process(sys.executable, "-c", program_text, ok=False)
    assert ended_process.returncode == 130, ended_process.stderr
    assert ended_process.stderr == "interrupted: the same command goes on from here\n"


SCRIPT_WITHOUT_GUARD = """
from operator import neg
from factdrift.builders.core.parallel import ordered_map

print("the script runs")
print(list(ordered_map(neg, range(4), jobs=2)))
"""


def test_a_script_without_a_guard_for_main_is_not_run_again(tmp_path: Path) -> None:
    """README's lines saved as a file: each process ran the script, which built again."""
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT_WITHOUT_GUARD)
    printed = run_process(sys.executable, script).stdout
    assert printed == "the script runs\n[0, -1, -2, -3]\n"
