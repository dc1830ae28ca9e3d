"""What mining costs beside other tools: `python -m bench peers [MB…] [rounds=3] [--write]`.

Every tool reads the same gzipped dump (`bench.mine`: real entities, repeated; here each id once)
and writes the dated statements about items: subject, relation, object, times. Whole processes are
measured, start and imports included, in turn, round by round; processor time is that of the process
and all that it waited for, by the operating system's account. Every figure is a ratio to isal
decompressing the file in the same round and doing nothing else: minimum, median, maximum.

What each wrote is counted: all must have as many items, and as many dated statements, as `mine`.
1 where one has another number. A tool that is not installed is left out, with the lines that
install it; tools of Python and Node are looked for in `build/bench/peers` (`FACTDRIFT_PEERS`), so
that the project's own environment has none of them. `--write` puts the table into docs/peers.md.
"""

import gzip
import json
import os
import platform
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psutil
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench import BENCH, ROOT, Cost, Figures, made, mine
from bench.page_figures import PEERS
from bench.peer_loops import COARSEST, TIMES

MEGABYTES = 600
ROUNDS = 3
FOLDER = Path(os.environ.get("FACTDRIFT_PEERS", BENCH / "peers"))
"""Where the tools of other people are."""
LOOPS = ROOT / "bench/peer_loops.py"
ISAL = """
from isal import igzip
buffer = bytearray(8 << 20)
with igzip.IGzipFile({dump!r}) as file:
    while file.readinto(buffer):
        pass
"""
FILTER_OPTIONS = "&".join(
    f"keep{kept}=true" for kept in "Qualifiers Ids RichValues NonTruthy Ranks Types".split()
)
JQ = f"""
{json.dumps(TIMES)} as $times
| select(.type == "item")
| [.id, [.claims[]?[]
  | select(.rank != "deprecated" and .mainsnak.datatype == "wikibase-item")
  | select(.mainsnak.snaktype == "value")
  | (.qualifiers // {{}}) as $qualifiers
  | [$times[] as $time | $qualifiers[$time][]? | .datavalue.value
    | select(.precision >= {COARSEST}).time] as $days
  | select($days | length > 0)
  | [.id, .mainsnak.property, .mainsnak.datavalue.value["numeric-id"], $days]]]
"""
PIPE_INSTALL = f"python3 -m venv {FOLDER}; {FOLDER}/bin/pip install"


class Counts(NamedTuple):
    """How many items a tool has read, and how many dated statements it has written."""

    items: int
    statements: int


class Peer(NamedTuple):
    """A tool: its command for a dump and a place for what it writes, and how that is counted.

    `needs` is a program or file without which it is not installed, `install` what brings it.
    `fewer` says what `mine` does and the tool does not.
    """

    name: str
    command: Callable[[str, str], Sequence[str]]
    counted: Callable[[Path, str], Counts] | None
    needs: str | Path
    install: str
    fewer: str


def shell(pipeline: str) -> Callable[[str, str], Sequence[str]]:
    """The command of a pipeline with `{dump}` and `{out}`; it fails where one part does."""

    def command(dump: str, out: str) -> Sequence[str]:
        places = {"dump": shlex.quote(dump), "out": shlex.quote(out)}
        return ["bash", "-c", "set -o pipefail; " + pipeline.format(**places)]

    return command


def loop(python: str | Path, name: str) -> Callable[[str, str], Sequence[str]]:
    """The command of a loop of `bench.peer_loops`."""
    return lambda dump, out: [str(python), str(LOOPS), name, dump, out]


def ours(jobs: int) -> Callable[[str, str], Sequence[str]]:
    """The command of `mine`."""
    command = [sys.executable, "-m", "factdrift", "mine", "--quiet", "--jobs", str(jobs)]
    return lambda dump, out: [*command, dump, "--out", out]


def counted_lines(out: Path, printed: str) -> Counts:
    """Of a loop: a line a statement, and the number of items printed."""
    with out.open("rb") as lines:
        return Counts(int(printed), sum(1 for _ in lines))


def counted_arrays(out: Path, _: str) -> Counts:
    """Of jq: an array an item, with its statements."""
    with out.open("rb") as lines:
        lengths = [len(json.loads(line)[1]) for line in lines]
    return Counts(len(lengths), sum(lengths))


