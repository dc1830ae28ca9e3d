"""Questions and answers from a parse: tables of sentences, what is asked of them, what is not."""

from datetime import timedelta
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.generate import parses
from factdrift.builders.generate.answers import answer
from factdrift.builders.generate.candidates import ParseFinder
from factdrift.builders.generate.parsed import ParseBackend
from factdrift.builders.generate.questions import GenerateSettings, generate_questions
from factdrift.builders.rows import Article, Draw, Dropped, Question
from factdrift.builders.text import pipeline
from factdrift.builders.text.en.verbs import past, past_of
from tests.test_questions_candidates import article, sample


def asked(*sentences: str, headline: str = "") -> dict[str, str]:
    """What is asked about sentences, under a headline that says what the first one says."""
    a = article(*sentences, headline=headline or sentences[0].removesuffix("."))
    return {q.question: a.text[q.span.start : q.span.end] for q in ParseFinder().read(a).asked}


ASKED = [
    (
        "Paul Krugman won the 2008 Nobel Prize in Economics.",
        "Who won the 2008 Nobel Prize in Economics?",
        "Paul Krugman",
    ),
    (
        "Pakistani President Pervez Musharraf was sworn in by Judge Abdul Dogar in Islamabad.",
        "Where was Pakistani President Pervez Musharraf sworn in by Judge Abdul Dogar?",
        "Islamabad",
    ),
    (
        "The Dutch airline KLM opened an office in Nairobi Tower in May 2014.",
        "Which Dutch airline opened an office in Nairobi Tower in May 2014?",
        "KLM",
    ),
    (
        "American film director Steven Spielberg withdrew from his post in Beijing on 9 May 2008.",
        "Which American film director withdrew from his post in Beijing on 9 May 2008?",
        "Steven Spielberg",
    ),
    (
        "Swiss Judge Laurent Kasper-Ansermet founded an office of Unicef in Cambodia.",
        "Which Swiss judge founded an office of Unicef in Cambodia?",
        "Laurent Kasper-Ansermet",
    ),
    (
        "Prime Minister Kevin Rudd opened the Ozanam Learning Centre in Sydney in 2008.",
        "Who opened the Ozanam Learning Centre in Sydney in 2008?",
        "Kevin Rudd",
    ),
    (
        "Richard Wright, a British journalist, founded a school for nurses in Paris on 9 May 1998.",
        "Which British journalist founded a school for nurses in Paris on 9 May 1998?",
        "Richard Wright",
    ),
    (
        "A Dutch engineer, Richard Wright, founded a school for nurses in Paris on 9 May 1998.",
        "Which Dutch engineer founded a school for nurses in Paris on 9 May 1998?",
        "Richard Wright",
    ),
    (
        "Shinya Yamanaka was awarded the Millennium Technology Prize for work on stem cells.",
        "What was Shinya Yamanaka awarded the Millennium Technology Prize for?",
        "work on stem cells",
    ),
    (
        "Google launched its Chinese search engine in January 2006.",
        "When did Google launch its Chinese search engine?",
        "January 2006",
    ),
    (
        "Forty farms of Albert Bartlett were sold in the town of Spalding on Monday.",
        "How many farms of Albert Bartlett were sold in the town of Spalding on 6 January 2020?",
        "Forty",
    ),
    (
        "Facebook paid $19 billion for WhatsApp.",
        "How much did Facebook pay for WhatsApp?",
        "$19 billion",
    ),
    (
        "Spain closed its border with France on Monday because the virus had spread.",
        "Why did Spain close its border with France on 6 January 2020?",
        "because the virus had spread",
    ),
    (
        "Michael Cohen was sentenced to three years in prison in New York.",
        "What was Michael Cohen sentenced to in New York?",
        "three years in prison",
    ),
    (
        "Margaret Thatcher died in London at the age of 87.",
        "At what age did Margaret Thatcher die in London?",
        "87",
    ),
    (
        "Apple was founded by Steve Jobs in a garage in California.",
        "Who founded Apple in a garage in California?",
        "Steve Jobs",
    ),
    (
        "Nelson Mandela lived on Robben Island for 18 years.",
        "For how long did Nelson Mandela live on Robben Island?",
        "18 years",
    ),
]


