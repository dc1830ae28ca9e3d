"""Random models of a few thousand weights, made on the spot: the loaders' real file formats."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

WORDS = ["who", "what", "when", "did", "win", "the", "?", ".", "question", "answer", "article"]
SPECIAL = ["<pad>", "</s>", "<mask>"]


def saved(
    model_folder: Path, inner_tokenizer: Any, position_count: int, unknown: str | None = None
) -> Any:
    """A tokenizer in a folder."""
    from transformers import PreTrainedTokenizerFast

    token_names = ("pad_token", "eos_token", "mask_token", "unk_token")
    special = dict(zip(token_names, [*SPECIAL, unknown], strict=True))
    make: Any = PreTrainedTokenizerFast
    tiny_model = make(tokenizer_object=inner_tokenizer, model_max_length=position_count, **special)
    tiny_model.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    tiny_model.save_pretrained(model_folder)
    return tiny_model


def _tokenizer(model_folder: Path, training_texts: list[str], position_count: int = 1024) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    inner_tokenizer = Tokenizer(models.BPE())
    inner_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner_tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner_tokenizer.train_from_iterator([*training_texts, *WORDS], trainer)
    return saved(model_folder, inner_tokenizer, position_count)


def _made(config: str, model_name: str, tokenizer: Any, config_values: Mapping[str, Any]) -> Any:
    import torch
    import transformers

    torch.manual_seed(0)
    size, end_tokens = len(tokenizer), {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1}
    tiny_model = getattr(transformers, config)(vocab_size=size, **end_tokens, **config_values)
    return getattr(transformers, model_name)(tiny_model)


def gpt2(tokenizer: Any, position_count: int, **further_values: Any) -> Any:
    """A GPT-2 of two layers."""
    config_values = {
        "n_positions": position_count,
        "n_embd": 32,
        "n_layer": 2,
        "n_head": 2,
        **further_values,
    }
    return _made("GPT2Config", "GPT2LMHeadModel", tokenizer, config_values)


def t5(tokenizer: Any, **further_values: Any) -> Any:
    """A T5 of two layers."""
    config_values = {
        "d_model": 32,
        "d_kv": 16,
        "d_ff": 64,
        "num_layers": 2,
        "num_heads": 2,
        **further_values,
    }
    config_values |= {"decoder_start_token_id": 0}
    return _made("T5Config", "T5ForConditionalGeneration", tokenizer, config_values)


def bert(tokenizer: Any, position_count: int, **further_values: Any) -> Any:
    """A BERT of two layers."""
    config_values = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        **further_values,
    }
    config_values |= {"intermediate_size": 64, "max_position_embeddings": position_count}
    return _made("BertConfig", "BertForMaskedLM", tokenizer, config_values)


def causal(model_folder: Path, training_texts: list[str], position_count: int = 1024) -> Path:
    """A random GPT-2 that reads `positions` tokens; a chat's text is its prompt."""
    model_name = gpt2(_tokenizer(model_folder, training_texts, position_count), position_count)
    model_name.generation_config.do_sample = True  # else `transformers serve` heeds no temperature
    model_name.save_pretrained(model_folder)
    return model_folder


def seq2seq(model_folder: Path, training_texts: list[str]) -> Path:
    """A random T5."""
    t5(_tokenizer(model_folder, training_texts)).save_pretrained(model_folder)
    return model_folder


def masked(model_folder: Path, training_texts: list[str]) -> Path:
    """A random BERT."""
    bert(_tokenizer(model_folder, training_texts, 512), 512).save_pretrained(model_folder)
    return model_folder


KINDS: Mapping[str, Callable[[Path, list[str]], Path]] = {
    "causal": causal,
    "seq2seq": seq2seq,
    "masked": masked,
}
