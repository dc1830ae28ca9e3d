"""Raw parts: what a reader writes before labels, redirects and kinds are known.

A part is three Parquet files and a JSON file in a folder, all of one name; `finish` reads
the parts of both routes, dump and SPARQL.
"""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

from builders.rows import Rank

Kind = Literal["category", "disambiguation", "template", "list"]

KINDS: dict[str, Kind] = {
    "Q4167836": "category",
    "Q4167410": "disambiguation",
    "Q11266439": "template",
    "Q13406463": "list",
}
"""Values of P31 whose instances are pages of a wiki, not things in the world."""


@dataclass(frozen=True, slots=True)
class RawFact:
    """One interval of one statement; ids are as the source has them."""

    statement: Annotated[str, "statement id, with `$`"]
    subject: Annotated[str, "item id"]
    relation: Annotated[str, "property id"]
    object: Annotated[str | None, "item id; null where the value is unknown"]
    start_first: Annotated[date | None, "earliest possible first day; null: unknown"]
    start_last: Annotated[date | None, "latest possible first day; null: unknown"]
    end_first: Annotated[date | None, "earliest possible last day; null: unknown or open"]
    end_last: Annotated[date | None, "latest possible last day; null: unknown or open"]
    end_open: Annotated[bool, "true: no end is stated; false with a null end: ended, day unknown"]
    point: Annotated[bool, "true: held on one day inside the interval"]
    rank: Annotated[Rank, "rank of the statement; deprecated ones are left out"]
    problem: Annotated[str | None, "null: a fact; unknown_value: a gap"]


@dataclass(frozen=True, slots=True)
class RawEntity:
    """One item, property or redirect."""

    id: Annotated[str, "Wikidata id"]
    label: Annotated[str | None, "English label, else the `mul` label"]
    aliases: Annotated[tuple[str, ...], "English and `mul` aliases, sorted, without the label"]
    enwiki: Annotated[str | None, "title of the English Wikipedia page; null: none"]
    sitelinks: Annotated[int, "number of sitelinks"]
    statements: Annotated[int, "number of statements of any kind"]
    kind: Annotated[Kind | None, "the kind of wiki page it is; null: a thing in the world"]
    redirect: Annotated[str | None, "id that it redirects to; null: an entity of its own"]
