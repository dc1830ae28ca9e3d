"""What a worker's form has sent, as MTurk hands it on."""

import base64
import binascii
from collections.abc import Mapping
from xml.etree import ElementTree

from annotation.submission import LONGEST, Refused, Submission, decode, from_value

ANSWER = "submission"
"""The field of the page's form that holds everything: base64 of the submission's JSON."""
_CELL = 32_767
"""Characters that a spreadsheet keeps of a cell."""


def taken(
    given: str, where: str, line: int, *, worker: str, assignment: str
) -> Submission | Refused:
    """A submission from its base64, by the worker and assignment that MTurk names."""
    if not worker or not assignment:
        return Refused(where, line, "no worker or assignment")
    if not given.strip():
        return Refused(where, line, "no answers", f"the field {ANSWER} is missing or empty")
    if len(given) > LONGEST:
        return Refused(where, line, "too long", f"{len(given):,} characters")
    try:
        value = decode(base64.b64decode(given.strip(), validate=True).decode("utf-8"))
    except (binascii.Error, UnicodeDecodeError, ValueError) as error:
        if len(given) == _CELL:
            detail = "a spreadsheet has cut it; take the file as MTurk gives it"
            return Refused(where, line, "cut short", detail)
        return Refused(where, line, "not a submission", str(error)[:120])
    told = {"worker": worker, "assignment": assignment}
    for name, text in told.items():
        own = value.get(name) if isinstance(value, dict) else None
        if own and own != text:
            return Refused(where, line, "another's submission", f"it names another {name}")
    return from_value(value, where, line, worker=worker, assignment=assignment)


def from_assignment(value: Mapping[str, object], where: str, line: int) -> Submission | Refused:
    """A submission from an assignment of the API, whose `Answer` is QuestionFormAnswers XML."""
    texts = {name: value.get(name) for name in ("WorkerId", "AssignmentId", "Answer")}
    if wrong := [name for name, text in texts.items() if not isinstance(text or "", str)]:
        return Refused(where, line, "not an assignment", f"{wrong[0]} is not a text")
    worker, assignment, xml = (str(text or "") for text in texts.values())
    found = _free_text(xml)
    if found is None:
        return Refused(where, line, "broken answers", "Answer is not QuestionFormAnswers")
    return taken(found, where, line, worker=worker, assignment=assignment)


def _free_text(xml: str) -> str | None:
    """What was written into our field; empty: nothing; None: this is not what MTurk sends."""
    if not xml.strip():
        return ""
    if "<!doctype" in xml.lower() or len(xml) > LONGEST:  # entities: MTurk sends none
        return None
    try:
        root = ElementTree.fromstring(xml)  # noqa: S314 - no entities
    except (ElementTree.ParseError, ValueError):
        return None
    if not root.tag.endswith("}QuestionFormAnswers") and root.tag != "QuestionFormAnswers":
        return None
    found = ""
    for answer in root.iterfind("{*}Answer"):
        if (answer.findtext("{*}QuestionIdentifier") or "").strip() == ANSWER:
            found = answer.findtext("{*}FreeText") or ""
    return found
