"""Filters that look at one question and its article, and at nothing else."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import PositiveInt, model_validator

from factdrift.builders.text.en.boilerplate import boilerplate_kind
from factdrift.builders.text.en.question_form import malformation
from factdrift.builders.text.en.questions import article_day_reason
from factdrift.builders.text.en.same_answer import gives_answer_away
from factdrift.builders.text.en.standalone import outside_reference, unresolved_pronoun
from factdrift.builders.text.words import cuts_word, folded_tokens
from factdrift.filters.base import KEEP, FilterVerdict, ItemFilter, QuestionItem, drop_if


class AnswerNotInArticle(ItemFilter):
    """The article's text does not have the answer at the answer's offsets, as whole words."""

    reasons: ClassVar[Mapping[str, str]] = {
        "other_article": "The question was made of another article.",
        "span_does_not_match": "The answer does not lie where it should in the article.",
        "span_cuts_word": "The answer begins or ends inside a word or a number of the article.",
    }

    filter: Literal["answer_not_in_article"] = "answer_not_in_article"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop where the span does not match, or where the article is another one."""
        answer, article = item.question.answer, item.article
        article_id = item.question.draw.article
        if article_id != article.id:
            return drop_if("other_article", f"{article_id!r} is wanted, this is {article.id!r}")
        has_span = 0 <= answer.start < answer.end
        span_text = article.text[answer.start : answer.end] if has_span else ""
        if not span_text or span_text != answer.text:
            detail = f"{answer.text!r} is wanted, the article has {span_text!r}"
            return drop_if("span_does_not_match", detail)
        if cuts_word(article.text, answer.start, answer.end):
            text_around = article.text[max(0, answer.start - 20) : answer.end + 20]
            return drop_if("span_cuts_word", f"{answer.text!r} in {text_around!r}")
        return KEEP


class QuestionMark(ItemFilter):
    """Drops a text that is not one plain question.

    A plain question has a question word and ends with its only question mark; it has no label, no
    markup and no empty slot. A question mark inside quotation marks belongs to a title and does not
    count.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "no_question_mark": "The question does not end in a question mark.",
        "not_plain_text": (
            "The text has more than a question, an empty slot, labels, markup, half a bracket."
        ),
        "not_a_question": "The text asks nothing.",
    }

    filter: Literal["question_mark"] = "question_mark"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Keep one line of text that asks something and ends with its only question mark."""
        return drop_if(malformation(item.question.question))


class Length(ItemFilter):
    """The question or its answer has too few or too many words (parted by blanks).

    A word counts where it has a letter or a digit; one of more than `longest` characters is none.

    `fewest`: the least words of a question; `most`: the most; `most_answer`: the most words of its
    answer; `longest`: the most characters of a word.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "too_short": "The question has fewer words than the limit.",
        "too_long": "The text is longer than the limit.",
        "answer_too_long": "The answer has more words than the limit.",
    }

    filter: Literal["length"] = "length"
    # "Who won?" asks too little; the longest word of an English dictionary has 45 letters. The two
    # limits of length only catch what is no question at all.
    fewest: PositiveInt = 3
    most: PositiveInt = 40
    most_answer: PositiveInt = 20
    longest: PositiveInt = 45

    @model_validator(mode="after")
    def _ordered(self) -> "Length":
        if self.fewest > self.most:
            raise ValueError("'fewest' is more than 'most'")
        return self

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop what is outside the limits; the score is the number of words."""
        answer_text = item.question.answer.text
        question_words = [
            word for word in item.question.question.split() if any(map(str.isalnum, word))
        ]
        word_count, answer_count = len(question_words), len(answer_text.split())
        if word_count < self.fewest:
            return FilterVerdict(False, "too_short", word_count)
        if word_count > self.most or any(len(word) > self.longest for word in question_words):
            return FilterVerdict(False, "too_long", word_count)
        if answer_count > self.most_answer:
            return FilterVerdict(False, "answer_too_long", answer_count, answer_text)
        return FilterVerdict(True, "", word_count)


