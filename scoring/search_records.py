"""The records of a BEIR folder's files."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of `corpus.jsonl` or `queries.jsonl`; `UserError`: it is no such file."""
    if not path.is_file():
        hint = "factdrift export RELEASE --format beir makes such a folder"
        raise UserError("no such file", where=shown(path), hint=hint)
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                record = json.loads(line)
                record["_id"], record["text"], record["metadata"]
            except (ValueError, KeyError, TypeError):
                raise UserError("no record of BEIR", where=shown(path), line=number) from None
            yield record
