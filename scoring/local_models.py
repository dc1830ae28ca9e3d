"""Models on this machine that give numbers: masks filled, words ranked, log-likelihoods.

The three views of Margatina et al. (2023), section 3.3: `MaskedModel.rank` (single-token probing),
`MaskedModel.fill` (multi-token generation) and `MaskedModel.likelihoods` (MLM scoring, Salazar et
al. 2020). `GenerativeModel.likelihoods` is the same for models that write. Every forward pass takes
`batch` texts of about the same length.
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
"""The most masks in a gap: `n` masks cost `n` forward passes for every row."""
TOP = 100
"""Words that are ranked: more than any metric looks at (`mrr` hardly changes beyond)."""
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
        """Ask the model each question, in batches."""
        self.load()
        results: list[Result] = []
        batch_size = self.settings.batch
        for batch_start in range(0, len(texts), batch_size):
            questions = [
                msgspec.json.decode(text, type=ModelQuestion)
                for text in texts[batch_start : batch_start + batch_size]
            ]
            for view_answer in self.answers(questions):
                results.append(Result(msgspec.json.encode(view_answer).decode()))
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
        """Return the answer of the view to each question: here, a number for each option."""
        return [
            [
                option_score if option_score is None else round(option_score, 6)
                for option_score in option_scores
            ]
            for option_scores in self.likelihoods(questions)
        ]

    @abstractmethod
    def likelihoods(self, questions: Sequence[ModelQuestion]) -> list[Scores]:
        """The log-likelihoods of the options of each question."""

    def _tokens(
        self, text_before: str, middle_text: str, text_after: str = "", add_special: bool = True
    ) -> _TokenText:
        """A text in tokens, and the places of those that hold something of its middle."""
        encoded = self.tokenizer(
            text_before + middle_text + text_after,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            add_special_tokens=add_special,
        )
        middle_start, middle_end = len(text_before), len(text_before) + len(middle_text)
        token_marks = zip(encoded["offset_mapping"], encoded["special_tokens_mask"], strict=True)
        places = [
            place
            for place, ((token_start, token_end), is_special) in enumerate(token_marks)
            if not is_special
            and token_start < min(token_end, middle_end)
            and token_end > middle_start
        ]
        return self._fitted(list(encoded["input_ids"]), places)

    def _fitted(self, ids: list[int], places: list[int]) -> _TokenText:
        """Cut a text to the context size of the model: the tokens up to the last place stay."""
        if len(ids) <= self.room:
            return _TokenText(ids, places)
        self.usage.add(calls=0, cut=1)
        first_place = max(places[-1] + 1 if places else len(ids), self.room) - self.room
        ids = ids[first_place : first_place + self.room]
        return _TokenText(ids, [place - first_place for place in places if place > first_place])

    def _padded(self, id_rows: Sequence[Sequence[int]], fill_id: int) -> Any:
        row_tensors = [self.torch.tensor(id_row) for id_row in id_rows]
        pad_sequence = self.torch.nn.utils.rnn.pad_sequence
        return pad_sequence(row_tensors, batch_first=True, padding_value=fill_id).to(
            self.model.device
        )

    def _inputs(self, id_rows: Sequence[Sequence[int]]) -> dict[str, Any]:
        ids = self._padded(id_rows, self.tokenizer.pad_token_id or 0)
        return {
            "input_ids": ids,
            "attention_mask": self._padded([[1] * len(id_row) for id_row in id_rows], 0),
        }

    def _batches(self, id_rows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """The places of rows of about the same length, `batch` at a time."""
        length_order = sorted(
            range(len(id_rows)), key=lambda row_number: (len(id_rows[row_number]), row_number)
        )
        batch_size = self.settings.batch
        return (
            length_order[batch_start : batch_start + batch_size]
            for batch_start in range(0, len(length_order), batch_size)
        )

    def _chosen(self, log_probabilities: Any, ids: Sequence[int]) -> list[float]:
        """Return, from each row of log-probabilities, that of the row's token."""
        token_ids = self.torch.tensor(list(ids), device=log_probabilities.device)
        token_likelihoods = log_probabilities.gather(1, token_ids.unsqueeze(1)).squeeze(1)
        token_values: list[float] = token_likelihoods.double().tolist()
        return token_values


