"""Runs that are killed, find no room, or meet a rival: earlier releases stay, a rerun ends well."""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from factdrift.builders.release.verify import verify_release
from torture import ROOT, Outcome, scratch

DATASETS = ("wmt-question-dates", "temporal-facts", "invariant-lama", "timeqa")
"""Small samples of all ways to read: archives, dumps by processes, pages by processes."""
EARLIER, LATER = "1.0.0", "1.0.1"
REFERENCE = "reference"
RERUN = "rerun to the reference bytes"
_SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
_LINGER = 60.0
"""Seconds after which a process that outlives its run is a loss."""
_KEPT = (".lock",)
_SEMAPHORE = "sem."
"""Of Python's pool, 32 bytes each: left where its resource tracker is killed, too."""
_SHARED = Path("/dev/shm")  # noqa: S108


class Ended(NamedTuple):
    """A run that has ended: its status, and what it printed on both streams."""

    status: int
    printed: str


class DatasetFolder(NamedTuple):
    """Where one dataset is made."""

    dataset: str
    folder: Path

    @property
    def releases(self) -> Path:
        return self.folder / "releases" / self.dataset

    def words(self, version: str, build: str) -> list[str]:
        """The arguments of the program."""
        out, kept = str(self.folder / "releases"), str(self.folder / build)
        return ["release", self.dataset, "--version", version, "--out", out, "--build", kept]


def start(
    place: DatasetFolder, fault: str = "", build: str = "build", version: str = LATER
) -> subprocess.Popen[str]:
    """The program, in a group of its own."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    if fault:
        env |= {"FACTDRIFT_FAULT": fault, "FACTDRIFT_FAULT_IN": str(place.folder)}
    module = "torture.faulty" if fault else "factdrift"
    return subprocess.Popen(
        [sys.executable, "-m", module, *place.words(version, build)],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str]) -> Ended:
    """Wait for a run, and for all who write where it writes."""
    printed = process.communicate()[0]
    return Ended(process.returncode, printed)


def run(place: DatasetFolder, fault: str = "", version: str = LATER) -> Ended:
    """One run to its end."""
    return ended(start(place, fault, version=version))


def sums(folder: Path) -> dict[str, str]:
    """The checksums of all files of a release, by their names."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def prepare(work: Path) -> None:
    """The reference: both versions of each dataset, how long a run takes, and its calls."""
    for dataset in DATASETS:
        place = DatasetFolder(dataset, work / REFERENCE / dataset)
        if (place.folder / "known.json").is_file():
            continue
        shutil.rmtree(place.folder, ignore_errors=True)
        begun = time.monotonic()
        counted = place.folder.with_name(f"{dataset}.counts")
        counted.parent.mkdir(parents=True, exist_ok=True)
        made = run(place, f"count {counted}")
        assert made.status == 0, made.printed
        known = {
            "seconds": time.monotonic() - begun,
            "calls": json.loads(counted.read_text("utf-8")),
            "bytes": sum(p.stat().st_size for p in place.folder.rglob("*") if p.is_file()),
        }
        shutil.move(place.releases / LATER, place.folder / "first")
        first = run(place, version=EARLIER)
        assert first.status == 0, first.printed
        assert run(place).status == 0
        assert sums(place.releases / LATER).keys() == sums(place.folder / "first").keys()
        (place.folder / "known.json").write_text(json.dumps(known), "utf-8")


class Cycle:
    """A folder with an earlier release, in which a later one is made in spite of everything."""

    def __init__(self, dataset: str, folder: Path, work: Path) -> None:
        self.reference = DatasetFolder(dataset, work / REFERENCE / dataset)
        self.known = json.loads((self.reference.folder / "known.json").read_text("utf-8"))
        self.place = DatasetFolder(dataset, folder)
        self.expected = {v: sums(self.reference.releases / v) for v in (EARLIER, LATER)}
        shutil.copytree(self.reference.releases / EARLIER, self.place.releases / EARLIER)

    def losses(self, done: Ended) -> Iterator[str]:
        """What is wrong after a run that was stopped or refused."""
        yield from _traces(done)
        yield from self.half_releases()

    def half_releases(self) -> Iterator[str]:
        """Releases that are not whole, or not what they should be."""
        seen = {p.name for p in self.place.releases.iterdir() if not p.name.startswith(".")}
        for version in sorted(seen | {EARLIER}):
            found = self.place.releases / version
            if version not in self.expected:
                yield f"a folder that is no release: {version}"
            elif not found.is_dir() or sums(found) != self.expected[version]:
                yield f"{version} is not whole"

    def again(self, done: Ended) -> None:
        """Where a run came to its end, begin anew: the next one shall have something to do."""
        if done.status == 0:
            shutil.rmtree(self.place.folder / "build")
            shutil.rmtree(self.place.releases / LATER, ignore_errors=True)

    def rerun(self) -> Iterator[str]:
        """What is wrong after one more run, which nothing disturbs."""
        done = run(self.place)
        if done.status:
            yield f"the rerun fails: {done.printed[-1500:]}"
            return
        yield from self.losses(done)
        if not (self.place.releases / LATER).is_dir():
            yield "the rerun made no release"
        for version in (EARLIER, LATER):
            if problems := verify_release(self.place.releases / version):
                yield f"{version} does not verify: {problems[0]}"
        hidden = [p.name for p in (self.place.folder / "releases").rglob(".*")]
        if left := sorted(set(hidden) - set(_KEPT)):
            yield f"left beside the releases: {', '.join(left)}"


