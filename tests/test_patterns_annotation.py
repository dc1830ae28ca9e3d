"""Each regular expression of pages for annotators, with a text it finds and one it does not."""

from importlib import import_module

import pytest

SEARCHED = [
    # module, pattern, a text in which it is found, a text in which it is not
    ("order", "_MARKS_OF_PAGES", "https://example.org/a;b", "https://example.org/a%3Bb"),
    ("page", "_SIGNS_OF_PAGES", "a </script>", 'a "quoted" text'),
    ("page", "_COMMENT_LINE", "a = 1;\n  // why\n", "a = 1; // why\n"),
    ("platforms.mturk", "_FORM", '<form id="a">\n<p>x</p></form>\n', "<formula>x</formula>"),
]


@pytest.mark.parametrize(("module", "pattern", "accepted", "refused"), SEARCHED)
def test_searched_patterns(module: str, pattern: str, accepted: str, refused: str) -> None:
    form = getattr(import_module(f"factdrift.annotation.{module}"), pattern)
    assert form.search(accepted)
    assert not form.search(refused)