@pytest.mark.parametrize(("sentence", "question", "wanted"), ASKED)
def test_asked(sentence: str, question: str, wanted: str) -> None:
    found = asked(sentence)
    assert found.get(question) == wanted, found


def test_a_surname_and_a_pronoun_are_told_in_full() -> None:
    found = asked(
        "Boris Johnson visited the city of Kyiv in April 2022.",
        "He decorated Volodymyr Zelensky in Kyiv on 9 April 2022.",
        "Johnson founded a school in London on 10 April 2022.",
    )
    assert "When did Boris Johnson decorate Volodymyr Zelensky in Kyiv?" in found
    assert "When did Boris Johnson found a school in London?" in found
    found = asked(
        "Steve Jobs resigned as chief executive of Apple in 2011.",
        "Jobs founded Apple with Steve Wozniak and Ronald Wayne in 1976.",
    )
    assert "When did Steve Jobs found Apple with Steve Wozniak and Ronald Wayne?" in found
    found = asked("Jobs founded Apple with Steve Wozniak and Ronald Wayne in 1976.")
    assert not found, "a noun or a surname, which nobody knows"


def test_an_office_at_the_head_is_written_small() -> None:
    found = asked("Prime minister Ann Smith opened the Tate Museum in Athens in January 2020.")
    assert "When did prime minister Ann Smith open the Tate Museum in Athens?" in found


CUT = [
    (
        "Five bombers attacked the Nigerian city of Maiduguri with at least 14 people, including"
        " the girls, killed and 39 injured.",
        "with at least 14 people",
        "a phrase with its participle",
    ),
    (
        "In 1985, Doris Day invited Rock Hudson, then ill with AIDS, to appear on television.",
        "invite",
        "an infinitive after an aside",
    ),
    (
        "Rift Valley fever infected 96 farmers in the White Nile, Sennar and Gazeera states of"
        " Sudan.",
        "White Nile did",
        "a list that the parser takes for an apposition",
    ),
    (
        "Russian RTS falls 7,1%, MICEX 5,5%, as investors sell off assets in Moscow.",
        "MICEX 5",
        "a list of clauses without their verbs",
    ),
    (
        "The court returned seven verdicts against two officers with the Detention Center in Ohio.",
        "return with",
        "`with` may be the officers'",
    ),
    (
        "Four men were arrested in 2012 for the murder of Saudi diplomat, Khalaf Ali, in Dhaka.",
        "diplomat in",
        "a noun without article has lost its name",
    ),
]


@pytest.mark.parametrize(("sentence", "words", "why"), CUT)
def test_no_phrase_is_cut(sentence: str, words: str, why: str) -> None:
    assert not any(words in question for question in asked(sentence)), why


UNFIT = [
    (
        "Mario Gomez tore a lacklustre Dutch team apart at the Metalist Stadium in Kharkiv.",
        "opinion",
    ),
    ("Julia Gillard made history in 2011 by visiting the Parliament of France in Paris.", "praise"),
    ("Vladimir Putin cast his own vote in Moscow in December 2007.", "`own` compares with others"),
    (
        "The River Murray received the lowest rainfall on record in 2007.",
        "a degree answers nothing",
    ),
    ("Elections in Macau attracted a higher turnout than usual in 2009.", "so does a comparison"),
    ("The government of Brazil was named as the worst logger of the Amazon in 2008.", "which body"),
]


@pytest.mark.parametrize(("sentence", "why"), UNFIT)
def test_no_question_has_or_asks_for_what_is_no_plain_thing(sentence: str, why: str) -> None:
    found = asked(sentence)
    assert not any(q.startswith("What") or " own " in q or "lack" in q for q in found), why


TEAMS = [
    "New Zealand's national rugby league team defeated Australia's team 34 to 20 in Brisbane.",
    "FC Shakhtar Donetsk defeated SV Werder Bremen in Istanbul in May 2009 in the final.",
]


@pytest.mark.parametrize("sentence", TEAMS)
def test_a_team_is_no_what_and_no_who(sentence: str) -> None:
    assert not any(q.lower().startswith(("what", "who")) for q in asked(sentence))