def counted_entities(out: Path, _: str) -> Counts:
    """Of wikibase-dump-filter: an item a line, with all its statements."""
    items = statements = 0
    with out.open("rb") as lines:
        for line in lines:
            claims = json.loads(line)["claims"] or {}
            groups = claims.values() if isinstance(claims, dict) else ()
            items += 1
            statements += sum(is_dated(statement) for group in groups for statement in group)
    return Counts(items, statements)


def is_dated(statement: dict[str, object]) -> bool:
    """Whether a statement of wikibase-dump-filter names an item and a day."""
    qualifiers = statement.get("qualifiers")
    if not isinstance(qualifiers, dict) or statement.get("rank") == "deprecated":
        return False
    days = (snak for name in TIMES for snak in qualifiers.get(name, ()))
    is_item = statement.get("type") == "wikibase-item" and bool(statement.get("value"))
    values = (day["value"] for day in days if isinstance(day, dict) and day.get("value"))
    return is_item and any(value["precision"] >= COARSEST for value in values)


def counted_tables(out: Path, _: str) -> Counts:
    """Of `mine`: what it counted, and the statements with a date, with or without labels."""
    counts = json.loads((out / "mined.json").read_text())["counts"]
    table = pq.read_table(out / "statements.parquet")
    dated = pc.fill_null(pc.equal(table["reason"], "contradictory"), False)
    for column in ("start_first", "start_last", "end_first", "end_last"):
        dated = pc.or_(dated, pc.is_valid(table[column]))
    dated = pc.and_(dated, pc.is_valid(table["object"]))
    statements = table.filter(dated).group_by(["subject", "statement"]).aggregate([])
    return Counts(counts["items"], statements.num_rows)


PYTHON, FILTER = FOLDER / "bin/python", FOLDER / "node_modules/.bin/wikibase-dump-filter"
_LOOP = "labels, lives, classes, revisions; redirects and doubt unresolved; text, no tables"
PROGRAMS = (
    Peer(
        "isal alone",
        lambda dump, out: [sys.executable, "-c", ISAL.format(dump=dump)],
        None,
        sys.executable,
        "",
        "decompresses only",
    ),
    Peer(
        "isal + orjson, a loop",
        loop(PYTHON, "orjson"),
        counted_lines,
        FOLDER / "lib/python*/site-packages/orjson",
        f"{PIPE_INSTALL} isal orjson",
        _LOOP,
    ),
    Peer(
        "gzip + json, a loop",
        loop(sys.executable, "json"),
        counted_lines,
        sys.executable,
        "",
        _LOOP,
    ),
    Peer(
        "kgdata's entities (pip)",
        loop(PYTHON, "kgdata"),
        counted_lines,
        FOLDER / "lib/python*/site-packages/kgdata",
        f"{PIPE_INSTALL} isal orjson kgdata",
        "lives, revisions; doubt unresolved; no ids of statements; labels in all languages kept",
    ),
    Peer(
        "wikibase-dump-filter (npm)",
        shell(
            f"gzip -dc {{dump}} | {FILTER} --quiet --keep id,type,claims"
            f" --simplify '{FILTER_OPTIONS}' > {{out}}"
        ),
        counted_entities,
        FILTER,
        f"npm install --prefix {FOLDER} wikibase-dump-filter",
        "labels, lives, classes; all statements kept, the dated not picked out; text, no tables",
    ),
    Peer(
        "gzip, sed, jq (Debian)",
        shell(
            "gzip -dc {dump} | sed -e '/^[][]/d' -e 's/,$//' | jq -c "
            + shlex.quote(JQ).replace("{", "{{").replace("}", "}}")
            + " > {out}"
        ),
        counted_arrays,
        "jq",
        "apt-get install jq",
        _LOOP,
    ),
    Peer("factdrift mine, 1 job", ours(1), counted_tables, sys.executable, "", ""),
    Peer("factdrift mine, 2 jobs", ours(2), counted_tables, sys.executable, "", ""),
)


def is_installed(peer: Peer) -> bool:
    """Whether what a tool needs is there."""
    if isinstance(peer.needs, str):
        return shutil.which(peer.needs) is not None
    return any(Path(peer.needs.anchor).glob(str(peer.needs.relative_to(peer.needs.anchor))))


