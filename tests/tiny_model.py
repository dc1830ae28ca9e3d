"""Random models of a few thousand weights, made on the spot: the loaders' real file formats."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

WORDS = ["who", "what", "when", "did", "win", "the", "?", ".", "question", "answer", "article"]
SPECIAL = ["<pad>", "</s>", "<mask>"]


def saved(folder: Path, inner: Any, positions: int, unknown: str | None = None) -> Any:
    """A tokenizer in a folder."""
    from transformers import PreTrainedTokenizerFast

    names = ("pad_token", "eos_token", "mask_token", "unk_token")
    special = dict(zip(names, [*SPECIAL, unknown], strict=True))
    make: Any = PreTrainedTokenizerFast
    made = make(tokenizer_object=inner, model_max_length=positions, **special)
    made.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    made.save_pretrained(folder)
    return made


def _tokenizer(folder: Path, texts: list[str], positions: int = 1024) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator([*texts, *WORDS], trainer)
    return saved(folder, inner, positions)


def _made(config: str, model: str, tokenizer: Any, values: Mapping[str, Any]) -> Any:
    import torch
    import transformers

    torch.manual_seed(0)
    size, ends = len(tokenizer), {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1}
    made = getattr(transformers, config)(vocab_size=size, **ends, **values)
    return getattr(transformers, model)(made)


def gpt2(tokenizer: Any, positions: int, **more: Any) -> Any:
    """A GPT-2 of two layers."""
    values = {"n_positions": positions, "n_embd": 32, "n_layer": 2, "n_head": 2, **more}
    return _made("GPT2Config", "GPT2LMHeadModel", tokenizer, values)


def t5(tokenizer: Any, **more: Any) -> Any:
    """A T5 of two layers."""
    values = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2, **more}
    values |= {"decoder_start_token_id": 0}
    return _made("T5Config", "T5ForConditionalGeneration", tokenizer, values)


def bert(tokenizer: Any, positions: int, **more: Any) -> Any:
    """A BERT of two layers."""
    values = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, **more}
    values |= {"intermediate_size": 64, "max_position_embeddings": positions}
    return _made("BertConfig", "BertForMaskedLM", tokenizer, values)


def causal(folder: Path, texts: list[str], positions: int = 1024) -> Path:
    """A random GPT-2 that reads `positions` tokens; a chat's text is its prompt."""
    model = gpt2(_tokenizer(folder, texts, positions), positions)
    model.generation_config.do_sample = True  # else `transformers serve` heeds no temperature
    model.save_pretrained(folder)
    return folder


def seq2seq(folder: Path, texts: list[str]) -> Path:
    """A random T5."""
    t5(_tokenizer(folder, texts)).save_pretrained(folder)
    return folder


def masked(folder: Path, texts: list[str]) -> Path:
    """A random BERT."""
    bert(_tokenizer(folder, texts, 512), 512).save_pretrained(folder)
    return folder


KINDS: Mapping[str, Callable[[Path, list[str]], Path]] = {
    "causal": causal,
    "seq2seq": seq2seq,
    "masked": masked,
}
