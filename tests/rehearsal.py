"""A rehearsal of work by people: answers to a batch that the layouts take, sensible and made up.

`python -m tests.rehearsal BATCH RESULTS` writes what three workers of a static page would hand in.
Whoever is short of three annotators and wants to see the whole way first can use it, too.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from annotation.batch import Item, read_batch
from annotation.checks import problems
from annotation.layout import Layout, load_layout
from annotation.submission import FORMAT, Json
from builders.core.errors import UserError

Fields = Mapping[str, Any]
_NAME = re.compile(r"[A-Z][\w'-]*(?: (?:of |the |and )?[A-Z][\w'-]*)*")


def rehearse(batch: Path, results: Path) -> int:
    """Write a line for each HIT and worker; returns their number.

    `UserError`: a layout of one's own, to which no answers are made up here.
    """
    whole = read_batch(batch)
    if whole.layout not in ANSWERS:
        hint = f"it can answer {', '.join(ANSWERS)}; add yours to tests/rehearsal.py"
        raise UserError(f"no answers to the layout {whole.layout!r} are made up here", hint=hint)
    layout = load_layout(str(batch / "layout"))
    lines = []
    for hit in whole.hits:
        for worker in range(layout.assignments):
            answers = {item.id: answers_to(whole.layout, layout, item) for item in hit.items}
            for item in hit.items:
                wrong = problems(layout, item.fields, answers[item.id])
                if wrong:
                    raise AssertionError(f"{whole.layout}: {wrong}: {answers[item.id]}")
            seconds = layout.min_seconds + 20
            lines.append(
                {
                    "format": FORMAT,
                    "batch": whole.id,
                    "hit": hit.id,
                    "worker": f"worker-{worker + 1}",
                    "assignment": f"{hit.id}-{worker + 1}",
                    "seconds": seconds * len(hit.items),
                    "answers": answers,
                    "item_seconds": {item.id: seconds for item in hit.items},
                }
            )
    results.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    results.write_text(text, "utf-8")
    return len(lines)


def answers_to(name: str, layout: Layout, item: Item) -> Mapping[str, Json]:
    """What a worker who rehearses says to one item."""
    if item.answers is None:
        return ANSWERS[name](item.fields)
    said = dict(item.answers)  # what is known of it; the rest as its first choices have it
    for wrong in problems(layout, item.fields, said):
        lacks, _, what = wrong.partition(": ")
        choices = [choice.value for choice in layout.answers[lacks].choices]
        if what == "missing" and layout.answers[lacks].kind == "flag":
            said[lacks] = False
        elif what == "missing" and choices:
            said[lacks] = choices[:1] if layout.answers[lacks].kind == "choices" else choices[0]
    return said


def _one_in(n: int, fields: Fields) -> bool:
    """True for about one item of n, always the same ones."""
    return int(sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest(), 16) % n == 0


def _facts(fields: Fields) -> dict[str, Any]:
    if not fields.get("mention"):  # nothing to say Correct to
        return {"verdict": "unanswerable"}
    return {"verdict": "correct", "time": "unknown" if _one_in(15, fields) else "known"}


def _question(fields: Fields) -> dict[str, Any]:
    question = fields["questions"][0]
    asked = set(re.findall(r"\w+", question.lower()))
    lines = fields["article"].split("\n")
    best = max(lines[1:], key=lambda s: len(asked & set(re.findall(r"\w+", s.lower()))))
    every = list(_NAME.finditer(best))
    names = [m for m in every if m[0] not in question] or every
    answer = max(names, key=lambda m: len(m[0]))
    start = fields["article"].index(best) + answer.start()
    cloze = best[: answer.start()] + "[BLANK]" + best[answer.end() :]
    return {
        "question": question,
        "answer": {"start": start, "end": start + len(answer[0]), "text": answer[0]},
        "edited": question,
        "cloze": cloze.replace("?", ""),
    }


def _expert(fields: Fields) -> dict[str, Any]:
    said: dict[str, Any] = {"statement": fields["cloze"]}
    if fields.get("prediction"):
        said["supported"] = "no"
    passages = [p["text"] if isinstance(p, Mapping) else p for p in fields.get("results") or []]
    found = next(
        (
            (n, m)
            for n, text in enumerate(passages)
            for m in _NAME.finditer(text)
            if " " in m[0] and m[0] not in (fields["new_answer"], fields["cloze"])
        ),
        None,
    )
    if found is None or _one_in(2, fields):
        return {**said, "found": "no"}
    place, name = found
    span = {"paragraph": place, "start": name.start(), "end": name.end(), "text": name[0]}
    more = {"found": "yes", "other_evidence": span, "other_answer": name[0]}
    return {**said, **more, "other_is": "different"}


def _select(fields: Fields) -> dict[str, Any]:
    for sentence in fields["sentences"][1:]:
        for word in sorted(fields["candidates"], key=lambda w: (-len(w), w)):
            if re.search(rf"(?<!\w){re.escape(word)}(?!['’\w])", sentence):
                return {"newness": "general", "sentence": sentence, "word": word}
    return {"newness": "none"}


def _asked(fields: Fields) -> dict[str, Any]:
    before, after = fields["cloze"].split("[BLANK]")
    text = fields["article"]
    found = re.search(rf"{re.escape(before)}(.+?){re.escape(after)}$", text, re.M)
    answer = found[1] if found else next(_NAME.finditer(text))[0]  # an edited sentence
    gap = f"{before}something{after}".rstrip(".")
    return {"question": f"What is left out of “{gap}”?", "answer": answer}


def _good(fields: Fields) -> dict[str, Any]:
    if _one_in(12, fields):
        return {"verdict": "bad", "reasons": ["ambiguous"]}
    return {"verdict": "good"}


def _toxic(fields: Fields) -> dict[str, Any]:
    names = "identity_attack insult profanity severe_toxicity sexually_explicit threat"
    return dict.fromkeys(names.split(), False) | {"insult": _one_in(15, fields)}


def _answered(fields: Fields) -> dict[str, Any]:
    article, asked = fields["article"], set(re.findall(r"\w+", fields["question"].lower()))
    lines = [line for line in article.split("\n") if line.strip()]
    best = max(lines, key=lambda s: len(asked & set(re.findall(r"\w+", s.lower()))))
    names = [m[0] for m in _NAME.finditer(best) if m[0] not in fields["question"]]
    if not names:
        return {"answerable": "no"}
    start = article.index(best)
    span = {"start": start, "end": start + len(best), "text": best}
    return {"answerable": "yes", "evidence": [span], "answer": max(names, key=len)[:150]}


def _written(fields: Fields) -> dict[str, Any]:
    made = []
    for line in fields["article"].split("\n"):
        names = sorted({m[0] for m in _NAME.finditer(line)}, key=lambda name: (-len(name), name))
        if 20 < len(line) < 200 and names:
            gap = line.replace(names[0], "…").rstrip(".?!")
            made.append({"question": f"Whose name is left out of “{gap}”?", "answer": names[0]})
    return {"questions": made[:2] or [{"question": "Who is in the news today?", "answer": "x"}]}


def _reworded(fields: Fields) -> dict[str, Any]:
    rest = fields["question"].split(" ", 1)[-1].rstrip("?")
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

if __name__ == "__main__":
    try:
        print(rehearse(Path(sys.argv[1]), Path(sys.argv[2])), "submissions in", sys.argv[2])
    except (UserError, IndexError) as error:
        sys.exit(str(error) if isinstance(error, UserError) else f"usage: {__doc__}")
