"""A rehearsal of work by people: answers to a batch that the layouts take, sensible and made up.

`factdrift rehearse BATCH RESULTS` writes what three workers of a static page would hand in, for
whoever wants to see the whole way before paying annotators. Of the sample's news it knows what
careful people say (`rehearsed.yaml`).
"""

import base64
import gzip
import json
import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from factdrift.annotation.batch import Item, read_batch
from factdrift.annotation.checks import (
    answer_problems,
    available_choices,
    paragraph_texts,
    split_words,
    value_as_text,
)
from factdrift.annotation.layout import Layout, LayoutAnswer, load_layout
from factdrift.annotation.people import consent_sha256, today
from factdrift.annotation.submission import SUBMISSION_FORMAT, Json
from factdrift.builders.ckl.gold import BLANK, plain_blanks, typed_blank
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing, resource
from factdrift.builders.rows import Article
from factdrift.builders.text.dates import MONTHS, WEEKDAYS
from factdrift.builders.wmt.lines import sentences_of, sorting_key
from factdrift.builders.wmt.passages import passage_texts, printable_id

Fields = Mapping[str, Any]
_OLD = re.compile(r"(?:19|20)[0-9]{2}|has been|was born")
"""What is no news of the day."""
_GAP = typed_blank("THING")
_LONGEST_CLOZE = 270
"""The layout takes questions of 300 characters, and a draft is asked about as it stands."""
_NAME = re.compile(r"[A-Z][\w'-]*(?: (?:of |the |and )?[A-Z][\w'-]*)*")


def rehearse(hit_batch: Path, results: Path) -> int:
    """Write a line for each HIT and worker; returns their number.

    `UserError`: a layout of one's own, to which no answers are made up here.
    """
    batch = read_batch(hit_batch)
    if batch.layout not in ANSWERS:
        hint_text = f"it can answer {', '.join(ANSWERS)}"
        raise UserError(
            f"no answers to the layout {batch.layout!r} are made up here", hint=hint_text
        )
    layout = load_layout(str(hit_batch / "layout"))
    lines = []
    for hit, number in product(batch.hits, range(1, layout.assignments + 1)):
        item_answers = {item.id: answers_to(batch.layout, layout, item) for item in hit.items}
        for item in hit.items:
            problems = answer_problems(layout, item.fields, item_answers[item.id])
            if problems:
                raise AssertionError(f"{batch.layout}: {problems}: {item_answers[item.id]}")
        seconds = dict.fromkeys(item_answers, layout.min_seconds + 20)
        submission = {
            "format": SUBMISSION_FORMAT,
            "batch": batch.id,
            "hit": hit.id,
            "worker": f"worker-{number}",
            "assignment": f"{hit.id}-{number}",
            "seconds": sum(seconds.values()),
            "answers": item_answers,
            "item_seconds": seconds,
            **_consent(layout),
        }
        lines.append(json.dumps(submission) + "\n")
    with replacing(results) as unfinished_file:
        unfinished_file.write_text("".join(lines), encoding="utf-8")
    return len(lines)


def _consent(layout: Layout) -> dict[str, Json]:
    """What a page says of the worker's consent, where the layout asks for it."""
    if layout.consent is None:
        return {}
    return {"consent": {"text": consent_sha256(layout.consent), "day": today()}}


def answers_to(name: str, layout: Layout, item: Item) -> Mapping[str, Json]:
    """What a worker who rehearses says to one item."""
    if item.answers is None:
        return ANSWERS[name](item.fields)
    said = {**ANSWERS[name](item.fields), **item.answers}
    for _ in layout.answers:  # each round may ask for more
        for wrong in answer_problems(layout, item.fields, said):
            answer_name, _, what = wrong.partition(": ")
            if what == "missing":
                said[answer_name] = _any_answer(layout.answers[answer_name], item.fields, said)
            else:
                said.pop(answer_name, None)
    return said


def _any_answer(answer: LayoutAnswer, item_fields: Fields, said: Mapping[str, Json]) -> Json:
    """An answer of the kind that a layout asks for, for what is not known of a known item."""
    if answer.kind == "flag":
        return False
    if answer.kind in ("choice", "choices"):
        first_choice = available_choices(answer, {**item_fields, **said})[0]
        return [first_choice] if answer.kind == "choices" else first_choice
    if answer.kind == "text" and answer.check.gap:
        return f"The news of the day has {typed_blank(answer.check.gap[0])}."
    if answer.kind == "text":
        return value_as_text({**item_fields, **said}.get(answer.initial or "")) or "It says so."
    marked_field = item_fields[answer.field or ""]
    is_text = isinstance(marked_field, str)
    text = marked_field if is_text else paragraph_texts(marked_field)[0]
    first_word = split_words(text)[0]
    start = text.index(first_word)
    span: dict[str, Json] = {"start": start, "end": start + len(first_word), "text": first_word}
    if not is_text:
        span["paragraph"] = 0
    return [span] if answer.kind == "spans" else span


