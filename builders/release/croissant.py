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

# The context that the specification asks for; `cr:` terms that mlcroissant expects as they are.
_CONTEXT: Mapping[str, Any] = json.loads(
    resource("data_cards/croissant_context.json").read_text("utf-8")
)
_TYPES = {
    pa.string(): "sc:Text",
    pa.int64(): "cr:Int64",
    pa.float64(): "cr:Float64",
    pa.bool_(): "sc:Boolean",
    pa.date32(): "sc:Date",
}


def save_croissant(
    release_folder: Path, dataset: Dataset, meta: Meta, manifest: Manifest, prose: Mapping[str, str]
) -> None:
    """Write `croissant.json`; every data file is there with its sha256 and a relative URL.

    One `FileObject` a data file, one `FileSet` and one `RecordSet` a config; the split of a
    record is read from its file's name and refers to the record set of split names.
    """
    row_types = {table.name: table.row for table in dataset.tables}
    full_configs = [
        config for config in manifest.configs if any(split.rows for split in config.splits)
    ]
    record_sets = [_splits(config) for config in full_configs]
    record_sets += [_records(config, row_types[config.name]) for config in full_configs]
    croissant_document = {
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
        "distribution": [*_file_objects(manifest), *map(_file_set, full_configs)],
        "recordSet": record_sets,
    }
    stated_terms = {
        key: value for key, value in croissant_document.items() if value not in (None, "", [], {})
    }
    write_json(release_folder / FILE, stated_terms)


def _input_homepage(manifest: Manifest) -> str | None:
    """Return the homepage of the first input that has one."""
    return next(
        (input_entry.homepage for input_entry in manifest.inputs if input_entry.homepage), None
    )


