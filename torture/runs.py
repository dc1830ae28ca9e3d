"""Runs that are killed, find no room, or meet a rival: earlier releases stay, a rerun ends well."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from factdrift.builders.release.verify import verify_release
from torture import ROOT, Outcome, scratch

DATASETS = ("wmt-question-dates", "temporal-facts", "invariant-lama", "timeqa")
"""Small samples of all ways to read: archives, dumps by processes, pages by processes."""
EARLIER, LATER = "1.0.0", "1.0.1"
_SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
_LINGER = 60.0
"""Seconds after which a process that outlives its run is a loss."""
Ended = tuple[int, str]
"""The status of a run, and what it printed on both streams."""


def start(
    folder: Path, dataset: str, fault: str = "", build: str = "build", version: str = LATER
) -> subprocess.Popen[str]:
    """The program, in a group of its own, at work below a folder."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    if fault:
        env |= {"FACTDRIFT_FAULT": fault, "FACTDRIFT_FAULT_IN": str(folder)}
    module = "torture.faulty" if fault else "factdrift"
    words = ["--version", version, "--out", folder / "releases", "--build", folder / build]
    return subprocess.Popen(
        [sys.executable, "-m", module, "release", dataset, *map(str, words)],
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
    return process.returncode, printed


def sums(folder: Path) -> dict[str, str]:
    """The checksums of all files of a release, by their names."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class Cycle:
    """A folder with an earlier release, in which a later one is made in spite of everything."""

    def __init__(self, dataset: str, folder: Path, work: Path) -> None:
        self.dataset, self.folder = dataset, folder
        self.releases = folder / "releases" / dataset
        reference = work / "reference" / dataset
        if not (reference / "known.json").is_file():
            self._prepare(reference)
        known = json.loads((reference / "known.json").read_text("utf-8"))
        self.seconds, self.calls = known["seconds"], known["calls"]
        made = reference / "releases" / dataset
        self.expected = {version: sums(made / version) for version in (EARLIER, LATER)}
        shutil.copytree(made / EARLIER, self.releases / EARLIER)

    def _prepare(self, reference: Path) -> None:
        """Make both versions; note how long a run takes, and the calls that it makes."""
        shutil.rmtree(reference, ignore_errors=True)
        reference.mkdir(parents=True)
        begun, counted = time.monotonic(), reference / "counted.json"
        for version, fault in ((EARLIER, f"count {counted}"), (LATER, "")):
            status, printed = ended(start(reference, self.dataset, fault, version=version))
            assert status == 0, printed
        known = {
            "seconds": (time.monotonic() - begun) / 2,
            "calls": json.loads(counted.read_text("utf-8")),
        }
        (reference / "known.json").write_text(json.dumps(known), "utf-8")

    def losses(self, done: Ended) -> Iterator[str]:
        """What is wrong after a run that was stopped or refused."""
        status, printed = done
        if "Traceback (most recent call last)" in printed and "builders" in printed:
            yield printed[-3000:]  # one of Python's own start, before any line of ours, is none
        seen = {p.name for p in self.releases.iterdir() if not p.name.startswith(".")}
        for version in sorted(seen | {EARLIER}):
            found = self.releases / version
            if version not in self.expected:
                yield f"a folder that is no release: {version}"
            elif not found.is_dir() or sums(found) != self.expected[version]:
                yield f"{version} is not whole"
        if status == 0:  # the next run shall have something to do
            shutil.rmtree(self.folder / "build")
            shutil.rmtree(self.releases / LATER, ignore_errors=True)

    def rerun(self) -> Outcome:
        """One more run, which nothing disturbs."""
        lost = []
        status, printed = ended(start(self.folder, self.dataset))
        if status:
            lost.append(f"the rerun fails: {printed[-1500:]}")
        elif not (self.releases / LATER).is_dir():
            lost.append("the rerun made no release")
        else:
            for version in (EARLIER, LATER):
                lost += [f"{version}: {text}" for text in verify_release(self.releases / version)]
            hidden = {p.name for p in (self.folder / "releases").rglob(".*")} - {".lock"}
            lost += [f"left beside the releases: {name}" for name in hidden]
            lost += self.losses((status, printed))
        return Outcome("rerun to the reference bytes", 1, tuple(lost))


@contextmanager
def cycle(number: int, work: Path) -> Iterator[Cycle]:
    """A cycle in a new folder; what all of them need is made once."""
    with scratch(work) as folder:
        yield Cycle(DATASETS[number % len(DATASETS)], folder, work)


def kills(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """A run that is killed some times, at any time or at a call, and then goes on."""
    with cycle(number, work) as one:
        times = random.randint(5, 9)
        for _ in range(times):
            calls = {kind: n for kind, n in one.calls.items() if kind in ("rename", "fsync")}
            if random.random() < 0.4:
                kind = random.choice(sorted(calls))
                at = random.randint(1, max(1, calls[kind] // (times - 2)))
                process = start(one.folder, one.dataset, f"kill {kind} {at}")
                name = f"SIGKILL at a {kind}"
            else:
                signals, group = random.choice(_SIGNALS), random.random() < 0.6
                process = start(one.folder, one.dataset)
                time.sleep(random.uniform(0.2, 0.7 * one.seconds))
                if process.poll() is None:
                    (os.killpg if group else os.kill)(process.pid, signals)
                name = f"{signals.name} of {'the group' if group else 'the parent'}"
            done = ended(process)
            lost = [*_left(process.pid), *one.losses(done)]
            yield Outcome(name if done[0] else "came to its end before", 1, tuple(lost))
        yield one.rerun()


def _left(group: int) -> Iterator[str]:
    """Processes of a run that outlive it."""
    until = time.monotonic() + _LINGER
    while members := _members(group):
        if time.monotonic() > until:
            yield f"processes are left: {members}"
            return
        time.sleep(0.1)


def _members(group: int) -> list[str]:
    """The processes of a group that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] != "Z":
                found.append(stat.parent.name)
    return found