@contextmanager
def cycle(dataset: str, work: Path) -> Iterator[Cycle]:
    """A cycle in a new folder; what all of them need is made once."""
    prepare(work)
    with scratch(work) as folder:
        yield Cycle(dataset, folder, work)


def _traces(done: Ended) -> Iterator[str]:
    """Tracebacks of ours; one of Python's own start, before any line of ours, is not."""
    for sign in ("Traceback (most recent call last)", "leaked shared_memory"):
        if sign in done.printed and (
            "builders" in done.printed or "multiprocessing" in done.printed
        ):
            yield f"{sign}: {done.printed[-3000:]}"


def kills(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """A run that is killed some times, at any time or at a call, and then goes on."""
    with cycle(DATASETS[number % len(DATASETS)], work) as one:
        times = random.randint(5, 9)
        for _ in range(times):
            kind, done = _killed(random, one, times)
            yield Outcome(kind, 1, tuple(one.losses(done)))
            one.again(done)
        yield Outcome(RERUN, 1, tuple(one.rerun()))


def _killed(random: Random, one: Cycle, times: int) -> tuple[str, Ended]:
    before = _shared_memory()
    if random.random() < 0.4:
        calls: Mapping[str, int] = one.known["calls"]
        kind = random.choice([k for k in ("rename", "fsync") if calls.get(k)])
        at = random.randint(1, max(1, calls[kind] // max(1, times - 2)))
        process = start(one.place, f"kill {kind} {at}")
        name = f"SIGKILL at a {kind}"
    else:
        number, group = random.choice(_SIGNALS), random.random() < 0.6
        process = start(one.place)
        time.sleep(random.uniform(0.2, 0.7 * one.known["seconds"]))
        if process.poll() is None:
            (os.killpg if group else os.kill)(process.pid, number)
        name = f"{number.name} of {'the group' if group else 'the parent'}"
    done = ended(process)
    if done.status == 0:
        name = "came to its end before"
    lost = list(_left(process.pid, before))
    return name, Ended(done.status, done.printed + "".join(f"\nbuilders: {text}" for text in lost))


def _left(group: int, before: Mapping[str, int]) -> Iterator[str]:
    """Processes of a run that outlive it, and memory that nobody holds."""
    until = time.monotonic() + _LINGER
    while members := _members(group):
        if time.monotonic() > until:
            yield f"Traceback (most recent call last): none, but processes are left: {members}"
            break
        time.sleep(0.1)
    found = _shared_memory().items() - before.items()
    held = _mapped()
    for name, inode in found:
        if not name.startswith(_SEMAPHORE) and inode not in held:
            yield f"leaked shared_memory: {name}"


def _members(group: int) -> list[int]:
    """The processes of a group that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def _shared_memory() -> dict[str, int]:
    """What lies in shared memory: names and inodes."""
    found = {}
    for path in _SHARED.iterdir() if _SHARED.is_dir() else ():
        with contextlib.suppress(OSError):
            found[path.name] = path.stat().st_ino
    return found


def _mapped() -> set[int]:
    """The inodes there that some process has mapped: other programs' work goes on beside this."""
    held = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            lines = maps.read_text(errors="replace").splitlines()
            held |= {int(line.split()[4]) for line in lines if f" {_SHARED}/" in line}
    return held


def disks(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """A run that finds no room, or may not write, some times, and then goes on."""
    with cycle(DATASETS[number % len(DATASETS)], work) as one:
        for _ in range(random.randint(3, 5)):
            kind, fault = _disk_fault(random, one)
            done = run(one.place, fault)
            if done.status == 0:
                kind = "came to its end before"
            yield Outcome(kind, 1, tuple(_refused(one, done)))
            one.again(done)
        yield Outcome(RERUN, 1, tuple(one.rerun()))


def _disk_fault(random: Random, one: Cycle) -> tuple[str, str]:
    calls: Mapping[str, int] = one.known["calls"]
    kind = random.choice(("open", "mkdir", "size", "size", "readonly"))
    if kind == "readonly":
        return "a read-only folder", "readonly"
    if kind == "size":
        return "files of a limited size", f"size {int(10 ** random.uniform(2, 6))}"
    return f"full at an {kind}" if kind == "open" else f"full at a {kind}", (
        f"full {kind} {random.randint(1, max(1, calls.get(kind, 1)))}"
    )


def _refused(one: Cycle, done: Ended) -> Iterator[str]:
    if done.status and "error: " not in done.printed:
        yield f"no message (status {done.status}): {done.printed[-1500:]}"
    yield from one.losses(done)


def rivals(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """Two runs at once: of one dataset in one build folder or two, or of two datasets."""
    with cycle(DATASETS[number % len(DATASETS)], work) as one:
        kind = random.choice(("the same", "the same, two build folders", "two datasets"))
        other = one.place
        if kind == "two datasets":
            names = [d for d in DATASETS if d != one.place.dataset]
            other = DatasetFolder(random.choice(names), one.place.folder)
        first = start(one.place)
        time.sleep(random.choice((0.0, random.uniform(0, one.known["seconds"]))))
        second = start(other, build="build2" if kind.endswith("folders") else "build")
        both = [ended(first), ended(second)]
        lost = [text for done in both for text in one.losses(done)]
        for done in both:
            if done.status and "another run is at work" not in done.printed:
                lost.append(f"no message: {done.printed[-1500:]}")
        if all(done.status for done in both):
            lost.append("neither came to its end")
        yield Outcome(f"two runs: {kind}", 1, tuple(lost))
        yield Outcome(RERUN, 1, tuple(one.rerun()))
