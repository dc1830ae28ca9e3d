"""Each regular expression of questions and filters, with a text it finds and one it does not."""

import re
from importlib import import_module

import pytest

EXAMPLES = [
    # module, pattern, a text in which it is found, a text in which it is not
    (
        "builders.generate.grounded",
        "_HAS_COUNTRY",
        "Prime Minister of Italy",
        "Leader of the House",
    ),
    ("builders.generate.grounded", "_HAS_COUNTRY", "President of the Czech Republic", "President"),
    ("builders.generate.grounded", "_WHO_DID", "who chaired <subject>", "who is in <subject>"),
    ("builders.generate.prompt_files", "_ANY_SLOT", "Answer: <anwser>", "Answer: <1>"),
    ("builders.generate.prompt_files", "_SLOT", "Today: <today>", "Today: <tomorrow>"),
    ("builders.generate.replies", "_HTML", "<html>login</html>", "<b>login</b>"),
    ("builders.generate.replies", "_REASONING_TAG", "Hm</think>", "<b>Hm</b>"),
    ("builders.generate.replies", "_ENDED", "Hm. Who?</think>", "Hm. Who?"),
    ("builders.generate.replies", "_ENDED", "Hm.<|message|>Who won?", "Hm.<|channel|>Who won?"),
    ("builders.generate.replies", "_BEGUN", "<think>Who?", "I think"),
    ("builders.generate.replies", "_SPECIAL", "<|im_end|>", "<|END|>"),
    ("builders.generate.replies", "_FENCE", "```json", "`json`"),
    ("builders.generate.replies", "_POLITE", "Sure! Who won?", "Sure, who won?"),
    ("builders.generate.replies", "_POLITE", "Of course, here it is", "Of course we can"),
    ("builders.generate.replies", "_PREFACE", "Here is a question: Who won?", "Who is here?"),
    ("builders.generate.replies", "_PREFACE", "The answer is: Rome", "The answer"),
    ("builders.generate.replies", "_NUMBER", "1. Who won?", "1984 was a leap year"),
    ("builders.generate.replies", "_REMARK", "Who won? (easy)", "Who won? Who lost?"),
    ("builders.streamingqa.annotators", "_YEAR", "1999", "99 men"),
    ("builders.generate.article_questions", "_LEFT_OUT", "The council … voted", "The council."),
    ("builders.generate.replies", "_JSON_BEGIN", "so: [{", "[1]"),
    ("filters.news_wording", "_BEGINS", "To which town did it go?", "The town got it when?"),
    ("filters.news_wording", "_ENDS_IN_GAP", "It was sold to whom?", "He toured with The Who?"),
    ("filters.news_wording", "_ASKS_HOLDER", "Who is the mayor of Lima?", "Which minister left?"),
    ("filters.news_wording", "_TAKES_POST", "Who was appointed?", "Who was applauded?"),
    ("filters.news_wording", "_BOUND_BEFORE", "it cost up to $", "at last "),
    (
        "filters.news_wording",
        "_ASKS_BOUND",
        "What maximum fine is there?",
        "Which most wanted man?",
    ),
    ("filters.round_trip", "_YEAR", "2007", "30"),
    ("builders.text.en.standalone", "_POINTS_AT_NOTHING", "this plan", "the plan"),
    ("builders.text.en.standalone", "_ASKED_ABOUT", "What did ", "Under "),
    ("builders.text.en.standalone", "_SAID_WHICH", " arrested in Rome", " in Rome"),
    ("filters.news_wording", "_BOUND_WITHIN", "40 or more", "the man about town"),
    ("filters.news_wording", "_BOUND_BEHIND", " or more boats", " or he"),
    ("filters.news_wording", "_NUMBER", "twelve boats", "often"),
    ("filters.news_wording", "_SOURCE", "What did police say?", "What did it cost?"),
    ("filters.time_spec", "_AGO", "two years ago", "at last"),
    ("filters.time_spec", "_IN_YEAR", "in May 2017", "since 2017"),
    ("filters.time_spec", "_IN_YEAR", "during the 1990s", "in 2017 days"),
]


@pytest.mark.parametrize(("module", "name", "finds", "misses"), EXAMPLES)
def test_an_example_is_found_and_another_is_not(
    module: str, name: str, finds: str, misses: str
) -> None:
    pattern: re.Pattern[str] = getattr(import_module(f"factdrift.{module}"), name)
    assert pattern.search(finds)
    assert not pattern.search(misses)


def test_the_tokens_of_names() -> None:
    from factdrift.builders.generate.mentions import _TOKEN

    assert _TOKEN.findall("F.C. Porto met O'Neill’s team …") == [
        *("F.C.", "Porto", "met", "O'Neill’s", "team"),
    ]
