"""Read T-REx as LAMA publishes it: JSON lines of a subject, an object and a relation each."""

import json
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from factdrift.builders.core.limits import LONGEST_ROW, bounded_lines
from factdrift.builders.core.schema import writing
from factdrift.builders.rows import Dropped, TrexFact

_FIELDS = ("sub_uri", "sub_label", "predicate_id", "obj_uri", "obj_label")
# `Q42` matches; `Q042`, `P42` and a full address do not.
_ITEM = re.compile("Q[1-9][0-9]{0,18}")


def read_trex(files: Sequence[Path], relations: Collection[str], out: Path) -> None:
    """Write `trex.parquet` (`rows.TrexFact`) and `dropped.parquet` (`rows.Dropped`), by line.

    A line that states no fact is dropped as `bad_line`, with what is wrong in it, and a line of a
    relation that is not asked for as `other_relation`. Blank lines are skipped. Only a batch of
    lines is held in memory.
    """
    with (
        writing(out / "trex.parquet", TrexFact) as facts,
        writing(out / "dropped.parquet", Dropped) as dropped,
    ):
        for path in sorted(files, key=lambda trex_path: (trex_path.name, str(trex_path))):
            with path.open("rb") as file:
                for number, line in enumerate(bounded_lines(file), 1):
                    if line is not None and not line.strip():
                        continue
                    place = f"{path.name}:{number}"
                    try:
                        if line is None:
                            raise BadLineError(f"more than {LONGEST_ROW:,} bytes")
                        fact = parse_fact(line)
                    except BadLineError as error:
                        dropped.append(Dropped("trex", "bad_line", place, detail=str(error)))
                        continue
                    if (relation := fact["relation"]) in relations:
                        facts.append(TrexFact(**fact, file=path.name, line=number))
                    else:
                        dropped.append(Dropped("trex", "other_relation", place, detail=relation))


class BadLineError(ValueError):
    """A line states no fact; the text of the error is the detail of its drop."""


def parse_fact(line: bytes) -> dict[str, Any]:
    """Return a line as columns of `rows.NamedInvariant`; `BadLineError` says what is wrong."""
    try:
        fields = json.loads(line)
    except UnicodeDecodeError:
        raise BadLineError("not UTF-8") from None
    except (ValueError, RecursionError):
        raise BadLineError("not JSON") from None
    if not isinstance(fields, dict):
        raise BadLineError("not a JSON object")
    for name in _FIELDS:
        text = fields.get(name)
        if not isinstance(text, str) or not text.strip():
            raise BadLineError(f"no {name}")
        if not text.isprintable():
            raise BadLineError(f"{name} has characters that cannot be printed")
    for name in ("sub_uri", "obj_uri"):
        if not _ITEM.fullmatch(fields[name]):
            raise BadLineError(f"{name} is no item id: {fields[name][:40]}")
    return {
        "subject": fields["sub_uri"],
        "subject_label": " ".join(fields["sub_label"].split()),
        "relation": fields["predicate_id"],
        "object": fields["obj_uri"],
        "object_label": " ".join(fields["obj_label"].split()),
        "aliases": [],
        "sitelinks": None,
        "statements": None,
    }
