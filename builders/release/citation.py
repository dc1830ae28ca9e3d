"""Who made a release and how it is cited: `CITATION.cff`."""

from pathlib import Path
from typing import Any

import yaml

from factdrift.builders.core.dataset import Meta
from factdrift.builders.core.names import licence_page
from factdrift.builders.release.card import plain
from factdrift.builders.release.manifest import Manifest

CFF = "CITATION.cff"


def save(folder: Path, meta: Meta, manifest: Manifest) -> Path:
    """Write the file into the folder of a release; its path."""
    path = folder / CFF
    text = yaml.safe_dump(_cff(meta, manifest), sort_keys=False, allow_unicode=True, width=100)
    path.write_text(text, encoding="utf-8")
    return path


def _cff(meta: Meta, manifest: Manifest) -> dict[str, Any]:
    """The Citation File Format, version 1.2.0."""
    found: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use this dataset, please cite it, and the papers that its card names.",
        "type": "dataset",
        "title": meta.title,
        "version": manifest.version,
        "date-released": meta.published.isoformat(),
        "authors": [{"name": name} for name in meta.creators],
        "abstract": plain(meta.summary),
        "license": meta.licence if licence_page(meta.licence) else None,
        "keywords": list(meta.tags),
        "url": meta.homepage,
    }
    return {name: value for name, value in found.items() if value}