def test_a_person_is_the_answer_by_the_full_name_that_the_article_has() -> None:
    a = article(
        "General Peter Cosgrove visited the city of Kyiv in April 2022.",
        "Marshal Cosgrove opened a school for pilots in London on 9 May 2012.",
        "Mr Cosgrove opened a museum of aircraft in Leeds on 9 May 2014.",
        "Ms Bird opened a museum of birds in Norwich in 2014.",
        headline="Cosgrove visits the city of Kyiv",
    )
    found = {q.question: a.text[q.span.start : q.span.end] for q in ParseFinder().read(a).asked}
    assert found["Who opened a school for pilots in London on 9 May 2012?"] == "Peter Cosgrove"
    assert found["Who opened a museum of aircraft in Leeds on 9 May 2014?"] == "Peter Cosgrove"
    assert not any("birds" in q and q.startswith("Who") for q in found)


WHOLE = [
    (
        "Brookhaven Memorial Hospital agreed to pay the United States $1.9 million, plus"
        " interest, to settle allegations of fraud against Medicare.",
        "agreed to pay the United States $1.9 million, plus interest, to settle allegations",
    ),
    (
        "In 2014, Finland charged John Smith, an aide of Tim Cook, with stealing planes of Apple.",
        "John Smith with stealing planes of Apple",
    ),
    (
        "In tennis, Roger Federer defeated Andy Murray in the final of Wimbledon in London.",
        "Who defeated Andy Murray in the final of Wimbledon in London?",
    ),
    (
        "The Prime Minister Julia Gillard opened a museum of aircraft in Leeds in May 2011.",
        "did Prime Minister Julia Gillard open",
    ),
]


@pytest.mark.parametrize(("sentence", "words"), WHOLE)
def test_words_are_kept_or_left_out(sentence: str, words: str) -> None:
    found = asked(sentence)
    assert any(words in question for question in found), found


def test_a_word_that_opens_a_sentence_is_small_within_a_question() -> None:
    found = asked(
        "Prominent New York lawyer David Buckel founded a school in Brooklyn in April 2018."
    )
    assert any("prominent New York lawyer David Buckel" in q for q in found), found


ONE_OF_MANY = [
    "Luis Suarez won the Champions League with Barcelona in 2015.",
    "Angus Houston joined the Royal Australian Air Force as a cadet pilot in 1970.",
    "Anita Pallenberg was banned for two years from competition on Monday for using Clenbuterol.",
    "Jane Bird was awarded the Public Service Medal in 2012 for services to foreign relations.",
    "Kevin Hayne was appointed a Queen's Counsel in 1984.",
    "John Geisel was arrested by the U.S. Secret Service in Miami in 2008.",
    "John Choules passed away at his residence in Perth in Australia in 2011.",
]


@pytest.mark.parametrize("sentence", ONE_OF_MANY)
def test_nobody_is_asked_for_who_is_one_of_many(sentence: str) -> None:
    assert not any(q.startswith("Who") for q in asked(sentence))


def test_a_name_is_told_without_mr_and_ms() -> None:
    found = asked(
        "Ms Catherine Tanna opened an office in Nairobi in May 2014.",
        "Ms Tanna joined BG Group in Brisbane in May 2009.",
    )
    assert "When did Catherine Tanna join BG Group in Brisbane?" in found, found


def test_a_list_of_events_in_the_present_tense_is_asked_about_in_the_past() -> None:
    found = asked(
        "A suicide bombing kills at least 24 people in the city of Mubi, Nigeria.",
        "Valencia fires Mauricio Pellegrino as coach after a defeat by Real Sociedad in Spain.",
    )
    assert all(" kills" not in q and " fires" not in q for q in found) and found
    event = "A suicide bombing kills at least 24 people in the city of Mubi, Nigeria."
    fined = asked("The European Commission fines six banks $2.3 billion for rigging rates.", event)
    assert any("fine $2.3 billion" in q for q in fined), fined


ON_A_LIST = [
    ("NASA clears the Space Shuttle Atlantis for its final flight on Thursday.", set()),
    (
        "In a friendly soccer match in Cleveland, Belgium defeats the United States by a score of "
        "four to two in front of a full house.",
        set(),
    ),
    (
        "Danny Fitzsimons is jailed for 20 years by an Iraqi court in Baghdad.",
        {"For how long was Danny Fitzsimons jailed by an Iraqi court in Baghdad?"},
    ),
    (
        "WikiLeaks founder Julian Assange is sentenced to 50 weeks in prison by a judge in London.",
        set(),
    ),
]


