"""What all tests share: where the real data lies, and one release of the samples."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("FACTDRIFT_DATA", ROOT.parent / "shared" / "data"))
"""Real data, which is not part of the project: tests that need it skip where it is absent."""
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the tests themselves run side by side


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="write the expected outputs anew")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data; the test skips without it."""
    if not DATA.is_dir():
        pytest.skip(f"no real data in {DATA} (set FACTDRIFT_DATA)")
    return DATA


def run(*words: object, cwd: Path = ROOT, ok: bool = True) -> subprocess.CompletedProcess[str]:
    """Run `python -m builders WORDS`; with `ok` it has to succeed."""
    command = [sys.executable, "-m", "builders", *map(str, words)]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=env)
    assert not ok or done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of all sample recipes: `releases/` and `build/` in it.

    Made once, by whichever process of pytest-xdist comes first.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "sample"
    with (shared / "sample.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            run("release", "--out", folder / "releases", "--build", folder / "build", "--jobs", 2)
            (folder / "made").touch()
    return folder
