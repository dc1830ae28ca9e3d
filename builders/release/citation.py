"""Who made a release and how it is cited: `CITATION.cff`, and `.zenodo.json` for a DOI."""

import json
from pathlib import Path
from typing import Any

import yaml

from factdrift.builders.core.dataset import Meta
from factdrift.builders.core.names import licence_page
from factdrift.builders.release.card import plain
from factdrift.builders.release.manifest import Manifest

CFF = "CITATION.cff"
ZENODO = ".zenodo.json"


def save(folder: Path, meta: Meta, manifest: Manifest) -> list[Path]:
    """Write both files into the folder of a release; their paths."""
    cff, zenodo = folder / CFF, folder / ZENODO
    text = yaml.safe_dump(_cff(meta, manifest), sort_keys=False, allow_unicode=True, width=100)
    cff.write_text(text, encoding="utf-8")
    text = json.dumps(_zenodo(meta, manifest), indent=2, ensure_ascii=False)
    zenodo.write_text(text + "\n", encoding="utf-8")
    return [cff, zenodo]


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


def _zenodo(meta: Meta, manifest: Manifest) -> dict[str, Any]:
    """The metadata that Zenodo deposits with a release, and DataCite makes a DOI's record of."""
    related = [
        {"identifier": page, "relation": "isDerivedFrom", "resource_type": "dataset"}
        for page in dict.fromkeys(one.homepage for one in manifest.inputs if one.homepage)
    ]
    found: dict[str, Any] = {
        "upload_type": "dataset",
        "title": f"{meta.title} {manifest.version}",
        "version": manifest.version,
        "publication_date": meta.published.isoformat(),
        "creators": [{"name": name} for name in meta.creators],
        "description": plain(meta.summary),
        "access_right": "open",
        "license": meta.licence.lower() if licence_page(meta.licence) else None,
        "keywords": list(meta.tags),
        "language": "eng",
        "related_identifiers": related,
        "references": [" ".join(entry.split()) for entry in meta.citations],
        "notes": f"Made again by: {manifest.rebuild}",
    }
    return {name: value for name, value in found.items() if value}
