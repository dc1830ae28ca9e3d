"""Sentences by rule: marks of references, and spaces that are missing."""

import pytest

from factdrift.builders.text.sentences import sentence_starts, split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["Prime Minister Roe resigned.[1]", "He was replaced.[2][3]", "Lind took over."],
        ["She lost.[citation needed]", "The end."],
        ["It fell.[note 2] [a]", "They left."],
        ["He said so. [4]", "She did not."],
        ["They won 3–2.[12]", "The club celebrated."],
        ["It was won?[1]", "Nobody knew."],
        ["The U.S. Senate met at 5 p.m. Monday."],
        ["He [sic] won.", "[Laughs] They left."],
    ],
)
def test_numbers_of_references_belong_to_the_sentence_before(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert split_sentences(text) == sentences
    assert [text[start:] for start in sentence_starts(text)][-1] == sentences[-1]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("The first.Second is this.", ["The first.", "Second is this."]),
        ("It was won.[1]He left.", ["It was won.[1]", "He left."]),
        ("Who came?Nobody did.", ["Who came?", "Nobody did."]),
        ("It ended in 1999.Then it began.", ["It ended in 1999.", "Then it began."]),
        ("She came (1990).Then she left.", ["She came (1990).", "Then she left."]),
        ("It cost $5.5m.[1][2]He paid.", ["It cost $5.5m.[1][2]", "He paid."]),
        *(
            (text, [text])
            for text in ("The U.S.Senate met.", "Dr.Roe came.", "See www.Example.org/x for it.",
                         "Version 2.Final is a.B here.", "Prof.Smith came.", "Wait...Then he left.",
                         "Yahoo!Mail is a.Be", "Ask me@site.Example.com about it.")
        ),
    ],
)  # fmt: skip
def test_a_space_may_be_missing(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences
    assert len(sentence_starts(text)) == len(sentences)


@pytest.mark.parametrize(
    "sentences",
    [
        ["J.K. Rowling wrote it.", "George R.R. Martin did not."],
        ["She was born c. 1950 near Mt. Orrel.", "The case was Roe v. Lind."],
        ["Meet Mr. X.[3]", "He is from St. Ives.[1]: 23", "He came at approx. 5 p.m."],
    ],
)
def test_initials_and_short_words_end_no_sentence(sentences: list[str]) -> None:
    assert split_sentences(" ".join(sentences)) == sentences
