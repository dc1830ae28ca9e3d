"""Tiny models whose probabilities are set by hand, to work out scores with pen and paper.

They have no layers. A writing model is a table of what follows a word; a masked one a table of what
stands at a place. A word that is not in a row of the table has the probability `RARE`, about.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import tiny_model

RARE = 1e-9
WORDS = ("Ann", "Bo", "Lee", "Ek", "leads", "Acme", "in", "now", ".", "Answer", ":", "X")
SPECIAL = ("<pad>", "</s>", "<mask>", "<unk>")
VOCABULARY = (*SPECIAL, *WORDS)
SIZE = PLACES = len(VOCABULARY)
Table = Mapping[Any, Mapping[str, float]]


def _tokenizer(folder: Path) -> Any:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    inner = Tokenizer(models.WordLevel({w: n for n, w in enumerate(VOCABULARY)}, "<unk>"))
    words = pre_tokenizers.Split(Regex(r"\w+|[^\w\s]"), "removed", invert=True)
    inner.pre_tokenizer = words
    return tiny_model.saved(folder, inner, PLACES, unknown="<unk>")


def _logits(table: Table) -> Any:
    """Log-probabilities: a column for each word, or each place, that something follows on."""
    import torch

    rows = [table.get(n, table.get(word, {})) for n, word in enumerate(VOCABULARY)]
    every = [[math.log(row.get(word, RARE)) for word in VOCABULARY] for row in rows]
    return torch.tensor(every).T


def _as_it_came(norm: Any, eps: float) -> None:
    """Make a layer normalisation give back every one-hot vector as it came."""
    norm.weight.fill_(math.sqrt((1 / SIZE) * (1 - 1 / SIZE) + eps))
    norm.bias.fill_(1 / SIZE)


def bigrams(folder: Path, table: Table) -> Path:
    """A GPT-2 in which the next word depends on the one before it alone."""
    import torch

    config = {"n_embd": SIZE, "n_layer": 0, "n_head": 1, "tie_word_embeddings": False}
    model = tiny_model.gpt2(_tokenizer(folder), PLACES, **config)
    with torch.no_grad():
        model.transformer.wte.weight.copy_(torch.eye(SIZE))
        model.transformer.wpe.weight.zero_()
        model.lm_head.weight.copy_(_logits(table))
        _as_it_came(model.transformer.ln_f, model.config.layer_norm_epsilon)
    model.save_pretrained(folder)
    return folder


def seq2seq(folder: Path, logit: float) -> Path:
    """A T5 that writes any word after its start alike, and after a word that word again.

    Its output weights are those of its input, one-hot here: after a word, the word's logit is
    `logit` and all others are 0. The start is a word of zeros.
    """
    import torch

    config = {"d_model": SIZE, "d_kv": SIZE, "num_layers": 0, "num_decoder_layers": 0}
    model = tiny_model.t5(_tokenizer(folder), num_heads=1, scale_decoder_outputs=False, **config)
    with torch.no_grad():
        model.shared.weight.copy_(torch.eye(SIZE))
        model.shared.weight[0] = 0
        spread = math.sqrt(1 / SIZE + model.config.layer_norm_epsilon)
        model.decoder.final_layer_norm.weight.fill_(logit * spread)
    model.save_pretrained(folder)
    return folder


def masked(folder: Path, table: Table) -> Path:
    """A BERT in which a masked word depends on its place alone; on no mask, nothing is known."""
    import torch

    config: dict[str, Any] = {"hidden_size": SIZE, "num_hidden_layers": 0, "num_attention_heads": 1}
    config |= {"hidden_act": "relu", "tie_word_embeddings": False}
    model = tiny_model.bert(_tokenizer(folder), PLACES, **config)
    embeddings, head = model.bert.embeddings, model.cls.predictions
    with torch.no_grad():
        embeddings.word_embeddings.weight.copy_(100 * torch.eye(SIZE).flip(1))
        embeddings.word_embeddings.weight[VOCABULARY.index("<mask>")] = 0
        embeddings.token_type_embeddings.weight.zero_()
        embeddings.position_embeddings.weight.copy_(torch.eye(PLACES))
        head.transform.dense.weight.copy_(torch.eye(PLACES))
        head.decoder.weight.copy_(_logits(table))
        for bias in (head.transform.dense.bias, head.decoder.bias, head.bias):
            bias.zero_()
        for norm in (embeddings.LayerNorm, head.transform.LayerNorm):
            _as_it_came(norm, model.config.layer_norm_eps)
    model.save_pretrained(folder)
    return folder
