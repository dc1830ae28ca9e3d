"""`README.md` of a release: the dataset card, with the YAML that the Hugging Face Hub reads."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.dataset import Meta, Plot
from builders.files import ROOT
from builders.release import markdown
from builders.release.manifest import ColumnEntry, ConfigEntry, Manifest
from builders.release.markdown import Markdown
from builders.release.prose import SECTIONS
from builders.schema import reading

FILE = "README.md"
TEMPLATE = ROOT / "data_cards" / "card.md.j2"
DROPPED = "dropped.parquet"

# Identifiers of the Hub that are SPDX ids in lower case; any other licence is `other` to it.
_HUB_LICENCES = frozenset(
    (
        *("apache-2.0", "mit", "unlicense", "odbl", "pddl", "gfdl", "cc0-1.0"),
        *("cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"),
        *("cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0"),
    )
)
_SIZES = ((10**3, "1K"), (10**4, "10K"), (10**5, "100K"), (10**6, "1M"), (10**7, "10M"))


@dataclass(frozen=True)
class _Columns:
    """Configs that share their columns, and the columns."""

    configs: list[str]
    columns: tuple[ColumnEntry, ...]


def save(
    folder: Path, meta: Meta, manifest: Manifest, prose: Mapping[str, str], plots: tuple[Plot, ...]
) -> None:
    """Write `README.md`; the data files have to be in the folder, for the example row."""
    text = render(folder, meta, manifest, prose, plots)
    (folder / FILE).write_text(text, encoding="utf-8")


def render(
    folder: Path, meta: Meta, manifest: Manifest, prose: Mapping[str, str], plots: tuple[Plot, ...]
) -> str:
    """The card. Whatever comes from data or recipe is escaped; prose and descriptions are ours."""
    import jinja2

    environment = jinja2.Environment(  # noqa: S701 - Markdown: `finalize` escapes instead
        loader=jinja2.FileSystemLoader(TEMPLATE.parent),
        undefined=jinja2.StrictUndefined,
        finalize=markdown.escape,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "ours": Markdown,
        "cell": markdown.cell,
        "code": markdown.code,
        "block": markdown.block,
        "share": _share,
    }
    environment.globals["link"] = markdown.link
    full = [(c, s) for c in manifest.configs for s in c.splits if s.rows]
    body = environment.get_template(TEMPLATE.name).render(
        meta=meta,
        manifest=manifest,
        prose=prose,
        plots=plots,
        splits=list(dict.fromkeys(s.name for c in manifest.configs for s in c.splits)),
        rows={c.name: {s.name: s.rows for s in c.splits} for c in manifest.configs},
        empty=[f"{c.name}/{s.name}" for c in manifest.configs for s in c.splits if not s.rows],
        groups=_groups(manifest.configs),
        example=_example(folder / full[0][1].file) if full else None,
        first=(full[0][0].name, full[0][1].name) if full else None,
        load=_load(full[0][0].name, full[0][1].name) if full else None,
        known=SECTIONS,
        dropped=any(drop.rows for drop in manifest.drops),
    )
    return f"---\n{front_matter(meta, manifest)}---\n\n{body.strip()}\n"


def front_matter(meta: Meta, manifest: Manifest) -> str:
    """The YAML of the card. Splits without rows are not listed: `datasets` cannot load them."""
    from huggingface_hub import DatasetCardData

    total = sum(split.rows for config in manifest.configs for split in config.splits)
    licence = meta.licence.lower()
    other: dict[str, Any] = {
        "license_name": licence,
        "license_link": f"https://spdx.org/licenses/{meta.licence}.html",
    }
    data = DatasetCardData(
        language=list(meta.languages),
        license=licence if licence in _HUB_LICENCES else "other",
        pretty_name=markdown.flat(meta.title),
        task_categories=list(meta.tasks) or None,
        tags=[markdown.flat(tag) for tag in meta.tags] or None,
        size_categories=[size_category(total)],
        configs=hub_configs(manifest) or None,
        **({} if licence in _HUB_LICENCES else other),
    )
    return str(data.to_yaml()) + "\n"


def hub_configs(manifest: Manifest) -> list[dict[str, Any]]:
    """The `configs` of the card's YAML: every split that has rows, the first config as default."""
    listed: list[dict[str, Any]] = []
    for config in manifest.configs:
        files = [{"split": split.name, "path": split.file} for split in config.splits if split.rows]
        if files:
            listed.append({"config_name": config.name, "data_files": files})
    if any(drop.rows for drop in manifest.drops):
        files = [{"split": "dropped", "path": DROPPED}]
        listed.append({"config_name": "dropped", "data_files": files})
    if listed:
        listed[0]["default"] = True
    return listed


def size_category(rows: int) -> str:
    """The Hub's size class: `n<1K`, `1K<n<10K`, …, `n>10M` and beyond as one class up."""
    below = "n"
    for limit, word in _SIZES:
        if rows < limit:
            return f"n<{word}" if below == "n" else f"{below}<n<{word}"
        below = word
    return "10M<n<100M" if rows < 10**8 else "100M<n<1B"


def _groups(configs: tuple[ConfigEntry, ...]) -> list[_Columns]:
    groups: list[_Columns] = []
    for config in configs:
        known = next((group for group in groups if group.columns == config.columns), None)
        if known:
            known.configs.append(config.name)
        else:
            groups.append(_Columns([config.name], config.columns))
    return groups


def _example(path: Path) -> str:
    """The first row of a file as JSON, long lists and texts cut short."""
    batch = next(reading(path).iter_batches(batch_size=1))
    return json.dumps(_cut(batch.to_pylist()[0]), indent=2, ensure_ascii=False, default=str)


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= 300 else value[:299] + "…"
    if isinstance(value, list):
        return [_cut(v) for v in value[:4]] + (["…"] if len(value) > 4 else [])
    if isinstance(value, dict):
        return {key: _cut(v) for key, v in value.items()}
    return value


def _load(config: str, split: str) -> str:
    return (
        "from datasets import load_dataset\n\n"
        f'rows = load_dataset("path/to/this/folder", "{config}", split="{split}")'
    )


def _share(value: Any, column: str) -> Any:
    """A float of a column named `share…` as a percentage."""
    if isinstance(value, float) and column.startswith("share"):
        return Markdown(f"{100 * value:.1f} %")
    return value
