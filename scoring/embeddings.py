"""A baseline of retrieval by sentence embeddings: cosine of means of a model's last states."""

import heapq
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.progress import progress
from factdrift.builders.generate.mentions import batches
from factdrift.builders.generate.transformers_models import require_torch
from factdrift.scoring.export.beir import CORPUS, QUERIES
from factdrift.scoring.search_records import records

_BATCH, _BLOCK, _LENGTH = 64, 4096, 256
"""Texts that are read together, passages that are compared together, and tokens of a text."""


class Encoder:
    """A model of sentences in a local folder, on the processor."""

    def __init__(self, folder: Path) -> None:
        require_torch()
        import torch
        import transformers as tf

        if not (folder / "config.json").is_file():
            hint = "the folder of a sentence model, with config.json, weights and tokenizer"
            raise UserError("no model", where=shown(folder), hint=hint)
        logging: Any = tf.utils.logging
        logging.disable_progress_bar()
        self._torch = torch
        try:
            self._tokenizer: Any = tf.AutoTokenizer.from_pretrained(str(folder))
            self._model: Any = tf.AutoModel.from_pretrained(str(folder)).eval()
        except (OSError, ValueError) as error:
            text = f"cannot be loaded: {str(error).splitlines()[0]}"
            raise UserError(text, where=shown(folder)) from error

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """A vector of length 1 for each text, a row each."""
        parts = []
        for some in batches(texts, _BATCH):
            given = self._tokenizer(
                list(some), padding=True, truncation=True, max_length=_LENGTH, return_tensors="pt"
            )
            with self._torch.inference_mode():
                states = self._model(**given).last_hidden_state
            mask = given["attention_mask"].unsqueeze(-1)
            mean = (states * mask).sum(1) / mask.sum(1)
            parts.append((mean / mean.norm(dim=1, keepdim=True)).numpy())
        vectors: NDArray[np.float32] = np.concatenate(parts)
        return vectors


def ranked(
    folder: Path, encoder: Encoder, depth: int
) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """Of each query its id and the `depth` nearest passages.

    Memory holds the vectors of the queries, their results, and one block of passages.
    """
    queries = list(records(folder / QUERIES))
    asked = encoder([query["text"] for query in queries])
    best: list[list[tuple[float, str]]] = [[] for _ in queries]
    with progress(None, "passages", "embedding") as bar:
        for block in batches(records(folder / CORPUS), _BLOCK):
            vectors = encoder([f"{one['title']} {one['text']}".strip() for one in block])
            scores = np.round(asked @ vectors.T, 4)
            for found, row in zip(best, scores, strict=True):
                near = np.argpartition(-row, min(depth, len(block) - 1))[:depth]
                found += [(float(row[n]), block[n]["_id"]) for n in near.tolist()]
                found[:] = heapq.nsmallest(depth, found, key=lambda one: (-one[0], one[1]))
            bar.advance(len(block))
    for query, found in zip(queries, best, strict=True):
        yield query["_id"], [(name, score) for score, name in found]