@pytest.mark.parametrize(("sentence", "wanted"), ON_A_LIST)
def test_asked_of_a_list_of_events(sentence: str, wanted: set[str]) -> None:
    event = "A suicide bombing kills at least 24 people in the city of Mubi, Nigeria."
    assert set(asked(sentence, event)) == wanted


NOT_ASKED = [
    (
        "At least 40 people were killed in a shooting in the town of Spalding on Monday.",
        "victims of the news: the figure grows",
    ),
    (
        "A riot in the Spalding prison of the town of Boston resulted in 25 deaths on Monday.",
        "victims of the news: the figure grows",
    ),
    (
        "A Dutch engineer, Richard Wright, died in Istanbul at the age of 87.",
        "the article has named him",
    ),
    (
        "Ann Radwan won the final of the Porsche Grand Prix in Stuttgart on Monday .",
        "a caption, by the space before its full stop",
    ),
    ("Dario Fo dedicated his Nobel Prize in Literature to her on 9 May 2014.", "to whom"),
    ("He met her in Paris on 9 May 2014.", "a pronoun that stands for nobody"),
    ("The company bought the firm for $3 billion in London.", "what the article has named"),
    ("Apple did not buy Tesla in May 2014.", "a negation"),
    ("Apple might buy Tesla for $3 billion in London.", "a mood"),
    ("If Apple buys Tesla, Elon Musk will move to Paris.", "a condition"),
    ("Apple reportedly bought Tesla in Paris in May 2014.", "a doubt"),
    ("Did Apple buy Tesla in May 2014?", "a question"),
    ("I met Tim Cook in Paris on 9 May 2014.", "a first person"),
    ("Police arrested a man.", "nothing named"),
    ("Angela Merkel previously ran the party's office in Berlin.", "background"),
    ("Barnaby Joyce had bought a farm from Gina Rinehart in Tamworth.", "before the news"),
    ("Josh Hawley sent a letter to Mark Zuckerberg in Washington.", "one of many letters"),
    ("Slovenia reported 79 cases of the disease in Ljubljana.", "a figure of one day"),
    (
        "Authorities arrested twelve people in Tamil Nadu on Monday after a jackal died there.",
        "the reason is left out, and many are arrested",
    ),
    ("The United States filed suit in the District Court in Kansas City.", "anybody's lawsuit"),
    ("In 2009, the Civil Rights Division has so far filed 22 lawsuits in Ohio.", "so far"),
    ("Pakistan President Pervez Musharraf of Pakistan quit in 2007.", "a word is lost"),
    ("George Bush met an President Amadou in Washington in 2008.", "a word is lost"),
    ("In 2004, Kuwaits Ministry of the Interior began a program with Kuwait.", "an apostrophe"),
    (
        "In 2008, Omni paid a fine to the Office of the Inspector General for Omni Health Care.",
        "a name is told by one of its words",
    ),
    (
        "Iran banned the agency's inspectors from its plant, the Natanz Nuclear Center, in 2008.",
        "a comma is lost between plant and its name",
    ),
]


DRAFTS = [
    ("Tim Cook announced the change in Cupertino.", "Who announced the change in Cupertino?"),
    ("Josh Hawley sent a letter to Mark Zuckerberg.", "To whom did Josh Hawley send a letter?"),
    ("Leo Varadkar became deputy prime minister.", "Who became deputy prime minister?"),
    ("Apple did not buy Tesla in May 2014.", None),
    ("That event destroyed 300 homes in Ponce.", None),
    ("We met Tim Cook in Paris.", None),
]


@pytest.mark.parametrize(("sentence", "question"), DRAFTS)
def test_drafts_are_whole_sentences_that_people_edit(sentence: str, question: str | None) -> None:
    a = article("The Danish parliament met on Monday.", sentence, headline="Budget of Denmark")
    strict, drafts = ParseFinder().read(a).asked, ParseFinder(drafts=True).read(a).asked
    assert [q for q in drafts if q in strict] == list(strict) == list(drafts[: len(strict)])
    found = {q.question for q in drafts if q.span.sentence == 2}
    assert question in found if question else not found


