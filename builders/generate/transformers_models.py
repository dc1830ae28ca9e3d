"""Questions and answers of a language model on this machine, through transformers."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field, JsonValue

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import ModelName
from factdrift.builders.core.hashing import digest, seeded_index
from factdrift.builders.core.hints import install_extra, require_extra
from factdrift.builders.generate import prompts as p
from factdrift.builders.generate.protocol import Kind, OnResult, Result, Shape, Usage

_GGUF = ".gguf"
_ENDING = 1 << 20
"""Bytes of a model's file that are compared: its last ones, which are all of a small one."""
_MOST_TOKENS = 100_000
"""Tokens of a context at most: some tokenizers say 10^30, and no prompt of ours is as long."""
_LOADERS: Mapping[Kind, str] = {
    "causal": "AutoModelForCausalLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
    "masked": "AutoModelForMaskedLM",
}


class Transformers(p.ModelSettings):
    """Any causal or sequence-to-sequence model, by name or folder.

    `dtype`: how its numbers are held.
    """

    libraries: ClassVar[tuple[str, ...]] = ("torch", "accelerate", "transformers")
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
        """Check what every model checks, PyTorch, and that the model can be loaded."""
        super().check()
        if not offline:
            model_kind(self)

    def kind(self) -> Kind:
        """Return the kind of the model by its configuration; no weights are loaded."""
        return model_kind(self)

    def open(self, seed: int) -> "TransformersBackend":
        """Return the model; its weights are loaded at the first request."""
        return TransformersBackend(self, seed)


