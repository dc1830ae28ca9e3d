"""`croissant.json`: a release described as Croissant 1.1 with the responsible-AI vocabulary."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from factdrift.builders.core.dataset import Dataset, Meta
from factdrift.builders.core.files import resource
from factdrift.builders.core.names import licence_page
from factdrift.builders.core.schema import columns
from factdrift.builders.release.card import SECTIONS, strip_markdown
from factdrift.builders.release.manifest import ConfigEntry, Manifest, write_json

FILE = "croissant.json"
_PARQUET = "application/x-parquet"

_CONTEXT: Mapping[str, Any] = json.loads(
    resource("data_cards/croissant_context.json").read_text("utf-8")
)
"""The context that the specification asks for; `cr:` terms that mlcroissant expects as they are."""
_TYPES = {
    pa.string(): "sc:Text",
    pa.int64(): "cr:Int64",
    pa.float64(): "cr:Float64",
    pa.bool_(): "sc:Boolean",
    pa.date32(): "sc:Date",
}


def save_croissant(
    folder: Path, dataset: Dataset, meta: Meta, manifest: Manifest, prose: Mapping[str, str]
) -> None:
    """Write `croissant.json`; every data file is there with its sha256 and a relative URL.

    One `FileObject` a data file, one `FileSet` and one `RecordSet` a config; the split of a
    record is read from its file's name and refers to the record set of split names.
    """
    rows = {table.name: table.row for table in dataset.tables}
    full = [config for config in manifest.configs if any(split.rows for split in config.splits)]
    record_sets = [_splits(config) for config in full]
    record_sets += [_records(config, rows[config.name]) for config in full]
    document = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [
            "http://mlcommons.org/croissant/1.1",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "name": meta.dataset,
        "alternateName": meta.title,
        "description": strip_markdown(meta.summary),
        "version": manifest.version,
        "datePublished": meta.published.isoformat(),
        "license": licence_page(meta.licence) or meta.licence,
        "inLanguage": ["en"],
        "keywords": list(meta.tags),
        "creator": [{"@type": "sc:Organization", "name": name} for name in meta.creators],
        "url": meta.homepage or _input_homepage(manifest),
        "citeAs": "\n".join(meta.citations),
        "rai:dataCollectionType": ["Software Collection"],
        # a program or a model wrote questions: not where rows only state what inputs do
        "rai:hasSyntheticData": bool(meta.tasks),
        "rai:dataPreprocessingProtocol": [
            f"Made by {meta.builder} of factdrift {meta.code_version} from recipe.yaml: "
            f"{meta.rebuild}"
        ],
        **_provenance(meta, manifest),
        **{term: strip_markdown(prose[name]) for name, term in SECTIONS.items() if term},
        **_made_from(manifest),
        "distribution": [*_file_objects(manifest), *map(_file_set, full)],
        "recordSet": record_sets,
    }
    stated = {key: value for key, value in document.items() if value not in (None, "", [], {})}
    write_json(folder / FILE, stated)


def _input_homepage(manifest: Manifest) -> str | None:
    """The address of the first input that has one."""
    return next((entry.homepage for entry in manifest.inputs if entry.homepage), None)


def _file_objects(manifest: Manifest) -> Iterator[dict[str, Any]]:
    """A node for each data file of the release."""
    data_files = {split.file for config in manifest.configs for split in config.splits}
    for entry in manifest.files:
        if entry.path in data_files or entry.path == "dropped.parquet":
            yield _node(
                "FileObject",
                entry.path,
                contentUrl=entry.path,
                contentSize=f"{entry.bytes} B",
                encodingFormat=_PARQUET,
                sha256=entry.sha256,
            )


def _file_set(config: ConfigEntry) -> dict[str, Any]:
    """The node of all files of a config."""
    return _node(
        "FileSet",
        f"files/{config.name}",
        f"{config.name} files",
        description=f"The files of {config.name}, one a split.",
        encodingFormat=_PARQUET,
        includes=f"data/{config.name}/*.parquet",
    )


def _provenance(meta: Meta, manifest: Manifest) -> dict[str, Any]:
    """W3C PROV: the inputs that the release is derived from, and the run that generated it."""
    sources = [
        {
            "@type": "prov:Entity",
            "@id": f"urn:sha256:{entry.sha256}",
            "prov:label": f"{entry.file}, sha256 {entry.sha256}"
            + (f", snapshot of {entry.snapshot}" if entry.snapshot else ""),
            **({"prov:atLocation": entry.homepage} if entry.homepage else {}),
        }
        for entry in manifest.inputs
    ]
    run = {
        "@type": "prov:Activity",
        "prov:label": manifest.rebuild,
        "prov:wasAssociatedWith": {
            "@type": "prov:SoftwareAgent",
            "prov:label": f"factdrift {meta.code_version}",
        },
    }
    return {"prov:wasDerivedFrom": sources, "prov:wasGeneratedBy": run}


def hub_document(document: Mapping[str, Any], repo: str, endpoint: str) -> dict[str, Any]:
    """The description of a release that lies on the Hub: it loads from wherever it is read.

    The files of a config are read from a clone of the repository, as in the Hub's own documents.
    """
    address = f"{endpoint}/datasets/{repo}"
    clone = _node(
        "FileObject",
        "repository",
        description="The repository on the Hub.",
        contentUrl=address,
        encodingFormat="git+https",
        # what mlcroissant's documentation writes for a repository, which has no checksum
        sha256="https://github.com/mlcommons/croissant/issues/80",
    )
    placed = []
    for part in document["distribution"]:
        if part["@type"] == "cr:FileSet":
            placed.append({**part, "containedIn": {"@id": "repository"}})
        else:
            url = f"{address}/resolve/{document['version']}/{part['contentUrl']}"
            placed.append({**part, "contentUrl": url})
    return {**document, "url": address, "distribution": [clone, *placed]}


def _made_from(manifest: Manifest) -> dict[str, Any]:
    """What the manifest knows of the raw data: its files, its days, what was left out."""
    raw = [
        f"{entry.name}: {entry.file}, sha256 {entry.sha256}, licence {entry.licence}"
        + (f", snapshot of {entry.snapshot}" if entry.snapshot else "")
        for entry in manifest.inputs
    ]
    days = sorted(entry.snapshot.isoformat() for entry in manifest.inputs if entry.snapshot)
    drops = [f"{drop.step}: {drop.reason}: {drop.rows}" for drop in manifest.drops]
    return {
        "rai:dataCollectionRawData": "\n".join(raw),
        "rai:dataCollectionTimeFrame": list(dict.fromkeys([*days[:1], *days[-1:]])),
        "rai:dataCollectionMissingData": "Left out, by step, reason and count:\n" + "\n".join(drops)
        if drops
        else "",
    }


def _splits(config: ConfigEntry) -> dict[str, Any]:
    """The names of a config's splits, as a record set of its own."""
    name = f"splits/{config.name}"
    return _node(
        "RecordSet",
        name,
        f"splits of {config.name}",
        description=f"Names of the splits of {config.name}, with their numbers of rows.",
        dataType="cr:Split",
        key={"@id": f"{name}/name"},
        field=[
            _node("Field", f"{name}/{field}", field, description=description, dataType=kind)
            for field, description, kind in (
                ("name", "name of the split", "sc:Text"),
                ("rows", "number of its rows", "cr:Int64"),
            )
        ],
        data=[{f"{name}/name": split.name, f"{name}/rows": split.rows} for split in config.splits],
    )


