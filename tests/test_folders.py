"""What a folder that is written to says when something is in the way."""

from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, locked, refusal, replacing


def test_what_is_in_the_way_is_said_of_the_file_or_else_of_the_folder(tmp_path: Path) -> None:
    missing = tmp_path / "judgments" / "gold.parquet"
    with pytest.raises(UserError) as error, disk_errors(tmp_path / "out"):
        missing.read_bytes()
    assert str(error.value) == f"{missing}: No such file or directory"
    with pytest.raises(UserError) as error, disk_errors(tmp_path):
        raise OSError(28, "No space left on device")
    assert str(error.value) == f"{tmp_path}: No space left on device"
    (tmp_path / "file").touch()
    with pytest.raises(UserError) as error, locked(tmp_path / "file" / "out"):
        pass
    assert str(error.value) == f"{tmp_path / 'file' / 'out'}: Not a directory"
    with pytest.raises(UserError, match="that is no file"), replacing(tmp_path):
        raise AssertionError("not reached")
    refused_run = pytest.raises(UserError, match="another run is at work here")
    with locked(tmp_path), refused_run, locked(tmp_path):
        raise AssertionError("not reached")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (FileExistsError(17, "File exists"), "File exists"),
        (RuntimeError("IO Error: could not write: No space left on device"), "No space left"),
        (RuntimeError("Symlink loop from 'x'"), "Symlink loop"),
        (FileNotFoundError(2, "No such file or directory"), None),
        (ValueError("a bug"), None),
    ],
)
def test_what_a_disk_refuses(error: Exception, said: str | None) -> None:
    refusal_text = refusal(error)
    assert refusal_text is None if said is None else refusal_text and refusal_text.startswith(said)
