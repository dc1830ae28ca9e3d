import msgspec
import pytest

from factdrift.builders.text.references import without_references
from factdrift.builders.wikidata.documents import NamedEntity, entity_names


@pytest.mark.parametrize(
    ("name", "plain"),
    [("LB&amp;SCR", "LB&SCR"), ("A&amp;amp;B", "A&amp;B"), ("Q&A", "Q&A"), ("&#8211;", "–"),
     ("&#x2013;", "–"), ("a &copy b", "a &copy b"), ("&nosuch;", "&nosuch;"), ("", "")],
)  # fmt: skip
def test_references_are_read_once(name: str, plain: str) -> None:
    assert without_references(name) == plain


def test_labels_have_none() -> None:
    english_label = {"language": "en", "value": "LB&amp;SCR"}
    alias = {"language": "en", "value": "Q&amp;A"}
    document = msgspec.convert(
        {"labels": {"en": english_label}, "aliases": {"en": [alias]}}, NamedEntity
    )
    assert entity_names(document) == ("LB&SCR", ("Q&A",))
