"""Articles by name and by sound."""

from pathlib import Path

import pytest

from factdrift.builders.text.en.articles import a_or_an, opening_article, takes_the

LINES = Path(__file__).with_name("names_with_the.tsv").read_text("utf-8").splitlines()[1:]


@pytest.mark.parametrize("line", LINES)
def test_names_with_and_without_the(line: str) -> None:
    wanted, names = line.split("\t")
    found = {name: takes_the(name) for name in names.split("|")}
    assert found == dict.fromkeys(found, wanted == "the")


@pytest.mark.parametrize(
    ("text", "name", "wanted"),
    [
        ("The London Fire Brigade (LFB) is the fire service.", "London Fire Brigade", True),
        ("The SECR N class was a type of locomotive.", "SECR N class", True),
        ("The governor of Texas is the head of the state.", "Governor of Texas", True),
        ("The Leeds, later York, was a ship.", "Leeds", True),
        ("ThinkPad is a line of computers.", "ThinkPad", False),
        ("Labour Party, founded in 1920, is a party.", "Labour Party", False),
        ("iPhone is a telephone.", "iPhone", False),
        ("The Leeds bypass is a road.", "Leeds", None),
        ("The Leeds Castle is a house.", "Leeds", None),
        ("Leedsville is a town.", "Leeds", None),
        ("The Hague is a city.", "The Hague", None),
        ("A ThinkPad is a computer.", "ThinkPad", None),
        ("", "ThinkPad", None),
        ("The is a word.", "", None),
    ],
)
def test_what_the_opening_of_a_page_says_of_the(text: str, name: str, wanted: bool | None) -> None:
    assert opening_article(text, name) is wanted


@pytest.mark.parametrize(
    ("article", "words"),
    [
        ("an", "actor|architect|engineer|economist|Icelander|opera singer|umpire|undertaker|usher"),
        ("an", "hour|heir|honest broker|honorary consul|uninvited guest|unidentified man|École"),
        ("an", "MP|MEP|FBI agent|NBA player|LGBT activist|RAF pilot|X-ray|A-level|EU official"),
        (
            "an",
            "8-bit computer|11th man|18th-century poet|'iron' man|oneiromancer|Uzbek|Élysée aide",
        ),
        ("a", "politician|lawyer|historian|hotelier|house painter|yacht designer|Honduran|herald"),
        ("a", "university teacher|union leader|unicorn|European|eunuch|user|urologist|ukulelist"),
        ("a", "one-man band|once-feared critic|Ugandan|Ukrainian|UEFA referee|UNESCO site|U-boat"),
        (
            "a",
            "NATO general|NASA engineer|UN envoy|USB stick|DJ|TV host|CEO|BBC host|1800-metre run",
        ),
        ("a", "10-year-old|unanimous vote|"),
    ],
)
def test_a_or_an(article: str, words: str) -> None:
    assert {w: a_or_an(w) for w in words.split("|")} == dict.fromkeys(words.split("|"), article)
