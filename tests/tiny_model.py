"""Random models of a few thousand weights, made on the spot: the loaders' real file formats."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

WORDS = ["who", "what", "when", "did", "win", "the", "?", ".", "question", "answer", "article"]


def _tokenizer(folder: Path, texts: list[str], positions: int = 1024) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<pad>", "</s>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator([*texts, *WORDS], trainer)
    make: Any = PreTrainedTokenizerFast
    special = {"eos_token": "</s>", "pad_token": "<pad>", "mask_token": "<mask>"}
    made = make(tokenizer_object=inner, model_max_length=positions, **special)
    made.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    made.save_pretrained(folder)
    return made


def causal(folder: Path, texts: list[str], positions: int = 1024) -> Path:
    """A random GPT-2 of two layers that reads `positions` tokens; a chat's text is its prompt."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = _tokenizer(folder, texts, positions)
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=positions,
        n_embd=32,
        n_layer=2,
        n_head=2,
        bos_token_id=tokenizer.eos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    model: Any = GPT2LMHeadModel(config)
    model.generation_config.do_sample = True  # else `transformers serve` heeds no temperature
    model.save_pretrained(folder)
    return folder


def seq2seq(folder: Path, texts: list[str]) -> Path:
    """A random T5 of two layers."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    tokenizer = _tokenizer(folder, texts)
    torch.manual_seed(0)
    make: Any = T5Config
    config = make(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=16,
        d_ff=64,
        num_layers=2,
        num_heads=2,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def masked(folder: Path, texts: list[str], positions: int = 512) -> Path:
    """A random BERT of two layers."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    tokenizer = _tokenizer(folder, texts, positions)
    torch.manual_seed(0)
    make: Any = BertConfig
    config = make(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=positions,
        pad_token_id=tokenizer.pad_token_id,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    return folder


KINDS: Mapping[str, Callable[[Path, list[str]], Path]] = {
    "causal": causal,
    "seq2seq": seq2seq,
    "masked": masked,
}
