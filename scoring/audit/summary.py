"""What an audit found: the verdicts as tables, counts by property and year, a picture of decay."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from factdrift.builders.core import duck
from factdrift.builders.core.files import replacing
from factdrift.builders.core.schema import ROW_GROUP, typed_rows
from factdrift.builders.release.plots import COLOURS, FAINT, INK, save_figure
from factdrift.scoring.audit.listing import STALE_CSV, StaleRow
from factdrift.scoring.audit.rows import MEANINGS, STALE, TOLD, TRUE, VERDICTS, JudgedFact, Verdict

if TYPE_CHECKING:
    from factdrift.scoring.audit.repair import RepairCounts

ROWS, LINES, SUMMARY, PICTURE = "rows.parquet", "rows.jsonl", "summary.json", "decay.png"
_FEWEST = 5
"""Facts that make a point in the picture: of fewer, one fact moves the share by a fifth and more.
Neighbouring years are taken together until they are so many."""


@dataclass(frozen=True)
class Summary:
    """Counts of verdicts: of all facts, by property, and by the year of the row or of the fact.

    `stale`: the first rows whose answer held before, and no longer.
    """

    as_of: date | None
    facts: int
    verdicts: Mapping[Verdict, int]
    reasons: Mapping[str, int]
    properties: Mapping[str, Mapping[str, int]]
    row_years: Mapping[str, Mapping[str, int]]
    fact_years: Mapping[str, Mapping[str, int]]
    stale: Sequence[StaleRow] = ()
    repair: Mapping[str, int] | None = None

    def with_repair(self, counts: "RepairCounts") -> "Summary":
        """The summary with the counts of a repair."""
        return replace(self, repair=counts._asdict())


def write_summary(
    judged_file: Path, out: Path, as_of: date | None, stale: Sequence[StaleRow] = ()
) -> Summary:
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
        stale=stale,
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
    return sum(verdicts.get(verdict, 0) for verdict in TRUE), told


class DecayPoint(NamedTuple):
    """Facts of some neighbouring years: how many are true, of those that the dump tells of."""

    first: int
    last: int
    middle: float
    true: int
    told: int


def decay_points(years: Mapping[str, Mapping[str, int]]) -> Iterator[DecayPoint]:
    """Yield the points of the picture: years in order, taken together until they have enough facts.

    Years at the end that have too few by themselves join the point before. `middle` is the mean
    year of the facts.
    """
    counts = sorted((int(year), *true_share(verdicts)) for year, verdicts in years.items())
    groups: list[list[tuple[int, int, int]]] = [[]]
    for year_counts in counts:
        if sum(told for *_, told in groups[-1]) >= _FEWEST:
            groups.append([])
        if year_counts[2]:
            groups[-1].append(year_counts)
    if len(groups) > 1 and sum(told for *_, told in groups[-1]) < _FEWEST:
        last_group = groups.pop()
        groups[-1] += last_group
    for group in groups:
        told = sum(told for *_, told in group)
        if told >= _FEWEST:
            middle = sum(year * told for year, _, told in group) / told
            true = sum(true for _, true, _ in group)
            yield DecayPoint(group[0][0], group[-1][0], middle, true, told)


def decay_picture(audit_summary: Summary) -> Any:
    """The share of facts that are true, by the year of the row and by that in which it began.

    A point of several years has a line as long as they are.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(8.0, 3.4), facecolor="white", layout="constrained")
    panel = figure.subplots()
    day_text = f"on {audit_summary.as_of}" if audit_summary.as_of else "on the day asked about"
    series = (
        ("by the year of the row", audit_summary.row_years),
        ("by the year in which the fact began", audit_summary.fact_years),
    )
    last_years: list[int] = []
    for colour, (name, years) in zip(COLOURS, series, strict=False):
        points = list(decay_points(years))
        last_years += [year for point in points for year in (point.first, point.last)]
        if points:
            middles = [point.middle for point in points]
            spans = [
                [point.middle - point.first for point in points],
                [point.last - point.middle for point in points],
            ]
            shares = [100 * point.true / point.told for point in points]
            panel.errorbar(middles, shares, xerr=spans, color=colour, marker="o", label=name)
    if last_years:  # a single point would otherwise get an axis of two centuries
        panel.set_xlim(min(last_years) - 1, max(last_years) + 1)
    panel.set_ylim(0, 105)
    panel.set_ylabel(f"% true {day_text}", color=INK)
    panel.grid(axis="y", color=FAINT)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    if panel.get_lines():
        panel.legend(frameon=False, loc="lower left")
    else:
        text = f"fewer than {_FEWEST} facts whose year is known"
        panel.text(0.5, 0.5, text, transform=panel.transAxes, ha="center")
        panel.set_xticks([])
    return figure


def summary_table(audit_summary: Summary, most: int = 15) -> Iterator[str]:
    """The summary as lines of text: verdicts, reasons, and the properties with the most facts."""
    yield f"{audit_summary.facts:,} facts"
    for verdict, count in audit_summary.verdicts.items():
        share = f"{100 * count / audit_summary.facts:5.1f} %"
        yield f"{verdict:<16}{count:>9,}  {share}  {MEANINGS[verdict]}"
    doubts = list(audit_summary.reasons.items())
    for text, count in doubts[:most]:
        yield f"  {text}: {count:,}"
    yield from _stale_lines(audit_summary)
    silent = ", ".join(verdict for verdict in VERDICTS if verdict not in TOLD)
    yield f"told: all but {silent}; true: of these, {' or '.join(TRUE)}"
    for heading, groups in (
        ("property", audit_summary.properties),
        ("row of", audit_summary.row_years),
        ("began in", {} if audit_summary.row_years else audit_summary.fact_years),
    ):
        if groups:
            yield f"{heading:<10}{'facts':>9}{'told':>9}{'true':>9}"
        listed = list(groups.items())
        for name, verdicts in listed[:most] if heading == "property" else listed[-most:]:
            true, told = true_share(verdicts)
            share = f"{100 * true / told:.1f} %" if told else "-"
            yield f"{name:<10}{sum(verdicts.values()):>9,}{told:>9,}{share:>9}"
    if audit_summary.repair is not None:
        counts = audit_summary.repair
        yield (
            f"repaired: {counts['changed']:,} rows changed; left as they are: "
            f"{counts['left_never_stated']:,} never stated, {counts['left_in_doubt']:,} in doubt, "
            f"{counts['left_without_answer']:,} without one answer that surely holds"
        )


def _stale_lines(audit_summary: Summary) -> Iterator[str]:
    """The first stale rows, and where all are."""
    stale_count = sum(audit_summary.verdicts.get(verdict, 0) for verdict in STALE)
    if stale_count:
        more = f", all in {STALE_CSV}" if stale_count > len(audit_summary.stale) else ""
        yield f"stale rows{more}:"
    for stale_row in audit_summary.stale:
        yield f"  {stale_row.text()}"
