"""Questions and answers of a language model on this machine, through transformers."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field, JsonValue

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import ModelName
from factdrift.builders.core.hashing import digest, seeded_index
from factdrift.builders.core.hints import install_extra
from factdrift.builders.generate import prompts as p
from factdrift.builders.generate.protocol import Kind, OnResult, Result, Shape, Usage

_GGUF = ".gguf"
_END = 1 << 20
"""Bytes of a model's file that are compared: its last ones, which are all of a small one."""
_LOADERS: Mapping[Kind, str] = {
    "causal": "AutoModelForCausalLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
    "masked": "AutoModelForMaskedLM",
}


class Transformers(p.ModelSettings):
    """Any causal or sequence-to-sequence model, by name or folder.

    `dtype`: how its numbers are held.
    """

    libraries: ClassVar[tuple[str, ...]] = ("torch", "accelerate")
    only_writes: ClassVar[bool] = False

    backend: Literal["transformers"] = "transformers"
    model: ModelName = Field(
        description="name on the hub; or a folder or a GGUF file, relative to the recipe"
    )
    revision: str | None = Field(default=None, description="commit of the model on the hub")
    batch: int = Field(default=8, ge=1, description="prompts at a time")
    dtype: Literal["float32", "float16", "bfloat16", "auto"] = "float32"
    threads: int | None = Field(default=None, ge=1, description="processors that it uses")
    device: str = Field(default="cpu", description="cpu, cuda, cuda:1, mps, or auto (accelerate)")
    new_tokens: int = Field(default=48, ge=1, description="longest output, in tokens")
    chat: bool = Field(default=False, description="put prompts into the tokenizer's chat template")
    template: Mapping[str, JsonValue] = Field(
        default={}, description="what the chat template is told: {enable_thinking: false}"
    )

    def check(self, *, offline: bool = False) -> None:
        """As every model; and PyTorch, and a chat template where one is asked for."""
        super().check()
        if not offline:
            model_kind(self)

    def kind(self) -> Kind:
        """What the model's configuration says that it does; no weights are loaded."""
        return model_kind(self)

    def open(self, seed: int) -> "TransformersBackend":
        """The model; its weights are loaded at the first request."""
        return TransformersBackend(self, seed)


