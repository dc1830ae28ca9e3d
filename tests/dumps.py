"""Small Wikidata dumps for tests: entities as plain data, files in every form."""

import bz2
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import zstandard

from factdrift.builders.core.run import RecipeInput, Source
from factdrift.builders.core.steps import Workspace
from factdrift.builders.facts.steps import Facts
from factdrift.builders.wikidata.finish import TABLES, MinedTables
from factdrift.builders.wikidata.steps import MinedFolder

GREGORIAN = "http://www.wikidata.org/entity/Q1985727"
JULIAN = "http://www.wikidata.org/entity/Q1985786"
Json = dict[str, Any]


def value(kind: str, what: Any) -> Json:
    return {"snaktype": "value", "datavalue": {"type": kind, "value": what}}


def snak(form: str | Json) -> Json:
    """`?`: unknown; `-`: none; an item or property; else a time. A mapping is one already."""
    if not isinstance(form, str):
        return form
    if form in ("?", "-"):
        return {"snaktype": "novalue" if form == "-" else "somevalue"}
    if form[0] not in "QP":
        return time_snak(form)
    kind, number = {"Q": "item", "P": "property"}[form[0]], int(form[1:])
    return value("wikibase-entityid", {"entity-type": kind, "numeric-id": number, "id": form})


# characters of `2019`, `2019-07` and `2019-07-24` -> Wikidata's number for year, month and day
PRECISIONS = {4: 9, 7: 10, 10: 11}


def time_snak(text: str, calendar: str = GREGORIAN) -> Json:
    """`2019`, `2019-07` or `2019-07-24` at that precision, or at `/8`; `J` at the end: Julian.

    `somevalue` and `novalue` are those.
    """
    if text.endswith("value"):
        return {"snaktype": text}
    day, _, precision = text.removesuffix("J").partition("/")
    sign, day = ("-", day[1:]) if day[0] == "-" else ("+", day)
    number = int(precision) if precision else PRECISIONS[len(day)]
    day += "-00" * (2 - day.count("-"))
    calendar = JULIAN if text.endswith("J") else calendar
    what = {"time": f"{sign}{day}T00:00:00Z", "precision": number, "calendarmodel": calendar}
    return value("time", what)


def statement(
    main: str | Json,
    start: str | None = None,
    end: str | None = None,
    point: str | None = None,
    **more: Any,
) -> Json:
    qualifier_times = {"P580": start, "P582": end, "P585": point}
    qualifiers = {
        property_id: [time_snak(time)] for property_id, time in qualifier_times.items() if time
    }
    statement_document = {"mainsnak": snak(main), "type": "statement", "rank": "normal", **more}
    return {**statement_document, "qualifiers": qualifiers} if qualifiers else statement_document


def item(
    name: str,
    label: str | None = None,
    claims: Mapping[str, Sequence[Json]] | None = None,
    **more: Any,
) -> Json:
    """An item; its statements get ids where they have none."""
    for relation, qualifier_times in (claims or {}).items():
        for statement_number, claim in enumerate(qualifier_times):
            claim.setdefault("id", f"{name}${relation}-{statement_number}")
    item_labels = {"en": term(label)} if label else {}
    return {"type": "item", "id": name, "labels": item_labels, "claims": claims or {}, **more}


def term(text: str, language: str = "en") -> Json:
    return {"language": language, "value": text}


def prop(name: str, label: str) -> Json:
    return {**item(name, label), "type": "property", "datatype": "wikibase-item"}


def lines(entities: Iterable[Json]) -> list[bytes]:
    return [
        json.dumps(entity, ensure_ascii=False, separators=(",", ":")).encode()
        for entity in entities
    ]


def array(entities: Iterable[Json]) -> bytes:
    """The layout of the official dump."""
    return b"[\n" + b",\n".join(lines(entities)) + b"\n]\n"


def compressed(data: bytes, path: Path) -> Path:
    """Write `data` in the form that the name asks for."""
    match path.suffix:
        case ".gz":
            data = gzip.compress(data)
        case ".bz2":
            data = bz2.compress(data)
        case ".zst":
            data = zstandard.compress(data)
    path.write_bytes(data)
    return path


def shards(entities: Sequence[Json], folder: Path, *forms: str, bad: bytes = b"") -> list[Path]:
    """A dump in so many files of these forms, with a bad line at the end of each, if there is."""
    step, folder = -(-len(entities) // len(forms)), folder / "dump"
    folder.mkdir()
    entities_found = []
    for statement_number, shard_form in enumerate(forms):
        shard_lines = [
            *lines(entities[statement_number * step : (statement_number + 1) * step]),
            *([bad] if bad else []),
        ]
        text = b"[\n" + b",\n".join(shard_lines) + b"\n]\n"
        entities_found.append(compressed(text, folder / f"{statement_number}.{shard_form}"))
    return entities_found


def rows(path: Path) -> list[Json]:
    entities_found: list[Json] = pq.read_table(path).to_pylist()
    return entities_found


CLUBS = {f"Q{statement_number}": f"Club {statement_number}" for statement_number in range(10, 20)}


def world(players: int = 40) -> list[Json]:
    """Players with clubs, clubs after their use, and what else a dump has."""
    names = list(CLUBS)
    entities_found = [
        item(
            f"Q{1000 + statement_number}",
            f"Player {statement_number}",
            {
                "P54": [
                    statement(
                        names[statement_number % 10],
                        f"{1990 + statement_number % 20}",
                        f"{1995 + statement_number % 20}-06",
                    ),
                    statement(
                        names[(statement_number + 3) % 10], f"{1995 + statement_number % 20}-07-01"
                    ),
                ],
                "P27": [statement("Q10")],
            },
            sitelinks={
                "enwiki": {"site": "enwiki", "title": f"Player {statement_number}", "badges": []}
            },
        )
        for statement_number in range(players)
    ]
    return [
        prop("P54", "member of sports team"),
        *entities_found,
        *(item(*club) for club in CLUBS.items()),
    ]


def facts_of(
    mined: MinedTables,
    build: Path,
    relations: Sequence[str],
    undated: Sequence[str] = (),
    pointwise: Sequence[str] = (),
) -> Path:
    """The folder of facts, gaps and entities that a release makes of a mined folder."""
    table_files = tuple(mined.summary.with_name(name) for name in TABLES)
    dump_source = Source(
        "dump",
        table_files,
        ("",) * len(table_files),
        mined.snapshot,
        RecipeInput(licence="CC0-1.0"),
    )
    facts_step = Facts(
        mined=MinedFolder(tables=dump_source),
        relations=tuple(relations),
        undated=tuple(undated),
        pointwise=tuple(pointwise),
    )
    return Workspace(build, lambda text: None).folder(facts_step)
