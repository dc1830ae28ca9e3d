"""Comparisons whose subject's name gives the answer away, or suggests a wrong one.

"Lumen Field is named after _X_" has its answer in the question, so that it does not test what a
model knows. The modes `word` and `overlap` of `builders.text.given_away` are applied to tables.
After: the answer-overlap rule of InvariantLAMA (CKL, appendix B).
"""

import ibis
import ibis.expr.types as ir

from factdrift.builders.text.given_away import PROPER_NAME, SIGNIFICANT_LENGTH, WORD_SEPARATOR


def name_giveaways(comparisons: ir.Table, entities: ir.Table) -> ir.Table:
    """Return the keys of the comparisons (`period_diff.compare`) whose subject names an answer.

    That is so where the label of an answer, or of an answer of the period before, shares a word
    with the subject's label or is part of it. `detail` has the object and the word: `Q42/lumen`.
    """
    comparison_key = ["subject", "relation", "first"]
    open_comparisons = comparisons.filter(comparisons.reason.isnull())
    named_objects = open_comparisons.select(
        *comparison_key,
        object=open_comparisons.answers.concat(open_comparisons.previous_answers).unnest(),
    ).distinct()
    named_objects = named_objects.mutate(
        item=ibis.literal("Q") + named_objects.subject.cast("string")
    )
    name_pairs = named_objects.select("item", "object").distinct()
    for role in ("item", "object"):
        entity_words = entities.select(
            **{
                f"{role}_id": "id",
                f"{role}_label": "label",
                f"{role}_words": _long_words(entities.label),
            }
        )
        name_pairs = name_pairs.join(
            entity_words, name_pairs[role] == entity_words[f"{role}_id"]
        ).drop(f"{role}_id")
    shared_words = name_pairs.item_words.intersect(name_pairs.object_words)
    stands_within = _stands_whole_in(name_pairs.item_label, name_pairs.object_label) & (
        shared_words.length() == 0
    )
    shared_words = ibis.ifelse(
        stands_within, ibis.array([name_pairs.object_label.lower()]), shared_words
    )
    name_pairs = name_pairs.select("item", "object", word=shared_words.unnest())
    named_objects = named_objects.join(name_pairs, ["item", "object"])
    return named_objects.select(
        *comparison_key, detail=named_objects.object + "/" + named_objects.word
    )


def labels_overlap(subject: ir.StringColumn, answer: ir.StringColumn) -> ir.BooleanValue:
    """Whether one label stands inside the other, in any case, or both share a word.

    A name that stands whole in the other is inside it, whatever is between its words.
    """
    subject_text, answer_text = subject.lower(), answer.lower()
    share_words = _long_words(subject).intersect(_long_words(answer)).length() > 0
    return (
        subject_text.contains(answer_text)
        | answer_text.contains(subject_text)
        | share_words
        | _stands_whole_in(subject, answer)
    )


def _stands_whole_in(text: ir.StringColumn, searched_name: ir.StringColumn) -> ir.BooleanValue:
    """Whether all words of a name stand side by side in a text, as they are written."""
    spaced_words = [
        " " + label.re_replace(WORD_SEPARATOR, " ").strip() + " " for label in (text, searched_name)
    ]
    return searched_name.re_search(PROPER_NAME) & spaced_words[0].contains(spaced_words[1])


def _long_words(label: ir.StringColumn) -> ir.ArrayValue:
    label_words = label.lower().re_split(WORD_SEPARATOR)
    return label_words.filter(lambda word: word.length() >= SIGNIFICANT_LENGTH)
