"""Explain a row of a release, or what was left out: everything behind it as one object."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb

from factdrift.builders.core import duck
from factdrift.builders.core.config import display_path
from factdrift.builders.core.corrections import DROP_STEP
from factdrift.builders.facts.relations import TEMPLATES
from factdrift.builders.release import manifest
from factdrift.builders.release.card import DROPPED
from factdrift.builders.release.continuity import KEPT
from factdrift.builders.release.manifest import Manifest, templates_of
from factdrift.builders.release.why.agreement import RowCheck
from factdrift.builders.release.why.checks import file_check, row_checks
from factdrift.builders.release.why.claims import (
    ClaimedItem,
    Claims,
    claims_of,
    labels_of,
    period_times,
)
from factdrift.builders.release.why.graded import passage_checks
from factdrift.builders.release.why.histories import (
    AskedTime,
    FactHistory,
    FactPair,
    HistoryReader,
    item_address,
)
from factdrift.builders.release.why.lookup import (
    ReleasedRow,
    Values,
    detail_items,
    drops_of_comparison,
    drops_of_pair,
    find_drops,
    find_earlier_row,
    find_row,
    matching_rows,
    nothing_found,
    similar_ids,
)
from factdrift.builders.release.why.rules import filter_sentence, reason_sentence, rule_sentences
from factdrift.builders.release.why.tables import build_tables
from factdrift.builders.release.why.texts import ShownText, TextReader, original_id

_PAIRS_SHOWN = 12
"""Histories of a row: questions over several facts have up to six."""


@dataclass(frozen=True)
class WhySources:
    """Where the pieces are: the build folder, mined folders and news archives that are named."""

    build: Path = Path("build")
    templates: Path = TEMPLATES
    mined: Sequence[str] = ()
    news: Sequence[str] = ()


@dataclass(frozen=True)
class LeftOut:
    """Something that was left out, and why, in words."""

    step: str
    reason: str
    sentence: str
    item: str
    period: str | None
    score: float | None
    detail: str | None
    detail_labels: Mapping[str, str]
    """The labels of the items that the detail names."""


@dataclass(frozen=True)
class FilterPass:
    """A filter that a row passed, and what it looks for."""

    filter: str
    looks_for: str


@dataclass(frozen=True)
class CitedCorrection:
    """A correction of the row, or of a statement behind it."""

    id: str
    about: str
    wrong: str
    source: str
    by: str
    done: str


@dataclass(frozen=True)
class Explanation:
    """What stands behind a row, or behind what was left out; parts that do not apply are empty."""

    id: str
    release: str
    place: str
    """`updated/2021Q3`, or `dropped`; of a row that is gone, where the version before had it."""
    other_places: tuple[str, ...]
    row: Values
    prompt: str
    targets: tuple[str, ...]
    items: tuple[ClaimedItem, ...]
    asked_time: AskedTime | None
    time_before: AskedTime | None
    left_out: tuple[LeftOut, ...]
    left_out_in_all: int
    checks: tuple[RowCheck, ...]
    histories: tuple[FactHistory, ...]
    statements: tuple[str, ...]
    texts: tuple[ShownText, ...]
    filters: tuple[FilterPass, ...]
    left_out_beside: tuple[tuple[str, str, int], ...]
    """Step, reason and number of what was left out of the same subject and relation."""
    missing: tuple[str, ...]
    """What could not be shown, and what to do."""
    columns: dict[str, str] = field(default_factory=dict)
    """What each column of the row is, as the card says it."""
    corrections: tuple[CitedCorrection, ...] = ()
    gone_since: str = ""
    """The version that had the row, if this one has it no more."""
    kept_from: str = ""
    """The version that the row is kept from, if the dump of this one is not sure of it."""
    kept_reason: str = ""
    """Why the dump alone would leave the row out, in a sentence."""


def explain(
    row_id: str, release_folder: Path, sources: WhySources, config_name: str | None = None
) -> Explanation:
    """Return what stands behind a row, or behind what was left out under this id.

    `UserError`: no release, no such config, nothing has this id.
    """
    release_manifest = manifest.load_manifest(release_folder)
    row_id = original_id(row_id)
    with duck.connect() as db:
        explainer = _Explainer(db, release_folder, release_manifest, sources)
        row = find_row(db, release_folder, release_manifest, row_id, config_name)
        dropped_rows, dropped_count = find_drops(db, release_folder, row_id)
        if row is not None:
            return explainer.of_row(row_id, row, dropped_rows, dropped_count)
        if dropped_rows:
            return explainer.of_drops(row_id, dropped_rows, dropped_count)
        earlier = find_earlier_row(db, release_folder, release_manifest, row_id, config_name)
        if earlier is not None:
            return explainer.of_gone(row_id, *earlier)
        near_ids = similar_ids(db, release_folder, release_manifest, row_id)
        raise nothing_found(row_id, release_folder, near_ids)


class _Explainer:
    """Gathers what is known of one row from the release and the build."""

    def __init__(
        self,
        db: duckdb.DuckDBPyConnection,
        release_folder: Path,
        release_manifest: Manifest,
        sources: WhySources,
    ) -> None:
        self._db, self._folder, self._manifest = db, release_folder, release_manifest
        self._templates = templates_of(release_folder, sources.templates)
        self._build = build_tables(sources.build, release_folder, release_manifest, sources.mined)
        self._reader = HistoryReader(db, release_folder, release_manifest, self._build)
        self._texts = TextReader(db, release_folder, release_manifest, self._build, sources.news)

    def of_row(
        self, row_id: str, row: ReleasedRow, dropped_rows: Sequence[Values], dropped_count: int
    ) -> Explanation:
        """Explain a row that the release has, and say what was left out under the same id."""
        explanation = self._of_row(row_id, row, dropped_rows, dropped_count)
        checks = (file_check(self._folder, self._manifest, row.split.file), *explanation.checks)
        since = self._manifest.since
        kept_file = self._folder / KEPT
        if since is None or not since.kept or not kept_file.is_file():
            return replace(explanation, checks=checks)
        kept_rows = matching_rows(self._db, kept_file, "id = ?", [row_id], 1)
        return replace(
            explanation,
            checks=checks,
            kept_from=since.version if kept_rows else "",
            kept_reason=reason_sentence("", kept_rows[0]["reason"]) if kept_rows else "",
        )

    def of_gone(self, row_id: str, earlier_manifest: Manifest, row: ReleasedRow) -> Explanation:
        """Explain a row that a version before had, by what was left out of its fact in this one."""
        pair = claims_of(row, earlier_manifest).pair
        dropped_rows: Sequence[Values] = []
        dropped_count = 0
        if pair is not None:
            period = row.values.get("period")
            dropped_rows, dropped_count = drops_of_comparison(
                self._db, self._folder, *pair, period if isinstance(period, str) else None
            )
        explanation = self._of_row(row_id, row, dropped_rows, dropped_count)
        return replace(
            explanation,
            checks=(),
            left_out_beside=(),
            gone_since=earlier_manifest.version,
        )

    def _of_row(
        self, row_id: str, row: ReleasedRow, dropped_rows: Sequence[Values], dropped_count: int
    ) -> Explanation:
        claims = claims_of(row, self._manifest)
        self._reader.row_labels = labels_of(row.values)
        dump_count = 2 if claims.asked_time is None else 1
        histories = self._histories(self._pairs(row, claims), claims.asked_time, dump_count)
        texts = self._texts.texts(row.values)
        mended_ids = {cited.statement for cited in self._manifest.corrections if cited.mend}
        graded = passage_checks(self._db, self._folder, self._manifest, row, claims, histories)
        checks = row_checks(
            *(row, claims, histories, texts, self._reader, self._manifest),
            mended_ids=frozenset(filter(None, mended_ids)),
        )
        pair = claims.pair
        beside = drops_of_pair(self._db, self._folder, *pair) if pair else []
        return Explanation(
            id=row_id,
            release=f"{self._manifest.dataset} {self._manifest.version}",
            place=row.place,
            other_places=row.other_places,
            row=row.values,
            prompt=claims.prompt,
            targets=claims.targets,
            items=tuple(self._named(claims.items)),
            asked_time=claims.asked_time,
            time_before=claims.time_before,
            left_out=tuple(map(self._left_out, dropped_rows)),
            left_out_in_all=dropped_count,
            checks=(*checks, *graded),
            histories=tuple(histories),
            statements=claims.statements,
            texts=tuple(texts),
            filters=tuple(
                FilterPass(name, filter_sentence(name)) for name in _names(row.values, "filters")
            ),
            left_out_beside=tuple(beside),
            missing=tuple(self._missing(histories, claims.statements)),
            columns={column.name: column.description for column in row.config.columns},
            corrections=self._corrections(row_id, dropped_rows, histories),
        )

    def of_drops(
        self, item: str, dropped_rows: Sequence[Values], dropped_count: int
    ) -> Explanation:
        """Explain what was left out."""
        first = dropped_rows[0]
        times = period_times(first["period"], self._manifest.parameters.get("at") == "end")
        pairs = [
            FactPair(row["subject"], row["relation"])
            for row in dropped_rows
            if row["subject"] and row["relation"]
        ]
        histories = self._histories(list(dict.fromkeys(pairs)), times[0] if times else None, 2)
        texts = self._texts_of_drop(first["item"])
        statement_ids = [row["item"] for row in dropped_rows if "$" in row["item"]]
        seen_ids = [item_id for row in dropped_rows for item_id in detail_items(row["detail"])]
        seen_items = [
            ClaimedItem(item_id, label, "seen")
            for item_id in dict.fromkeys(seen_ids)
            if (label := self._reader.label(item_id))
        ]
        return Explanation(
            id=item,
            release=f"{self._manifest.dataset} {self._manifest.version}",
            place="dropped",
            other_places=(),
            row=first,
            prompt="",
            targets=(),
            items=tuple(seen_items),
            asked_time=times[0] if times else None,
            time_before=times[1] if times else None,
            left_out=tuple(map(self._left_out, dropped_rows)),
            left_out_in_all=dropped_count,
            checks=(file_check(self._folder, self._manifest, DROPPED),),
            histories=tuple(histories),
            statements=tuple(statement_ids),
            texts=tuple(texts),
            filters=(),
            left_out_beside=(),
            missing=tuple(self._missing(histories, statement_ids)),
            corrections=self._corrections(item, dropped_rows, histories),
        )

    def _corrections(
        self,
        item: str,
        dropped_rows: Sequence[Values],
        histories: Sequence[FactHistory],
    ) -> tuple[CitedCorrection, ...]:
        """The corrections of a row, or of statements of its facts."""
        named_ids: Collection[str] = {
            item,
            *(
                statement_id
                for history in histories
                for statement_id in (
                    *(statement.statement for statement in history.statements),
                    *(name for term in history.terms for name in term.statements),
                )
            ),
        }
        entry_ids = {row["detail"] for row in dropped_rows if row["step"] == DROP_STEP}
        named_corrections = [
            cited
            for cited in self._manifest.corrections
            if cited.id in entry_ids or cited.about in named_ids
        ]
        # its own before those of its facts
        named_corrections.sort(key=lambda cited: (cited.about != item, cited.id))
        return tuple(
            CitedCorrection(cited.id, cited.about, cited.wrong, cited.source, cited.by, cited.done)
            for cited in named_corrections
        )

    def _left_out(self, dropped_row: Values) -> LeftOut:
        """Say why something was left out."""
        copied_columns = ("step", "reason", "item", "period", "score", "detail")
        return LeftOut(
            **{name: dropped_row[name] for name in copied_columns},
            sentence=reason_sentence(dropped_row["step"], dropped_row["reason"]),
            detail_labels={
                item_id: label
                for item_id in detail_items(dropped_row["detail"])
                if (label := self._reader.label(item_id))
            },
        )

    def _pairs(self, row: ReleasedRow, claims: Claims) -> list[FactPair]:
        """The subjects and relations behind a row, that of its own columns first."""
        pairs = self._reader.pairs_of(claims.statements) if claims.statements else []
        own_pair = claims.pair
        # the last hop's relation and the first hop's subject are no pair of the dump
        if own_pair and (own_pair in pairs or not pairs):
            pairs = list(dict.fromkeys([own_pair, *pairs]))
        return pairs[:_PAIRS_SHOWN]

    def _histories(
        self, pairs: Sequence[FactPair], asked_time: AskedTime | None, dump_count: int
    ) -> list[FactHistory]:
        histories = []
        for pair in pairs:
            rules = rule_sentences(pair.relation, self._templates, self._manifest)
            histories.append(self._reader.history(pair, asked_time, rules, dump_count))
        return histories

    def _named(self, items: Sequence[ClaimedItem]) -> list[ClaimedItem]:
        """The items of a row, those without a label with that of the dump."""
        return [
            ClaimedItem(
                claimed_item.item,
                claimed_item.label or self._reader.label(claimed_item.item),
                claimed_item.part,
            )
            for claimed_item in items
        ]

    def _texts_of_drop(self, item: str) -> list[ShownText]:
        """The article of a draw or row that was left out, where a table of the build names it."""
        for article_column in ("article", "evidence_id"):
            for path in self._build.tables_with(["id", article_column]):
                matches = matching_rows(self._db, path, "id = ?", [item], 1)
                if matches:
                    return self._texts.article(matches[0][article_column])
        return []

    def _missing(self, histories: Sequence[FactHistory], statement_ids: Sequence[str]) -> list[str]:
        """What could not be shown, and what to do."""
        missing = list(self._texts.missing)
        has_facts = bool(histories or statement_ids)
        dumps = [entry.file for entry in self._manifest.inputs if entry.name == "dump"]
        dump_name = dumps[0] if dumps else "the dump"
        if has_facts and not self._reader.has_statements:
            missing.append(
                f"ranks, gaps and lives: {self._build.root} has no mined tables of {dump_name}; "
                f"make the release again (--build), or mine it: factdrift mine {dump_name} "
                "--out mined, then --dump mined"
            )
        if statement_ids and not histories:
            missing.append(f"the dates of the statements; their items: {_addresses(statement_ids)}")
        elif any(not history.terms for history in histories) and not self._build.is_of_release:
            release, build = display_path(self._folder), display_path(self._build.root)
            missing.append(
                f"the terms as they were made: the release has no timelines of this, and {build} "
                "lacks steps of this release (--build names another folder); to make them again: "
                f"factdrift rebuild {release} --build {build}"
            )
        return missing


def _addresses(statement_ids: Sequence[str]) -> str:
    """The addresses of the items whose statements these are; ids of items that have none."""
    items = dict.fromkeys(name.partition("$")[0].upper() for name in statement_ids if "$" in name)
    return ", ".join(item_address(item) or item for item in items)


def _names(row_values: Values, column: str) -> list[Any]:
    """A column that is a list of names; none where it is something else."""
    column_value = row_values.get(column)
    return column_value if isinstance(column_value, list) else []