def disks(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """A run that finds no room, or may not write, some times, and then goes on."""
    with cycle(number, work) as one:
        for _ in range(random.randint(3, 5)):
            kind = random.choice(("open", "mkdir", "size", "size", "readonly"))
            fault = {
                "size": f"size {int(10 ** random.uniform(2, 6))}",
                "readonly": "readonly",
            }.get(kind, f"full {kind} {random.randint(1, max(1, one.calls.get(kind, 1)))}")
            status, printed = ended(start(one.folder, one.dataset, fault))
            lost = []
            if status and "error: " not in printed:
                lost.append(f"no message (status {status}): {printed[-1500:]}")
            lost += one.losses((status, printed))
            name = f"no room: {fault.split()[0]}" if status else "came to its end before"
            yield Outcome(name, 1, tuple(lost))
        yield one.rerun()


def rivals(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """Two runs at once: of one dataset in one build folder or two, or of two datasets."""
    with cycle(number, work) as one:
        kind = random.choice(("the same", "the same, two build folders", "two datasets"))
        other, build = one.dataset, "build2" if kind.endswith("folders") else "build"
        if kind == "two datasets":
            other = random.choice([d for d in DATASETS if d != one.dataset])
        first = start(one.folder, one.dataset)
        time.sleep(random.choice((0.0, random.uniform(0, one.seconds))))
        second = start(one.folder, other, build=build)
        both = [ended(first), ended(second)]
        lost = [text for status, printed in both for text in one.losses((1, printed))]
        for status, printed in both:
            if status and "another run is at work" not in printed:
                lost.append(f"no message: {printed[-1500:]}")
        if all(status for status, _ in both):
            lost.append("neither came to its end")
        yield Outcome(f"two runs: {kind}", 1, tuple(lost))
        yield one.rerun()