class AnswerInQuestion(ItemFilter):
    """The answer is a sub-span of the question (StreamingQA, appendix A.4, i).

    Compared by whole words, folded, determiners ignored: `the US` stands in `Who leads U.S.?`.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "empty_answer": "The answer has no words.",
        "answer_in_question": "The question has the answer in its words.",
    }

    filter: Literal["answer_in_question"] = "answer_in_question"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop where the question holds the answer, or where the answer has no words at all."""
        question, answer = item.question.question, item.question.answer.text
        if not folded_tokens(answer):
            return drop_if("empty_answer")
        return drop_if("answer_in_question" if gives_answer_away(question, answer) else None)


class ContextReference(ItemFilter):
    """The question points at its article ("the article", "according to the text"), or at its day.

    `today` and `on Thursday` mean nothing without a date. `last week` and `three years ago` do,
    but on the question's day, while they were written on the article's: with `relative: drop`
    they go too where the two days differ. What stands in quotation marks is not looked at. An
    answer that is such a time goes with its question: `today`, `last week`, `Friday`.

    `relative`: what becomes of such questions. `nouns`: what becomes of questions with `the
    suspect` or `the company` that nothing in them names. No list of words tells these from `the man
    of the match` and `the fire in Nantes cathedral`: of 341 questions of a capable model it dropped
    seven, of which it should have dropped none, so that recipes with a judging model keep them.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "refers_to_context": (
            "The question points at its article, or at something that only its article names."
        ),
        "undated_day": "The text names a day without its year, or a weekday without its date.",
        "relative_day": "The question or its answer points at a day that depends on the article's.",
    }

    filter: Literal["context_reference"] = "context_reference"
    relative: Literal["keep", "drop"] = "drop"
    nouns: Literal["keep", "drop"] = "drop"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop where words point outside the question; `detail` has these words."""
        question, draw = item.question, item.question.draw
        drop_relative = self.relative == "drop" and draw.article_day != draw.question_day
        drop_reason, outside_words = outside_reference(
            question.question, relative=drop_relative, nouns=self.nouns == "drop"
        )
        asks_time = question.question.lower().startswith("when ")
        answer = question.answer.text
        # a model may call "last Friday" a phrase; names such as Good Friday are entities
        is_short = question.answer.type == "phrase" and len(answer.split()) <= _TIME_WORDS
        is_time = question.answer.type == "date" or asks_time or is_short
        if drop_reason is None and is_time:
            time_reason = article_day_reason(question.question, answer, relative=drop_relative)
            if time_reason:
                return drop_if(time_reason, f"{answer!r} answers {question.question!r}")
        return drop_if(
            drop_reason, f"{outside_words!r} in {question.question!r}" if drop_reason else None
        )


_TIME_WORDS = 3
"""Words of a phrase that may be a time and nothing else: `on Friday evening`."""


class PronounWithoutAntecedent(ItemFilter):
    """A pronoun stands for someone whom the question does not name (`Who said that he …?`).

    An antecedent is a name or a noun before the pronoun, or a name after the comma that ends
    the pronoun's own opening clause (`After he resigned, who replaced Brown?`). `I` and `we`
    never have one. What stands in quotation marks is not looked at.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "first_person": "The question speaks in the first person.",
        "pronoun_without_antecedent": "A pronoun in the question stands for nothing in it.",
    }

    filter: Literal["pronoun_without_antecedent"] = "pronoun_without_antecedent"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop where a pronoun has no antecedent; `detail` has the pronoun."""
        question = item.question.question
        drop_reason, pronoun = unresolved_pronoun(question)
        return drop_if(drop_reason, f"{pronoun!r} in {question!r}" if drop_reason else None)


class Boilerplate(ItemFilter):
    """The answer's sentence is no news: a caption, a byline, a call."""

    reasons: ClassVar[Mapping[str, str]] = {
        "boilerplate": "The answer stands in a caption, a byline or the like, which is no news.",
    }

    filter: Literal["boilerplate"] = "boilerplate"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop where the answer's sentence is boilerplate; `detail` has the sentence."""
        sentence_index, sentences = item.question.answer.sentence, item.article.sentences
        # 0 is the headline, which no answer is taken from
        boilerplate_type = (
            boilerplate_kind(sentences[sentence_index])
            if 0 < sentence_index < len(sentences)
            else None
        )
        return (
            drop_if("boilerplate", f"{boilerplate_type}: {sentences[sentence_index]}")
            if boilerplate_type
            else KEEP
        )
