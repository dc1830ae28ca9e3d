"""The number of tokens that a label has inside a sentence, by a named tokenizer."""

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import recipe_path
from factdrift.builders.core.hints import require_extra

# A word that every vocabulary has; it stands before the label in place of a sentence.
_BEFORE = "is"
# Labels that the tokenizer gets at once: a guess; it bounds memory and changes no count.
_BATCH = 4096


class TokenCounter:
    """Counts the tokens of labels as one tokenizer splits them inside a sentence.

    A label is split after a word and a space ("is Juventus F.C."), and the tokens of that word are
    subtracted. A byte-level BPE splits " Juventus" differently from "Juventus", and a model has to
    fill in the former. Special tokens and an article in the sentence are not counted. A label that
    the vocabulary cannot write (it has an unknown token) counts 0.
    """

    def __init__(self, encode: Callable[[list[str]], list[list[int]]], unknown: int | None) -> None:
        self._encode = encode
        self._unknown = unknown
        self._before = len(encode([_BEFORE])[0])
        self._known: dict[str, int] = {}

    def counts(self, labels: Iterable[str]) -> list[int]:
        """The number of tokens of each label, in order; each distinct label is split only once."""
        wanted_labels = list(labels)
        with suppress(KeyError):  # most are known
            return [self._known[label] for label in wanted_labels]
        new_labels = sorted(set(wanted_labels) - self._known.keys())
        for batch_start in range(0, len(new_labels), _BATCH):
            batch = new_labels[batch_start : batch_start + _BATCH]
            token_ids = self._encode([f"{_BEFORE} {label}" for label in batch])
            for label, label_ids in zip(batch, token_ids, strict=True):
                has_unknown = (
                    self._unknown is not None and self._unknown in label_ids[self._before :]
                )
                self._known[label] = 0 if has_unknown else len(label_ids) - self._before
        return [self._known[label] for label in wanted_labels]


def load_tokenizer(source: str, revision: str | None = None) -> TokenCounter:
    """Load a Hugging Face tokenizer: a folder, a `tokenizer.json`, or a name on the Hub.

    A path is never looked for on the Hub. `revision` pins a name to a commit. Without it, a
    release can be repeated only while the Hub keeps the files. `UserError` where nothing can be
    loaded.
    """
    source_path = _tokenizer_file(source)
    if source_path.is_file():
        return _from_file(source_path)
    if _is_missing_path(source):
        raise UserError("no such tokenizer", where=display_path(source_path), hint=_HELP)
    return _from_transformers(
        str(source_path) if source_path.exists() else source, source_path.exists(), revision
    )


def check_tokenizer(source: str) -> None:
    """Raise `MissingExtraError` if a tokenizer needs transformers, and that is not installed.

    Such a tokenizer is loaded only when the rows are written, hours after a dump was begun.
    """
    if needs_transformers(source) and not _is_missing_path(source):
        require_extra("tokenizer", "a tokenizer that is no tokenizer.json needs transformers")


def needs_transformers(source: str) -> bool:
    """Whether a tokenizer is more than a `tokenizer.json`, which the small `tokenizers` reads."""
    return not _tokenizer_file(source).is_file()


def _is_missing_path(source: str) -> bool:
    is_path = source.startswith((".", "/", "~")) or source.endswith(".json")
    return is_path and not _tokenizer_file(source).exists()


def _tokenizer_file(source: str) -> Path:
    """The `tokenizer.json` of a folder that has nothing else to read; any other path as it is."""
    source_path = Path(source).expanduser()
    is_alone = source_path.is_dir() and not (source_path / "tokenizer_config.json").exists()
    inner_file = source_path / "tokenizer.json"
    return inner_file if is_alone and inner_file.exists() else source_path


def tokenizer_location(tokenizer: str | None, recipe: Path) -> Path | str | None:
    """The path of a tokenizer relative to the recipe where there is one; otherwise its name."""
    if tokenizer is None:
        return None
    path = recipe_path(recipe, tokenizer)
    return path if path.exists() else tokenizer


_HELP = (
    "give a folder that `save_pretrained` or `hf download NAME --local-dir FOLDER` wrote,"
    " or a tokenizer.json"
)


def _from_file(path: Path) -> TokenCounter:
    from tokenizers import Tokenizer

    try:
        loaded_tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise UserError(
            f"not a tokenizer: {error}", where=display_path(path), hint=_HELP
        ) from error
    loaded_tokenizer.no_truncation()
    loaded_tokenizer.no_padding()
    model_settings = json.loads(loaded_tokenizer.to_str())["model"]
    # A Unigram model names its unknown token by number, the others by text.
    unknown_id = (
        loaded_tokenizer.token_to_id(model_settings["unk_token"])
        if model_settings.get("unk_token")
        else None
    )

    def encode(texts: list[str]) -> list[list[int]]:
        return [
            encoding.ids
            for encoding in loaded_tokenizer.encode_batch(texts, add_special_tokens=False)
        ]

    return TokenCounter(encode, model_settings.get("unk_id", unknown_id))


def _from_transformers(source: str, local: bool, revision: str | None) -> TokenCounter:
    check_tokenizer(source)
    from transformers import AutoTokenizer

    try:
        loaded_tokenizer: Any = AutoTokenizer.from_pretrained(
            source, local_files_only=local, revision=None if local else revision
        )
    except (OSError, ValueError, ImportError) as error:
        where = display_path(Path(source)) if local else source
        error_text = (
            str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        )
        what = "cannot be loaded" if local else "is no folder here and cannot be fetched"
        raise UserError(f"the tokenizer {what}: {error_text}", where=where, hint=_HELP) from error

    def encode(texts: list[str]) -> list[list[int]]:
        ids: list[list[int]] = loaded_tokenizer(
            texts, add_special_tokens=False, truncation=False, padding=False, verbose=False
        )["input_ids"]
        return ids

    return TokenCounter(encode, loaded_tokenizer.unk_token_id)
