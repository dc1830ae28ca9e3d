"""The tense of a question: all its verbs in the past, and whether it asks for a state."""

from typing import Any

from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.en.lexicon import COUNTRIES
from factdrift.builders.text.en.verbs import past_of_participle, simple_past
from factdrift.builders.text.quotations import quotation_spans

_STATES = word_set(language_data("questions")["states"])
_AUXILIARIES = {
    "is": "was", "'s": "was", "’s": "was", "am": "was", "are": "were", "'re": "were",
    "does": "did", "do": "did", "will": "would", "can": "could", "may": "might", "shall": "should",
    "wo": "would", "ca": "could", "'ll": "would",
}  # fmt: skip
_WITH_INFINITIVE = word_set("do does did will would can could may might shall should must")
_NOUNS = ("NN", "NNS", "NNP", "NNPS", "PRP", "WP")
_FINITE = ("VBZ", "VBP", "VBD")

Edit = tuple[int, int, str]
"""Start and end of a piece of a text, and its replacement."""


def to_past_tense(parsed_question: Any, *, also_would: bool = False) -> str:
    """A question with every verb in the present, perfect or future changed to the past tense.

    `parsed_question` is spaCy's `Doc`. Infinitives, names and quotations stay as they are. What the
    question itself puts in the future was a plan on the article's day, and nobody knows whether it
    came true: `who will lead Nokia` is `who was going to lead Nokia`. With `also_would`, so is `who
    would lead Nokia`.
    """
    question: str = parsed_question.text
    quoted_spans = list(quotation_spans(question))
    edits: list[Edit] = []
    for word in parsed_question:
        outside_quotes = not any(
            quote_start <= word.idx < quote_end for quote_start, quote_end in quoted_spans
        )
        is_name = word.i > 0 and word.text[0].isupper()
        if outside_quotes and not is_name and word.tag_ in ("VBZ", "VBP", "MD"):
            edits += _plan(word, also_would=also_would) or _changed(word)
    for start, end, replacement in sorted(edits, reverse=True):
        text_before = question[:start]
        if replacement and replacement == replacement.lower() and question[start:end][:1].isupper():
            replacement = replacement[0].upper() + replacement[1:]
        if not replacement:
            text_before = text_before.rstrip()
        elif text_before and text_before[-1].isalnum():
            text_before += " "  # `Who's` is `Who was`
        question = text_before + replacement + question[end:]
    return question


def _changed(word: Any) -> list[Edit]:
    """The edits that put one finite verb into the past tense."""
    lower_word, head_word = word.lower_, word.head
    if (
        lower_word in ("has", "have", "'ve", "’ve", "'s")
        and word.dep_ == "aux"
        and (head_word.tag_ == "VBN" or _has_been(word, head_word))
    ):
        return _perfect(word, head_word)
    if word.tag_ == "VBZ" and any(child.lower_ in _WITH_INFINITIVE for child in word.lefts):
        return []  # no verb in the present follows a modal: `what time will polls open`
    if lower_word in _AUXILIARIES:
        return [(*_span(word), _AUXILIARIES[lower_word])]
    if word.tag_ == "MD" or _is_infinitive(word):
        return []
    return [(*_span(word), simple_past(word.lemma_.lower()))]


def _plan(word: Any, *, also_would: bool) -> list[Edit]:
    """The edits that make a plan of the main clause's future; none where the word is not its verb.

    `would` stays where it tells of what did not happen: before `have`, and with a condition.
    """
    main_verb = word.head
    modals = _FUTURE | {"would"} if also_would else _FUTURE
    if word.lower_ not in modals or word.dep_ != "aux" or main_verb.dep_ != "ROOT":
        return []
    infinitive = _infinitive_between(word, main_verb)
    if infinitive is None or (infinitive.lower_ == "have" and infinitive is not main_verb):
        return []
    if word.lower_ == "would" and any(token.lower_ in ("if", "unless") for token in word.doc):
        return []
    was = "were" if _is_plural(main_verb) else "was"
    return [(*_span(word), was), (infinitive.idx, infinitive.idx, "going to ")]


