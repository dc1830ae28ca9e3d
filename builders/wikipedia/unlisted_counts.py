"""The templates that no list names, counted over pages: for the table, the card and the drops."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from factdrift.builders.rows import Dropped, UnlistedTemplate
from factdrift.builders.wikipedia.templates import TemplateUses, UnlistedTemplates


class TemplateCount(NamedTuple):
    """The uses of a template over many pages."""

    uses: TemplateUses = TemplateUses()
    pages: int = 0


TemplateCounts = dict[str, TemplateCount]
"""By the name of the template."""
MOST_NAMES = 100_000
"""Names that are counted one by one, in some 20 MB; the rest is counted as one."""
OTHERS = "(others)"
"""Stands for the names beyond `MOST_NAMES`."""


def add_page(counts: TemplateCounts, unlisted: UnlistedTemplates) -> None:
    """Add the templates of a page to the counts of many."""
    for name, uses in unlisted.items():
        _add(counts, name, TemplateCount(uses, 1))


def total_counts(parts: Iterable[Mapping[str, TemplateCount]]) -> TemplateCounts:
    """The sum of the counts of several parts."""
    counts: TemplateCounts = {}
    for part in parts:
        for name, count in part.items():
            _add(counts, name, count)
    return counts


def _add(counts: TemplateCounts, name: str, added: TemplateCount) -> None:
    if name not in counts and len(counts) >= MOST_NAMES:
        name = OTHERS
    count = counts.get(name, TemplateCount())
    counts[name] = TemplateCount(count.uses.plus(added.uses), count.pages + added.pages)


def template_rows(counts: TemplateCounts) -> list[UnlistedTemplate]:
    """The rows of `templates.parquet`: those that most often leave a hole stand first."""
    rows = [UnlistedTemplate(name, *count.uses, count.pages) for name, count in counts.items()]
    rows.sort(key=lambda row: (-row.texts_missing, -row.uses, row.template))
    return rows


def unknown_templates(templates: Iterable[UnlistedTemplate]) -> Iterator[Dropped]:
    """A dropped row for each template, which says how often what became of it."""
    for row in templates:
        beside = row.uses - row.texts_shown - row.texts_missing
        detail = (
            f"uses {row.uses:,}, in pages {row.pages:,}: text shown {row.texts_shown:,}, "
            f"nothing shown in the text {row.texts_missing:,}, beside the text {beside:,}"
        )
        name = f"Template:{row.template}"
        yield Dropped("pages", "unknown_template", name, None, None, None, None, detail)
