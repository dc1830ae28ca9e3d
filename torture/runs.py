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
from torture import ROOT, Outcome

DATASETS = ("wmt-question-dates", "temporal-facts", "invariant-lama", "timeqa")
"""Small samples of all ways to read: archives, dumps by processes, pages by processes."""
EARLIER, LATER = "1.0.0", "1.0.1"
REFERENCE = "reference"
_SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
_LINGER = 60.0
"""Seconds after which a process that outlives its run is a loss."""
_UNMOUNT = ("umount", "-l")
_KEPT = (".lock", ".zenodo.json")
_SEMAPHORE = "sem."
"""Of Python's pool, 32 bytes each: left where its resource tracker is killed, too."""
_SHARED = Path("/dev/shm")  # noqa: S108


class Done(NamedTuple):
    """A run that has ended: its status, and what it said on both streams."""

    status: int
    said: str


class Place(NamedTuple):
    """Where one dataset is made."""

    dataset: str
    folder: Path

    @property
    def releases(self) -> Path:
        return self.folder / "releases" / self.dataset

    def words(self, build: str = "build") -> list[str]:
        """What the program is asked for."""
        out, kept = str(self.folder / "releases"), str(self.folder / build)
        named = ["--version", LATER, "--out", out, "--build", kept]
        return ["release", self.dataset, *named]


def start(place: Place, fault: str = "", build: str = "build") -> subprocess.Popen[str]:
    """The program, in a group of its own."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    if fault:
        env |= {"FACTDRIFT_FAULT": fault, "FACTDRIFT_FAULT_IN": str(place.folder)}
    return subprocess.Popen(
        [sys.executable, "-m", "torture.faulty" if fault else "builders", *place.words(build)],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str]) -> Done:
    """Wait for a run, and for all who write where it writes."""
    said = process.communicate()[0]
    return Done(process.returncode, said)


def run(place: Place, fault: str = "") -> Done:
    """One run to its end."""
    return ended(start(place, fault))


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
        place = Place(dataset, work / REFERENCE / dataset)
        if (place.folder / "known.json").is_file():
            continue
        shutil.rmtree(place.folder, ignore_errors=True)
        begun = time.monotonic()
        counted = place.folder.with_name(f"{dataset}.counts")
        counted.parent.mkdir(parents=True, exist_ok=True)
        made = run(place, f"count {counted}")
        assert made.status == 0, made.said
        known = {
            "seconds": time.monotonic() - begun,
            "calls": json.loads(counted.read_text("utf-8")),
            "bytes": sum(p.stat().st_size for p in place.folder.rglob("*") if p.is_file()),
        }
        shutil.move(place.releases / LATER, place.folder / "first")
        first = _published(place, EARLIER)
        assert first.status == 0, first.said
        assert run(place).status == 0
        assert sums(place.releases / LATER).keys() == sums(place.folder / "first").keys()
        (place.folder / "known.json").write_text(json.dumps(known), "utf-8")


def _published(place: Place, version: str) -> Done:
    words = [version if word == LATER else word for word in place.words()]
    command = [sys.executable, "-m", "factdrift", *words]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    return Done(done.returncode, done.stderr)


class Cycle:
    """A folder with an earlier release, in which a later one is made in spite of everything."""

    def __init__(self, dataset: str, folder: Path, work: Path) -> None:
        self.reference = Place(dataset, work / REFERENCE / dataset)
        self.known = json.loads((self.reference.folder / "known.json").read_text("utf-8"))
        self.place = Place(dataset, folder)
        self.expected = {v: sums(self.reference.releases / v) for v in (EARLIER, LATER)}
        shutil.copytree(self.reference.releases / EARLIER, self.place.releases / EARLIER)

    def losses(self, done: Done) -> Iterator[str]:
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

    def again(self, done: Done) -> None:
        """Where a run came to its end, begin anew: the next one shall have something to do."""
        if done.status == 0:
            shutil.rmtree(self.place.folder / "build")
            shutil.rmtree(self.place.releases / LATER, ignore_errors=True)

    def rerun(self) -> Iterator[str]:
        """What is wrong after one more run, which nothing disturbs."""
        done = run(self.place)
        if done.status:
            yield f"the rerun fails: {done.said[-1500:]}"
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
    """A cycle in a new folder, which is gone afterwards."""
    folder = work / f"cycle-{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield Cycle(dataset, folder, work)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _traces(done: Done) -> Iterator[str]:
    """Tracebacks of ours; one of Python's own start, before any line of ours, is not."""
    for sign in ("Traceback (most recent call last)", "leaked shared_memory"):
        if sign in done.said and ("builders" in done.said or "multiprocessing" in done.said):
            yield f"{sign}: {done.said[-3000:]}"


