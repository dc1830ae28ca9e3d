"""Bits that flip and files that are cut in `build/`: the same release again, or a word about it."""

import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from factdrift.builders.core.hashing import digest
from tests.conftest import checksums, run_cli
from torture import Outcome

_CUT_SHARE = 0.3
"""The share of cases in which a file is cut short and no bit flips."""
SAME, TOLD = "the same bytes", "told and refused"
"""The two ways in which a case may end."""


class Damage(NamedTuple):
    """One change of one file of a build folder, and the dataset whose run takes the file up."""

    dataset: str
    place: str
    kind: str


def damage_file(path: Path, random: Random) -> str:
    """Flip a bit of a file, or cut it short; return which of the two."""
    content = bytearray(path.read_bytes())
    if random.random() < _CUT_SHARE:
        kind = "a cut"
        del content[random.randrange(len(content)) :]
    else:
        kind = "a flipped bit"
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    path.write_bytes(content)
    return kind


def bits(random: Random, number: int, work: Path) -> Iterator[Outcome]:
    """A file of `build/` with a flipped bit, or cut short, for each sample recipe in turn."""
    folder = work / "samples"
    build_samples(folder)
    yield SampleBuild(folder, work / "damaged").try_case(number, seed=random.randrange(1 << 30))


@cache
def build_samples(folder: Path) -> None:
    """Make the releases of all sample recipes, once a run; steps that are there are used again."""
    shutil.rmtree(folder / "releases", ignore_errors=True)
    places = ("--out", folder / "releases", "--build", folder / "build")
    run_cli("release", "--jobs", 1, *places)


class SampleBuild:
    """A build folder of sample recipes that is damaged and mended, and the releases made with it.

    `folder` has `build/` and `releases/` of a run; both are only read. The copy that is damaged
    lies in `work`.
    """

    def __init__(self, folder: Path, work: Path, datasets: tuple[str, ...] = ()) -> None:
        self._whole, self._releases, self._work = folder / "build", folder / "releases", work
        self._build = work / "build"
        uses = sorted((self._whole / "used").glob("*.json"))
        self._steps = {
            use.stem: frozenset(json.loads(use.read_text("utf-8"))["steps"])
            for use in uses
            if not datasets or use.stem in datasets
        }
        self._restore()

    @property
    def identity(self) -> str:
        """A digest of the keys of all steps, which tells a build of other code from this one."""
        return digest(sorted(frozenset().union(*self._steps.values())))

    def _restore(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)
        self._work.mkdir(parents=True)
        shutil.copytree(self._whole, self._build)

    def _places(self, dataset: str) -> list[str]:
        """The files that a run of a dataset takes up: those of its steps, and of no step."""
        places = []
        for path in sorted(self._whole.rglob("*")):
            place = path.relative_to(self._whole)
            key = place.parts[0].rpartition("-")[2]
            is_step = len(key) == 16 and len(place.parts) > 1
            if (
                path.is_file()
                and path.stat().st_size
                and (key in self._steps[dataset] if is_step else place.parts[0] != "used")
            ):
                places.append(place.as_posix())
        return places

    def try_case(self, number: int, seed: int = 0) -> Outcome:
        """Damage a file, make the release again, and say what came of it."""
        random = Random(f"{seed}/{number}")
        dataset = sorted(self._steps)[number % len(self._steps)]
        damage = self._damage(random, dataset)
        out = self._work / "releases"
        try:
            losses = list(self._losses(damage, out))
        finally:
            self._restore()
        return Outcome(f"{damage.kind} in build/ ({dataset})", 1, tuple(losses))

    def _damage(self, random: Random, dataset: str) -> Damage:
        place = random.choice(self._places(dataset))
        path = self._build / place
        return Damage(dataset, place, damage_file(path, random))

    def _losses(self, damage: Damage, out: Path) -> Iterator[str]:
        (reference,) = (self._releases / damage.dataset).iterdir()
        run = run_cli(
            *("release", damage.dataset, "--version", reference.name, "--jobs", 1),
            *("--build", self._build, "--out", out),
            ok=False,
        )
        where = f"{damage.kind} in {damage.place}"
        printed = run.stdout + run.stderr
        if "Traceback (most recent call last)" in printed:
            yield f"{where}: {printed[-2000:]}"
        elif run.returncode:
            if "error: " not in printed:
                yield f"{where}: no message: {printed[-500:]}"
        elif checksums(out / damage.dataset / reference.name) != checksums(reference):
            yield f"{where}: another release"
