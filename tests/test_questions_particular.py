"""Whether a question tells enough that is particular: tables of sentences, and what is asked."""

import pytest

from factdrift.builders.generate.candidates import ParseFinder
from tests.test_questions_candidates import article

VAGUE = [
    ("U.S. helicopters launched airstrikes in Sadr City on Friday.", "Where", "they do it daily"),
    ("In 2011, a woman shot pepper spray at 20 people in a shop in Ohio.", "When", "a woman"),
    (
        "Prosecutors in Queensland dropped manslaughter charges against Jayant Patel on Monday.",
        "What",
        "prosecutors drop many charges",
    ),
    ("Peter Cosgrove retired as Chief of the Defence Force in 2005.", "Who", "of which country"),
    ("Allan Hawke became Secretary of the Department of Defence in 1999.", "Who", "which country"),
    ("John Roberts was nominated to the Supreme Court in 2005.", "Who", "which country's court"),
    ("Tim Kelly was arrested in Chicago on federal sex crime charges on Monday.", "Who", "many"),
    ("Ann Hartigan was elevated to Group Editorial Director in July 1997.", "Who", "of what"),
    ("Kenneth Hayne commenced practice at the Victorian Bar in 1971.", "Who", "many did"),
    ("The health agency of Canada posted an advert for nurses on Monday.", "What", "many adverts"),
    ("Militants launched attacks on the police of Lahore in Pakistan on Monday.", "What", "many"),
    ("A symbol for the Indian rupee was approved by the Government of India.", "What", "many"),
    ("A Thai cargo ship was hijacked in the Gulf of Aden on Monday.", "What", "many ships"),
    ("A man was sentenced to death for the murder of a doctor in Beijing.", "What", "a man"),
    ("Peter Walsh served as a minister in the Hawke Government from 1983 to 1990.", "Who", "many"),
    ("A Turkish journalist was killed in Osmanbey at the age of 52 on Monday.", "At what", "who?"),
    ("Canada approved the vaccine of Pfizer-BioNTech on Monday.", "Which country", "many did"),
    ("The Tax Division successfully defended Medicare during 2008.", "What", "many things"),
    ("Kevin Rudd met Gordon Brown in the Treaty Room in London on Monday.", "Who", "many meet"),
    ("Helen Clark called for an end to the trial of Pussy Riot on Monday.", "Who", "many did"),
    ("Helen Clark visited the Tokyo Skytree in March 2012.", "When", "many visits"),
    ("A petrol pump at a Tesco supermarket became popular because of an error.", "Why", "one pump"),
]
ESTIMATES = [
    ("At least 40 farms were flooded in a storm in the town of Spalding on Monday.", "running"),
    ("More than 6,000 passengers were barred from the Costa Smeralda in Lazio.", "a source's"),
    ("Nearly 1,000 soldiers of the Seaforth Highlanders went to Saskatchewan on Monday.", "about"),
    ("About 200 supporters of Aung San Suu Kyi marched in Yangon on Monday.", "an estimate"),
    ("Several hundred supporters of Aung San Suu Kyi marched in Yangon in 2009.", "no number"),
    ("Dozens of supporters of Aung San Suu Kyi marched in Yangon in 2009.", "no number"),
]
STALE = [
    ("A new video was released by the kidnappers of Alan Johnston on Monday.", "a new one"),
    ("Ted Hughes cast his own vote in the Old Vic in London on Monday.", "his own"),
    ("Ted Hughes opened the newest school of the Harris Federation in London on Monday.", "newest"),
    ("Ted Hughes opened the next meeting of the Harris Federation in London on Monday.", "next"),
    ("Tim Kelly met the new Premier of Victoria in Geelong on Monday.", "new on its day"),
    ("Three more members of the Harris Federation arrived in Tamworth on Monday.", "more"),
    ("At least 200 members of the Harris Federation met in Bonn on Monday.", "a first estimate"),
    ("Israel denied entry to Omar Shakir because the organization is hostile.", "which one"),
]
TOLD = [
    ("Steven Spielberg withdrew as adviser to the 2008 Summer Olympics on Monday.", "Who"),
    ("Julia Gillard launched the Stage Two roll out of the NBN at Kingston Beach.", "Who"),
    ("Northern Rock received emergency loans from the Bank of England on Monday.", "Which bank"),
    ("Peter Cosgrove retired as Chief of the Australian Defence Force in 2005.", "Who"),
    ("Kevin Rudd presented the National Security Statement to Federal Parliament today.", "Who"),
    ("Two members of the Red Army Faction met Horst Herold in Bonn on Monday.", "How many"),
]


def asked(sentence: str) -> list[str]:
    """What is asked about a sentence under a headline that says the same."""
    a = article(sentence, headline=sentence.removesuffix("."))
    return [q.question for q in ParseFinder().read(a).asked]


@pytest.mark.parametrize(("sentence", "word", "why"), VAGUE)
def test_what_fits_many_events_is_not_asked(sentence: str, word: str, why: str) -> None:
    assert not [q for q in asked(sentence) if q.startswith(word)], why


@pytest.mark.parametrize(("sentence", "why"), ESTIMATES)
def test_estimates_are_not_asked_for(sentence: str, why: str) -> None:
    assert not [q for q in asked(sentence) if "ow many" in q], why


@pytest.mark.parametrize(("sentence", "why"), STALE)
def test_what_is_so_on_its_day_is_not_told(sentence: str, why: str) -> None:
    assert not asked(sentence), why


@pytest.mark.parametrize(("sentence", "word"), TOLD)
def test_what_is_particular_is_asked(sentence: str, word: str) -> None:
    assert [q for q in asked(sentence) if word.lower() in q.lower()]