class MaskedModel(LocalModel):
    """A model that fills in masks (BERT, RoBERTa)."""

    def answers(self, questions: Sequence[ModelQuestion]) -> Sequence[object]:
        """Words in order, or numbers."""
        if self.view == "rank":
            return self.rank(questions, TOP)
        if self.view == "mask":
            return self.fill(questions, MASKS)
        return super().answers(questions)

    def fill(self, gaps: Sequence[ModelQuestion], most_masks: int) -> list[list[str]]:
        """Texts for each gap, the best first: 1 to `most_masks` masks, filled from left to right.

        Each mask takes the likeliest token, given those before it. Texts are ranked by the mean
        log-probability of their tokens; one that several numbers of masks give stands once.
        """
        scores_by_gap: list[dict[str, float]] = [{} for _ in gaps]
        for mask_count in range(1, most_masks + 1):
            token_texts = [self._with_masks(gap, mask_count) for gap in gaps]
            id_rows = [list(masked_text.ids) for masked_text in token_texts]
            text_totals = [0.0] * len(gaps)
            for mask_step in range(mask_count):
                places = [masked_text.places[mask_step] for masked_text in token_texts]
                for row_numbers, token_scores in self._log_probabilities_at(id_rows, places):
                    best_scores, word_ids = self._words(token_scores).max(dim=1)
                    for row_number, token_score, word_id in zip(
                        row_numbers, best_scores.tolist(), word_ids.tolist(), strict=True
                    ):
                        id_rows[row_number][places[row_number]] = word_id
                        text_totals[row_number] += token_score
            for row_number, masked_text in enumerate(token_texts):
                filled_text = self._written(
                    [id_rows[row_number][place] for place in masked_text.places]
                )
                mean_score = text_totals[row_number] / mask_count
                if filled_text:
                    scores_by_gap[row_number][filled_text] = max(
                        scores_by_gap[row_number].get(filled_text, mean_score), mean_score
                    )
        return [
            sorted(text_scores, key=lambda masked_text: (-text_scores[masked_text], masked_text))
            for text_scores in scores_by_gap
        ]

    def rank(self, gaps: Sequence[ModelQuestion], word_count: int) -> list[list[str]]:
        """The `word_count` likeliest words of one token for each gap, the best first, each once."""
        token_texts = [self._with_masks(gap, 1) for gap in gaps]
        words_by_gap: list[list[str]] = [[] for _ in gaps]
        for row_numbers, token_scores in self._log_probabilities_at(
            [token_text.ids for token_text in token_texts],
            [token_text.places[0] for token_text in token_texts],
        ):
            # tokens of a word with and without a space are one word, and some are no words
            candidate_count = min(2 * word_count + 16, token_scores.shape[1])
            best_ids = self._words(token_scores).topk(candidate_count, dim=1)[1].tolist()
            for row_number, ids in zip(row_numbers, best_ids, strict=True):
                word_texts = dict.fromkeys(self._written([token_id]) for token_id in ids)
                words_by_gap[row_number] = [word_text for word_text in word_texts if word_text][
                    :word_count
                ]
        return words_by_gap

    def likelihoods(self, questions: Sequence[ModelQuestion]) -> list[Scores]:
        """Return the pseudo-log-likelihood of each option in its gap.

        The sum over the option's tokens of the log-probability of the token where it alone is
        masked. None also where the model cannot write it.
        """
        token_texts = []
        for question in questions:
            text_before, text_after = self._plain(question.text), self._plain(question.after)
            token_texts += [
                self._tokens(text_before, self._plain(option), text_after)
                for option in question.options
            ]
        text_totals = self._masked_totals(token_texts)
        unknown_id = self.tokenizer.unk_token_id
        likelihoods: Scores = []
        for masked_text, text_total in zip(token_texts, text_totals, strict=True):
            option_ids = {masked_text.ids[place] for place in masked_text.places}
            likelihoods.append(text_total if option_ids and unknown_id not in option_ids else None)
        likelihood_flow = iter(likelihoods)
        return [list(islice(likelihood_flow, len(question.options))) for question in questions]

    def _masked_totals(self, token_texts: Sequence[_TokenText]) -> list[float]:
        """For each text the sum over its places of the log-probability of the token there, each
        place masked alone."""
        id_rows: list[list[int]] = []
        masked_places: list[tuple[int, int]] = []  # text number and place of each row
        for text_number, masked_text in enumerate(token_texts):
            for place in masked_text.places:
                ids = list(masked_text.ids)
                ids[place] = self.tokenizer.mask_token_id
                id_rows.append(ids)
                masked_places.append((text_number, place))
        text_totals = [0.0] * len(token_texts)
        for row_numbers, token_scores in self._log_probabilities_at(
            id_rows, [place for _, place in masked_places]
        ):
            batch_places = [masked_places[row_number] for row_number in row_numbers]
            token_ids = [token_texts[text_number].ids[place] for text_number, place in batch_places]
            token_values = self._chosen(token_scores, token_ids)
            for (text_number, _), token_score in zip(batch_places, token_values, strict=True):
                text_totals[text_number] += token_score
        return text_totals

    def _with_masks(self, gap: ModelQuestion, mask_count: int) -> _TokenText:
        """The tokens of a statement with this many masks in its gap, and the masks' places."""
        mask_text = self.tokenizer.mask_token * mask_count
        ids = self.tokenizer(self._plain(gap.text) + mask_text + self._plain(gap.after))[
            "input_ids"
        ]
        places = [
            place for place, token_id in enumerate(ids) if token_id == self.tokenizer.mask_token_id
        ]
        return self._fitted(list(ids), places)

    def _plain(self, text: str) -> str:
        """A text in which each mask token is replaced by a space.

        Otherwise a text that happens to contain the mask token would have more gaps than asked for.
        """
        return text.replace(self.tokenizer.mask_token, " ")

    def _log_probabilities_at(
        self, id_rows: Sequence[Sequence[int]], places: Sequence[int]
    ) -> Iterator[tuple[list[int], Any]]:
        """The log-probabilities of all tokens at one place of each row, some rows at a time."""
        for row_numbers in self._batches(id_rows):
            batch_rows = [id_rows[row_number] for row_number in row_numbers]
            self.usage.add(read=sum(map(len, batch_rows)))
            with self.torch.inference_mode():
                logits = self.model(**self._inputs(batch_rows)).logits
                batch_places = [places[row_number] for row_number in row_numbers]
                yield (
                    row_numbers,
                    logits[range(len(row_numbers)), batch_places].float().log_softmax(dim=-1),
                )

    def _words(self, token_scores: Any) -> Any:
        """Without the tokens that are no words."""
        token_scores[:, self.tokenizer.all_special_ids] = -self.torch.inf
        token_scores[:, len(self.tokenizer) :] = -self.torch.inf
        return token_scores

    def _written(self, ids: Sequence[int]) -> str:
        return str(self.tokenizer.decode(ids, skip_special_tokens=True)).strip()