def make(size: int) -> Path:
    """A dump of about so many bytes of JSON in which each id has one line."""
    name = "wikidata-20260420-all.json.gz"

    def write(folder: Path) -> int:
        seen_ids, written = set(), 0
        with gzip.open(folder / name, "wb", compresslevel=6) as file:
            file.write(b"[\n")
            for line in mine.repeated():
                item = json.loads(line.rstrip(b",\n"))["id"]
                if item not in seen_ids:
                    seen_ids.add(item)
                    written += file.write(line)
                if written >= size:
                    break
            file.write(b"]\n")
        return written

    return made(f"peers-{size // 1_000_000}MB", write)[0] / name


def whole_process(peer: Peer, dump: Path) -> Cost:
    """The cost of one run, and its counts; `RuntimeError` where the command fails."""
    with tempfile.TemporaryDirectory(dir=BENCH) as folder:
        out = Path(folder) / "out"
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        run = subprocess.run(
            peer.command(str(dump), str(out)), cwd=ROOT, capture_output=True, text=True, check=False
        )
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        if run.returncode:
            raise RuntimeError(f"{peer.name} failed: {run.stderr[-2000:]}")
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Cost(wall, processor, answer=peer.counted and peer.counted(out, run.stdout))


def spread(values: Sequence[float]) -> str:
    """The median of figures, and the least and the greatest of them."""
    return f"{median(values):.1f} ({min(values):.1f}-{max(values):.1f})"


def table(runs: dict[str, list[Cost]]) -> Iterator[str]:
    """The lines of the page's table."""
    yield "| tool | processor to isal | wall to isal | processor | wall | what it has not |"
    yield "|:--|--:|--:|--:|--:|:--|"
    isal_runs = runs["isal alone"]
    for peer in PROGRAMS:
        if costs := runs.get(peer.name):
            pairs = list(zip(costs, isal_runs, strict=True))
            cells = [
                peer.name,
                spread([cost.processor / isal.processor for cost, isal in pairs]),
                spread([cost.wall / isal.wall for cost, isal in pairs]),
                f"{median(cost.processor for cost in costs):.1f} s",
                f"{median(cost.wall for cost in costs):.1f} s",
                peer.fewer,
            ]
            yield f"| {' | '.join(cells)} |"


def measured(say: Figures, size: int, rounds: int, peers: Sequence[Peer]) -> str:
    """The table of a dump of so many MB, and what it was measured on."""
    dump = make(size * 1_000_000)
    load = psutil.getloadavg()[0]
    runs: dict[str, list[Cost]] = {peer.name: [] for peer in peers}
    for _ in range(rounds):
        for peer in peers:
            runs[peer.name].append(whole_process(peer, dump))
    reference = runs["factdrift mine, 1 job"][0].answer
    for peer in peers:
        costs = runs[peer.name]
        counts = costs[0].answer
        best_run = min(costs, key=lambda run_cost: run_cost.processor)
        same = counts is None or all(run_cost.answer == reference for run_cost in costs)
        numbers_text = f"{counts.items:,} items, {counts.statements:,} dated" if counts else ""
        say(f"{peer.name}: {numbers_text}", best_run, same, "as many as mine" if counts else "")
    memory = psutil.virtual_memory().total / 1e9
    words = (
        f"{size} MB of JSON, {dump.stat().st_size / 1e6:.0f} MB of gzip, "
        f"{reference.items:,} items, {reference.statements:,} dated statements; "
        f"{rounds} rounds on {psutil.cpu_count()} cores, {memory:.0f} GB of memory, "
        f"{platform.system()}; load before the run {load:.1f}."
    )
    return "\n".join([*table(runs), "", words])


def main(say: Figures, words: list[str]) -> None:
    """Measure, compare what was written, print the tables, and put them on the page if asked."""
    rounds = next((int(word.removeprefix("rounds=")) for word in words if "=" in word), ROUNDS)
    sizes = [int(word) for word in words if word.isdigit()] or [MEGABYTES]
    left_out = [peer for peer in PROGRAMS if not is_installed(peer)]
    for peer in left_out:
        print(f"not installed, left out: {peer.name}: {peer.install}", flush=True)
    peers = [peer for peer in PROGRAMS if peer not in left_out]
    tables = [measured(say, size, rounds, peers) for size in sizes]
    text = "\n\n".join([*tables, *(f"Not installed there: {peer.name}." for peer in left_out)])
    print(text)
    if "--write" in words:
        PEERS.write(text)