def _infinitive_between(modal: Any, main_verb: Any) -> Any:
    """The verb right behind a modal: `be` in `will be sold`, `lead` in `will lead`; else None.

    The small pipeline tags some infinitives as another form, so that the form itself is compared.
    """
    for token in modal.doc[modal.i + 1 : main_verb.i + 1]:
        is_infinitive = token.tag_.startswith("VB") and token.lower_ == token.lemma_.lower()
        if is_infinitive and main_verb in (token, token.head):
            return token
    return None


_FUTURE = frozenset(("will", "wo", "shall", "'ll", "’ll"))


def _is_plural(verb: Any) -> bool:
    """Whether the subject of a verb is a plural: `jobs`, `Apple and Google`, `the Obamas`."""
    subject = next((child for child in verb.children if child.dep_.startswith("nsubj")), None)
    if subject is None:
        return False
    if subject.tag_ == "NNS" or any(child.dep_ == "conj" for child in subject.children):
        return True
    name = subject.doc[subject.left_edge.i : subject.i + 1].text
    is_named_group = name.lower().startswith("the ") and name.endswith("s")
    return is_named_group and subject.tag_.startswith("NNP") and name[4:] not in COUNTRIES


def _span(word: Any) -> tuple[int, int]:
    return word.idx, word.idx + len(word)


def _is_infinitive(word: Any) -> bool:
    """Whether an auxiliary in front makes a verb an infinitive, whatever its tag: `did they agree`.

    The small pipeline takes many of them for the present tense.
    """
    if word.lower_ != word.lemma_.lower():
        return False
    tokens_before = word.doc[: word.i]
    finite_verbs = [token for token in tokens_before if token.tag_ in (*_FINITE, "MD")]
    return (len(tokens_before) > 0 and tokens_before[-1].lower_ == "to") or (
        bool(finite_verbs) and finite_verbs[-1].lower_ in _WITH_INFINITIVE
    )


def _has_been(auxiliary_verb: Any, main_verb: Any) -> Any:
    """The `been` between an auxiliary and its verb, as in `has been leading`, or None."""
    tokens_between = auxiliary_verb.doc[auxiliary_verb.i + 1 : main_verb.i]
    return next((token for token in tokens_between if token.lower_ == "been"), None)


def _perfect(auxiliary_verb: Any, main_verb: Any) -> list[Edit]:
    """`has led` is led, `has Obama flown` is did Obama fly, `has been shot` is was shot."""
    tokens_between = auxiliary_verb.doc[auxiliary_verb.i + 1 : main_verb.i]
    if been := _has_been(auxiliary_verb, main_verb):
        was = "were" if auxiliary_verb.lower_ == "have" else "was"
        return [(*_span(auxiliary_verb), was), (*_span(been), "")]
    if any(token.tag_ in _NOUNS for token in tokens_between):
        return [(*_span(auxiliary_verb), "did"), (*_span(main_verb), main_verb.lemma_)]
    simple_past_form = past_of_participle(main_verb.lower_)
    return [
        (auxiliary_verb.idx, auxiliary_verb.nbor().idx, ""),
        (*_span(main_verb), f" {simple_past_form}"),
    ]


def asks_state(parsed_question: Any) -> bool:
    """Whether a question asks for a state (who held an office), not for an event (who won).

    A question in the present tense also asks for a state: the one on the article's day.
    """
    finite_verb = next((token for token in parsed_question if token.tag_ in _FINITE), None)
    if finite_verb is None:
        return False
    if finite_verb.tag_ != "VBD":
        return not (finite_verb.lemma_ == "have" and finite_verb.dep_ == "aux")
    main_verb = finite_verb.head if finite_verb.dep_ in ("aux", "auxpass") else finite_verb
    return main_verb.lemma_ == "be" or main_verb.lemma_ in _STATES
