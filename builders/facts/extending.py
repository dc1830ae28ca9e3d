"""A template that extends another one says only what is different.

`extends: P6` takes everything from `P6.yaml`. A field of the file replaces that of `P6`. Of
`cloze` and `questions` single sentences can be replaced by their place, and one can be added:

    extends: P6
    cloze:
      2: <object> heads the government of <the subject>.

Of `wordings`, `phrases`, `news` and `articles` the entries of both files count. Examples show the
sentences, so that those of the other file are left out where a sentence changes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from factdrift.builders.core.config import Loc, did_you_mean, mistakes

_BY_PLACE = ("cloze", "questions")
"""The fields in which single sentences can be replaced by their place, from 1."""
_BY_NAME = ("wordings", "phrases", "news", "articles")
"""The fields of which the entries of both files count."""
_SHOWN_IN_EXAMPLES = frozenset({"cloze", "questions", "articles"})


class _Dumped(Protocol):
    def model_dump(self, *, mode: str, exclude_unset: bool, exclude: set[str]) -> dict[str, Any]:
        """The fields that a template states."""
        ...


Mistake = tuple[Loc, str]
"""A place in the file, and what is wrong there."""
BaseReader = Callable[[str], _Dumped]
"""Returns the template of a relation; `ValueError` if there is none, or it has mistakes."""


def extended(
    fields: Mapping[str, Any], read_base: BaseReader, found_mistakes: list[Mistake]
) -> dict[str, Any]:
    """Return the fields of a template together with those of the one that it extends.

    Adds the mistakes of the file to `found_mistakes`; raises them if there is no such template.
    """
    try:
        base = read_base(str(fields["extends"]))
    except ValueError as error:
        raise mistakes([(("extends",), str(error))]) from None
    base_fields = base.model_dump(mode="json", exclude_unset=True, exclude={"relation", "extends"})
    if "examples" in base_fields and not _SHOWN_IN_EXAMPLES.isdisjoint(fields):
        del base_fields["examples"]
    together = base_fields | dict(fields)
    for name in _BY_PLACE:
        if isinstance(fields.get(name), Mapping):
            base_texts = base_fields.get(name) or []
            together[name] = _replaced(name, base_texts, fields[name], found_mistakes)
    for name in _BY_NAME:
        own_entries, base_entries = fields.get(name), base_fields.get(name)
        if isinstance(own_entries, Mapping) and isinstance(base_entries, Mapping):
            together[name] = {**base_entries, **own_entries}
    return together


def _replaced(
    name: str,
    base_texts: Sequence[Any],
    own_texts: Mapping[str, Any],
    found_mistakes: list[Mistake],
) -> list[Any]:
    """Return the sentences of the other file with some replaced, and perhaps one more."""
    texts = list(base_texts)
    for place, text in sorted(own_texts.items(), key=lambda entry: (len(entry[0]), entry[0])):
        number = int(place) if place.isascii() and place.isdecimal() else 0
        if not 1 <= number <= len(texts) + 1:
            count = len(base_texts)
            message = f"no place of a sentence: there are 1 to {count}, and one can be added"
            found_mistakes.append(((name, place), message))
        elif number > len(texts):
            texts.append(text)
        else:
            texts[number - 1] = text
    return texts


def missing_base(relation_id: str, known_ids: Sequence[str], folder: str) -> ValueError:
    """Return the error that says that a template to extend is not there."""
    near_id = did_you_mean(relation_id, known_ids)
    hint = f", did you mean {near_id}?" if near_id else ""
    return ValueError(f"no template {relation_id} here or in {folder}{hint}")
