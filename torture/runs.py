"""Runs that are killed, find no room, or meet a rival: earlier releases stay, a rerun ends well."""

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

import psutil

from factdrift.builders.release.verify import verify_release
from tests.conftest import checksums
from torture import ROOT, Outcome, scratch

DATASETS = (
    *("wmt-question-dates", "temporal-facts", "invariant-lama", "timeqa", "dynamic-templama"),
    *("ckl-questions", "temporal-reasoning", "knowledge-edits", "as-of", "streamingqa"),
)
"""All samples, those that are made soonest first: a short campaign reaches all ways to read."""
EARLIER, LATER = "1.0.0", "1.0.1"
_SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
_CALLS = 12
"""A fault meets one of so many calls of a kind: what is left to do after a few kills has fewer."""
_LINGER = 60.0
"""Seconds after which a process that outlives its run is a loss."""


class Run:
    """The program at work below a folder, in a group of its own, perhaps with a fault."""

    def __init__(
        self, folder: Path, dataset: str, fault: str = "", build: str = "build", to: str = LATER
    ) -> None:
        env = {"PYTHONPATH": str(ROOT), "FACTDRIFT_FAULT": fault, "FACTDRIFT_FAULT_IN": str(folder)}
        words = [sys.executable, "-m", "torture.faulty" if fault else "factdrift", "release"]
        words += [dataset, "--version", to, "--out", f"{folder}/releases"]
        self.process = subprocess.Popen(
            [*words, "--build", f"{folder}/{build}"],
            cwd=ROOT,
            env=os.environ | env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def end(self) -> "Run":
        """Wait for it, and for all who write where it writes."""
        self.printed = self.process.communicate()[0]
        self.status = self.process.returncode
        return self


class Cycle:
    """A folder with an earlier release, in which a later one is made in spite of everything."""

    def __init__(self, dataset: str, folder: Path, work: Path) -> None:
        self.dataset, self.folder = dataset, folder
        self.releases = folder / "releases" / dataset
        reference = work / "reference" / dataset
        known_checksums = reference / "seconds.json"
        if not known_checksums.is_file():
            shutil.rmtree(reference, ignore_errors=True)
            reference.mkdir(parents=True)
            begun = time.monotonic()
            for version in (EARLIER, LATER):
                run = Run(reference, dataset, to=version).end()
                assert run.status == 0, run.printed
            known_checksums.write_text(json.dumps((time.monotonic() - begun) / 2), "utf-8")
        self.seconds = json.loads(known_checksums.read_text("utf-8"))
        made = reference / "releases" / dataset
        self.expected = {version: checksums(made / version) for version in (EARLIER, LATER)}
        shutil.copytree(made / EARLIER, self.releases / EARLIER)

    def losses(self, run: Run) -> Iterator[str]:
        """What is wrong after a run that was stopped or refused."""
        if "Traceback (most recent call last)" in run.printed and "builders" in run.printed:
            yield run.printed[-3000:]  # one of Python's start, before any line of ours, is none
        seen = {p.name for p in self.releases.iterdir() if not p.name.startswith(".")}
        for version in sorted(seen | {EARLIER}):
            if version not in self.expected:
                yield f"a folder that is no release: {version}"
            elif checksums(self.releases / version) != self.expected[version]:
                yield f"{version} is not whole"

    def clear(self, run: Run) -> None:
        """After a run that came to its end the next one shall have something to do."""
        if run.status == 0:
            shutil.rmtree(self.folder / "build")
            shutil.rmtree(self.releases / LATER, ignore_errors=True)

    def rerun(self) -> Outcome:
        """One more run, which nothing disturbs."""
        run = Run(self.folder, self.dataset).end()
        lost = [f"the rerun fails: {run.printed[-1500:]}"] if run.status else []
        for version in (EARLIER, LATER) if not run.status else ():
            lost += [f"{version}: {text}" for text in verify_release(self.releases / version)]
        hidden = {p.name for p in (self.folder / "releases").rglob(".*")} - {".lock"}
        lost += [f"left beside the releases: {name}" for name in hidden if not run.status]
        return Outcome("rerun to the reference bytes", 1, (*lost, *self.losses(run)))


@contextmanager
def cycle(number: int, work: Path) -> Iterator[Cycle]:
    """A cycle in a new folder; what all of them need is made once."""
    with scratch(work) as folder:
        yield Cycle(DATASETS[number % len(DATASETS)], folder, work)


def kills(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """A run that is killed some times, at any time or at a call, and then goes on."""
    with cycle(number, work) as one_cycle:
        for _ in range(random.randint(5, 9)):
            if random.random() < 0.4:
                kind = random.choice(("fsync", "rename"))
                run = Run(
                    one_cycle.folder, one_cycle.dataset, f"kill {kind} {random.randint(1, _CALLS)}"
                )
                name = f"SIGKILL at a {kind}"
            else:
                signals, group = random.choice(_SIGNALS), random.random() < 0.6
                run = Run(one_cycle.folder, one_cycle.dataset)
                time.sleep(random.uniform(0.2, 0.7 * one_cycle.seconds))
                if run.process.poll() is None:
                    (os.killpg if group else os.kill)(run.process.pid, signals)
                name = f"{signals.name} of {'the group' if group else 'the parent'}"
            run.end()
            lost = (*_left(run.process.pid), *one_cycle.losses(run))
            one_cycle.clear(run)
            yield Outcome(name if run.status else "came to its end before", 1, lost)
        yield one_cycle.rerun()


def _left(group: int) -> Iterator[str]:
    """Processes of a run that outlive it."""
    until = time.monotonic() + _LINGER
    while members := [one for one in psutil.process_iter(["pid", "status"]) if _is_in(one, group)]:
        if time.monotonic() > until:
            yield f"processes are left: {members}"
            return
        time.sleep(0.1)


def _is_in(process: psutil.Process, group: int) -> bool:
    """Whether a process is one of a group, and has not ended."""
    with suppress(OSError):
        return os.getpgid(process.pid) == group and process.info["status"] != psutil.STATUS_ZOMBIE
    return False


def disks(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """A run that finds no room, or may not write, some times, and then goes on."""
    with cycle(number, work) as one_cycle:
        for _ in range(random.randint(3, 5)):
            kind = random.choice(("open", "mkdir", "size", "size", "readonly"))
            fault = f"full {kind} {random.randint(1, _CALLS)}"
            fault = f"size {int(10 ** random.uniform(2, 6))}" if kind == "size" else fault
            run = Run(
                one_cycle.folder, one_cycle.dataset, kind if kind == "readonly" else fault
            ).end()
            lost = [*one_cycle.losses(run)]
            one_cycle.clear(run)
            if run.status and "error: " not in run.printed:
                lost.append(f"no message (status {run.status}): {run.printed[-1500:]}")
            name = f"no room: {fault.split()[0]}" if run.status else "came to its end before"
            yield Outcome(name, 1, tuple(lost))
        yield one_cycle.rerun()


def rivals(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """Two runs at once: of one dataset in one build folder or two, or of two datasets."""
    with cycle(number, work) as one_cycle:
        kind = random.choice(("the same", "the same, two build folders", "two datasets"))
        other_dataset, build = one_cycle.dataset, "build2" if kind.endswith("folders") else "build"
        if kind == "two datasets":
            other_dataset = random.choice(
                [dataset for dataset in DATASETS if dataset != one_cycle.dataset]
            )
        first = Run(one_cycle.folder, one_cycle.dataset)
        time.sleep(random.choice((0.0, random.uniform(0, one_cycle.seconds))))
        both = [Run(one_cycle.folder, other_dataset, build=build).end(), first.end()]
        lost = [text for run in both for text in one_cycle.losses(run)]
        refused = [run.printed for run in both if run.status]
        lost += [
            f"no message: {printed[-1500:]}"
            for printed in refused
            if "another run is at work" not in printed
        ]
        if len(refused) == 2:
            lost.append("neither came to its end")
        yield Outcome(f"two runs: {kind}", 1, tuple(lost))
        yield one_cycle.rerun()
