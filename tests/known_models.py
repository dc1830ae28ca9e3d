"""Tiny models whose probabilities are set by hand, to work out scores with pen and paper.

They have no layers. A writing model is a table of what follows a word; a masked one a table of what
stands at a place. A word that is not in a row of the table has the probability `RARE`, about.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import tiny_model

# the probability of a word that the table does not name: none that it names is as rare
RARE = 1e-9
WORDS = ("Ann", "Bo", "Lee", "Ek", "leads", "Acme", "in", "now", ".", "Answer", ":", "X")
SPECIAL = ("<pad>", "</s>", "<mask>", "<unk>")
VOCABULARY = (*SPECIAL, *WORDS)
SIZE = PLACES = len(VOCABULARY)
Table = Mapping[Any, Mapping[str, float]]


def _tokenizer(model_folder: Path) -> Any:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    inner = Tokenizer(
        models.WordLevel(
            {known_word: token_id for token_id, known_word in enumerate(VOCABULARY)}, "<unk>"
        )
    )
    word_splitter = pre_tokenizers.Split(Regex(r"\w+|[^\w\s]"), "removed", invert=True)
    inner.pre_tokenizer = word_splitter
    return tiny_model.saved(model_folder, inner, PLACES, unknown="<unk>")


def _logits(follower_table: Table) -> Any:
    """Log-probabilities: a column for each word, or each place, that something follows on."""
    import torch

    logit_rows = [
        follower_table.get(token_id, follower_table.get(next_word, {}))
        for token_id, next_word in enumerate(VOCABULARY)
    ]
    log_rows = [
        [math.log(follower_row.get(next_word, RARE)) for next_word in VOCABULARY]
        for follower_row in logit_rows
    ]
    return torch.tensor(log_rows).T


def _as_it_came(layer_norm: Any, eps: float) -> None:
    """Make a layer normalisation give back every one-hot vector as it came."""
    layer_norm.weight.fill_(math.sqrt((1 / SIZE) * (1 - 1 / SIZE) + eps))
    layer_norm.bias.fill_(1 / SIZE)


def bigrams(model_folder: Path, follower_table: Table) -> Path:
    """A GPT-2 in which the next word depends on the one before it alone."""
    import torch

    model_config = {"n_embd": SIZE, "n_layer": 0, "n_head": 1, "tie_word_embeddings": False}
    built_model = tiny_model.gpt2(_tokenizer(model_folder), PLACES, **model_config)
    with torch.no_grad():
        built_model.transformer.wte.weight.copy_(torch.eye(SIZE))
        built_model.transformer.wpe.weight.zero_()
        built_model.lm_head.weight.copy_(_logits(follower_table))
        _as_it_came(built_model.transformer.ln_f, built_model.config.layer_norm_epsilon)
    built_model.save_pretrained(model_folder)
    return model_folder


def seq2seq(model_folder: Path, logit: float) -> Path:
    """A T5 that writes any word after its start alike, and after a word that word again.

    Its output weights are those of its input, one-hot here: after a word, the word's logit is
    `logit` and all others are 0. The start is a word of zeros.
    """
    import torch

    model_config = {"d_model": SIZE, "d_kv": SIZE, "num_layers": 0, "num_decoder_layers": 0}
    built_model = tiny_model.t5(
        _tokenizer(model_folder), num_heads=1, scale_decoder_outputs=False, **model_config
    )
    with torch.no_grad():
        built_model.shared.weight.copy_(torch.eye(SIZE))
        built_model.shared.weight[0] = 0
        logit_spread = math.sqrt(1 / SIZE + built_model.config.layer_norm_epsilon)
        built_model.decoder.final_layer_norm.weight.fill_(logit * logit_spread)
    built_model.save_pretrained(model_folder)
    return model_folder


def masked(model_folder: Path, follower_table: Table) -> Path:
    """A BERT in which a masked word depends on its place alone; on no mask, nothing is known."""
    import torch

    model_config: dict[str, Any] = {
        "hidden_size": SIZE,
        "num_hidden_layers": 0,
        "num_attention_heads": 1,
    }
    model_config |= {"hidden_act": "relu", "tie_word_embeddings": False}
    built_model = tiny_model.bert(_tokenizer(model_folder), PLACES, **model_config)
    embeddings, head = built_model.bert.embeddings, built_model.cls.predictions
    with torch.no_grad():
        embeddings.word_embeddings.weight.copy_(100 * torch.eye(SIZE).flip(1))
        embeddings.word_embeddings.weight[VOCABULARY.index("<mask>")] = 0
        embeddings.token_type_embeddings.weight.zero_()
        embeddings.position_embeddings.weight.copy_(torch.eye(PLACES))
        head.transform.dense.weight.copy_(torch.eye(PLACES))
        head.decoder.weight.copy_(_logits(follower_table))
        for bias in (head.transform.dense.bias, head.decoder.bias, head.bias):
            bias.zero_()
        for layer_norm in (embeddings.LayerNorm, head.transform.LayerNorm):
            _as_it_came(layer_norm, built_model.config.layer_norm_eps)
    built_model.save_pretrained(model_folder)
    return model_folder
