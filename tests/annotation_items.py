"""Items for every layout, made by hand, as a batch would hold them."""

from collections.abc import Mapping
from typing import Any

from factdrift.annotation.batch import Hit, Item
from factdrift.annotation.layout import Layout
from factdrift.annotation.submission import Json

ARTICLE = """Ban Ki-moon starts work as United Nations Secretary-General
Ban Ki-moon began work at United Nations headquarters in New York on Tuesday.
Ban became the eighth Secretary-General of the United Nations on 1 January 2007.
The South Korean diplomat succeeded Kofi Annan of Ghana.
Annan led the United Nations for ten years.
The United Nations General Assembly appointed Ban in October 2006.
Ban served as foreign minister of South Korea from 2004 to 2006.
Ban is the first Asian to lead the organisation since U Thant of Burma, who left office in 1971."""

_PAGE: list[Json] = [
    dict(zip(("section", "kind", "text"), line.split("|", 2), strict=True)) | {"links": []}
    for line in """\
|text|Kofi Annan was a Ghanaian diplomat.
|text|He was the seventh Secretary-General of the United Nations from January 1997 to \
December 2006. He and the UN were the co-recipients of the 2001 Nobel Peace Prize.
|infobox|Born | 8 April 1938, Kumasi
Early life and education|text|In 1957 Annan won a scholarship to study at Macalester College in \
Minnesota, where he took a degree in economics in 1961. A year later he began to work for the \
World Health Organization in Geneva.
Career|text|From 1974 to 1976 Annan managed the state-owned Ghana Tourist Development Company in \
Accra.
Awards|list|2001: Nobel Peace Prize
Awards|list|2013: chair of The Elders
Awards|list|2002: Philadelphia Liberty Medal""".split("\n")
]
_PASSAGES: list[Json] = [
    dict(zip(("heading", "text"), line.split("|"), strict=True))
    for line in """\
Annan opens session|Monday, September 12, 2005. The Secretary-General of the United Nations, Kofi \
Annan, opened the session in New York.
Aid for Darfur|Friday, May 26, 2006. Kofi Annan asked for more aid. The Secretary-General spoke in \
Geneva.
Elections in Ghana|Tuesday, December 7, 2004. Voters in Ghana chose a president. Turnout was high \
in Kumasi.
World Cup|Sunday, July 9, 2006. Italy won the World Cup in Berlin.
New members|Saturday, May 1, 2004. Ten states joined the European Union.
Peace Prize|Friday, October 12, 2001. The Nobel Peace Prize went to the UN and its \
Secretary-General, Kofi Annan of Ghana.
Boutros-Ghali|Tuesday, December 31, 1996. Boutros Boutros-Ghali left office as \
Secretary-General.""".split("\n")
]

FIELDS: dict[str, dict[str, Json]] = {
    "write_questions": {
        "question_day": "2007-01-20",
        "article_day": "2007-01-02",
        "article": ARTICLE,
    },
    "judge_question": {
        "question_date": 1588723200,
        "question": "Who became Secretary-General of the United Nations in January 2007?",
    },
    "answer_question": {
        "question": "Who did Ban Ki-moon succeed as Secretary-General of the United Nations?",
        "question_date": 1588723200,
        "article_date": 1167696000,
        "article": ARTICLE,
    },
    "judge_toxicity": {
        "question": "Who called the Secretary-General a coward in 2007?",
        "answers_shown": ["a delegate", "one of the delegates"],
    },
    "verify_facts": {
        "statement": "Kofi Annan was Secretary-General of the United Nations.",
        "subject": "Kofi Annan",
        "relation": "position held",
        "valid_from": "1997-01-01",
        "valid_to": "2006-12-31",
        "suggested": "Secretary-General of the United Nations",
        "mention": "Secretary-General of the United Nations",
        "stated": "both",
        "found": [{"paragraph": 1, "start": 19, "end": 58}],
        "page": _PAGE,
    },
    "paraphrase": {
        "question": "Which position did Kofi Annan hold from 1997 to 2006?",
        "subject": "Kofi Annan",
        "relation": "position held",
    },
    "ckl_question": {
        "article_day": "2007-01-02",
        "article": ARTICLE,
        "questions": [
            "Who did Ban Ki-moon succeed?",
            "How long did Annan lead the United Nations?",
            "Who was the first Asian to lead the organisation?",
            "What is the Secretary-General's country of origin?",
        ],
    },
    "ckl_expert": {
        "cloze": "[BLANK] is the Secretary-General of the United Nations.",
        "new_answer": "Ban Ki-moon",
        "prediction": "Kofi Annan",
        "results": _PASSAGES,
    },
    "easy_select": {
        "article_day": "2007-01-02",
        "sentences": ARTICLE.split("\n"),
        "candidates": ["Ban", "United Nations", "1 January 2007", "eighth", "Kofi Annan", "Ghana"],
    },
    "easy_question": {
        "article_day": "2007-01-02",
        "cloze": "Ban Ki-moon succeeded [BLANK] of Ghana on 1 January 2007.",
        "article": ARTICLE,
    },
}


def hit(layout: str, items: int = 1, **changes: Json) -> Hit:
    """A HIT of some items of a layout, alike but for their ids."""
    fields = FIELDS[layout] | changes
    return Hit("hit-1", tuple(Item(f"item-{n}", f"row-{n}", fields) for n in range(items)))


def own_layout(
    fields: Mapping[str, Any], answers: Mapping[str, Any] | None = None, **more: Any
) -> Layout:
    """A layout of these fields and answers, by default an optional note."""
    note = {"note": {"kind": "text", "label": "N", "required": False}}
    about = {"title": "T", "summary": "S", "instructions": ["I"], "fields": fields}
    pay = {"per_hit": "1", "minutes_per_hit": "4"}
    return Layout.model_validate(about | {"answers": answers or note, "pay": pay} | more)