def test_a_name_that_opens_a_sentence_keeps_its_capital() -> None:
    a = article("Arm designs chips for Page.", "Page founded a firm in Rome in 1998.")
    assert all("page" not in q.question for q in ParseFinder(drafts=True).read(a).asked)


def test_only_what_is_news_is_asked_with_the_day_of_the_article() -> None:
    """What stands further down without a time of its own may have happened at any time."""
    lead = ["Rain fell.", "More rain fell in the north."]
    told = "Facebook paid $19 billion for WhatsApp"
    question = "How much did Facebook pay for WhatsApp?"
    assert question in asked(f"{told}.")
    assert question not in asked(*lead, f"{told}.")
    assert f"{question[:-1]} on 6 January 2020?" in asked(*lead, f"On Monday, {told}.")
    assert f"{question[:-1]} in 2014?" in asked(*lead, f"In 2014, {told}.")


@pytest.mark.parametrize(("sentence", "why"), NOT_ASKED)
def test_not_asked(sentence: str, why: str) -> None:
    assert asked(sentence) == {}, why


TEXT = (
    "Apple bought Beats for $3 billion in May 2014.",
    "Tim Cook announced the deal with Beats in Cupertino.",
    "Google bought Nest for $3.2 billion in January 2014.",
)
ANSWERS = [
    ("When did Apple buy Beats?", "May 2014"),
    ("Which company bought Nest?", "Google"),
    ("Which chief executive announced the deal with Beats in Cupertino?", "Tim Cook"),
    ("Who announced the deal with Beats in Cupertino?", "Tim Cook"),
    ("Where did Tim Cook announce the deal with Beats?", "Cupertino"),
    ("Who painted the Mona Lisa in Florence?", None),
]


@pytest.mark.parametrize(("question", "wanted"), ANSWERS)
def test_answers(question: str, wanted: str | None) -> None:
    assert answer(question, ParseFinder().read(article(*TEXT)).tree) == wanted


VERBS = [
    ("take", "took"), ("ban", "banned"), ("try", "tried"), ("play", "played"), ("visit", "visited"),
    ("admit", "admitted"), ("beat", "beat"), ("free", "freed"), ("open", "opened"),
    ("limit", "limited"), ("offer", "offered"), ("cancel", "cancelled"), ("be", "was"),
]  # fmt: skip


@pytest.mark.parametrize(("base", "wanted"), VERBS)
def test_past(base: str, wanted: str) -> None:
    assert past(base) == wanted


def test_past_of_a_participle() -> None:
    assert (past_of("taken"), past_of("founded"), past_of("zorbed")) == (
        "took",
        "founded",
        "zorbed",
    )
    assert past_of("split-new") is None


def draw_of(a: Article, days: int = 5) -> Draw:
    day = a.day + timedelta(days=days)
    return Draw(f"d{a.id}", a.id, "eval", "recent", a.day, day, "2020Q1")


def made(articles: list[Article], finder: ParseFinder) -> list[Question | Dropped]:
    draws = {a.id: [draw_of(a)] for a in articles}
    flow = generate_questions(
        articles, draws, GenerateSettings(), 7, finder=finder, backend=ParseBackend(7, finder)
    )
    return list(flow)


def test_parses_are_the_same_for_any_number_of_processes_and_questions_for_any_order(
    tmp_path: Path,
) -> None:
    some = {a.id: a for a in list(sample())[::30]}
    for jobs in (1, 2):
        list(parses.write(some.values(), tmp_path / f"{jobs}.parquet", jobs=jobs))
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()
    stored = ParseFinder(parser=parses.Stored(tmp_path / "1.parquet"))
    together = [q for q in made(list(some.values()), stored) if isinstance(q, Question)]
    assert len(together) > 8
    few = list(some.values())[:6][::-1]
    live = [q for a in few for q in made([a], ParseFinder()) if isinstance(q, Question)]
    names = {q.id: q.question for q in together}
    assert all(names[q.id] == q.question for q in live) and live


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "en_core_web_zz"
    (package / "en_core_web_zz-3.8.0").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(pipeline, "PACKAGES", ("en_core_web_zz",))
    with pytest.raises(UserError, match="not the file of"):
        pipeline.folder()
    monkeypatch.setattr(pipeline, "PACKAGES", ("en_core_web_none",))
    with pytest.raises(UserError, match="not installed"):
        pipeline.folder()