class TransformersBackend(p.PromptedModel):
    """Writes the likeliest text by default, `batch` prompts at a time; shorter ones are padded.

    Padding changes the last digits of a model's floats, which can decide between two words that are
    about as likely. So `batch` is part of the identity, and results of one size are never used for
    another. With a temperature each request is alone in its batch, with a generator of its own.
    """

    def __init__(self, settings: Transformers, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self._size = 1 if settings.temperature else settings.batch
        self.prompts = p.load_prompts(settings.prompts)
        self.characters = settings.characters
        self.name = f"transformers:{Path(settings.model).name}"
        field_names = {"backend", "model", "revision", "dtype", "new_tokens", "temperature"}
        model_settings = settings.model_dump(
            mode="json", include=field_names | {"chat", "template"}
        )
        self._stop = () if settings.chat else settings.stop
        content_parts: dict[str, Any] = weights_fingerprint(settings.model)
        content_parts |= {"stop": self._stop} if self._stop else {}
        self.identity = p.model_identity(
            **model_settings, **content_parts, batch=self._size, seed=seed
        )
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
        """Return everything that the model writes after each text; it is held to no form."""
        results: list[Result] = []
        for batch_start in range(0, len(texts), self._size):
            batch_texts = texts[batch_start : batch_start + self._size]
            for text, cut_off in self._complete_batch(batch_texts):
                index, result = len(results), Result(text)
                # As of a server's answers: only JSON is of no use without its end.
                needs_end = self.settings.chat and shape is not None
                if cut_off and (needs_end or not text.strip()):
                    result = Result(None, "cut_off", f"raise new_tokens: {text[:80]}")
                results.append(result)
                hand_on = partial(on_result or (lambda *_: None), index, result)
                self._first.see(result, parse or Result, hand_on)
        self._first.end()
        return results

    def _complete_batch(self, texts: Sequence[str]) -> list[tuple[str, bool]]:
        """Return the model's continuation of each text, and whether the length limit cut it off."""
        self._loaded = self._loaded or load_model(self.settings)
        torch, tokenizer, model, kind = self._loaded
        if self.settings.chat:
            texts = [chat_prompt(text, tokenizer, self.settings.template) for text in texts]
        model_inputs, prompt_tokens, cut_prompts = self._tokenize(texts, self._loaded)
        generate_options: dict[str, Any] = {"do_sample": False}
        if self.settings.temperature:
            torch.manual_seed(seeded_index(2**63, self.seed, texts[0]))
            generate_options = {"do_sample": True, "temperature": self.settings.temperature}
        # a causal model gives its prompt back before what it writes
        output_start = 0 if kind == "seq2seq" else model_inputs["input_ids"].shape[1]
        if self._stop:
            generate_options["stopping_criteria"] = [
                self._stopping_criterion(self._loaded, output_start)
            ]
        with torch.inference_mode():
            output_tokens = model.generate(
                **model_inputs,
                max_new_tokens=self.settings.new_tokens,
                pad_token_id=tokenizer.pad_token_id,
                **generate_options,
            )
        new_tokens = output_tokens[:, output_start:]
        written_count = int((new_tokens != tokenizer.pad_token_id).sum())
        self.usage.add(calls=len(texts), read=prompt_tokens, written=written_count, cut=cut_prompts)
        end_tokens = {tokenizer.pad_token_id, *_end_tokens(model)}
        completions = []
        for token_row in new_tokens:
            text = tokenizer.decode(first_mask(token_row, tokenizer), skip_special_tokens=True)
            fills_output = len(token_row) == self.settings.new_tokens
            completions.append((text, fills_output and int(token_row[-1]) not in end_tokens))
        return completions

    def _tokenize(self, texts: Sequence[str], loaded: "Loaded") -> tuple[Any, int, int]:
        """The padded tokens of prompts, how many tokens they have, and how many prompts are cut.

        A prompt that is too long loses its beginning: the article and the request are at its end.
        """
        _, tokenizer, model, kind = loaded
        prompt_room = context_size(model, tokenizer)
        if kind != "seq2seq":  # what the model writes shares the context with its prompt
            prompt_room -= self.settings.new_tokens
        if prompt_room < 1:
            raise UserError(f"{self.name}: new_tokens leaves no room for a prompt")
        # a chat template writes the special tokens itself
        special_tokens: dict[str, Any] = {"add_special_tokens": not self.settings.chat}
        model_inputs = tokenizer(
            list(texts),
            return_tensors="pt",
            padding=True,
            truncation=True,
            max_length=prompt_room,
            **special_tokens,
        ).to(model.device)
        model_inputs.pop("token_type_ids", None)
        token_counts = model_inputs["attention_mask"].sum(dim=1).tolist()
        cut_prompts = 0
        for prompt_text, token_count in zip(texts, token_counts, strict=True):
            if token_count >= prompt_room:  # only a prompt that fills the room may have been cut
                cut_prompts += (
                    len(tokenizer(prompt_text, **special_tokens)["input_ids"]) > prompt_room
                )
        return model_inputs, sum(token_counts), cut_prompts

    def _stopping_criterion(self, loaded: "Loaded", output_start: int) -> Callable[..., Any]:
        """A test of transformers that ends each text which holds one of the stops."""
        torch, tokenizer, _, _ = loaded

        def has_stop(token_ids: Any, scores: Any, **_: Any) -> Any:
            texts = tokenizer.batch_decode(token_ids[:, output_start:], skip_special_tokens=True)
            ended = [any(stop in text for stop in self._stop) for text in texts]
            return torch.tensor(ended, device=token_ids.device)

        return has_stop


class Loaded(NamedTuple):
    """PyTorch, a tokenizer and a model, ready to be asked."""

    torch: Any
    tokenizer: Any
    model: Any
    kind: Kind


def require_torch() -> None:
    """Raise a `UserError` with the line that installs PyTorch, where it is missing."""
    require_extra("lm", "the backend `transformers` needs PyTorch")


def model_kind(settings: Transformers) -> Kind:
    """Return the kind of the model by its configuration; no weights are loaded."""
    require_torch()
    import transformers as tf

    model_config = _load_or_explain(settings, tf.AutoConfig.from_pretrained)
    if model_config.is_encoder_decoder:
        return "seq2seq"
    class_names = getattr(model_config, "architectures", None) or ()
    # ForPreTraining: BERT's masks and next sentences
    has_masks = any(
        class_name.endswith(("ForMaskedLM", "ForPreTraining")) for class_name in class_names
    )
    return "masked" if has_masks and not getattr(model_config, "is_decoder", False) else "causal"


def load_model(settings: Transformers, kind: Kind | None = None) -> Loaded:
    """Load the tokenizer and the model of the settings; without `kind`, as a model that writes.

    `UserError` where PyTorch or the model is missing.
    """
    require_torch()
    import torch
    import transformers as tf

    if settings.threads:
        torch.set_num_threads(settings.threads)
    tf_logging: Any = tf.utils.logging
    tf_logging.disable_progress_bar()  # a line a second into a log
    if kind is None:
        kind = "seq2seq" if model_kind(settings) == "seq2seq" else "causal"
    tokenizer: Any = _load_or_explain(settings, tf.AutoTokenizer.from_pretrained)
    dtype = settings.dtype if settings.dtype == "auto" else getattr(torch, settings.dtype)
    device_options = {"device_map": "auto"} if settings.device == "auto" else {}
    load_weights = getattr(tf, _LOADERS[kind]).from_pretrained
    model: Any = _load_or_explain(settings, load_weights, dtype=dtype, **device_options)
    if settings.device != "auto":
        model.to(settings.device)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = tokenizer.truncation_side = "left"
    if kind == "seq2seq":
        tokenizer.padding_side = "right"
    return Loaded(torch, tokenizer, model.eval(), kind)


def _load_or_explain(settings: Transformers, load: Callable[..., Any], **more_options: Any) -> Any:
    """Load what the settings name; `UserError` where there is no such model."""
    load_options = {"revision": settings.revision} if settings.revision else {}
    model_name, model_path = settings.model, Path(settings.model)
    # a name on the hub has one slash at most: owner/name
    on_disk = (
        model_path.is_absolute()
        or model_name[0] == "."
        or model_name.count("/") > 1
        or model_path.suffix == _GGUF
    )
    if on_disk and not model_path.exists():
        raise UserError("there is no such folder or file", where=model_name)
    if model_path.suffix == _GGUF and model_path.is_file():
        model_name, load_options = str(model_path.parent), {"gguf_file": model_path.name}
    try:
        return load(model_name, **load_options, **more_options)
    except ImportError as error:
        raise UserError(str(error).strip().splitlines()[0], hint=install_extra("lm")) from error
    except (OSError, ValueError) as error:
        raise UserError(
            f"the model {settings.model!r} cannot be loaded: {str(error).splitlines()[0]}",
            hint="give the folder of a downloaded model, or go online once",
        ) from error


def chat_prompt(
    prompt_text: str, tokenizer: Any, options: Mapping[str, JsonValue] | None = None
) -> str:
    """Return a prompt as the only message of a chat, in the tokenizer's own template."""
    if not tokenizer.chat_template:
        raise UserError("its tokenizer has no chat template", hint="leave out `chat`")
    messages = [{"role": "user", "content": prompt_text}]
    full_prompt = tokenizer.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=True, **dict(options or {})
    )
    return str(full_prompt)


