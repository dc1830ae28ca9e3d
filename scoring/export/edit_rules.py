"""What editors of models ask of an edit: rules that every record of `edits.json` keeps.

They are written from what the loaders and methods of EasyEdit do (Wang et al. 2023): one record
that breaks a rule ends a run over all of them, or is edited wrongly without a word.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from factdrift.builders.text.given_away import SIGNIFICANT_LENGTH, contains_as_scored

Record = Mapping[str, Any]
LOCALITY_KINDS = ("Relation_Specificity", "Forgetfulness")
"""The kinds of untouched facts that are read; every record has the first, which loaders index."""
PORTABILITY_KINDS = ("Reasoning", "Subject_Aliasing", "Logical_Generalization")
"""The kinds of what should follow from an edit; a record may have none."""


def gives_away(prompt: str, answer: str) -> bool:
    """Whether a prompt holds its answer: as scored, or as letters within a longer word.

    >>> gives_away("Kia Center is named after", "Kia"), gives_away("Oslofjord lies in", "Oslo")
    (True, True)
    >>> gives_away("The focus of Ann is", "US")
    False
    """
    is_long = len(answer) >= SIGNIFICANT_LENGTH
    within_words = is_long and answer.casefold() in prompt.casefold()
    return within_words or contains_as_scored(prompt, answer)


def fault_of_edit(record: Record) -> str | None:
    """Return why no editor can use a record, or None where one can.

    >>> fault_of_edit({"subject": "violin", "prompt": "Violin is a kind of", "target_new": "fiddle",
    ...     "locality": {"Relation_Specificity": [
    ...         {"prompt": "A drum is a kind of", "ground_truth": [["percussion"]]}]}})
    'the prompt does not have the subject exactly once'
    """
    prompt, subject, target = record.get("prompt"), record.get("subject"), record.get("target_new")
    if not (_is_line(prompt) and _is_line(subject) and _is_line(target)):
        return "prompt, subject or target_new is not a line of text"
    # Editors replace the subject by a slot, everywhere it stands, and take one slot alone.
    if prompt.count(subject) != 1:
        return "the prompt does not have the subject exactly once"
    # The slot is `{}`, and prompt and target are formatted: any other brace is an error there.
    if set("{}") & {*prompt, *target}:
        return "prompt or target_new has a brace, which editors read as a slot"
    if gives_away(prompt, target):
        return "the prompt gives its answer away"
    previous_answer = record.get("ground_truth")
    if previous_answer is not None:
        if not _is_line(previous_answer):
            return "ground_truth is not a line of text"
        if previous_answer.casefold() == target.casefold():
            return "the old answer has the name of the new one"
    return _fault_beside(record)


def _fault_beside(record: Record) -> str | None:
    """Return what is wrong with the facts beside an edit, or None."""
    locality, portability = record.get("locality"), record.get("portability", {})
    if not isinstance(locality, Mapping) or not isinstance(portability, Mapping):
        return "locality is missing, or it or portability is not a map"
    if not locality.get(LOCALITY_KINDS[0]):
        return "locality has no untouched fact"
    if (locality.keys() - {*LOCALITY_KINDS}) or (portability.keys() - {*PORTABILITY_KINDS}):
        return "locality or portability has a kind that nothing reads"
    for facts in (*locality.values(), *portability.values()):
        if not isinstance(facts, Sequence) or not facts or not all(map(_is_fact, facts)):
            return "a fact beside the edit lacks a prompt or an answer"
        if any(gives_away(fact["prompt"], fact["ground_truth"][0][0]) for fact in facts):
            return "the prompt of a fact beside the edit gives its answer away"
        prompts = [fact["prompt"] for fact in facts]
        if record["prompt"] in prompts or len({*prompts}) < len(prompts):
            return "two prompts of the record are the same"
    return None


def _is_line(text: object) -> TypeGuard[str]:
    """Whether this is a text of one line that neither begins nor ends with a blank."""
    return isinstance(text, str) and bool(text) and text == " ".join(text.splitlines()).strip()


def _is_fact(fact: object) -> bool:
    """Whether a fact has a prompt and a list of lists of answers, none of which is empty."""
    if not isinstance(fact, Mapping) or not _is_line(fact.get("prompt")):
        return False
    answer_lists = fact.get("ground_truth")
    if not isinstance(answer_lists, list) or not answer_lists:
        return False
    for answers in answer_lists:
        if not isinstance(answers, list) or not answers or not all(map(_is_line, answers)):
            return False
    return True


def faults_of_file(records: Iterable[Record]) -> Iterator[tuple[int, str]]:
    """Yield the number of each record that breaks a rule, from 1, and what it breaks.

    Beside the rules of single records: no two edits have the same prompt, of which one would undo
    the other, and no untouched fact has the prompt of an edit.
    """
    edits = list(records)
    first_places: dict[str, int] = {}
    for number, record in enumerate(edits, 1):
        first_places.setdefault(record.get("prompt", ""), number)
    for number, record in enumerate(edits, 1):
        fault = fault_of_edit(record)
        if fault:
            yield number, fault
        elif first_places[record["prompt"]] != number:
            yield number, f"it has the prompt of record {first_places[record['prompt']]}"
        else:
            for facts in record["locality"].values():
                if any(fact["prompt"] in first_places for fact in facts):
                    yield number, "a fact beside the edit has the prompt of an edit"
