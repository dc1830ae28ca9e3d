"""Tables of cases beside the tests (`*.tsv`): a head, then a case a line; `⏎` is a line end."""

from pathlib import Path


def table(name: str) -> list[tuple[str, ...]]:
    """The cells of every case of a table, in order; lines that begin with `# ` are headings."""
    _, *lines = Path(__file__).with_name(f"{name}.tsv").read_text("utf-8").splitlines()
    cases = (line.replace("⏎", "\n").split("\t") for line in lines if not line.startswith("# "))
    return [tuple(cells) for cells in cases]
