"""What an audit found: the verdicts as tables, counts by property and year, a picture of decay."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from factdrift.builders.core import duck
from factdrift.builders.core.files import replacing
from factdrift.builders.core.schema import ROW_GROUP, typed_rows
from factdrift.builders.release.plots import COLOURS, FAINT, INK, save_figure
from factdrift.scoring.audit.rows import TOLD, VERDICTS, JudgedFact

if TYPE_CHECKING:
    from factdrift.scoring.audit.repair import RepairCounts

ROWS, LINES, SUMMARY, PICTURE = "rows.parquet", "rows.jsonl", "summary.json", "decay.png"
_TRUE = ("still true", "one of several")
_FEWEST = 5
"""Facts of a year that make a point in the picture: of fewer, one fact moves the share by a fifth
and more."""


@dataclass(frozen=True)
class Summary:
    """Counts of verdicts: of all facts, by property, and by the year of the row or of the fact."""

    as_of: date | None
    facts: int
    verdicts: Mapping[str, int]
    reasons: Mapping[str, int]
    properties: Mapping[str, Mapping[str, int]]
    row_years: Mapping[str, Mapping[str, int]]
    fact_years: Mapping[str, Mapping[str, int]]
    repair: Mapping[str, int] | None = None

    def with_repair(self, counts: "RepairCounts") -> "Summary":
        """The summary with the counts of a repair."""
        return replace(self, repair=counts._asdict())


def write_summary(judged_file: Path, out: Path, as_of: date | None) -> Summary:
    """Write the verdicts as Parquet and JSON lines, and the picture; return the counts."""
    judged = duck.parquet(judged_file)
    with replacing(out / ROWS) as unfinished, duck.connect(threads=1) as connection:
        connection.execute(f"""
            COPY (FROM {judged} ORDER BY row, place) TO {duck.text(str(unfinished))}
            (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP})
        """)
    encode = msgspec.json.Encoder(order="deterministic").encode
    with replacing(out / LINES) as unfinished, unfinished.open("wb") as file:
        for fact in typed_rows(judged_file, JudgedFact):
            file.write(encode(_plain(fact)) + b"\n")
    verdict_counts = _counts(judged, "verdict")
    audit_summary = Summary(
        as_of=as_of,
        facts=sum(verdict_counts.values()),
        verdicts={
            verdict: verdict_counts[verdict] for verdict in VERDICTS if verdict in verdict_counts
        },
        reasons=_counts(judged, "verdict || ': ' || reason"),
        properties=_grouped(judged, "relation"),
        row_years=_grouped(judged, "CAST(row_year AS VARCHAR)"),
        fact_years=_grouped(judged, "CAST(from_year AS VARCHAR)"),
    )
    save_figure(out / PICTURE, lambda: decay_picture(audit_summary))
    return audit_summary


def write_json(audit_summary: Summary, out: Path) -> None:
    """Write `summary.json`."""
    text = json.dumps(msgspec.to_builtins(audit_summary), indent=1)
    with replacing(out / SUMMARY) as unfinished:
        unfinished.write_text(text + "\n", "utf-8")


def _plain(fact: JudgedFact) -> dict[str, Any]:
    """A verdict as people read it: without what is empty, holders by name and id."""
    values = msgspec.to_builtins(fact)
    values["now"] = [{"id": holder.id, "label": holder.label} for holder in fact.now]
    return {name: value for name, value in values.items() if value not in (None, [], ())}


def _counts(judged: str, column: str) -> dict[str, int]:
    counted = duck.query(f"""
        SELECT {column} AS name, count(*) AS n FROM {judged} WHERE name IS NOT NULL
        GROUP BY 1 ORDER BY n DESC, 1
    """)  # noqa: S608
    return dict(counted)


def _grouped(judged: str, column: str) -> dict[str, dict[str, int]]:
    """Counts of verdicts by a column: years in order, properties by the number of facts."""
    order = "1" if "year" in column else "sum(n) OVER (PARTITION BY name) DESC, 1"
    counted = duck.query(f"""
        SELECT name, verdict, n FROM (
            SELECT {column} AS name, verdict, count(*) AS n FROM {judged} GROUP BY ALL)
        WHERE name IS NOT NULL ORDER BY {order}, 2
    """)  # noqa: S608
    groups: dict[str, dict[str, int]] = {}
    for name, verdict, count in counted:
        groups.setdefault(name, {})[verdict] = count
    return groups


def true_share(verdicts: Mapping[str, int]) -> tuple[int, int]:
    """The facts that are true, and all of which the dump tells something."""
    told = sum(verdicts.get(verdict, 0) for verdict in TOLD)
    return sum(verdicts.get(verdict, 0) for verdict in _TRUE), told


def decay_picture(audit_summary: Summary) -> Any:
    """The share of facts that are true, by the year of the row and by that in which it began."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(8.0, 3.4), facecolor="white", layout="constrained")
    panel = figure.subplots()
    day_text = f"on {audit_summary.as_of}" if audit_summary.as_of else "on the day asked about"
    series = (
        ("by the year of the row", audit_summary.row_years),
        ("by the year in which the fact began", audit_summary.fact_years),
    )
    for colour, (name, years) in zip(COLOURS, series, strict=False):
        points = [(int(year), *true_share(verdicts)) for year, verdicts in years.items()]
        points = [point for point in points if point[2] >= _FEWEST]
        if points:
            shares = [100 * true / told for _, true, told in points]
            panel.plot([year for year, *_ in points], shares, color=colour, marker="o", label=name)
    panel.set_ylim(0, 105)
    panel.set_ylabel(f"% true {day_text}", color=INK)
    panel.grid(axis="y", color=FAINT)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    if panel.get_lines():
        panel.legend(frameon=False, loc="lower left")
    else:
        panel.text(
            0.5, 0.5, f"no year with {_FEWEST} facts", transform=panel.transAxes, ha="center"
        )
    return figure


def summary_table(audit_summary: Summary, most: int = 15) -> Iterator[str]:
    """The summary as lines of text: verdicts, reasons, and the properties with the most facts."""
    yield f"{audit_summary.facts:,} facts"
    for verdict, count in audit_summary.verdicts.items():
        yield f"{verdict:<18}{count:>9,}  {100 * count / audit_summary.facts:5.1f} %"
    doubts = list(audit_summary.reasons.items())
    for text, count in doubts[:most]:
        yield f"  {text}: {count:,}"
    for heading, groups in (
        ("property", audit_summary.properties),
        ("year", audit_summary.row_years or audit_summary.fact_years),
    ):
        if groups:
            yield f"{heading:<10}{'facts':>9}{'told':>9}{'true':>9}"
        listed = list(groups.items())
        for name, verdicts in listed[:most] if heading == "property" else listed[-most:]:
            true, told = true_share(verdicts)
            share = f"{100 * true / told:.1f} %" if told else "-"
            yield f"{name:<10}{sum(verdicts.values()):>9,}{told:>9,}{share:>9}"
    if audit_summary.repair is not None:
        counts: Sequence[int] = list(audit_summary.repair.values())
        yield (
            f"repaired: {counts[0]:,} rows changed; left as they are: {counts[1]:,} in doubt, "
            f"{counts[2]:,} without one answer that surely holds"
        )
