"""Write the archives of short news items from the items in `text/*.txt`.

    python samples/newswire/make.py

The form of the text and of the archives is that of `samples/news/make.py`, which does the work. The
names of the archives say that they are another set, so that both can be read together.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from samples.news.make import archive, read  # noqa: E402 - the path has to be known before

FEWEST_SENTENCES = 2


def archives(folder: Path = HERE / "text") -> dict[str, bytes]:
    """File name to bytes for every year in `folder`."""
    packed: dict[str, bytes] = {}
    for path in sorted(folder.glob("*.txt")):
        name = f"news-docs.{path.stem}.newswire.en.filtered.gz"
        packed[name] = archive(read(path, FEWEST_SENTENCES))
    return packed


if __name__ == "__main__":
    for name, packed in archives().items():
        (HERE / name).write_bytes(packed)
