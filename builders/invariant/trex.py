"""T-REx as LAMA publishes it: JSON lines with a subject, an object and a relation each."""

import json
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from factdrift.builders.core.schema import writing
from factdrift.builders.rows import Dropped, TrexFact

_FIELDS = ("sub_uri", "sub_label", "predicate_id", "obj_uri", "obj_label")
_ITEM = re.compile("Q[1-9][0-9]{0,18}")


def read_trex(files: Sequence[Path], relations: Collection[str], out: Path) -> None:
    """Write `trex.parquet` (`rows.TrexFact`) and `dropped.parquet` (`rows.Dropped`), by line.

    A line that is no fact is dropped as `bad_line`, with what is wrong; one of a relation that
    is not asked for as `other_relation`. Blank lines are nothing. Memory: a batch of lines.
    """
    with (
        writing(out / "trex.parquet", TrexFact) as kept,
        writing(out / "dropped.parquet", Dropped) as left,
    ):
        for path in sorted(files, key=lambda p: (p.name, str(p))):
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if not line.strip():
                        continue
                    place = f"{path.name}:{number}"
                    try:
                        found = parse_fact(line)
                    except BadLineError as error:
                        left.append(Dropped("trex", "bad_line", place, detail=str(error)))
                        continue
                    if (relation := found["relation"]) in relations:
                        kept.append(TrexFact(**found, file=path.name, line=number))
                    else:
                        left.append(Dropped("trex", "other_relation", place, detail=relation))


class BadLineError(ValueError):
    """A line that states no fact; its text is kept in the list of what was dropped."""


def parse_fact(line: bytes) -> dict[str, Any]:
    """The columns of `rows.NamedInvariant` of a line; `BadLineError` says what is wrong."""
    try:
        read = json.loads(line)
    except UnicodeDecodeError:
        raise BadLineError("not UTF-8") from None
    except (ValueError, RecursionError):
        raise BadLineError("not JSON") from None
    if not isinstance(read, dict):
        raise BadLineError("not a JSON object")
    for name in _FIELDS:
        text = read.get(name)
        if not isinstance(text, str) or not text.strip():
            raise BadLineError(f"no {name}")
        if not text.isprintable():
            raise BadLineError(f"{name} has characters that cannot be printed")
    for name in ("sub_uri", "obj_uri"):
        if not _ITEM.fullmatch(read[name]):
            raise BadLineError(f"{name} is no item id: {read[name][:40]}")
    return {
        "subject": read["sub_uri"],
        "subject_label": " ".join(read["sub_label"].split()),
        "relation": read["predicate_id"],
        "object": read["obj_uri"],
        "object_label": " ".join(read["obj_label"].split()),
        "aliases": [],
        "sitelinks": None,
        "statements": None,
    }
