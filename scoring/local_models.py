"""Models on this machine that give numbers: masks filled, words ranked, log-likelihoods.

The three views of Margatina et al. (2023), section 3.3: `Masked.rank` (single-token probing),
`Masked.fill` (multi-token generation), `Masked.likelihoods` (MLM scoring, Salazar et al. 2020).
`Writing.likelihoods` is the same for models that write. Every forward pass takes `batch` texts of
about the same length.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from factdrift.builders.core.errors import UserError
from factdrift.builders.generate import prompts as p
from factdrift.builders.generate.protocol import Kind, OnResult, Result, Shape, Usage
from factdrift.builders.generate.transformers_models import (
    Transformers,
    chat_prompt,
    context_size,
    load_model,
    weights_fingerprint,
)
from factdrift.scoring.views import ModelQuestion, View

MASKS = 5
"""Most masks in a gap."""
TOP = 100
"""Words that are ranked."""
Scores = list[float | None]
"""The log-likelihood of each option of a question; None where the model has no tokens for it."""


class _TokenText(NamedTuple):
    """A text in tokens, and the places of those that are asked about."""

    ids: list[int]
    places: list[int]


class LocalModel(p.PromptedModel):
    """A model whose weights are loaded when it is asked first.

    A prompt is a `ModelQuestion` as JSON, and so is what comes back: words in order, or a number
    for each option, to 6 decimals. `blank`: what stands for the gap before one that writes.
    """

    torch: Any = None
    tokenizer: Any
    model: Any
    room: int

    def __init__(
        self, settings: Transformers, view: View, kind: Kind, blank: str | None = None
    ) -> None:
        self.settings, self.view, self.kind, self.blank = settings, view, kind, blank
        self.prompts, self.characters = p.load_prompts(settings.prompts), settings.characters
        self.name = f"transformers:{Path(settings.model).name}"
        self.identity = p.model_identity(
            view="likelihood" if view == "choices" else view,
            kind=kind,
            **settings.model_dump(include={"model", "revision", "dtype", "chat", "batch"}),
            blank=blank,
            **weights_fingerprint(settings.model),
        )
        self.usage = Usage()

    def complete(
        self,
        texts: Sequence[str],
        on_result: OnResult | None = None,
        *,
        shape: Shape | None = None,
        parse: p.ParseText | None = None,
    ) -> list[Result]:
        """What the model says of each question."""
        self.load()
        results: list[Result] = []
        size = self.settings.batch
        for batch_start in range(0, len(texts), size):
            questions = [
                msgspec.json.decode(text, type=ModelQuestion)
                for text in texts[batch_start : batch_start + size]
            ]
            for answer in self.answers(questions):
                results.append(Result(msgspec.json.encode(answer).decode()))
                if on_result:
                    on_result(len(results) - 1, results[-1])
        return results

    def load(self) -> None:
        """Load the weights, once. `UserError` where the model cannot be asked for numbers."""
        if self.torch:
            return
        self.torch, self.tokenizer, self.model, _ = load_model(self.settings, self.kind)
        # before a whole text that is gone on with there is a token more
        self.room = context_size(self.model, self.tokenizer) - (self.kind == "causal")
        if not self.tokenizer.is_fast:
            raise UserError(
                "its tokenizer does not say where in a text its tokens stand",
                hint="take a model with a fast tokenizer (a tokenizer.json)",
            )
        if self.kind == "masked" and self.tokenizer.mask_token is None:
            raise UserError("its tokenizer has no mask token", hint="take a masked model")

    def answers(self, questions: Sequence[ModelQuestion]) -> Sequence[object]:
        """What the view asks for."""
        return [
            [score if score is None else round(score, 6) for score in scores]
            for scores in self.likelihoods(questions)
        ]

    @abstractmethod
    def likelihoods(self, questions: Sequence[ModelQuestion]) -> list[Scores]:
        """The log-likelihoods of the options of each question."""

    def _tokens(
        self, before: str, middle: str, after: str = "", special: bool = True
    ) -> _TokenText:
        """A text in tokens, and the places of those that hold something of its middle."""
        encoded = self.tokenizer(
            before + middle + after,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            add_special_tokens=special,
        )
        start, end = len(before), len(before) + len(middle)
        marks = zip(encoded["offset_mapping"], encoded["special_tokens_mask"], strict=True)
        places = [
            place
            for place, ((token_start, token_end), mark) in enumerate(marks)
            if not mark and token_start < min(token_end, end) and token_end > start
        ]
        return self._fitted(list(encoded["input_ids"]), places)

    def _fitted(self, ids: list[int], places: list[int]) -> _TokenText:
        """What the model has room for up to the last place, or to the end where there is none."""
        if len(ids) <= self.room:
            return _TokenText(ids, places)
        self.usage.add(calls=0, cut=1)
        low = max(places[-1] + 1 if places else len(ids), self.room) - self.room
        ids = ids[low : low + self.room]
        return _TokenText(ids, [place - low for place in places if place > low])

    def _padded(self, rows: Sequence[Sequence[int]], fill: int) -> Any:
        tensors = [self.torch.tensor(row) for row in rows]
        pad = self.torch.nn.utils.rnn.pad_sequence
        return pad(tensors, batch_first=True, padding_value=fill).to(self.model.device)

    def _inputs(self, rows: Sequence[Sequence[int]]) -> dict[str, Any]:
        ids = self._padded(rows, self.tokenizer.pad_token_id or 0)
        return {
            "input_ids": ids,
            "attention_mask": self._padded([[1] * len(row) for row in rows], 0),
        }

    def _batches(self, rows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """The places of rows of about the same length, `batch` at a time."""
        order = sorted(range(len(rows)), key=lambda row_number: (len(rows[row_number]), row_number))
        size = self.settings.batch
        return (
            order[batch_start : batch_start + size] for batch_start in range(0, len(order), size)
        )

    def _chosen(self, log_probabilities: Any, ids: Sequence[int]) -> list[float]:
        """Of each row of log-probabilities the one of its token."""
        token_ids = self.torch.tensor(list(ids), device=log_probabilities.device)
        chosen = log_probabilities.gather(1, token_ids.unsqueeze(1)).squeeze(1)
        values: list[float] = chosen.double().tolist()
        return values


class MaskedModel(LocalModel):
    """A model that fills in masks (BERT, RoBERTa)."""

    def answers(self, questions: Sequence[ModelQuestion]) -> Sequence[object]:
        """Words in order, or numbers."""
        if self.view == "rank":
            return self.rank(questions, TOP)
        if self.view == "mask":
            return self.fill(questions, MASKS)
        return super().answers(questions)

    def fill(self, gaps: Sequence[ModelQuestion], most: int) -> list[list[str]]:
        """Texts for each gap, the best first: of 1 to `most` masks, filled from left to right.

        Each mask takes the likeliest token, given those before it. Texts are ranked by the mean
        log-probability of their tokens; one that several numbers of masks give stands once.
        """
        scores_by_gap: list[dict[str, float]] = [{} for _ in gaps]
        for mask_count in range(1, most + 1):
            texts = [self._with_masks(gap, mask_count) for gap in gaps]
            rows = [list(text.ids) for text in texts]
            totals = [0.0] * len(gaps)
            for step in range(mask_count):
                places = [text.places[step] for text in texts]
                for row_numbers, scores in self._at(rows, places):
                    best, words = self._words(scores).max(dim=1)
                    for row_number, value, word in zip(
                        row_numbers, best.tolist(), words.tolist(), strict=True
                    ):
                        rows[row_number][places[row_number]] = word
                        totals[row_number] += value
            for row_number, text in enumerate(texts):
                written = self._written([rows[row_number][place] for place in text.places])
                mean = totals[row_number] / mask_count
                if written:
                    scores_by_gap[row_number][written] = max(
                        scores_by_gap[row_number].get(written, mean), mean
                    )
        return [
            sorted(text_scores, key=lambda text: (-text_scores[text], text))
            for text_scores in scores_by_gap
        ]

    def rank(self, gaps: Sequence[ModelQuestion], top: int) -> list[list[str]]:
        """The `top` likeliest words of one token for each gap, the best first, each once."""
        texts = [self._with_masks(gap, 1) for gap in gaps]
        words_by_gap: list[list[str]] = [[] for _ in gaps]
        for row_numbers, scores in self._at(
            [token_text.ids for token_text in texts], [token_text.places[0] for token_text in texts]
        ):
            # tokens of a word with and without a space are one word, and some are no words
            candidate_count = min(2 * top + 16, scores.shape[1])
            best = self._words(scores).topk(candidate_count, dim=1)[1].tolist()
            for row_number, ids in zip(row_numbers, best, strict=True):
                words = dict.fromkeys(self._written([token_id]) for token_id in ids)
                words_by_gap[row_number] = [word for word in words if word][:top]
        return words_by_gap

    def likelihoods(self, questions: Sequence[ModelQuestion]) -> list[Scores]:
        """The pseudo-log-likelihood of each option in its gap.

        The sum over the option's tokens of the log-probability of the token where it alone is
        masked. None also where the model cannot write it.
        """
        texts = []
        for question in questions:
            before, after = self._plain(question.text), self._plain(question.after)
            texts += [
                self._tokens(before, self._plain(option), after) for option in question.options
            ]
        totals = self._masked_totals(texts)
        unknown = self.tokenizer.unk_token_id
        likelihoods: Scores = []
        for text, total in zip(texts, totals, strict=True):
            option_ids = {text.ids[place] for place in text.places}
            likelihoods.append(total if option_ids and unknown not in option_ids else None)
        flow = iter(likelihoods)
        return [list(islice(flow, len(question.options))) for question in questions]

    def _masked_totals(self, texts: Sequence[_TokenText]) -> list[float]:
        """For each text the sum over its places of the log-probability of the token there, each
        place masked alone."""
        rows: list[list[int]] = []
        masked: list[tuple[int, int]] = []  # text number and place of each row
        for number, text in enumerate(texts):
            for place in text.places:
                ids = list(text.ids)
                ids[place] = self.tokenizer.mask_token_id
                rows.append(ids)
                masked.append((number, place))
        totals = [0.0] * len(texts)
        for row_numbers, scores in self._at(rows, [place for _, place in masked]):
            batch = [masked[row_number] for row_number in row_numbers]
            token_ids = [texts[number].ids[place] for number, place in batch]
            values = self._chosen(scores, token_ids)
            for (number, _), value in zip(batch, values, strict=True):
                totals[number] += value
        return totals

    def _with_masks(self, gap: ModelQuestion, number: int) -> _TokenText:
        """A statement with masks in its gap, and their places."""
        masks = self.tokenizer.mask_token * number
        ids = self.tokenizer(self._plain(gap.text) + masks + self._plain(gap.after))["input_ids"]
        places = [
            place for place, token_id in enumerate(ids) if token_id == self.tokenizer.mask_token_id
        ]
        return self._fitted(list(ids), places)

    def _plain(self, text: str) -> str:
        """A text without masks of its own."""
        return text.replace(self.tokenizer.mask_token, " ")

    def _at(
        self, rows: Sequence[Sequence[int]], places: Sequence[int]
    ) -> Iterator[tuple[list[int], Any]]:
        """The log-probabilities of all tokens at one place of each row, some rows at a time."""
        for row_numbers in self._batches(rows):
            batch_rows = [rows[row_number] for row_number in row_numbers]
            self.usage.add(read=sum(map(len, batch_rows)))
            with self.torch.inference_mode():
                logits = self.model(**self._inputs(batch_rows)).logits
                batch_places = [places[row_number] for row_number in row_numbers]
                yield (
                    row_numbers,
                    logits[range(len(row_numbers)), batch_places].float().log_softmax(dim=-1),
                )

    def _words(self, scores: Any) -> Any:
        """Without the tokens that are no words."""
        scores[:, self.tokenizer.all_special_ids] = -self.torch.inf
        scores[:, len(self.tokenizer) :] = -self.torch.inf
        return scores

    def _written(self, ids: Sequence[int]) -> str:
        return str(self.tokenizer.decode(ids, skip_special_tokens=True)).strip()


class GenerativeModel(LocalModel):
    """A model that writes (causal, sequence-to-sequence), asked how likely texts are."""

    def likelihoods(self, questions: Sequence[ModelQuestion]) -> list[Scores]:
        """The log-likelihood of each option, with what follows it, after the text.

        The sum over the tokens that hold something of them.
        """
        ask = self._of_seq2seq if self.kind == "seq2seq" else self._of_causal
        likelihoods = []
        for question in questions:
            if self.settings.chat:
                text = chat_prompt(question.text, self.tokenizer)
                likelihoods.append(
                    ask(text, [option.lstrip() + question.after for option in question.options])
                )
            else:
                likelihoods.append(
                    ask(question.text, [option + question.after for option in question.options])
                )
        return likelihoods

    def _of_causal(self, before: str, options: Sequence[str]) -> Scores:
        """The log-likelihoods of options after a text; what all begin with is read once."""
        texts = [self._after(before, option) for option in options]
        likelihoods: Scores = [None] * len(texts)
        tokenized = [number for number, text in enumerate(texts) if text.places]
        head = self._shared_head([texts[number] for number in tokenized])
        cache = self._cached(head) if head else None
        start = len(head) if cache else 0
        self.usage.add(calls=0, read=start)
        rests = [texts[number].ids[start:] for number in tokenized]
        for row_numbers in self._batches(rests):
            batch_rows = [rests[row_number] for row_number in row_numbers]
            self.usage.add(read=sum(map(len, batch_rows)))
            logits = self._logits_after(cache, start, batch_rows)
            for row_logits, row_number in zip(logits, row_numbers, strict=True):
                number = tokenized[row_number]
                ids, places = texts[number]
                # the logits at a token tell the one behind it
                logit_places = [place - 1 - start for place in places]
                token_ids = [ids[place] for place in places]
                likelihoods[number] = self._sum(row_logits[logit_places], token_ids)
        return likelihoods

    def _shared_head(self, texts: Sequence[_TokenText]) -> list[int]:
        """The tokens that all texts begin with, short of the one before the first place."""
        lowest = min((text.places[0] for text in texts), default=1)
        columns = zip(*(text.ids[: lowest - 1] for text in texts), strict=False)
        return [column[0] for column in takewhile(lambda column: len({*column}) == 1, columns)]

    def _logits_after(self, cache: Any, start: int, rows: Sequence[Sequence[int]]) -> Any:
        """The model's logits for rows of tokens that go on from `start` cached ones, if any."""
        inputs = self._inputs(rows)
        if cache:
            mask = inputs["attention_mask"]
            cached_mask = mask.new_ones((len(rows), start))
            inputs["attention_mask"] = self.torch.cat([cached_mask, mask], dim=1)
            inputs["past_key_values"] = deepcopy(cache)
            inputs["past_key_values"].batch_repeat_interleave(len(rows))
        with self.torch.inference_mode():
            return self.model(**inputs).logits

    def _cached(self, head: list[int]) -> Any:
        """What the model holds of a beginning; None where it holds nothing that can be copied."""
        with self.torch.inference_mode():
            read = self.model(**self._inputs([head]), use_cache=True)
        cache = getattr(read, "past_key_values", None)
        return cache if hasattr(cache, "batch_repeat_interleave") else None

    def _after(self, first: str, second: str) -> _TokenText:
        """Both texts in tokens; the first of all has one before it, from which it follows."""
        text = self._tokens(first, second, special=not self.settings.chat)
        if not text.places or text.places[0] > 0:
            return text
        begin = self.tokenizer.bos_token_id
        begin = self.tokenizer.eos_token_id if begin is None else begin
        if begin is None:
            return _TokenText(text.ids, text.places[1:])
        return _TokenText([begin, *text.ids], [place + 1 for place in text.places])

    def _of_seq2seq(self, before: str, options: Sequence[str]) -> Scores:
        """The model reads the text and writes the option; where the gap is one of its sentinels,
        it writes the sentinel before it, as it was trained to."""
        blank = self.tokenizer.get_added_vocab().get(self.blank)
        lead = [] if blank is None else [blank]
        ids = self._tokens(before, "", special=not self.settings.chat).ids
        likelihoods: Scores = [None] * len(options)
        option_ids = [
            self.tokenizer(option.strip(), add_special_tokens=False)["input_ids"]
            for option in options
        ]
        tokenized_options = [
            number for number, batch_numbers in enumerate(option_ids) if batch_numbers
        ]
        for batch_numbers in self._batches([option_ids[number] for number in tokenized_options]):
            labels = [[*lead, *option_ids[tokenized_options[number]]] for number in batch_numbers]
            self.usage.add(read=sum(len(ids) + len(label) for label in labels))
            with self.torch.inference_mode():
                inputs = self._inputs([ids] * len(batch_numbers))
                logits = self.model(**inputs, labels=self._padded(labels, -100)).logits
            for row, number, label in zip(logits, batch_numbers, labels, strict=True):
                likelihoods[tokenized_options[number]] = self._sum(
                    row[len(lead) : len(label)], label[len(lead) :]
                )
        return likelihoods

    def _sum(self, logits: Any, ids: Sequence[int]) -> float:
        return sum(self._chosen(logits.float().log_softmax(dim=-1), ids))
