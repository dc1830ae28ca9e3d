"""What people say of the sample's articles and clozes in the tests of the CKL chain."""

from collections.abc import Sequence
from typing import Any

from factdrift.annotation.batch import Item
from factdrift.builders.rows import Gold
from tests.ckl_walk import gold, mark, valid

SAID = {
    "The prime minister of Japan is [BLANK].": "Shinzo Abe",
    "The football club of Luis Suárez is [BLANK].": "unknown",
    "[BLANK] resigned as chief executive of Wirecard in June 2020.": "Tim Cook",
    "The president of France is [BLANK].": "Emmanuel Macron",
    "The prime minister of New Zealand is [BLANK].": "Bill English",
    "The coach of Juventus is [BLANK].": "Maurizio Sarri",
}
"""What the played model puts into the gaps."""
WRITTEN = {
    "Yoshihide Suga becomes": ("The prime minister of Japan is [BLANK].", "Yoshihide Suga"),
    "Luis Suárez joins": ("The football club of Luis Suárez is [BLANK].", "Atlético Madrid"),
    "Wirecard files": (
        "[BLANK] resigned as chief executive of Wirecard in June 2020.",
        "Markus Braun",
    ),
    "Emmanuel Macron tests": ("The president of France is [BLANK].", "Emmanuel Macron"),
    "Jacinda Ardern wins": ("The prime minister of New Zealand is [BLANK].", "Jacinda Ardern"),
    "Andrea Pirlo becomes": ("The coach of Juventus is [BLANK].", "Andrea Pirlo"),
}
"""What workers make of an article, by the beginning of its headline: statement and answer."""


def workers(items: Sequence[Item]) -> list[Gold]:
    """What workers say of the articles in `WRITTEN`, and some bad work."""
    layout = "ckl_question"
    by_head = {str(item.fields["article"]).split("\n")[0]: item for item in items}

    def item(start: str) -> Item:
        return next(found for head, found in by_head.items() if head.startswith(start))

    def answers(one: Item, cloze: str, answer: dict[str, Any]) -> dict[str, Any]:
        questions = one.fields["questions"]
        assert isinstance(questions, list)
        edited = cloze.replace("[BLANK]", "who").rstrip(".") + "?"
        return {"question": questions[0], "answer": answer, "edited": edited, "cloze": cloze}

    found = []
    for start, (cloze, answer) in WRITTEN.items():
        one = item(start)
        span = mark(str(one.fields["article"]), answer)
        found.append(gold(layout, one, valid(layout, one, answers(one, cloze, span))))
    hertz, belgium, moldova = item("Car rental"), item("Alexander De Croo"), item("Maia Sandu")
    text = str(hertz.fields["article"])
    twice = answers(hertz, "[BLANK] and [BLANK] are firms of Hertz.", mark(text, "Dollar"))
    told = answers(
        belgium,
        "Alexander De Croo succeeded the minister [BLANK].",
        mark(str(belgium.fields["article"]), "De Croo"),
    )
    off = answers(moldova, "[BLANK] won in Moldova.", {"start": 3, "end": 7, "text": "Igor"})
    found += [
        gold(layout, hertz, twice),
        gold(layout, belgium, told),
        gold(layout, moldova, off),
        gold(layout, "0123456789abcdef", twice),
        gold(layout, "1" * 16, {"question": ["a", "b", "c"], "edited": ["a", "b"]}),
        gold(layout, "2" * 16, twice, decision="open"),
    ]
    return found


def _asked(one: Item, answers: dict[str, Any]) -> dict[str, Any]:
    """Without a prediction nothing is asked about one."""
    return {k: v for k, v in answers.items() if k != "supported" or one.fields.get("prediction")}


def _kept(one: Item) -> dict[str, Any]:
    """Nothing is mended, and what is doubtful is right as it stands."""
    settled = {"settled": "yes"} if one.fields.get("doubts") else {}
    return {"keep": "yes", "statement": one.fields["cloze"], **settled}


def experts(items: Sequence[Item]) -> list[Gold]:
    """What experts find in the passages that the search of the old corpus gave."""
    layout = "ckl_expert"
    by_answer = {str(item.fields["new_answer"]): item for item in items}

    def passage(one: Item, words: str) -> dict[str, Any]:
        results = one.fields["results"]
        assert isinstance(results, list)
        texts = [str(p["text"]) for p in results if isinstance(p, dict)]
        place = next(n for n, text in enumerate(texts) if words in text)
        return mark(texts[place], words, place)

    japan = by_answer["Yoshihide Suga"]
    spain, zealand = by_answer["Atlético Madrid"], by_answer["Jacinda Ardern"]
    france, wirecard = by_answer["Emmanuel Macron"], by_answer["Markus Braun"]
    said: dict[str, dict[str, Any]] = {
        japan.id: {
            "supported": "yes",
            "evidence": passage(japan, "parliament elected Shinzo Abe as prime minister"),
            "prediction_is": "different",
        },
        spain.id: {
            "supported": "no",
            "found": "yes",
            "other_evidence": passage(spain, "Barcelona agreed to sign Luis Suárez"),
            "other_answer": "Barcelona",
            "other_is": "different",
            "statement": "Luis Suárez plays football for [BLANK].",
        },
        wirecard.id: {"supported": "no", "found": "no"},
        france.id: {
            "supported": "yes",
            "evidence": passage(france, "Emmanuel Macron won"),
            "prediction_is": "same",
        },
        zealand.id: {
            "supported": "no",
            "found": "yes",
            "other_evidence": passage(zealand, "Jacinda Ardern became prime minister"),
            "other_answer": "Jacinda Ardern",
            "other_is": "same",
        },
    }
    return [
        gold(
            layout,
            one,
            valid(layout, one, {**_kept(one), **_asked(one, answers)}),
            judgments=2,
        )
        for one in items
        if (answers := said.get(one.id))
    ]