class TransformersBackend(p.PromptedModel):
    """The likeliest text by default, `batch` prompts at a time; the shorter ones are padded.

    Padding moves the last digits of a model's floats, which can decide between two words that are
    about as likely: so `batch` is part of the identity, and results of one size never serve
    another. With a temperature each request is alone in its batch, with a generator of its own.
    """

    def __init__(self, settings: Transformers, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self._size = 1 if settings.temperature else settings.batch
        self.prompts = p.load_prompts(settings.prompts)
        self.characters = settings.characters
        self.name = f"transformers:{Path(settings.model).name}"
        names = {"backend", "model", "revision", "dtype", "new_tokens", "temperature"}
        chosen = settings.model_dump(mode="json", include=names | {"chat", "template"})
        self._stop = () if settings.chat else settings.stop
        content: dict[str, Any] = weights_fingerprint(settings.model)
        content |= {"stop": self._stop} if self._stop else {}
        self.identity = p.model_identity(**chosen, **content, batch=self._size, seed=seed)
        self.usage = Usage()
        self._loaded: Loaded | None = None
        self._first = p.FirstAnswers(settings.stop_after, self.name)

    def complete(
        self,
        texts: Sequence[str],
        on_result: OnResult | None = None,
        *,
        shape: Shape | None = None,
        parse: p.ParseText | None = None,
    ) -> list[Result]:
        """All that the model writes after each text; a model here is held to no form."""
        out: list[Result] = []
        for at in range(0, len(texts), self._size):
            for text, cut in self._batch(texts[at : at + self._size]):
                place, result = len(out), Result(text)
                if cut and (self.settings.chat or not text.strip()):
                    result = Result(None, "cut_off", f"raise new_tokens: {text[:80]}")
                out.append(result)
                hand_on = partial(on_result or (lambda *_: None), place, result)
                self._first.see(result, parse or Result, hand_on)
        self._first.end()
        return out

    def _batch(self, texts: Sequence[str]) -> list[tuple[str, bool]]:
        """What the model writes after each text, and whether it had more to say."""
        self._loaded = self._loaded or load_model(self.settings)
        torch, tokenizer, model, kind = self._loaded
        seq2seq = kind == "seq2seq"
        room = context_size(model, tokenizer) - (0 if seq2seq else self.settings.new_tokens)
        if room < 1:
            raise UserError(f"{self.name}: new_tokens leaves no room for a prompt")
        # the end of a prompt holds the article and what is asked for
        if self.settings.chat:
            texts = [chat_prompt(text, tokenizer, self.settings.template) for text in texts]
        # a chat template writes the special tokens itself
        special: dict[str, Any] = {"add_special_tokens": not self.settings.chat}
        inputs = tokenizer(
            list(texts),
            return_tensors="pt",
            padding=True,
            truncation=True,
            max_length=room,
            **special,
        ).to(model.device)
        inputs.pop("token_type_ids", None)
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        full = [text for text, n in zip(texts, lengths, strict=True) if n >= room]
        cut = sum(len(tokenizer(text, **special)["input_ids"]) > room for text in full)
        more: dict[str, Any] = {"do_sample": False}
        if self.settings.temperature:
            torch.manual_seed(seeded_index(2**63, self.seed, texts[0]))
            more = {"do_sample": True, "temperature": self.settings.temperature}
        if self._stop:
            start = 0 if seq2seq else inputs["input_ids"].shape[1]

            def ended(ids: Any, scores: Any, **_: Any) -> Any:
                texts = tokenizer.batch_decode(ids[:, start:], skip_special_tokens=True)
                stops = [any(stop in text for stop in self._stop) for text in texts]
                return torch.tensor(stops, device=ids.device)

            more["stopping_criteria"] = [ended]
        with torch.inference_mode():
            made = model.generate(
                **inputs,
                max_new_tokens=self.settings.new_tokens,
                pad_token_id=tokenizer.pad_token_id,
                **more,
            )
        new = made if seq2seq else made[:, inputs["input_ids"].shape[1] :]
        written = int((new != tokenizer.pad_token_id).sum())
        self.usage.add(calls=len(texts), read=sum(lengths), written=written, cut=cut)
        found = model.generation_config.eos_token_id
        ends = {tokenizer.pad_token_id, *(found if isinstance(found, list) else [found])}
        return [
            (
                tokenizer.decode(first_mask(row, tokenizer), skip_special_tokens=True),
                len(row) == self.settings.new_tokens and int(row[-1]) not in ends,
            )
            for row in new
        ]


class Loaded(NamedTuple):
    """PyTorch, a tokenizer and a model, ready to be asked."""

    torch: Any
    tokenizer: Any
    model: Any
    kind: Kind


def require_torch() -> None:
    """`UserError` with the line that installs PyTorch, where it is missing."""
    if find_spec("torch") is None:
        raise UserError(
            "the backend `transformers` needs PyTorch",
            hint=install_extra("lm"),
        )


def model_kind(settings: Transformers) -> Kind:
    """What the model of the settings does, as its configuration says; no weights are loaded."""
    require_torch()
    import transformers as tf

    config = _or_told(settings, tf.AutoConfig.from_pretrained)
    if config.is_encoder_decoder:
        return "seq2seq"
    names = getattr(config, "architectures", None) or ()
    # ForPreTraining: BERT's masks and next sentences
    masked = any(name.endswith(("ForMaskedLM", "ForPreTraining")) for name in names)
    return "masked" if masked and not getattr(config, "is_decoder", False) else "causal"


def load_model(settings: Transformers, kind: Kind | None = None) -> Loaded:
    """The tokenizer and the model of the settings; without `kind`, as one that writes.

    `UserError` where PyTorch or the model is missing.
    """
    require_torch()
    import torch
    import transformers as tf

    if settings.threads:
        torch.set_num_threads(settings.threads)
    logging: Any = tf.utils.logging
    logging.disable_progress_bar()  # a line a second into a log
    if kind is None:
        kind = "seq2seq" if model_kind(settings) == "seq2seq" else "causal"
    tokenizer: Any = _or_told(settings, tf.AutoTokenizer.from_pretrained)
    dtype = settings.dtype if settings.dtype == "auto" else getattr(torch, settings.dtype)
    device = {"device_map": "auto"} if settings.device == "auto" else {}
    make = getattr(tf, _LOADERS[kind]).from_pretrained
    model: Any = _or_told(settings, make, dtype=dtype, **device)
    if settings.device != "auto":
        model.to(settings.device)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = tokenizer.truncation_side = "left"
    if kind == "seq2seq":
        tokenizer.padding_side = "right"
    return Loaded(torch, tokenizer, model.eval(), kind)


def _or_told(settings: Transformers, load: Callable[..., Any], **more: Any) -> Any:
    """What `load` finds under the settings' name; `UserError` where that is nothing."""
    where = {"revision": settings.revision} if settings.revision else {}
    model, path = settings.model, Path(settings.model)
    of_disk = path.is_absolute() or model[0] == "." or model.count("/") > 1 or path.suffix == _GGUF
    if of_disk and not path.exists():
        raise UserError("there is no such folder or file", where=model)
    if path.suffix == _GGUF and path.is_file():
        model, where = str(path.parent), {"gguf_file": path.name}
    try:
        return load(model, **where, **more)
    except ImportError as error:
        hint = "pip install gguf" if "gguf" in str(error).lower() else install_extra("lm")
        raise UserError(str(error).strip().splitlines()[0], hint=hint) from error
    except (OSError, ValueError) as error:
        raise UserError(
            f"the model {settings.model!r} cannot be loaded: {str(error).splitlines()[0]}",
            hint="give the folder of a downloaded model, or go online once",
        ) from error


def chat_prompt(text: str, tokenizer: Any, options: Mapping[str, JsonValue] | None = None) -> str:
    """A prompt as the only message of a chat, in the tokenizer's own template."""
    if not tokenizer.chat_template:
        raise UserError("its tokenizer has no chat template", hint="leave out `chat`")
    message = [{"role": "user", "content": text}]
    more = dict(options or {})
    made = tokenizer.apply_chat_template(
        message, tokenize=False, add_generation_prompt=True, **more
    )
    return str(made)


def weights_fingerprint(model: str) -> dict[str, str]:
    """What tells a model in a folder from another one of its name, wherever the folder lies.

    The names and sizes of its files, and how they end: training moves the last weights, too.
    """
    path = Path(model)
    files = sorted(one for one in path.iterdir() if one.is_file()) if path.is_dir() else [path]
    found = []
    for one in files:
        if one.is_file():
            with one.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _END))
                found.append([one.name, size, sha256(file.read()).hexdigest()])
    return {"files": digest(found)} if found else {}


def first_mask(row: Any, tokenizer: Any) -> Any:
    """The tokens up to T5's second sentinel: what the model puts into the first masked place."""
    second = tokenizer.get_added_vocab().get("<extra_id_1>")
    ends = [n for n, token in enumerate(row.tolist()) if token == second]
    return row[: ends[0]] if ends else row


def context_size(model: Any, tokenizer: Any) -> int:
    """The number of tokens that the model can read."""
    known = getattr(model.config, "max_position_embeddings", None)
    known = known or getattr(model.config, "n_positions", None)
    return int(min(known or 100_000, tokenizer.model_max_length, 100_000))