def _one_in(fraction: int, item_fields: Fields) -> bool:
    """True for about one item of n, always the same ones."""
    return (
        int(sha256(json.dumps(item_fields, sort_keys=True).encode()).hexdigest(), 16) % fraction
        == 0
    )


def _facts(item_fields: Fields) -> dict[str, Any]:
    if not item_fields.get("mention"):  # nothing to say Correct to
        return {"verdict": "unanswerable"}
    return {"verdict": "correct", "time": "unknown" if _one_in(15, item_fields) else "known"}


@cache
def _careful() -> Mapping[str, dict[str, Any]]:
    """What careful people make of an article of the sample, by its headline."""
    careful_text = resource("annotation/rehearsed.yaml").read_text("utf-8")
    careful_answers: dict[str, dict[str, Any]] = yaml.safe_load(careful_text)
    return careful_answers


def _headline(item_fields: Fields) -> str:
    text = item_fields.get("article") or item_fields.get("sentences") or ""
    return (text if isinstance(text, list) else text.split("\n"))[0]


def dated(sentence: str, day: str) -> str:
    """A sentence of an article with the date of each weekday, which is one of the week before."""
    last = date.fromisoformat(day)

    def written(weekday_match: re.Match[str]) -> str:
        days = range(1, 8) if " will " in sentence else range(0, -7, -1)
        near = (last + timedelta(day_offset) for day_offset in days)
        that = next(
            near_day for near_day in near if WEEKDAYS[near_day.weekday()] == weekday_match[1]
        )
        return f"on {that.day} {MONTHS[that.month - 1]} {that.year}"

    return re.sub(rf"\bon ({'|'.join(WEEKDAYS)})\b", written, sentence)


def _question(item_fields: Fields) -> dict[str, Any]:
    """The first question whose answer stands in the article once it is looked for."""
    article, careful_answer = item_fields["article"], _careful().get(_headline(item_fields))
    written_for = item_fields.get("written_for") or ()
    pairs = [*zip(item_fields["questions"], written_for, strict=False)]
    if careful_answer is not None:
        if "answer" not in careful_answer:
            return {"question": "none"}
        answer: str = careful_answer["answer"]
        asked_words = {*split_words(careful_answer["asks"])}
        chosen, _ = max(
            pairs, key=lambda pair: (pair[1] in answer, len(asked_words & {*split_words(pair[0])}))
        )
        return _marked(article, chosen, answer, careful_answer["asks"], careful_answer["gap"])
    for question, answer in pairs:
        lines = _stating_lines(article, question, answer)
        if lines and lines[0].count(answer) == 1:
            cloze = dated(lines[0], item_fields["article_day"]).replace(answer, _GAP, 1)
            if cloze.count(_GAP) == 1 and "?" not in cloze and len(cloze) <= _LONGEST_CLOZE:
                edited = question if question.endswith("?") else f"What fills the gap in “{cloze}”?"
                return _marked(article, question, answer, edited, cloze)
    return {"question": "none"}


def _stating_lines(article: str, question: str, answer: str) -> list[str]:
    """The lines of an article with the answer and all names and numbers of the question."""
    asked_words = {
        word for word in split_words(question)[1:] if word[0].isupper() or word[0].isdigit()
    }
    return [
        text_line
        for text_line in article.split("\n")[1:]
        if answer in text_line
        and asked_words <= {*split_words(text_line)}
        and not _OLD.search(text_line)
    ]


def _marked(article: str, question: str, answer: str, edited: str, cloze: str) -> dict[str, Any]:
    lines = [text_line for text_line in article.split("\n")[1:] if answer in text_line]
    best = max(lines, key=lambda text_line: len({*split_words(cloze)} & {*split_words(text_line)}))
    start = article.index(answer, article.index(f"\n{best}"))
    span = {"start": start, "end": start + len(answer), "text": answer}
    return {"question": question, "answer": span, "edited": edited, "cloze": cloze}


def _expert(item_fields: Fields) -> dict[str, Any]:
    careful_answer = _careful().get(_headline(item_fields), {})
    said: dict[str, Any] = {"keep": "yes", "statement": item_fields["cloze"]}
    if item_fields.get("doubts"):
        if not careful_answer.get("fine"):
            return {"keep": "discard"}
        said["settled"] = "yes"
    if item_fields.get("prediction"):
        said["supported"] = "no"
    if "was" not in careful_answer:
        return {**said, "found": "no"}
    passages = [
        passage["text"] if isinstance(passage, Mapping) else passage
        for passage in item_fields.get("results") or []
    ]
    old, says = careful_answer["was"]["answer"], careful_answer["was"]["says"]
    place = next((place_number for place_number, text in enumerate(passages) if says in text), None)
    if place is None:
        opened = _searched(says)
        query = plain_blanks(careful_answer["gap"]).replace(BLANK, old)
        said["searches"] = [{"query": query, "found": [opened["id"]], "opened": [opened]}]
        passages, place = [*passages, opened["text"]], len(passages)
    start = passages[place].index(says)
    span = {"paragraph": place, "start": start, "end": start + len(says), "text": says}
    more_values = {"found": "yes", "other_evidence": span, "other_answer": old}
    return {**said, **more_values, "other_is": "different"}


