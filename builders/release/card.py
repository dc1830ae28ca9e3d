"""`README.md` of a release: the dataset card, with the YAML that the Hugging Face Hub reads.

What of a card only a person can write is in `data_cards/<dataset>/prose.md`; text from data becomes
Markdown that cannot be markup, a link or another table cell.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factdrift.builders.core.dataset import Dataset, Meta
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import read_texts, resource
from factdrift.builders.core.names import licence_page
from factdrift.builders.core.schema import reading
from factdrift.builders.release import tasks
from factdrift.builders.release.manifest import ColumnEntry, ConfigEntry, Manifest

if TYPE_CHECKING:
    import jinja2

FILE = "README.md"
OWN_CARD = "CARD.md"
"""The card of a release whose README.md is its page on the Hub (`builders.release.hub_page`)."""
CHANGES = "CHANGELOG.md"
"""The changes over all versions, which a page has."""
PICTURE = "page/picture.png"
"""The picture at the top of a page, unless it is a plot of the card."""
CFF = "CITATION.cff"
TEMPLATE = resource("data_cards/card.md.j2")
REASONS = resource("data_cards/drop_reasons.yaml")
DROPPED = "dropped.parquet"

# Identifiers of the Hub that are SPDX ids in lower case; any other licence is `other` to it.
_HUB_LICENCES = frozenset(
    (
        *("apache-2.0", "mit", "unlicense", "odbl", "pddl", "gfdl", "cc0-1.0"),
        *("cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"),
        *("cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0"),
    )
)

SECTIONS: Mapping[str, str | None] = {
    "Motivation": None,
    "What it measures": "rai:dataUseCases",
    "How it was made": "rai:dataCollection",
    "Known limits": "rai:dataLimitations",
    "Biases": "rai:dataBiases",
    "Personal information": "rai:personalSensitiveInformation",
    "Social impact": "rai:dataSocialImpact",
    "Maintenance": "rai:dataReleaseMaintenancePlan",
}
"""Headings that every prose file has, and the Croissant RAI property that each one fills."""
# characters that are markup anywhere: `a*b` has one, `a-b` has none; an underscore is markup at
# the edge of a word (`_a`), and not within one (`snake_case`)
_SPECIAL = re.compile(r"[\\`*\[\]#!{}]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
# what HTML reads as markup, and what only some readers of Markdown take a backslash before: MkDocs
# shows it
_ENTITIES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "~": "&#126;", "$": "&#36;"}
)
# names in a sentence: "of `updated` and `new`" has two; a lone backtick is none
_CODE = re.compile(r"`([^`]+)`")
# marks that change the direction of text, with which a name can be made to look like another
_REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f]")
# what begins a list, a heading or a rule: `- a` and `1. a`, but not `a - b` or `10 people`
_BLOCK_START = re.compile(r"^(?:[-+=]|\d(?=\d*[.)](?:\s|$)))")


def save_citation(release_folder: Path, meta: Meta, manifest: Manifest) -> Path:
    """Write `CITATION.cff`, how a release is cited (Citation File Format 1.2.0); its path."""
    import yaml

    citation: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use this dataset, please cite it, and the papers that its card names.",
        "type": "dataset",
        "title": meta.title,
        "version": manifest.version,
        "date-released": meta.published.isoformat(),
        "authors": [{"name": name} for name in meta.creators],
        "abstract": strip_markdown(meta.summary),
        "license": meta.licence if licence_page(meta.licence) else None,
        "keywords": list(meta.tags),
        "url": meta.homepage,
    }
    citation = {name: value for name, value in citation.items() if value}
    citation_path = release_folder / CFF
    citation_text = yaml.safe_dump(citation, sort_keys=False, allow_unicode=True, width=100)
    citation_path.write_text(citation_text, encoding="utf-8")
    return citation_path


def save_card(
    release_folder: Path, meta: Meta, manifest: Manifest, prose: Mapping[str, str], dataset: Dataset
) -> None:
    """Write `README.md`; the data files have to be in the folder, for the example row.

    Whatever comes from data or recipe is escaped; prose and descriptions are ours.
    """
    # `datasets` cannot load a split without rows, so that none is an example
    full_splits = [
        (config, split) for config in manifest.configs for split in config.splits if split.rows
    ]
    card_body = _template().render(
        meta=meta,
        licence_page=licence_page(meta.licence),
        manifest=manifest,
        prose=prose,
        plots=dataset.plots,
        splits=list(
            dict.fromkeys(split.name for config in manifest.configs for split in config.splits)
        ),
        rows={
            config.name: {split.name: split.rows for split in config.splits}
            for config in manifest.configs
        },
        empty=[
            f"{config.name}/{split.name}"
            for config in manifest.configs
            for split in config.splits
            if not split.rows
        ],
        groups=_groups(manifest.configs),
        example=_example(release_folder / full_splits[0][1].file) if full_splits else None,
        asked=tasks.FOLDER in {Path(file_entry.path).parts[0] for file_entry in manifest.files},
        first=(full_splits[0][0].name, full_splits[0][1].name) if full_splits else None,
        known=SECTIONS,
        reasons=drop_reasons() | dict(dataset.reasons),
        dropped=any(drop.rows for drop in manifest.drops),
    )
    card_text = f"---\n{front_matter(meta, manifest)}---\n\n{card_body.strip()}\n"
    (release_folder / FILE).write_text(card_text, encoding="utf-8")


@cache
def _template() -> "jinja2.Template":
    """The card's template, compiled once."""
    import jinja2

    template_environment = jinja2.Environment(  # noqa: S701 - Markdown: `finalize` escapes instead
        loader=jinja2.FileSystemLoader(TEMPLATE.parent),
        undefined=jinja2.StrictUndefined,
        finalize=escape_markdown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    template_environment.filters |= {
        "ours": Markdown,
        "cell": table_cell,
        "code": code_span,
        "sentence": escape_sentence,
        "block": code_block,
        "share": _share,
        "reason_text": reason_text,
    }
    template_environment.globals["link"] = markdown_link
    return template_environment.get_template(TEMPLATE.name)


def drop_reasons() -> dict[str, str]:
    """Return a sentence for each reason for which something is left out.

    Those of filters are not among them: a dataset brings them along (`Dataset.reasons`).
    """
    return read_texts(REASONS)


def reason_text(reason_name: str, sentences: Mapping[str, str]) -> str:
    """What a drop reason says: its sentence, or its name in words, `no page`, where it has none."""
    return sentences.get(reason_name) or reason_name.replace("_", " ")


def front_matter(meta: Meta, manifest: Manifest) -> str:
    """The YAML of the card. Splits without rows are not listed: `datasets` cannot load them."""
    from huggingface_hub import DatasetCardData

    licence_name = meta.licence.lower()
    licence_address = licence_page(meta.licence)
    other_licence: dict[str, Any] = {"license_name": licence_name}
    other_licence |= {"license_link": licence_address} if licence_address else {}
    card_data = DatasetCardData(
        language=["en"],
        license=licence_name if licence_name in _HUB_LICENCES else "other",
        pretty_name=clean_line(meta.title),
        task_categories=list(meta.tasks) or None,
        tags=[clean_line(tag_name) for tag_name in meta.tags] or None,
        configs=hub_configs(manifest) or None,
        **({} if licence_name in _HUB_LICENCES else other_licence),
    )
    return str(card_data.to_yaml()) + "\n"


def hub_configs(manifest: Manifest) -> list[dict[str, Any]]:
    """The `configs` of the card's YAML: every split that has rows, the first config as default.

    After them what was left out.
    """
    listed: list[dict[str, Any]] = []
    for config in manifest.configs:
        data_files = [
            {"split": split.name, "path": split.file} for split in config.splits if split.rows
        ]
        if data_files:
            listed.append({"config_name": config.name, "data_files": data_files})
    if any(drop.rows for drop in manifest.drops):
        data_files = [{"split": "dropped", "path": DROPPED}]
        listed.append({"config_name": "dropped", "data_files": data_files})
    if listed:
        listed[0]["default"] = True
    return listed


def _groups(configs: tuple[ConfigEntry, ...]) -> dict[tuple[ColumnEntry, ...], list[str]]:
    """Columns, and the names of the configs that have them."""
    config_groups: dict[tuple[ColumnEntry, ...], list[str]] = {}
    for config in configs:
        config_groups.setdefault(config.columns, []).append(config.name)
    return config_groups


def _example(data_file: Path) -> str:
    """The first row of a file that has an answer, as JSON, long lists and texts cut short."""
    example_rows = next(reading(data_file).iter_batches(batch_size=100)).to_pylist()
    example_row = next(
        (example_row for example_row in example_rows if example_row.get("targets", True)),
        example_rows[0],
    )
    return json.dumps(_cut(example_row), indent=2, ensure_ascii=False, default=str)


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= 300 else value[:299] + "…"
    if isinstance(value, list):
        return [_cut(inner_value) for inner_value in value[:4]] + (["…"] if len(value) > 4 else [])
    if isinstance(value, dict):
        return {key: _cut(inner_value) for key, inner_value in value.items()}
    return value


def _share(value: Any, column_name: str) -> Any:
    """A float of a column named `share…` as a percentage."""
    if isinstance(value, float) and column_name.startswith("share"):
        return Markdown(f"{100 * value:.1f} %")
    return value


class Markdown(str):
    """Text that is Markdown already: ours, or escaped."""

    __slots__ = ()


def escape_markdown(value: Any) -> Markdown:
    """Any value as inline Markdown on one line: numbers with thousands marked, null as a dash."""
    if isinstance(value, Markdown):
        return value
    if value is None:
        return Markdown("–")
    if isinstance(value, bool):
        return Markdown("yes" if value else "no")
    if isinstance(value, int):
        return Markdown(f"{value:,}")
    if isinstance(value, float):
        return Markdown(f"{value:.4g}")
    return _without_block(_without_markup(clean_line(str(value))))


def escape_sentence(value: Any) -> Markdown:
    """A sentence as inline Markdown on one line, with its names in backticks as code.

    For captions and reasons: they are ours, and may hold text from data, which cannot be more than
    code either.
    """
    if not isinstance(value, str) or isinstance(value, Markdown):
        return escape_markdown(value)
    parts = _CODE.split(clean_line(value))
    for place, part in enumerate(parts):
        is_name = place % 2 == 1
        parts[place] = code_span(part) if is_name else _without_markup(part)
    return _without_block("".join(parts))


def _without_markup(text: str) -> str:
    """A part of a line, in which nothing is markup."""
    escaped_text = _SPECIAL.sub(lambda character_match: "\\" + character_match[0], text)
    return escaped_text.translate(_ENTITIES).replace("://", "&#58;//").replace("@", "&#64;")


def _without_block(line: str) -> Markdown:
    """A line that begins no list, heading or rule."""
    return Markdown(_BLOCK_START.sub(lambda character_match: f"&#{ord(character_match[0])};", line))


def clean_line(text: str) -> str:
    """One line: white space as single spaces; without control and text-reordering characters."""
    visible_text = "".join(
        " " if character.isspace() else character
        for character in text
        if character.isspace() or unicodedata.category(character) != "Cc"
    )
    return " ".join(_REORDERING.sub("", visible_text).split())


def code_span(value: Any) -> Markdown:
    """A code span, for inside a table too."""
    span_text = clean_line(str(value)).replace("|", "\\|")
    code_fence = "`" * (_longest_run(span_text) + 1)
    space_padding = " " if span_text.startswith("`") or span_text.endswith("`") else ""
    return Markdown(
        f"{code_fence}{space_padding}{span_text}{space_padding}{code_fence}" if span_text else ""
    )


def code_block(block_text: str, language: str = "") -> Markdown:
    """A fenced code block whose text cannot end it."""
    code_fence = "`" * max(3, _longest_run(block_text) + 1)
    return Markdown(f"{code_fence}{language}\n{block_text.rstrip()}\n{code_fence}")


def table_cell(our_markdown: str) -> Markdown:
    """Markdown of ours (a description with code spans) as a table cell."""
    return Markdown(clean_line(our_markdown).replace("|", "\\|"))


def markdown_link(link_label: str, link_address: str | None) -> Markdown:
    """A link where the address is a plain web address, else the label alone."""
    if link_address and re.fullmatch(r"https?://[^\s<>\"'`|\\()\[\]]+", link_address):
        return Markdown(f"[{escape_markdown(link_label)}](<{link_address}>)")
    return escape_markdown(link_label)


def _longest_run(text: str) -> int:
    return max((len(backtick_run) for backtick_run in re.findall("`+", text)), default=0)


def read_prose(prose_path: Path) -> dict[str, str]:
    """Heading -> Markdown text of each `## ` section, in the file's order; more are welcome.

    `UserError`: no such file, a section of `SECTIONS` missing, empty or there twice, text before
    the first heading.
    """
    try:
        prose_text = prose_path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        hint_text = "write it with these sections: " + ", ".join(
            f"## {section_name}" for section_name in SECTIONS
        )
        message = "a card needs prose that only a person can write, and there is none"
        raise UserError(message, where=prose_path, hint=hint_text) from error
    section_texts: dict[str, str] = {}
    first_text, *section_parts = re.split(r"^## +(.*?)[ \t#]*$", prose_text, flags=re.MULTILINE)
    if first_text.strip():
        raise UserError("text before the first `## ` heading", where=prose_path, line=1)
    for section_name, section_text in zip(section_parts[::2], section_parts[1::2], strict=True):
        if section_name in section_texts:
            raise UserError(f"two sections named {section_name!r}", where=prose_path)
        section_texts[section_name] = section_text.strip()
    lacking_sections = [
        f"## {section_name}" for section_name in SECTIONS if not section_texts.get(section_name)
    ]
    if lacking_sections:
        raise UserError(
            f"sections missing or empty: {', '.join(lacking_sections)}", where=prose_path
        )
    return section_texts


def strip_markdown(markdown: str) -> str:
    """Markdown as plain paragraphs, for JSON: no emphasis, no code marks, links as their text."""
    plain_text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    plain_text = re.sub(r"[`*]", "", plain_text)
    text_blocks = re.split(r"\n\s*\n|\n(?=- )", plain_text)
    return "\n".join(
        " ".join(text_block.split()) for text_block in text_blocks if text_block.strip()
    )