def _records(config: ConfigEntry, row: type) -> dict[str, Any]:
    """The rows of a config, all splits together."""
    files = {"@id": f"files/{config.name}"}
    split = _node(
        "Field",
        f"{config.name}/__split",
        "__split",
        description="split that holds the row, from the name of its file",
        dataType="sc:Text",
        references={"field": {"@id": f"splits/{config.name}/name"}},
        source={
            "fileSet": files,
            "extract": {"fileProperty": "filename"},
            "transform": {"regex": r"^([\w.]+?)(?:\.parquet)?$"},
        },
    )
    fields = [
        _field(config.name, column.name, column.type, column.description, files, column.name)
        for column in columns(row)
    ]
    description = strip_markdown(config.description)
    record_fields = _node("RecordSet", config.name, description=description, field=[split, *fields])
    if any(column.name == "id" for column in config.columns):
        record_fields["key"] = {"@id": f"{config.name}/id"}
    return record_fields


def _node(kind: str, node_id: str, name: str = "", **more: Any) -> dict[str, Any]:
    return {"@type": f"cr:{kind}", "@id": node_id, "name": name or node_id, **more}


def _field(
    parent: str,
    name: str,
    kind: pa.DataType,
    description: str,
    files: dict[str, str],
    column: str,
    inside: str = "",
) -> dict[str, Any]:
    """A column, or at a JSON path `inside` one a part of it; lists and structs go down.

    A list of structs inside a struct is only named: mlcroissant 1.1 cannot read its parts.
    """
    field = _node("Field", f"{parent}/{name}", name)
    if description:
        field["description"] = strip_markdown(description)
    if pa.types.is_list(kind):
        field |= {"isArray": True, "arrayShape": "-1"}
        kind = kind.value_type
    if pa.types.is_struct(kind):
        deep = [inner_field.name for inner_field in kind if _is_list_of_structs(inner_field.type)]
        field["subField"] = [
            _field(
                field["@id"],
                inner_field.name,
                inner_field.type,
                "",
                files,
                column,
                f"{inside}.{inner_field.name}",
            )
            for inner_field in kind
            if inner_field.name not in deep
        ]
        if deep:
            also = f"the Parquet files also have their {', '.join(deep)}"
            field["description"] = f"{field.get('description', name)}; {also}"
        return field
    source: dict[str, Any] = {"fileSet": files, "extract": {"column": column}}
    if inside:
        source["transform"] = {"jsonPath": inside.removeprefix(".")}
    return field | {"dataType": _TYPES[kind], "source": source}


def _is_list_of_structs(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) and pa.types.is_struct(kind.value_type))
