"""Comparisons whose subject's name gives the answer away, or belies it.

These are the modes `word` and `overlap` of `builders.text.given_away` over tables.

"Lumen Field is named after _X_" has its answer in the question: it says nothing of what a model
knows.
After: the answer-overlap rule of InvariantLAMA (CKL, appendix B).
"""

import ibis
import ibis.expr.types as ir

from factdrift.builders.text.given_away import PROPER_NAME, SIGNIFICANT_LENGTH, WORD_SEPARATOR


def name_giveaways(comparisons: ir.Table, entities: ir.Table) -> ir.Table:
    """The comparisons (`period_diff.compare`) with an answer, or one of before, whose label shares
    a word with the subject's, or stands in it whole; `detail` names them and what is shared:
    `Q42/lumen`.
    """
    key = ["subject", "relation", "first"]
    open_comparisons = comparisons.filter(comparisons.reason.isnull())
    named_objects = open_comparisons.select(
        *key, object=open_comparisons.answers.concat(open_comparisons.previous_answers).unnest()
    ).distinct()
    named_objects = named_objects.mutate(
        item=ibis.literal("Q") + named_objects.subject.cast("string")
    )
    pairs = named_objects.select("item", "object").distinct()
    for role in ("item", "object"):
        words = entities.select(
            **{
                f"{role}_id": "id",
                f"{role}_label": "label",
                f"{role}_words": _long_words(entities.label),
            }
        )
        pairs = pairs.join(words, pairs[role] == words[f"{role}_id"]).drop(f"{role}_id")
    shared = pairs.item_words.intersect(pairs.object_words)
    within = _stands_whole_in(pairs.item_label, pairs.object_label) & (shared.length() == 0)
    shared = ibis.ifelse(within, ibis.array([pairs.object_label.lower()]), shared)
    pairs = pairs.select("item", "object", word=shared.unnest())
    named_objects = named_objects.join(pairs, ["item", "object"])
    return named_objects.select(*key, detail=named_objects.object + "/" + named_objects.word)


def labels_overlap(subject: ir.StringColumn, answer: ir.StringColumn) -> ir.BooleanValue:
    """Whether one label stands inside the other, in any case, or both share a word.

    A name that stands whole in the other is inside it, whatever is between its words.
    """
    subject_text, answer_text = subject.lower(), answer.lower()
    shared = _long_words(subject).intersect(_long_words(answer)).length() > 0
    return (
        subject_text.contains(answer_text)
        | answer_text.contains(subject_text)
        | shared
        | _stands_whole_in(subject, answer)
    )


def _stands_whole_in(text: ir.StringColumn, name: ir.StringColumn) -> ir.BooleanValue:
    """Whether all words of a name stand side by side in a text, as they are written."""
    spaced = [" " + label.re_replace(WORD_SEPARATOR, " ").strip() + " " for label in (text, name)]
    return name.re_search(PROPER_NAME) & spaced[0].contains(spaced[1])


def _long_words(label: ir.StringColumn) -> ir.ArrayValue:
    split = label.lower().re_split(WORD_SEPARATOR)
    return split.filter(lambda word: word.length() >= SIGNIFICANT_LENGTH)
