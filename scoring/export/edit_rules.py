"""What editors of models ask of an edit: rules that every record of their formats keeps.

They are written from what the loaders and methods of EasyEdit do (Wang et al. 2023): one record
that breaks a rule ends a run over all of them, or is edited wrongly without a word.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeGuard

from factdrift.builders.text.given_away import gives_away

Record = Mapping[str, Any]
LOCALITY_KINDS = ("Relation_Specificity", "Forgetfulness")
"""The kinds of untouched facts that are read; every record has the first, which loaders index."""
LOCALITY_MARK = "nq question: "
"""What stands before an untouched question in the form of zsRE, where loaders look for it."""
_MOST_HOPS = 4
PORTABILITY_KINDS = ("Reasoning", "Subject_Aliasing", "Logical_Generalization")
"""The kinds of what should follow from an edit; a record may have none."""


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

    Beside the rules of single records: no two edits of one period have the same prompt, of which
    one would undo the other, and no untouched fact has the prompt of an edit of its period or a
    later one.
    """
    edits = list(records)
    first_places: dict[tuple[object, str], int] = {}
    last_periods: dict[object, str] = {}
    for number, record in enumerate(edits, 1):
        prompt, period = record.get("prompt"), record.get("period", "")
        first_places.setdefault((prompt, period), number)
        last_periods[prompt] = max(period, last_periods.get(prompt, ""))
    for number, record in enumerate(edits, 1):
        period = record.get("period", "")
        fault = fault_of_edit(record)
        first_place = first_places[record.get("prompt"), period]
        if fault:
            yield number, fault
        elif first_place != number:
            yield number, f"it has the prompt of record {first_place}"
        else:
            untouched = [fact for facts in record["locality"].values() for fact in facts]
            edited_in = [last_periods.get(fact["prompt"]) for fact in untouched]
            if any(edit_period is not None and edit_period >= period for edit_period in edited_in):
                yield number, "a fact beside the edit has the prompt of an edit"


def fault_of_question_edit(record: Record) -> str | None:
    """Return why no editor can use a record in the form of zsRE, or None where one can."""
    lines = [record.get(name) for name in ("subject", "src", "alt", "rephrase", "loc", "loc_ans")]
    if not all(map(_is_line, lines)):
        return "no rephrase, no untouched fact, or a field that is not a line of text"
    subject, question, target, rephrase, untouched, untouched_answer = map(str, lines)
    answers = record.get("answers")
    # The loader takes the first one, without looking whether there is one.
    if not isinstance(answers, list) or not answers or not all(map(_is_line, answers)):
        return "there is no old answer"
    if question.count(subject) != 1:
        return "the question does not have the subject exactly once"
    if set("{}") & {*question, *target}:
        return "question or target has a brace, which editors read as a slot"
    if gives_away(question, target) or gives_away(rephrase, target):
        return "question or rephrase gives its answer away"
    if answers[0].casefold() == target.casefold():
        return "the old answer has the name of the new one"
    if LOCALITY_MARK not in untouched:
        return f"the untouched question is not marked with {LOCALITY_MARK.strip()}"
    if question == rephrase or untouched.removeprefix(LOCALITY_MARK) == question.rstrip("?"):
        return "two questions of the record are the same"
    if gives_away(untouched, untouched_answer):
        return "the untouched question gives its answer away"
    return _fault_of_new_question(record.get("portability"))


def _fault_of_new_question(portability: object) -> str | None:
    """Return what is wrong with a question of one hop, or None, as where there is none."""
    if portability is None:
        return None
    names = ("Recalled Relation", "New Question", "New Answer")
    if not isinstance(portability, Mapping) or {*portability} != {*names}:
        return "portability has other fields"
    if not all(_is_line(portability[name]) for name in names):
        return "a field of portability is not a line of text"
    if gives_away(portability["New Question"], portability["New Answer"]):
        return "the new question gives its answer away"
    return None


def fault_of_case(case: Record) -> str | None:
    """Return why a case in the form of MQuAKE cannot be used, or None where it can."""
    rewrites, questions = case.get("requested_rewrite"), case.get("questions")
    if not isinstance(rewrites, list) or not rewrites:
        return "there is no edit"
    for rewrite in rewrites:
        if fault := _fault_of_rewrite(rewrite):
            return fault
    if not isinstance(questions, list) or not questions or not all(map(_is_line, questions)):
        return "there is no question"
    answer, new_answer = case.get("answer"), case.get("new_answer")
    if not _is_line(answer) or not _is_line(new_answer):
        return "the answer before or after is not a line of text"
    old_names = {name.casefold() for name in (answer, *case["answer_alias"])}
    if new_answer.casefold() in old_names:
        return "the answer does not change"
    if any(gives_away(question, new_answer) for question in questions):
        return "a question gives its answer away"
    return _fault_of_hops(case)


def _fault_of_rewrite(rewrite: Record) -> str | None:
    """Return what is wrong with an edit of a case, whose subject fills a slot."""
    prompt, subject = rewrite.get("prompt"), rewrite.get("subject")
    if not _is_line(prompt) or not _is_line(subject) or not _is_line(rewrite.get("question")):
        return "prompt, subject or question of the edit is not a line of text"
    if prompt.count("{}") != 1 or set("{}") & {*prompt.replace("{}", "")} or subject in prompt:
        return "the prompt does not have one slot for the subject"
    for name in ("target_new", "target_true"):
        target = rewrite.get(name)
        if not isinstance(target, Mapping) or not (_is_line(target["str"]) and target["id"]):
            return f"{name} has no name or no id"
    if rewrite["target_new"]["id"] == rewrite["target_true"]["id"]:
        return "the edit writes what was so before"
    return None


def _fault_of_hops(case: Record) -> str | None:
    """Return what is wrong with the chains of a case: each hop begins where the last one ended."""
    orig = case["orig"]
    for prefix, answer_name in (("", "answer"), ("new_", "new_answer")):
        triples, hops = orig[f"{prefix}triples"], case[f"{prefix}single_hops"]
        if len(triples) != len(hops) or not 2 <= len(triples) <= _MOST_HOPS:
            return "the hops are not two to four, or not those of the triples"
        for triple, next_triple in pairwise(triples):
            if triple[2] != next_triple[0]:
                return "a hop does not begin where the last one ended"
        if hops[-1]["answer"] != case[answer_name]:
            return "the last hop does not give the answer"
    if orig["edit_triples"] != [orig["new_triples"][0]]:
        return "the edited fact is not the first hop"
    return None