# --- Kills ---------------------------------------------------------------------------------------


def kills(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """A run that is killed some times, at any time or at a call, and then goes on."""
    with cycle(DATASETS[number % len(DATASETS)], work) as one:
        times = random.randint(5, 9)
        for _ in range(times):
            kind, done = _killed(random, one, times)
            yield Outcome(kind, 1, tuple(one.losses(done)))
            one.again(done)
        yield Outcome("rerun to the reference bytes", 1, tuple(one.rerun()))


def _killed(random: Random, one: Cycle, times: int) -> tuple[str, Done]:
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
    return name, Done(done.status, done.said + "".join(f"\nbuilders: {text}" for text in lost))


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


# --- Disks ---------------------------------------------------------------------------------------


def disks(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """A run that finds no room, or may not write, some times, and then goes on."""
    with cycle(DATASETS[number % len(DATASETS)], work) as one:
        for _ in range(random.randint(3, 5)):
            kind, fault = _disk_fault(random, one)
            done = _on_a_small_disk(random, one) if fault == "tmpfs" else run(one.place, fault)
            if done.status == 0:
                kind = "came to its end before"
            yield Outcome(kind, 1, tuple(_refused(one, done)))
            one.again(done)
        yield Outcome("rerun to the reference bytes", 1, tuple(one.rerun()))


def _disk_fault(random: Random, one: Cycle) -> tuple[str, str]:
    calls: Mapping[str, int] = one.known["calls"]
    if _may_mount() and random.random() < 0.3:
        return "a small disk (tmpfs)", "tmpfs"
    kind = random.choice(("open", "mkdir", "size", "size", "readonly"))
    if kind == "readonly":
        return "a read-only folder", "readonly"
    if kind == "size":
        return "files of a limited size", f"size {int(10 ** random.uniform(2, 6))}"
    return f"full at an {kind}" if kind == "open" else f"full at a {kind}", (
        f"full {kind} {random.randint(1, max(1, calls.get(kind, 1)))}"
    )


def _may_mount() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("mount") is not None


def _on_a_small_disk(random: Random, one: Cycle) -> Done:
    """A run in which all of `build` or all of `releases` lies on a disk that is too small."""
    name = random.choice(("build", "releases"))
    folder = one.place.folder / name
    kept = folder.with_name(f"{name}.kept")
    folder.mkdir(parents=True, exist_ok=True)
    folder.rename(kept)
    folder.mkdir()
    held = sum(p.stat().st_blocks * 512 for p in kept.rglob("*") if p.is_file())
    size = held + 65_536 + int(one.known["bytes"] * random.uniform(0.01, 0.8))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        folder.rmdir()
        kept.rename(folder)
        return run(one.place, "readonly")
    try:
        shutil.copytree(kept, folder, dirs_exist_ok=True, symlinks=True)
        done = run(one.place)
        shutil.rmtree(kept)
        shutil.copytree(folder, kept, symlinks=True)
    finally:
        subprocess.run([*_UNMOUNT, str(folder)], check=True)
    folder.rmdir()
    kept.rename(folder)
    return done


def _refused(one: Cycle, done: Done) -> Iterator[str]:
    if done.status and "error: " not in done.said:
        yield f"no message (status {done.status}): {done.said[-1500:]}"
    yield from one.losses(done)


# --- Two at once ---------------------------------------------------------------------------------


def rivals(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """Two runs at once: of one dataset in one build folder or two, or of two datasets."""
    with cycle(DATASETS[number % len(DATASETS)], work) as one:
        kind = random.choice(("the same", "the same, two build folders", "two datasets"))
        other = one.place
        if kind == "two datasets":
            names = [d for d in DATASETS if d != one.place.dataset]
            other = Place(random.choice(names), one.place.folder)
        first = start(one.place)
        time.sleep(random.choice((0.0, random.uniform(0, one.known["seconds"]))))
        second = start(other, build="build2" if kind.endswith("folders") else "build")
        both = [ended(first), ended(second)]
        lost = [text for done in both for text in one.losses(done)]
        for done in both:
            if done.status and "another run is at work" not in done.said:
                lost.append(f"no message: {done.said[-1500:]}")
        if all(done.status for done in both):
            lost.append("neither came to its end")
        yield Outcome(f"two runs: {kind}", 1, tuple(lost))
        yield Outcome("rerun to the reference bytes", 1, tuple(one.rerun()))