def _searched(says: str) -> dict[str, str]:
    """The passage of the sample's news that says so, which an expert would search for."""
    for file_path in sorted(resource("samples/news").glob("*.gz")):
        for text_line in gzip.decompress(file_path.read_bytes()).splitlines():
            day, split, whole = text_line.split(b"\t")
            sentences = sentences_of(base64.b64decode(split).decode())
            when = date.fromisoformat(day.decode())
            key = sorting_key(when, sha256(whole).digest())
            for name, text in passage_texts(Article(key, when, sentences, "\n".join(sentences))):
                if says in text:
                    return {"id": printable_id(name), "text": text}
    raise AssertionError(f"no article of the sample says {says!r}")


def _select(item_fields: Fields) -> dict[str, Any]:
    careful_answer = _careful().get(_headline(item_fields))
    if careful_answer is not None and "easy" not in careful_answer:
        return {"newness": "special"}
    easy = (careful_answer or {}).get("easy") or {"sentence": 1}
    word, alone = easy.get("word"), easy.get("alone")
    sentence = item_fields["sentences"][easy["sentence"]]
    offered = [
        candidate for candidate in item_fields["candidates"] if _places(candidate, sentence) == 1
    ]
    if word not in item_fields["candidates"]:
        word = max(offered, key=lambda candidate: (len(candidate), candidate), default=None)
        alone = dated(sentence, item_fields["article_day"])
    if word is None:
        return {"newness": "none"}
    return {"newness": "general", "sentence": sentence, "word": word, "alone": alone}


def _places(word: str, text: str) -> int:
    return len(re.findall(rf"(?<!\w){re.escape(word)}(?!['’\w])", text))


def _asked(item_fields: Fields) -> dict[str, Any]:
    before, after = item_fields["cloze"].split("[BLANK]")
    easy_answer = _careful().get(_headline(item_fields), {}).get("easy")
    if easy_answer and easy_answer["alone"] == f"{before}{easy_answer['word']}{after}":
        return {"question": easy_answer["asks"], "answer": easy_answer["word"]}
    text = item_fields["article"]
    plain = "\n".join(
        dated(text_line, item_fields["article_day"]) for text_line in text.split("\n")
    )
    answer_match = re.search(rf"{re.escape(before)}(.+?){re.escape(after)}$", plain, re.M)
    answer = (
        answer_match[1] if answer_match else next(_NAME.finditer(text))[0]
    )  # an edited sentence
    rest = after.rstrip(".")
    question = f"Who {rest.strip()}?" if not before else f"{before}what{rest}?"
    return {"question": question, "answer": answer}


def _good(item_fields: Fields) -> dict[str, Any]:
    if _one_in(12, item_fields):
        return {"verdict": "bad", "reasons": ["ambiguous"]}
    return {"verdict": "good"}


def _toxic(item_fields: Fields) -> dict[str, Any]:
    names = "identity_attack insult profanity severe_toxicity sexually_explicit threat"
    return dict.fromkeys(names.split(), False) | {"insult": _one_in(15, item_fields)}


def _answered(item_fields: Fields) -> dict[str, Any]:
    article, asked_words = (
        item_fields["article"],
        set(re.findall(r"\w+", item_fields["question"].lower())),
    )
    lines = [line for line in article.split("\n") if line.strip()]
    best = max(
        lines, key=lambda text_line: len(asked_words & set(re.findall(r"\w+", text_line.lower())))
    )
    names = [
        name_match[0]
        for name_match in _NAME.finditer(best)
        if name_match[0] not in item_fields["question"]
    ]
    if not names:
        return {"answerable": "no"}
    start = article.index(best)
    span = {"start": start, "end": start + len(best), "text": best}
    return {"answerable": "yes", "evidence": [span], "answer": max(names, key=len)[:150]}


def _written(item_fields: Fields) -> dict[str, Any]:
    written_questions = []
    for text_line in item_fields["article"].split("\n"):
        names = sorted(
            {name_match[0] for name_match in _NAME.finditer(text_line)},
            key=lambda name: (-len(name), name),
        )
        if 20 < len(text_line) < 200 and names:
            gap = text_line.replace(names[0], "…").rstrip(".?!")
            written_questions.append(
                {"question": f"Whose name is left out of “{gap}”?", "answer": names[0]}
            )
    return {
        "questions": written_questions[:2]
        or [{"question": "Who is in the news today?", "answer": "x"}]
    }


def _reworded(item_fields: Fields) -> dict[str, Any]:
    rest = item_fields["question"].split(" ", 1)[-1].rstrip("?")
    return {"paraphrase": f"Say it if you can: {rest}?"}


ANSWERS: dict[str, Callable[[Fields], Mapping[str, Json]]] = {
    "verify_facts": _facts,
    "paraphrase": _reworded,
    "write_questions": _written,
    "judge_question": _good,
    "answer_question": _answered,
    "judge_toxicity": _toxic,
    "ckl_question": _question,
    "ckl_expert": _expert,
    "easy_select": _select,
    "easy_question": _asked,
}
