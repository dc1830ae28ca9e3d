"""Read T-REx as LAMA publishes it: JSON lines of a subject, an object and a relation each.

Values are read as `builders.core.records` says, and labels are cleaned as those of dumps are.
"""

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from factdrift.builders.core.limits import LONGEST_LINE
from factdrift.builders.core.records import (
    BadValueError,
    decode_record,
    numbered_lines,
    text_value,
)
from factdrift.builders.core.schema import writing
from factdrift.builders.rows import Dropped, TrexFact
from factdrift.builders.text.references import clean_label

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
            for number, line in numbered_lines(path, LONGEST_LINE, "download it again"):
                place = f"{path.name}:{number}"
                try:
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
        record = decode_record(line)
        fields = {
            field_name: clean_label(text_value(record.get(field_name)) or "")
            for field_name in _FIELDS
        }
    except BadValueError as error:
        raise BadLineError(_MESSAGES.get(error.fault, str(error))) from None
    for field_name, text in fields.items():
        if not text:
            raise BadLineError(f"no {field_name}")
    for field_name in ("sub_uri", "obj_uri"):
        if not _ITEM.fullmatch(fields[field_name]):
            raise BadLineError(f"{field_name} is no item id: {fields[field_name][:40]}")
    return {
        "subject": fields["sub_uri"],
        "subject_label": fields["sub_label"],
        "relation": fields["predicate_id"],
        "object": fields["obj_uri"],
        "object_label": fields["obj_label"],
        "aliases": [],
        "sitelinks": None,
        "statements": None,
    }


# the words for a line that is no record; what is no text is told as it is
_MESSAGES = {"bad_json": "not JSON", "no_record": "not a JSON object"}