class GenerativeModel(LocalModel):
    """A model that writes (causal, sequence-to-sequence), asked how likely texts are."""

    def likelihoods(self, questions: Sequence[ModelQuestion]) -> list[Scores]:
        """The log-likelihood of each option, with what follows it, after the text.

        The sum over the tokens that hold something of them.
        """
        option_likelihoods = self._of_seq2seq if self.kind == "seq2seq" else self._of_causal
        likelihoods = []
        for question in questions:
            if self.settings.chat:
                prompt_text = chat_prompt(question.text, self.tokenizer)
                likelihoods.append(
                    option_likelihoods(
                        prompt_text,
                        [option.lstrip() + question.after for option in question.options],
                    )
                )
            else:
                likelihoods.append(
                    option_likelihoods(
                        question.text, [option + question.after for option in question.options]
                    )
                )
        return likelihoods

    def _of_causal(self, text_before: str, options: Sequence[str]) -> Scores:
        """The log-likelihoods of options after a text; what all begin with is read once."""
        texts = [self._after(text_before, option) for option in options]
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

    def _logits_after(self, cache: Any, start: int, id_rows: Sequence[Sequence[int]]) -> Any:
        """The model's logits for rows of tokens that go on from `start` cached ones, if any."""
        inputs = self._inputs(id_rows)
        if cache:
            mask = inputs["attention_mask"]
            cached_mask = mask.new_ones((len(id_rows), start))
            inputs["attention_mask"] = self.torch.cat([cached_mask, mask], dim=1)
            inputs["past_key_values"] = deepcopy(cache)
            inputs["past_key_values"].batch_repeat_interleave(len(id_rows))
        with self.torch.inference_mode():
            return self.model(**inputs).logits

    def _cached(self, head: list[int]) -> Any:
        """Return the model's cache of attention for the head of a prompt.

        Returns None if the model has no cache that can be copied.
        """
        with self.torch.inference_mode():
            read = self.model(**self._inputs([head]), use_cache=True)
        cache = getattr(read, "past_key_values", None)
        return cache if hasattr(cache, "batch_repeat_interleave") else None

    def _after(self, first: str, second: str) -> _TokenText:
        """Both texts in tokens; the first of all has one before it, from which it follows."""
        text = self._tokens(first, second, add_special=not self.settings.chat)
        if not text.places or text.places[0] > 0:
            return text
        begin = self.tokenizer.bos_token_id
        begin = self.tokenizer.eos_token_id if begin is None else begin
        if begin is None:
            return _TokenText(text.ids, text.places[1:])
        return _TokenText([begin, *text.ids], [place + 1 for place in text.places])

    def _of_seq2seq(self, text_before: str, options: Sequence[str]) -> Scores:
        """The model reads the text and writes the option; where the gap is one of its sentinels,
        it writes the sentinel before it, as it was trained to."""
        blank = self.tokenizer.get_added_vocab().get(self.blank)
        lead = [] if blank is None else [blank]
        ids = self._tokens(text_before, "", add_special=not self.settings.chat).ids
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
            for id_row, number, label in zip(logits, batch_numbers, labels, strict=True):
                likelihoods[tokenized_options[number]] = self._sum(
                    id_row[len(lead) : len(label)], label[len(lead) :]
                )
        return likelihoods

    def _sum(self, logits: Any, ids: Sequence[int]) -> float:
        return sum(self._chosen(logits.float().log_softmax(dim=-1), ids))
