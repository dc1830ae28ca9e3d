"""Articles of plain statements, for tests of people's work: the sample's news reads as news does.

`tests/plain_news/YYYY.txt` has the form of `samples/news/text`.
"""

from pathlib import Path

from samples.news.make import archives
from tests.conftest import ROOT


def write_plain_news(folder: Path) -> Path:
    """Write the archives of the plain articles into a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, packed in archives(ROOT / "tests/plain_news").items():
        (folder / name).write_bytes(packed)
    return folder
