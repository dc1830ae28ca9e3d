"""What an expert has to look at, as files beside the judgments.

`judgments/experts.txt` holds the hashes of the experts' worker ids. `judgments/<layout>/check.csv`
has a line for each drawn judgment of a layout with per-worker batches; an expert who does not
judge the items in a batch of their own writes accept or reject into its last column, and the next
`make judgments` takes it.
"""

import csv
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from annotation.batch import Item
from annotation.ids import hashed
from annotation.quality.expert import Share
from annotation.reading import table
from annotation.submission import Refused
from builders.config import shown
from builders.errors import UserError
from builders.folders import replacing

EXPERTS, CHECKS = "experts.txt", "check.csv"
COLUMNS = ("judgment", "batch", "worker", "item", "shown", "answers", "found", "verdict")
_VERDICTS = {"accept": True, "reject": False}


def read_experts(out: Path) -> frozenset[str]:
    """The hashes of experts' worker ids that earlier runs were told."""
    path = out / EXPERTS
    return frozenset(path.read_text("utf-8").split()) if path.is_file() else frozenset()


def add_experts(
    out: Path, given: Path, salt: bytes, platforms: Iterable[str]
) -> list[frozenset[str]]:
    """Take the worker ids of a file, one a line, as experts' on every platform.

    The hashes alone are kept; those of each id are handed back. `UserError`: the file cannot be
    read, or has no id.
    """
    try:
        lines = given.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        raise UserError(f"cannot be read: {error}", where=shown(given)) from None
    names = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not names:
        hint = "one platform's worker id a line"
        raise UserError("no worker ids", where=shown(given), hint=hint)
    by_name = [frozenset(hashed(salt, "worker", by, name) for by in platforms) for name in names]
    new = frozenset[str]().union(*by_name)
    with replacing(out / EXPERTS) as path:
        text = "".join(f"{one}\n" for one in sorted(read_experts(out) | new))
        path.write_text(text, "utf-8", newline="\n")
    return by_name


def read_verdicts(folder: Path) -> dict[str, bool]:
    """What an expert wrote into the table of checks, by the id of the judgment."""
    path = folder / CHECKS
    found: dict[str, bool] = {}
    for row in table(path) if path.is_file() else ():
        if isinstance(row, Refused):
            text = f"{row.reason}: {row.detail}".rstrip(": ")
            raise UserError(text, where=shown(path), line=row.line)
        word = row.cells.get("verdict", "").strip().lower()
        if missing := [name for name in ("judgment", "verdict") if name not in row.cells]:
            raise UserError(f"no column {missing[0]!r}", where=shown(path), line=1)
        if word and word not in _VERDICTS:
            hint = "write accept, reject or nothing"
            raise UserError(f"verdict {word[:40]!r}", where=shown(path), line=row.line, hint=hint)
        if word:
            found[row.cells["judgment"].strip()] = _VERDICTS[word]
    return found


def write_checks(
    folder: Path, found: Sequence[Share], items: Mapping[str, Item], verdicts: Mapping[str, bool]
) -> None:
    """The table of checks anew; `verdict` as it was written, `found` what the checks come to.

    Verdicts on judgments that are not drawn any more stay, at the end, without effect. What
    people wrote is in cells that begin with a brace, which no spreadsheet runs.
    """
    said = {True: "accept", False: "reject", None: ""}
    rows = [
        {
            "judgment": one.id,
            "batch": share.batch,
            "worker": share.worker,
            "item": one.item,
            "shown": _json(items[one.item].fields if one.item in items else {}),
            "answers": one.answers,
            "found": said[verdict],
            "verdict": said[verdicts.get(one.id)],
        }
        for share in found
        for one, verdict in zip(share.drawn, share.verdicts, strict=True)
    ]
    drawn: Collection[str] = {row["judgment"] for row in rows}
    rows += [
        {"judgment": name, "verdict": said[verdict]}
        for name, verdict in sorted(verdicts.items())
        if name not in drawn
    ]
    with (
        replacing(folder / CHECKS) as path,
        path.open("w", encoding="utf-8", newline="") as file,
    ):
        write = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        write.writeheader()
        write.writerows(rows)


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