def _file_objects(manifest: Manifest) -> Iterator[dict[str, Any]]:
    """A node for each data file of the release."""
    data_files = {split.file for config in manifest.configs for split in config.splits}
    for file_entry in manifest.files:
        if file_entry.path in data_files or file_entry.path == "dropped.parquet":
            yield _node(
                "FileObject",
                file_entry.path,
                contentUrl=file_entry.path,
                contentSize=f"{file_entry.bytes} B",
                encodingFormat=_PARQUET,
                sha256=file_entry.sha256,
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
    source_entities = [
        {
            "@type": "prov:Entity",
            "@id": f"urn:sha256:{input_entry.sha256}",
            "prov:label": f"{input_entry.file}, sha256 {input_entry.sha256}"
            + (f", snapshot of {input_entry.snapshot}" if input_entry.snapshot else ""),
            **({"prov:atLocation": input_entry.homepage} if input_entry.homepage else {}),
        }
        for input_entry in manifest.inputs
    ]
    run_activity = {
        "@type": "prov:Activity",
        "prov:label": manifest.rebuild,
        "prov:wasAssociatedWith": {
            "@type": "prov:SoftwareAgent",
            "prov:label": f"factdrift {meta.code_version}",
        },
    }
    return {"prov:wasDerivedFrom": source_entities, "prov:wasGeneratedBy": run_activity}


def hub_document(
    croissant_document: Mapping[str, Any], repo_name: str, endpoint: str
) -> dict[str, Any]:
    """The description of a release that lies on the Hub: it loads from wherever it is read.

    The files of a config are read from a clone of the repository, as in the Hub's own documents.
    """
    hub_address = f"{endpoint}/datasets/{repo_name}"
    clone_node = _node(
        "FileObject",
        "repository",
        description="The repository on the Hub.",
        contentUrl=hub_address,
        encodingFormat="git+https",
        # what mlcroissant's documentation writes for a repository, which has no checksum
        sha256="https://github.com/mlcommons/croissant/issues/80",
    )
    placed_parts = []
    for distribution_part in croissant_document["distribution"]:
        if distribution_part["@type"] == "cr:FileSet":
            placed_parts.append({**distribution_part, "containedIn": {"@id": "repository"}})
        else:
            path = f"{croissant_document['version']}/{distribution_part['contentUrl']}"
            file_url = f"{hub_address}/resolve/{path}"
            placed_parts.append({**distribution_part, "contentUrl": file_url})
    return {**croissant_document, "url": hub_address, "distribution": [clone_node, *placed_parts]}


def _made_from(manifest: Manifest) -> dict[str, Any]:
    """Return the terms about the raw data: its files, its days, and the counts of dropped rows."""
    raw_data = [
        f"{input_entry.name}: {input_entry.file}, sha256 {input_entry.sha256}, "
        f"licence {input_entry.licence}"
        + (f", snapshot of {input_entry.snapshot}" if input_entry.snapshot else "")
        for input_entry in manifest.inputs
    ]
    snapshot_days = sorted(
        input_entry.snapshot.isoformat() for input_entry in manifest.inputs if input_entry.snapshot
    )
    drop_lines = [f"{drop.step}: {drop.reason}: {drop.rows}" for drop in manifest.drops]
    return {
        "rai:dataCollectionRawData": "\n".join(raw_data),
        "rai:dataCollectionTimeFrame": list(
            dict.fromkeys([*snapshot_days[:1], *snapshot_days[-1:]])
        ),
        "rai:dataCollectionMissingData": "Left out, by step, reason and count:\n"
        + "\n".join(drop_lines)
        if drop_lines
        else "",
    }


def _splits(config: ConfigEntry) -> dict[str, Any]:
    """Return the record set of the names of a config's splits."""
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


def _records(config: ConfigEntry, row_type: type) -> dict[str, Any]:
    """Return the record set of a config's rows, all splits together."""
    file_set = {"@id": f"files/{config.name}"}
    split = _node(
        "Field",
        f"{config.name}/__split",
        "__split",
        description="split that holds the row, from the name of its file",
        dataType="sc:Text",
        references={"field": {"@id": f"splits/{config.name}/name"}},
        source={
            "fileSet": file_set,
            "extract": {"fileProperty": "filename"},
            "transform": {"regex": r"^([\w.]+?)(?:\.parquet)?$"},
        },
    )
    column_fields = [
        _field(config.name, column.name, column.type, column.description, file_set, column.name)
        for column in columns(row_type)
    ]
    description = strip_markdown(config.description)
    record_fields = _node(
        "RecordSet", config.name, description=description, field=[split, *column_fields]
    )
    if any(column.name == "id" for column in config.columns):
        record_fields["key"] = {"@id": f"{config.name}/id"}
    return record_fields


def _node(node_type: str, node_id: str, name: str = "", **node_terms: Any) -> dict[str, Any]:
    return {"@type": f"cr:{node_type}", "@id": node_id, "name": name or node_id, **node_terms}


def _field(
    parent_name: str,
    name: str,
    data_type: pa.DataType,
    description: str,
    file_set: dict[str, str],
    column: str,
    json_path: str = "",
) -> dict[str, Any]:
    """Return the Croissant field of a column, or of a part of a struct column.

    `name` is the name of the field itself, and `parent_name` the id of the config or field that
    contains it. `column` is always the Parquet column: a part of a struct is found in it by its
    `json_path`, such as `.start.day`, which is empty for the column itself. The parts of a struct
    become sub-fields, at any depth.

    mlcroissant 1.1 cannot read a list of structs inside a struct. Such a part is only named in the
    description.
    """
    field_node = _node("Field", f"{parent_name}/{name}", name)
    if description:
        field_node["description"] = strip_markdown(description)
    if pa.types.is_list(data_type):
        field_node |= {"isArray": True, "arrayShape": "-1"}
        data_type = data_type.value_type
    if pa.types.is_struct(data_type):
        unreadable_parts = [
            inner_field.name for inner_field in data_type if _is_list_of_structs(inner_field.type)
        ]
        field_node["subField"] = [
            _field(
                field_node["@id"],
                inner_field.name,
                inner_field.type,
                "",
                file_set,
                column,
                f"{json_path}.{inner_field.name}",
            )
            for inner_field in data_type
            if inner_field.name not in unreadable_parts
        ]
        if unreadable_parts:
            also = f"the Parquet files also have their {', '.join(unreadable_parts)}"
            field_node["description"] = f"{field_node.get('description', name)}; {also}"
        return field_node
    field_source: dict[str, Any] = {"fileSet": file_set, "extract": {"column": column}}
    if json_path:
        field_source["transform"] = {"jsonPath": json_path.removeprefix(".")}
    return field_node | {"dataType": _TYPES[data_type], "source": field_source}


def _is_list_of_structs(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_list(data_type) and pa.types.is_struct(data_type.value_type))
