"""A release in the file formats of the original datasets, so that existing code reads it.

Ids are those of the release's rows wherever a format leaves them free, so that predictions made
with other code are scored by `factdrift score`. Where the original's ids have a form of their own
(`eval-0`), a table beside the files says which row each is.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, get_args

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import new_folder
from factdrift.scoring.export.id_forms import IdForm

FormatName = Literal[
    "streamingqa",
    "timeqa",
    "templama",
    "dynamic-templama",
    "lama",
    "ckl",
    "squad",
    "knowedit",
    "zsre",
    "mquake",
    "beir",
    "dpr",
    "mteb",
    "stream",
    "longmemeval",
]
NAMES: tuple[FormatName, ...] = get_args(FormatName)
EDIT_FORMATS: tuple[FormatName, ...] = ("knowedit", "zsre", "mquake")
"""The formats of edits, which have what a model said before."""


def export_release(
    release: Path,
    format_name: FormatName,
    out_folder: Path | None,
    say: Callable[[str], None],
    corpus_folder: Path | None = None,
    ids: IdForm = "original",
    config: str | None = None,
    sessions: int | None = None,
    predictions: Path | None = None,
) -> Path:
    """Write a release in a format; the folder of the files that were written.

    `ids`: of which form the ids are where the original has one (`streamingqa`).
    `corpus_folder`: the passages of the news, for `beir`, `dpr`, `mteb`, `stream` and
    `longmemeval`. `config`: the corpus of `as-of`, `text` or `statements`. `sessions`: how many a
    question has (`longmemeval`). `predictions`: what a model said before edits of it (`knowedit`,
    `zsre`, `mquake`).
    Files are replaced one by one, each whole. `UserError`: the release is of another dataset, or
    has not what the format needs.
    """
    from factdrift.scoring.export import (
        beir,
        beir_forms,
        ckl,
        knowedit,
        lama,
        longmemeval,
        mquake,
        stream,
        streamingqa,
        templama,
        timeqa,
        zsre,
    )
    from factdrift.scoring.export.dated import has_dated_passages
    from factdrift.scoring.export.release import SESSIONS, Release

    format_names: Mapping[FormatName, Callable[[Release], None]] = {
        "streamingqa": streamingqa.write,
        "timeqa": timeqa.write,
        "templama": templama.write_yearly,
        "dynamic-templama": templama.write,
        "lama": lama.write,
        "ckl": ckl.write,
        "squad": timeqa.write_squad,
        "knowedit": knowedit.write,
        "zsre": zsre.write,
        "mquake": mquake.write,
        "beir": beir.write,
        "dpr": beir_forms.write_dpr,
        "mteb": beir_forms.write_mteb,
        "stream": stream.write,
        "longmemeval": longmemeval.write,
    }
    if sessions is not None and format_name != "longmemeval":
        raise UserError("--sessions goes with --format longmemeval alone")
    if predictions is not None and format_name not in EDIT_FORMATS:
        raise UserError(f"--predictions goes with --format {', '.join(EDIT_FORMATS)} alone")
    source = Release.of(
        *(release, out_folder, format_name, corpus_folder),
        *(ids, config, sessions or SESSIONS),
        predictions=predictions,
    )
    if config is not None and not has_dated_passages(source):
        raise UserError(
            f"a release of {source.manifest.dataset} has no choice of corpora",
            where=display_path(release),
            hint="--config is for as-of, whose corpus is text or statements",
        )
    with new_folder(source.out):
        format_names[format_name](source)
    for file, records in source.files.items():
        say(f"  {file}: {records:,} records")
    for note, records in source.notes.items():
        if records:
            say(f"  {records:,} {note}")
    return source.out
