"""The forms of benchmarks, known by their columns: what a row holds to be true, and its repair.

PopQA (Mallen et al. 2023), TempLAMA (Dhingra et al. 2022) and DynamicTempLAMA (Margatina et al.
2023), MQuAKE (Zhong et al. 2023), LAMA's T-REx (Petroni et al. 2019) and PAT-Questions (Meem et al.
2024). Any other table says its columns.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, ClassVar, NamedTuple

from factdrift.builders.core.config import Strict
from factdrift.builders.core.dates import Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.records import BadValueError, day_value, is_missing, text_value
from factdrift.scoring.audit.rows import Holder, TableAnswer

Record = Mapping[str, Any]
ENTITY_ADDRESS = "http://www.wikidata.org/entity/"
# `Q42`, `wd:Q42`, `http://www.wikidata.org/entity/Q42`, `https://www.wikidata.org/wiki/Q42`
_ITEM_ID = re.compile(
    r"(?:wd:|https?://(?:www\.)?wikidata\.org/(?:entity|wiki)/)?(Q[1-9][0-9]{0,14})"
)
# `P54`, `wdt:P54`, `https://www.wikidata.org/wiki/Property:P54`
_PROPERTY_ID = re.compile(
    r"(?:wdt?:|https?://(?:www\.)?wikidata\.org/(?:entity/|wiki/Property:|prop/direct/))?"
    r"(P[1-9][0-9]{0,9})"
)
# `Q169814_P54_2010`, and in DynamicTempLAMA `Q169814_P54_2019-Q1`
_QUERY_ID = re.compile(r"(Q[1-9][0-9]*)_(P[1-9][0-9]*)(?:_.*)?")
# `2019-Q3`, `2019Q3`, `2019-07`, `2019M07`, `2019`
_PERIOD = re.compile(r"([0-9]{4})(?:-?Q([1-4])|-?M?([01][0-9]))?")
# `Who was the previous head of the government of {subject}?`
_ASKS_OF_BEFORE = re.compile(r"\b(?:previous|former|predecessor|before)\b", re.I)

POPQA_PROPERTIES = {
    "occupation": "P106", "place of birth": "P19", "genre": "P136", "father": "P22",
    "country": "P17", "producer": "P162", "director": "P57", "capital of": "P1376",
    "screenwriter": "P58", "composer": "P86", "color": "P462", "religion": "P140",
    "sport": "P641", "author": "P50", "mother": "P25", "capital": "P36",
}  # fmt: skip
"""The names of properties in PopQA, which has no ids of them."""


class Claim(NamedTuple):
    """What a row holds to be true; `unlinked` says why it cannot be looked up."""

    subject: str | None
    relation: str | None
    answers: tuple[TableAnswer, ...]
    days: tuple[date, date] | None = None
    unlinked: str | None = None


class TableForm(ABC):
    """The form of a table."""

    name: ClassVar[str]
    repairs: ClassVar[bool] = True
    """Whether a row can be repaired alone."""

    @abstractmethod
    def fits(self, record: Record) -> bool:
        """Whether a row has the columns of this form."""

    @abstractmethod
    def claims(self, record: Record, properties: Mapping[str, str]) -> list[Claim]:
        """What a row holds to be true; `properties`: normalized names of properties -> ids."""

    def repaired(self, record: Record, holders: Sequence[Holder]) -> dict[str, Any] | None:
        """The row with these answers; None where it has no place for them."""
        return None

    def dated(self, record: Record, row_day: date) -> dict[str, Any]:
        """The row with this day as its own date, as coarse as its date was."""
        return dict(record)


class ColumnChoice(Strict):
    """The columns of a table of no known form."""

    subject: str
    relation: str | None = None
    """The column of the property; None: all rows have `property`."""
    property: str | None = None
    answers: str
    answer_ids: str | None = None
    date: str | None = None


def column_choice(
    subject: str | None,
    relation: str | None,
    property_name: str | None,
    answers: str | None,
    answer_ids: str | None,
    date_column: str | None,
) -> ColumnChoice | None:
    """The columns that options name; None: none are named, so that the form has to be known.

    `UserError`: some are named, and not those of the subject, the property and the answers.
    """
    chosen = (subject, relation, property_name, answers, answer_ids, date_column)
    if not any(chosen):
        return None
    if not subject or not answers or bool(relation) is bool(property_name):
        raise UserError(
            "columns are named, and not all that are needed",
            hint="give --subject, --answers, and either --relation or --property",
        )
    return ColumnChoice(
        subject=subject,
        relation=relation,
        property=property_name,
        answers=answers,
        answer_ids=answer_ids,
        date=date_column,
    )


class PopQA(TableForm):
    """`s_uri`, `prop`, `o_uri` and `possible_answers`."""

    name = "PopQA"

    def fits(self, record: Record) -> bool:
        """Whether a row has the columns of PopQA."""
        return {"s_uri", "prop", "possible_answers"} <= record.keys()

    def claims(self, record: Record, properties: Mapping[str, str]) -> list[Claim]:
        """One claim; the property by its name, and names as the possible answers have them."""
        names = (*_texts(record.get("obj")), *_texts(record["possible_answers"]))
        answers = _with_ids(record.get("o_uri"), tuple(dict.fromkeys(names)))
        return [_claim(record["s_uri"], record["prop"], answers, properties)]

    def repaired(self, record: Record, holders: Sequence[Holder]) -> dict[str, Any] | None:
        """The first holder as the object, and the names of all as possible answers."""
        names = [name for holder in holders for name in (holder.label, *holder.aliases)]
        first_holder = holders[0]
        addresses, old_ids = [ENTITY_ADDRESS + holder.id for holder in holders], record.get("o_uri")
        changes: dict[str, Any] = {
            "obj": first_holder.label,
            "o_uri": _in_cell(addresses, old_ids) if _is_list(old_ids) else addresses[0],
            "o_aliases": _in_cell(first_holder.aliases, record.get("o_aliases")),
            "possible_answers": _in_cell(list(dict.fromkeys(names)), record["possible_answers"]),
        }
        unknown = {"obj_id": None, "o_wiki_title": None, "o_pop": None}
        return {**record, **_having(record, {**changes, **unknown})}


class TempLAMA(TableForm):
    """`query`, `answer`, `date` and `id`, which names subject and property; so DynamicTempLAMA."""

    name = "TempLAMA"

    def fits(self, record: Record) -> bool:
        """Whether a row has the columns of TempLAMA."""
        return {"query", "answer", "date", "id"} <= record.keys()

    def claims(self, record: Record, properties: Mapping[str, str]) -> list[Claim]:
        """One claim, at the date of the row."""
        answers = tuple(
            TableAnswer(item_id(answer.get("wikidata_id")), tuple(_texts(answer.get("name"))))
            for answer in _objects(record["answer"])
        )
        item_ids = _QUERY_ID.fullmatch(str(record["id"]).strip())
        subject, relation = (
            (item_ids[1], item_ids[2]) if item_ids else (None, record.get("relation"))
        )
        return [_claim(subject, relation, answers, properties, record["date"])]

    def repaired(self, record: Record, holders: Sequence[Holder]) -> dict[str, Any] | None:
        """The holders as answers."""
        answers = [{"wikidata_id": holder.id, "name": holder.label} for holder in holders]
        return {**record, "answer": _in_cell(answers, record["answer"])}

    def dated(self, record: Record, row_day: date) -> dict[str, Any]:
        """The row with this day in its date, and in its id."""
        day_text = _as_coarse(record["date"], row_day)
        id_match = _QUERY_ID.fullmatch(str(record["id"]).strip())
        row_id = "_".join((*id_match.groups(), str(day_text))) if id_match else record["id"]
        return {**record, "date": day_text, "id": row_id}


class MQuAKE(TableForm):
    """`requested_rewrite` and `orig`: the facts of the chain before the edit.

    A chain is not repaired: another fact in its middle makes it another question.
    """

    name = "MQuAKE"
    repairs = False

    def fits(self, record: Record) -> bool:
        """Whether a row has the columns of MQuAKE."""
        return {"requested_rewrite", "orig"} <= record.keys()

    def claims(self, record: Record, properties: Mapping[str, str]) -> list[Claim]:
        """A claim for each fact of the chain."""
        chain = _object(record["orig"])
        triples, labels = _list(chain.get("triples")), _list(chain.get("triples_labeled"))
        claims = []
        for place, triple in enumerate(triples):
            subject, relation, answer_id = [*_list(triple), None, None, None][:3]
            label = _list(labels[place])[-1:] if place < len(labels) else []
            answer = TableAnswer(item_id(answer_id), tuple(_texts(label)))
            claims.append(_claim(subject, relation, (answer,), properties))
        return claims or [Claim(None, None, (), unlinked="no fact in it")]


class LamaTrex(TableForm):
    """`sub_uri`, `predicate_id`, `obj_uri`: the part of LAMA that is made from T-REx."""

    name = "LAMA (T-REx)"

    def fits(self, record: Record) -> bool:
        """Whether a row has the columns of T-REx in LAMA."""
        return {"sub_uri", "predicate_id", "obj_uri"} <= record.keys()

    def claims(self, record: Record, properties: Mapping[str, str]) -> list[Claim]:
        """One claim."""
        answer = TableAnswer(item_id(record["obj_uri"]), tuple(_texts(record.get("obj_label"))))
        return [_claim(record["sub_uri"], record["predicate_id"], (answer,), properties)]

    def repaired(self, record: Record, holders: Sequence[Holder]) -> dict[str, Any] | None:
        """The only holder; the sentences that mention the old one (`evidences`) stay."""
        if len(holders) != 1:
            return None
        changes = {"obj_uri": holders[0].id, "obj_label": holders[0].label}
        return {**record, **changes, **_having(record, {"obj_surface": holders[0].label})}


class PatQuestions(TableForm):
    """`subject`, `relations` and `answer annotations`, of one or two hops."""

    name = "PAT-Questions"

    def fits(self, record: Record) -> bool:
        """Whether a row has the columns of PAT-Questions."""
        return {"subject", "relations", "answer annotations"} <= record.keys()

    def claims(self, record: Record, properties: Mapping[str, str]) -> list[Claim]:
        """A claim for each hop; questions about who was before say nothing of the day."""
        relations = [str(relation) for relation in _list(record["relations"])]
        asked_text = f"{record.get('template', '')} {record.get('question', '')}"
        if _ASKS_OF_BEFORE.search(asked_text):
            return [Claim(None, None, (), unlinked="asks who was before")]
        subject = _object(record["subject"]).get("subject")
        answers = _annotated(record["answer annotations"])
        middle = _annotated(record.get("intermediate entities"))
        if len(relations) == 1:
            return [_claim(subject, relations[0], answers, properties)]
        if len(relations) == 2 and len(middle) == 1:
            return [
                _claim(subject, relations[0], middle, properties),
                _claim(middle[0].id, relations[1], answers, properties),
            ]
        return [Claim(None, None, (), unlinked="several properties")]

    def repaired(self, record: Record, holders: Sequence[Holder]) -> dict[str, Any] | None:
        """The holders as answers of a question of one hop."""
        if len(_list(record["relations"])) != 1:
            return None
        annotations = [{"ID": holder.id, "Label": holder.label} for holder in holders]
        cell_texts = [holder.label for holder in holders]
        return {
            **record,
            "answer annotations": annotations,
            **_having(record, {"text answers": cell_texts}),
        }


KNOWN_FORMS: tuple[TableForm, ...] = (PopQA(), MQuAKE(), LamaTrex(), PatQuestions(), TempLAMA())


class ChosenColumns(TableForm):
    """A table whose columns are said: `--subject`, `--relation`, `--answers`, `--date`."""

    name = "columns"

    def __init__(self, columns: ColumnChoice) -> None:
        self.columns = columns

    def fits(self, record: Record) -> bool:
        """Every row: those that lack a column are not linked."""
        return True

    def claims(self, record: Record, properties: Mapping[str, str]) -> list[Claim]:
        """One claim."""
        columns = self.columns
        relation = record.get(columns.relation) if columns.relation else columns.property
        if columns.answer_ids:
            names = tuple(_texts(record.get(columns.answers)))
            answers = _with_ids(record.get(columns.answer_ids), names)
        else:
            answers = tuple(
                _answer(cell_value) for cell_value in _values(record.get(columns.answers))
            )
        row_day = record.get(columns.date) if columns.date else None
        return [_claim(record.get(columns.subject), relation, answers, properties, row_day)]

    def repaired(self, record: Record, holders: Sequence[Holder]) -> dict[str, Any] | None:
        """The holders in the form that the cell has: ids for ids, a list for a list."""
        columns = self.columns
        old_value = record.get(columns.answers)
        old_values = _values(old_value)
        is_list = _is_list(old_value)
        if not is_list and len(holders) > 1:
            return None
        by_id = bool(old_values) and all(_answer(cell_value).id for cell_value in old_values)
        cell_texts = [_holder_value(holder, old_values, by_id) for holder in holders]
        changes = {columns.answers: _in_cell(cell_texts, old_value) if is_list else cell_texts[0]}
        if columns.answer_ids:
            old_ids = record.get(columns.answer_ids)
            item_ids = [holder.id for holder in holders]
            lists_ids = _is_list(old_ids)
            if not lists_ids and len(item_ids) > 1:
                return None
            changes[columns.answer_ids] = _in_cell(item_ids, old_ids) if lists_ids else item_ids[0]
        return {**record, **changes}

    def dated(self, record: Record, row_day: date) -> dict[str, Any]:
        """The row with this day in its column of dates."""
        column = self.columns.date
        return {**record, **({column: _as_coarse(record[column], row_day)} if column else {})}


def form_of(record: Record) -> TableForm | None:
    """The known form of a row; None: it is of none."""
    return next((form for form in KNOWN_FORMS if form.fits(record)), None)


def item_id(cell_value: object) -> str | None:
    """The item id in a cell: `Q42`, or the address of an item; None where it is none."""
    id_match = _ITEM_ID.fullmatch(cell_value.strip()) if isinstance(cell_value, str) else None
    return id_match[1] if id_match else None


def days_of(cell_value: object) -> tuple[date, date] | None:
    """The first and last day of a date: a year, quarter, month or day; None where it is none."""
    if isinstance(cell_value, date):
        row_day = day_value(cell_value)
        return row_day, row_day
    try:
        text = (text_value(cell_value) or "").strip()
        id_match = _PERIOD.fullmatch(text)
        if id_match and id_match[1] != "0000":
            part = f"Q{id_match[2]}" if id_match[2] else f"M{id_match[3]}" if id_match[3] else ""
            period = Period.parse(id_match[1] + part)
            return period.first, period.last
        row_day = day_value(text)
    except (ValueError, UserError):
        return None
    return row_day, row_day


def _as_coarse(old_date: object, row_day: date) -> Any:
    """A day written as a date is: a year as a year, a quarter or month as one, else the day."""
    id_match = _PERIOD.fullmatch(str(old_date).strip())
    if id_match is None:
        return row_day.isoformat()
    year = f"{row_day.year:04}"
    if not id_match[2] and not id_match[3]:
        return row_day.year if isinstance(old_date, int) else year
    separator = str(old_date).strip()[4:].rstrip("0123456789")
    is_quarter = bool(id_match[2])
    part = f"{(row_day.month + 2) // 3}" if is_quarter else f"{row_day.month:02}"
    return f"{year}{separator}{part}"


def _claim(
    subject: object,
    relation: object,
    answers: Sequence[TableAnswer],
    properties: Mapping[str, str],
    row_day: object = None,
) -> Claim:
    """A claim, or why it cannot be linked."""
    subject_id, relation_id = item_id(subject), property_id(relation, properties)
    usable_answers = tuple(answer for answer in answers if answer.id or any(answer.names))
    days = None if is_missing(row_day) or row_day == "" else days_of(row_day)
    unlinked = None
    if subject_id is None:
        unlinked = "no id of the subject"
    elif relation_id is None:
        unlinked = "no property" if is_missing(relation) or relation == "" else "unknown property"
    elif not usable_answers:
        unlinked = "no answer"
    elif days is None and not (is_missing(row_day) or row_day == ""):
        unlinked = "no date"
    return Claim(subject_id, relation_id, usable_answers, days, unlinked)


def property_id(cell_value: object, properties: Mapping[str, str]) -> str | None:
    """The property id in a cell, or of the property of this name; None where it is none."""
    if not isinstance(cell_value, str):
        return None
    id_match = _PROPERTY_ID.fullmatch(cell_value.strip())
    return id_match[1] if id_match else properties.get(cell_value.strip().casefold())


def _answer(cell_value: object) -> TableAnswer:
    """An answer as a cell has it: an id, a name, or an object with both."""
    if isinstance(cell_value, Mapping):
        cell_texts = _texts([text for text in cell_value.values() if isinstance(text, str)])
        item_ids = [text for text in cell_texts if item_id(text)]
        names = tuple(text for text in cell_texts if text not in item_ids)
        return TableAnswer(item_id(item_ids[0]) if item_ids else None, names)
    item_ids = [text for text in (item_id(cell_value),) if text]
    return (
        TableAnswer(item_ids[0], ()) if item_ids else TableAnswer(None, tuple(_texts([cell_value])))
    )


def _with_ids(cell_value: object, names: tuple[str, ...]) -> tuple[TableAnswer, ...]:
    """The answers of a cell of ids, one or a list, with the names beside it; none: names alone."""
    item_ids = [item_id(text) for text in _texts(cell_value)] or [None]
    return tuple(TableAnswer(answer_id, names) for answer_id in item_ids)


def _holder_value(holder: Holder, old_values: Sequence[object], by_id: bool) -> object:
    """A holder as the answers before it are written."""
    if old_values and isinstance(old_values[0], Mapping):
        return {
            key: holder.id if item_id(text) else holder.label
            for key, text in old_values[0].items()
            if isinstance(text, str)
        }
    if not by_id:
        return holder.label
    has_address = bool(old_values) and "entity/" in str(old_values[0])
    return ENTITY_ADDRESS + holder.id if has_address else holder.id


def _annotated(cell_value: object) -> tuple[TableAnswer, ...]:
    """Answers as PAT-Questions annotates them: `[{"ID": "Q12", "Label": "…"}]`."""
    return tuple(
        TableAnswer(item_id(annotation.get("ID")), tuple(_texts(annotation.get("Label"))))
        for annotation in _objects(cell_value)
    )


def _values(cell_value: object) -> list[Any]:
    """The values of a cell: a list, a list as JSON, or the one value; none where it is missing."""
    if isinstance(cell_value, list | tuple):
        return [inner for inner in cell_value if not is_missing(inner)]
    listed = _json_list(cell_value)
    if listed is not None:
        return listed
    return [] if is_missing(cell_value) or cell_value == "" else [cell_value]


def _texts(cell_value: object) -> list[str]:
    """The texts of a cell."""
    cell_texts = []
    for inner in _values(cell_value):
        try:
            text = text_value(inner)
        except BadValueError:
            continue
        if text and text.strip():
            cell_texts.append(text)
    return cell_texts


def _is_list(cell_value: object) -> bool:
    """Whether a cell is a list, or one in JSON."""
    return isinstance(cell_value, list | tuple) or _json_list(cell_value) is not None


def _json_list(cell_value: object) -> list[Any] | None:
    """The list that a text is in JSON; None where it is none."""
    if not isinstance(cell_value, str) or not cell_value.lstrip().startswith("["):
        return None
    try:
        listed = json.loads(cell_value)
    except (ValueError, RecursionError):
        return None
    return listed if isinstance(listed, list) else None


def _in_cell(values: Sequence[object], old_value: object) -> Any:
    """A list as the cell had it: as JSON where it was a text."""
    if isinstance(old_value, str):
        return json.dumps(list(values), ensure_ascii=old_value.isascii())
    return list(values)


def _having(record: Record, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the changes whose column the row has."""
    return {column: cell_value for column, cell_value in changes.items() if column in record}


def _list(cell_value: object) -> list[Any]:
    listed = _json_list(cell_value)
    return list(cell_value) if isinstance(cell_value, list | tuple) else listed or []


def _object(cell_value: object) -> Mapping[str, Any]:
    """An object, also as JSON, or the first of a list of objects; empty where it is none."""
    if isinstance(cell_value, str) and cell_value.lstrip().startswith("{"):
        try:
            cell_value = json.loads(cell_value)
        except (ValueError, RecursionError):
            return {}
    if isinstance(cell_value, list | tuple):
        cell_value = cell_value[0] if cell_value else {}
    return cell_value if isinstance(cell_value, Mapping) else {}


def _objects(cell_value: object) -> list[Mapping[str, Any]]:
    """The objects of a list; a single object is a list of one."""
    values = [cell_value] if isinstance(cell_value, Mapping) else _list(cell_value)
    return [inner for inner in values if isinstance(inner, Mapping)]
