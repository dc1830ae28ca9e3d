"""What a model on this machine says of texts: masks filled, words ranked, log-likelihoods.

The three views of Margatina et al. (2023), section 3.3: `Masked.rank` (single-token probing),
`Masked.fill` (multi-token generation), `Masked.likelihoods` (MLM scoring, Salazar et al. 2020).
`Writing.likelihoods` is the same for models that write. Every forward pass takes `batch` texts of
about the same length.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import groupby, takewhile
from typing import Any, Literal, NamedTuple

from factdrift.builders.core.errors import UserError
from factdrift.builders.generate.protocol import Usage
from factdrift.builders.generate.transformers_models import Loaded, room_of

PLL = Literal["original", "within_answer"]
"""How the pseudo-log-likelihood masks: the one token alone, or it and those of the answer after it
(Kauf and Ivanova 2023), so that the rest of a name does not give its beginning away."""


class TokenGap(NamedTuple):
    """A statement around its gap."""

    before: str
    after: str


class _TokenText(NamedTuple):
    """A text in tokens, and the places of those that are asked about."""

    ids: list[int]
    places: list[int]


class _Local:
    def __init__(self, loaded: Loaded, batch: int, usage: Usage) -> None:
        self.torch, self.tokenizer, self.model, self.kind = loaded
        self.batch, self.usage = batch, usage
        self.room = room_of(self.model, self.tokenizer)
        if not self.tokenizer.is_fast:
            raise UserError(
                "its tokenizer does not say where in a text its tokens stand",
                hint="take a model with a fast tokenizer (a tokenizer.json)",
            )

    def _tokens(
        self, before: str, middle: str, after: str = "", special: bool = True
    ) -> _TokenText:
        """A text in tokens, and the places of those that hold something of its middle."""
        found = self.tokenizer(
            before + middle + after,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            add_special_tokens=special,
        )
        start, end = len(before), len(before) + len(middle)
        ids = list(found["input_ids"])
        places = [
            place
            for place, ((a, b), mark) in enumerate(
                zip(found["offset_mapping"], found["special_tokens_mask"], strict=True)
            )
            if not mark and a < min(b, end) and b > start
        ]
        return self._fitted(ids, places)

    def _fitted(self, ids: list[int], places: list[int]) -> _TokenText:
        """What the model has room for up to the last place, or to the end where there is none."""
        if len(ids) <= self.room:
            return _TokenText(ids, places)
        self.usage.add(calls=0, cut=1)
        low = max(places[-1] + 1 if places else len(ids), self.room) - self.room
        ids = ids[low : low + self.room]
        return _TokenText(ids, [place - low for place in places if place > low])

    def _padded(self, rows: Sequence[Sequence[int]]) -> dict[str, Any]:
        longest = max(map(len, rows))
        fill = self.tokenizer.pad_token_id or 0
        ids = [[*row, *[fill] * (longest - len(row))] for row in rows]
        mask = [[1] * len(row) + [0] * (longest - len(row)) for row in rows]
        as_tensor = self.torch.tensor
        return {
            "input_ids": as_tensor(ids, device=self.model.device),
            "attention_mask": as_tensor(mask, device=self.model.device),
        }

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        order = sorted(range(len(lengths)), key=lambda n: (lengths[n], n))
        for at in range(0, len(order), self.batch):
            yield order[at : at + self.batch]


class Masked(_Local):
    """A model that fills in masks (BERT, RoBERTa)."""

    def __init__(self, loaded: Loaded, batch: int, usage: Usage) -> None:
        super().__init__(loaded, batch, usage)
        if self.tokenizer.mask_token is None:
            raise UserError("its tokenizer has no mask token", hint="take a masked model")
        self._no_words = sorted(set(self.tokenizer.all_special_ids))

    def fill(self, gaps: Sequence[TokenGap], most: int) -> list[list[str]]:
        """Texts for each gap, the best first: of 1 to `most` masks, filled from left to right.

        Each mask takes the likeliest token, given those before it. Texts are ranked by the mean
        log-probability of their tokens; one that several numbers of masks give stands once.
        """
        found: list[dict[str, float]] = [{} for _ in gaps]
        for number in range(1, most + 1):
            texts = [self._with_masks(gap, number) for gap in gaps]
            rows = [list(text.ids) for text in texts]
            totals = [0.0] * len(gaps)
            for step in range(number):
                places = [text.places[step] for text in texts]
                for some, told in self._told(rows, places):
                    best, words = self._words(told).max(dim=1)
                    for n, value, word in zip(some, best.tolist(), words.tolist(), strict=True):
                        rows[n][places[n]] = word
                        totals[n] += value
            for n, text in enumerate(texts):
                written = self._written([rows[n][place] for place in text.places])
                mean = totals[n] / number
                if written:
                    found[n][written] = max(found[n].get(written, mean), mean)
        return [sorted(one, key=lambda text: (-one[text], text)) for one in found]

    def rank(self, gaps: Sequence[TokenGap], top: int) -> list[list[str]]:
        """The `top` likeliest words of one token for each gap, the best first, each once."""
        texts = [self._with_masks(gap, 1) for gap in gaps]
        found: list[list[str]] = [[] for _ in gaps]
        for some, told in self._told([t.ids for t in texts], [t.places[0] for t in texts]):
            wanted = min(2 * top + 16, told.shape[1])  # a word with and without a space is one
            for n, ids in zip(some, self._words(told).topk(wanted, dim=1)[1].tolist(), strict=True):
                words = dict.fromkeys(self._written([one]) for one in ids)
                found[n] = [word for word in words if word][:top]
        return found

    def likelihoods(
        self, asked: Sequence[tuple[TokenGap, str]], how: PLL = "original"
    ) -> list[float | None]:
        """The pseudo-log-likelihood of each text in its gap; None where the model cannot write it.

        The sum over the text's tokens of the log-probability of the token where it is masked, as
        `how` says, and all around it is there.
        """
        plain = self._plain
        texts = [self._tokens(plain(g.before), plain(text), plain(g.after)) for g, text in asked]
        mask, unknown = self.tokenizer.mask_token_id, self.tokenizer.unk_token_id
        rows: list[list[int]] = []
        of: list[tuple[int, int]] = []
        for n, text in enumerate(texts):
            for place in text.places:
                hidden = {place}
                if how == "within_answer":
                    hidden = {other for other in text.places if other >= place}
                rows.append([mask if at in hidden else one for at, one in enumerate(text.ids)])
                of.append((n, place))
        totals = [0.0] * len(texts)
        for some, told in self._told(rows, [place for _, place in of]):
            wanted = [texts[of[n][0]].ids[of[n][1]] for n in some]
            for n, value in zip(some, _chosen(self.torch, told, wanted), strict=True):
                totals[of[n][0]] += value
        return [
            None if not text.places or unknown in (text.ids[p] for p in text.places) else total
            for text, total in zip(texts, totals, strict=True)
        ]

    def _with_masks(self, gap: TokenGap, number: int) -> _TokenText:
        """A statement with masks in its gap, and their places."""
        masks = self.tokenizer.mask_token * number
        ids = self.tokenizer(self._plain(gap.before) + masks + self._plain(gap.after))["input_ids"]
        places = [n for n, one in enumerate(ids) if one == self.tokenizer.mask_token_id]
        return self._fitted(list(ids), places)

    def _plain(self, text: str) -> str:
        """A text without masks of its own."""
        return text.replace(self.tokenizer.mask_token, " ")

    def _told(
        self, rows: Sequence[Sequence[int]], places: Sequence[int]
    ) -> Iterator[tuple[list[int], Any]]:
        """The log-probabilities of all tokens at one place of each row, some rows at a time."""
        for some in self._batches([len(row) for row in rows]):
            chosen = [rows[n] for n in some]
            self.usage.add(read=sum(map(len, chosen)))
            with self.torch.inference_mode():
                logits = self.model(**self._padded(chosen)).logits
                at = self.torch.tensor([places[n] for n in some], device=logits.device)
                told = logits[self.torch.arange(len(some), device=logits.device), at]
                yield some, told.float().log_softmax(dim=-1)

    def _words(self, told: Any) -> Any:
        """Without the tokens that are no words."""
        told[:, self._no_words] = -self.torch.inf
        told[:, len(self.tokenizer) :] = -self.torch.inf
        return told

    def _written(self, ids: Sequence[int]) -> str:
        return str(self.tokenizer.decode(ids, skip_special_tokens=True)).strip()


class Writing(_Local):
    """A model that writes (causal, sequence-to-sequence), asked how likely texts are."""

    def __init__(self, loaded: Loaded, batch: int, usage: Usage, blank: str | None = None) -> None:
        super().__init__(loaded, batch, usage)
        self._blank = self.tokenizer.get_added_vocab().get(blank) if blank else None
        self.room -= self.kind == "causal"  # for the token that stands before a whole text

    def likelihoods(
        self, asked: Sequence[tuple[str, str]], special: bool = True
    ) -> list[float | None]:
        """The log-likelihood of each second text after the first; None where it has no tokens.

        The sum over the tokens that hold something of the second text. A sequence-to-sequence
        model reads the first and writes the second; where the gap is one of its sentinels, it
        writes the sentinel before it, as it was trained to. `special`: the texts get the
        tokenizer's special tokens.
        """
        if self.kind == "seq2seq":
            return self._of_seq2seq(asked, special)
        texts = [self._after(first, second, special) for first, second in asked]
        places = groupby(range(len(asked)), key=lambda n: asked[n][0])
        return [sum_ for _, some in places for sum_ in self._of_one([texts[n] for n in some])]

    def _of_one(self, texts: Sequence[_TokenText]) -> list[float | None]:
        """The log-likelihoods of texts that begin alike: their beginning is read once."""
        lowest = min((text.places[0] for text in texts if text.places), default=1)
        columns = zip(*(text.ids[: lowest - 1] for text in texts), strict=False)
        head = [column[0] for column in takewhile(lambda column: len({*column}) == 1, columns)]
        found: list[float | None] = [None] * len(texts)
        cache = self._cached(head) if head else None
        start = len(head) if cache else 0
        self.usage.add(calls=0, read=start)
        for some in self._batches([len(text.ids) for text in texts]):
            chosen = [texts[n] for n in some]
            inputs = self._padded([text.ids[start:] for text in chosen])
            self.usage.add(read=sum(len(text.ids) - start for text in chosen))
            if cache:
                before = self.torch.ones((len(some), start), dtype=inputs["attention_mask"].dtype)
                masks = [before.to(self.model.device), inputs["attention_mask"]]
                inputs["attention_mask"] = self.torch.cat(masks, dim=1)
                inputs["past_key_values"] = deepcopy(cache)
                inputs["past_key_values"].batch_repeat_interleave(len(some))
            with self.torch.inference_mode():
                logits = self.model(**inputs).logits
                for row, n, text in zip(logits, some, chosen, strict=True):
                    at = [place - 1 - start for place in text.places]
                    found[n] = self._sum(row[at], [text.ids[place] for place in text.places])
        return found

    def _cached(self, head: list[int]) -> Any:
        """What the model holds of a beginning; None where it holds nothing that can be copied."""
        with self.torch.inference_mode():
            read = self.model(**self._padded([head]), use_cache=True)
        cache = getattr(read, "past_key_values", None)
        return cache if hasattr(cache, "batch_repeat_interleave") else None

    def _after(self, first: str, second: str, special: bool) -> _TokenText:
        """Both texts in tokens; the first of all has one before it, of which it is told."""
        text = self._tokens(first, second, special=special)
        if not text.places or text.places[0] > 0:
            return text
        begin = self.tokenizer.bos_token_id
        begin = self.tokenizer.eos_token_id if begin is None else begin
        if begin is None:
            return _TokenText(text.ids, text.places[1:])
        return _TokenText([begin, *text.ids], [place + 1 for place in text.places])

    def _of_seq2seq(self, asked: Sequence[tuple[str, str]], special: bool) -> list[float | None]:
        lead = [] if self._blank is None else [self._blank]
        read = [self._tokens(first, "", special=special).ids for first, _ in asked]
        written = [
            [*lead, *self.tokenizer(second.strip(), add_special_tokens=False)["input_ids"]]
            for _, second in asked
        ]
        found: list[float | None] = [None] * len(asked)
        for some in self._batches([len(ids) for ids in read]):
            inputs = self._padded([read[n] for n in some])
            longest = max(1, *(len(written[n]) for n in some))
            labels = [[*written[n], *[-100] * (longest - len(written[n]))] for n in some]
            self.usage.add(read=sum(len(read[n]) + len(written[n]) for n in some))
            with self.torch.inference_mode():
                told = self.torch.tensor(labels, device=self.model.device)
                logits = self.model(**inputs, labels=told).logits
                for row, n in zip(logits, some, strict=True):
                    ids = written[n][len(lead) :]
                    found[n] = self._sum(row[len(lead) : len(written[n])], ids)
        return found

    def _sum(self, logits: Any, ids: Sequence[int]) -> float | None:
        if not ids:
            return None
        told = logits.float().log_softmax(dim=-1)
        return float(sum(_chosen(self.torch, told, ids)))


def _chosen(torch: Any, told: Any, ids: Sequence[int]) -> list[float]:
    """Of each row of log-probabilities the one of its token."""
    wanted = torch.tensor(list(ids), device=told.device)
    chosen: list[float] = told.gather(1, wanted.unsqueeze(1)).squeeze(1).double().tolist()
    return chosen