def weights_fingerprint(model: str) -> dict[str, str]:
    """Return a digest that tells a model in a folder from another one of the same name.

    It covers the names, sizes and ends of its files, wherever the folder lies: training changes the
    last weights, too. Empty for a model that is no folder or file.
    """
    model_path = Path(model)
    file_paths = sorted(model_path.iterdir()) if model_path.is_dir() else [model_path]
    file_endings = []
    for file_path in file_paths:
        if file_path.is_file():
            with file_path.open("rb") as file:
                file_size = file.seek(0, os.SEEK_END)
                file.seek(max(0, file_size - _ENDING))
                file_endings.append([file_path.name, file_size, sha256(file.read()).hexdigest()])
    return {"files": digest(file_endings)} if file_endings else {}


def first_mask(token_row: Any, tokenizer: Any) -> Any:
    """Return the tokens before T5's second sentinel: what the model puts into the first mask."""
    second_sentinel = tokenizer.get_added_vocab().get("<extra_id_1>")
    for index, token in enumerate(token_row.tolist()):
        if token == second_sentinel:
            return token_row[:index]
    return token_row


def _end_tokens(model: Any) -> list[int]:
    """The tokens that end a text: a model has one or several."""
    end_tokens = model.generation_config.eos_token_id
    return end_tokens if isinstance(end_tokens, list) else [end_tokens]


def context_size(model: Any, tokenizer: Any) -> int:
    """Return the number of tokens that the model can read."""
    stated_size = getattr(model.config, "max_position_embeddings", None)
    stated_size = stated_size or getattr(model.config, "n_positions", None)
    return int(min(stated_size or _MOST_TOKENS, tokenizer.model_max_length, _MOST_TOKENS))
