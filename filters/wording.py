"""Filters that look at one question and its article, and at nothing else."""

from typing import Literal

from pydantic import PositiveInt, model_validator

from factdrift.builders.text.en.answers import gives_answer_away
from factdrift.builders.text.en.boilerplate import boilerplate_kind
from factdrift.builders.text.en.question_form import malformation
from factdrift.builders.text.en.questions import article_day_reason
from factdrift.builders.text.en.standalone import outside_reference, unresolved_pronoun
from factdrift.builders.text.words import cuts_word, folded_tokens
from factdrift.filters.base import KEEP, FilterVerdict, ItemFilter, QuestionItem, drop_if


class AnswerNotInArticle(ItemFilter):
    """The article's text does not have the answer at the answer's offsets, as whole words."""

    filter: Literal["answer_not_in_article"] = "answer_not_in_article"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop where the span does not match, or the article is another one."""
        answer, article = item.question.answer, item.article
        expected = item.question.draw.article
        if expected != article.id:
            return drop_if("other_article", f"{expected!r} is wanted, this is {article.id!r}")
        found = article.text[answer.start : answer.end] if 0 <= answer.start < answer.end else ""
        if not found or found != answer.text:
            detail = f"{answer.text!r} is wanted, the article has {found!r}"
            return drop_if("span_does_not_match", detail)
        if cuts_word(article.text, answer.start, answer.end):
            around = article.text[max(0, answer.start - 20) : answer.end + 20]
            return drop_if("span_cuts_word", f"{answer.text!r} in {around!r}")
        return KEEP


class QuestionMark(ItemFilter):
    """The text is not one plain question: no mark or several, no question word, labels, slots.

    Marks in quotation marks are a title's.
    """

    filter: Literal["question_mark"] = "question_mark"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Keep a text of one line that ends with its only question mark, and asks."""
        return drop_if(malformation(item.question.question))


class Length(ItemFilter):
    """The question or its answer has too few or too many words (parted by blanks).

    A word counts where it has a letter or a digit; one of more than `longest` characters is none.

    `fewest`: the least words of a question; `most`: the most; `most_answer`: the most words of its
    answer; `longest`: the most characters of a word.
    """

    filter: Literal["length"] = "length"
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
        """Drop outside the limits; the score is the number of words."""
        parts = [w for w in item.question.question.split() if any(map(str.isalnum, w))]
        n = len(parts)
        answer = len(item.question.answer.text.split())
        if n < self.fewest:
            return FilterVerdict(False, "too_short", n)
        if n > self.most or any(len(w) > self.longest for w in parts):
            return FilterVerdict(False, "too_long", n)
        if answer > self.most_answer:
            return FilterVerdict(False, "answer_too_long", answer, item.question.answer.text)
        return FilterVerdict(True, "", n)


class AnswerInQuestion(ItemFilter):
    """The answer is a sub-span of the question (StreamingQA, appendix A.4, i).

    Compared by whole words, folded, determiners ignored: `the US` stands in `Who leads U.S.?`.
    """

    filter: Literal["answer_in_question"] = "answer_in_question"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop where the answer stands in the question, or has no words at all."""
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

    `relative`: what becomes of such questions.
    """

    filter: Literal["context_reference"] = "context_reference"
    relative: Literal["keep", "drop"] = "drop"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop, with the words that point outwards as `detail`."""
        question, draw = item.question, item.question.draw
        relative = self.relative == "drop" and draw.article_day != draw.question_day
        reason, words = outside_reference(question.question, relative=relative)
        asks_time = question.question.lower().startswith("when ")
        if reason is None and (question.answer.type == "date" or asks_time):
            answer = question.answer.text
            if reason := article_day_reason(question.question, answer, relative=relative):
                return drop_if(reason, f"{answer!r} answers {question.question!r}")
        return drop_if(reason, f"{words!r} in {question.question!r}" if reason else None)


class PronounWithoutAntecedent(ItemFilter):
    """A pronoun stands for someone whom the question does not name (`Who said that he …?`).

    An antecedent is a name or a noun before the pronoun, or a name after the comma that ends
    the pronoun's own opening clause (`After he resigned, who replaced Brown?`). `I` and `we`
    never have one. What stands in quotation marks is not looked at.
    """

    filter: Literal["pronoun_without_antecedent"] = "pronoun_without_antecedent"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop, with the pronoun as `detail`."""
        question = item.question.question
        reason, pronoun = unresolved_pronoun(question)
        return drop_if(reason, f"{pronoun!r} in {question!r}" if reason else None)


class Boilerplate(ItemFilter):
    """The answer's sentence is no news: a caption, a byline, a call."""

    filter: Literal["boilerplate"] = "boilerplate"

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Drop, with the sentence as `detail`."""
        place, sentences = item.question.answer.sentence, item.article.sentences
        kind = boilerplate_kind(sentences[place]) if 0 < place < len(sentences) else None
        return drop_if("boilerplate", f"{kind}: {sentences[place]}") if kind else KEEP


WordingFilter = (
    AnswerNotInArticle
    | QuestionMark
    | Length
    | AnswerInQuestion
    | ContextReference
    | PronounWithoutAntecedent
    | Boilerplate
)
"""Every filter of this module: a new one is a class above and a line here."""
