"""Every limit that the documents state is held by a test, and every bound of a key or an option.

The documents are searched for the words of limits. A sentence with such words is in the table
below, which names the test of that limit, or is said to be none.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any

import pytest
import typer.main
from pydantic import BaseModel, TypeAdapter, ValidationError

from factdrift.annotation.layout import Layout
from factdrift.builders.ckl.questions import CKLQuestions, _drafts
from factdrift.builders.cli import app
from factdrift.builders.core.config import field_hint, models_in
from factdrift.builders.facts.relations import Relation
from factdrift.builders.generate.backends import MODELS
from factdrift.builders.generate.questions import GenerateSettings
from factdrift.builders.recipes.datasets import BUILDERS
from factdrift.builders.recipes.recipe import Recipe
from factdrift.builders.release.tasks import MAX_TOKENS
from factdrift.builders.rows import Article, ArticleQuestions
from factdrift.builders.rows.cloze import PromptFact
from factdrift.builders.rows.frames import EXAMPLE_COUNT, read_frames
from factdrift.scoring.summary import few_rows_text
from tests.conftest import ROOT, run_cli
from tests.filter_cases import FINDER

DOCUMENTS = (
    *("README.md", "SECURITY.md", "PEOPLE.md", "CONTRIBUTING.md", "TOUR.md"),
    *("docs/asof.md", "docs/build.md", "docs/faq.md", "docs/score.md", "docs/torture.md"),
)
"""`SCALE.md` has measurements, and `docs/rows.md` rows; the changelog tells of figures as well."""
_NUMBER = r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten)"
_LIMIT = re.compile(
    # It matches `three at most`, `up to four`, `over 300 times` and `two items or more`, but not
    # `over lunch` or `up to any day`.
    rf"\bat (?:most|least)\b|\bno (?:more|longer) than\b|\blimits? of\b|\bhas limits\b"
    rf"|\b(?:up to|over|within|beyond|more than|less than|fewer than) {_NUMBER}\b"
    rf"|\b{_NUMBER} \w+ or (?:more|fewer)\b|\blongest\b|\bfewer connections\b|\bno longer \d"
    rf"|\bafter \d+ tokens\b|\bmay have \d|\bone to five\b|\bis six lines\b"
    r"|\bfirst \w+ answers\b"
)
_SENTENCE_END = re.compile(r"(?<=[.;:])\s+|\n\n|\n- |\n\| ")
_EXAMPLE = re.compile(r"```.*?```", re.S)

HELD: dict[str, str] = {
    # words of a document: the test of their limit
    "a limit of steps and of size": "test_hostile_layouts.py::test_a_layout_without_end_is_refused",
    "ten drafts at most": "test_documented_limits.py::test_an_article_has_ten_drafts",
    "fewer than 30 % are toxic": "test_annotation_bands.py::test_the_same_command_again_and_again",
    "overlap for less than 92 days": "test_staleness.py::test_windows_see_what_a_walk_sees",
    "vacancies of at most 92 days": "test_timelines_oracle.py::test_vacancies",
    "up to three references to": "test_exports.py::test_streamingqa_has_the_form_of",
    "What is read has limits": "test_limits.py::test_every_limit_is_tried",
    "unpacks to over 300 times": "test_limits.py::test_a_file_that_unpacks_to_far_more",
    "may have 64 MB": "test_limits.py::test_what_is_over_a_limit_is_told",
    "closes unfinished requests after six seconds": (
        "test_receive_connections.py::test_unfinished_requests_are_closed_after"
    ),
    "has at most 4 MB, and a log of": "test_limits.py::test_what_is_over_a_limit_is_told",
    "not as 21,600 at most": "test_core_http.py::test_retry_after",
    "at most a quarter (`context_too_short`)": (
        "test_timeqa_questions.py::test_answers_are_cut_out_of_the_page"
    ),
    "asks for up to four questions": "test_documented_limits.py::test_the_prompt_asks_for_four",
    "first ten answers are useless": "test_questions_server.py::test_the_first_answers_end_a_run",
    "A passage is six lines": "test_wmt_passages.py::test_chunks_of_six",
    "three at most": "test_documented_limits.py::test_a_prompt_shows_three_facts",
    "up to three facts of a relation": "test_invariant_lama.py::test_what_prompts_show_is_asked_of",
    "fewer than ten rows": "test_documented_limits.py::test_nine_rows_are_few",
    "after 16 tokens": "test_documented_limits.py::test_answers_have_sixteen_tokens",
    "more than a tenth of a model's answers": "test_scoring.py::test_an_answer_again_and_again_is",
    "more than a tenth of all answers, and at least five": (
        "test_sentence_answers.py::test_five_sentences_that_are_over_a_tenth_are_many"
    ),
    "fill one to five of them": "test_cloze_tokens.py::test_views",
    "At most half of the sessions": "test_dated_exports.py::test_most_sessions_are_hay",
}
NO_LIMIT = (*("write four or more cases", "longest:"),)
"""Words of sentences that state no limit: an instruction, a name, a figure that was measured."""


def _sentences(document: str) -> Iterator[str]:
    text = (ROOT / document).read_text("utf-8")
    for sentence in _SENTENCE_END.split(_EXAMPLE.sub(" ", text)):
        yield " ".join(sentence.split())


def test_every_limit_of_the_documents_is_held_by_a_test() -> None:
    sentences = [sentence for document in DOCUMENTS for sentence in _sentences(document)]
    words_of_limits = [*HELD, *NO_LIMIT]
    unknown_sentences = [
        sentence
        for sentence in sentences
        if _LIMIT.search(sentence) and not any(words in sentence for words in words_of_limits)
    ]
    assert unknown_sentences == [], "name the test of each limit in the table"
    told_sentences = [*sentences, *_sentences("CHANGELOG.md")]
    gone = [words for words in words_of_limits if not any(words in text for text in told_sentences)]
    assert gone == [], "no document states these any more"


@pytest.mark.parametrize("words", HELD)
def test_the_test_of_a_limit_exists(words: str) -> None:
    module, _, name = HELD[words].partition("::")
    tree = ast.parse((ROOT / "tests" / module).read_text("utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert any(function.startswith(name) for function in names)


# --- Limits that no other test holds --------------------------------------------------------------


def test_an_article_has_ten_drafts() -> None:
    names = ("Leeds", "Derby", "Exeter", "Norwich", "Durham", "Oxford", "Lincoln", "Chester")
    sentences = [
        f"{names[day % 8]} won the match against {names[(day + 3) % 8]} on {day} May 2020."
        for day in range(1, 15)
    ]
    long_article = Article(
        "a", date(2020, 5, 20), ("A headline", *sentences), "\n".join(["A headline", *sentences])
    )
    limit = CKLQuestions.model_fields["generate"].get_default().kept
    article_drafts = _drafts(long_article, FINDER.find(long_article), limit, Counter())
    assert isinstance(article_drafts, ArticleQuestions)
    assert len(article_drafts.questions) == limit == 10


def test_the_prompt_asks_for_four() -> None:
    assert "seldom four" in (ROOT / "builders/generate/prompts/default.yaml").read_text("utf-8")
    assert GenerateSettings().kept == 4


def test_a_prompt_shows_three_facts() -> None:
    facts = [
        PromptFact(relation, f"Q{fact_number}", f"S{fact_number} is in _X_.", f"O{fact_number}")
        for fact_number in range(5)
        for relation in ("P1", "P2")
    ]
    frames = read_frames(None, facts, ["_X_"])
    assert {len(examples) for examples in frames.relations.values()} <= {1, 2, EXAMPLE_COUNT}
    assert len(frames.relations["P1"]) == EXAMPLE_COUNT == 3


def test_answers_have_sixteen_tokens() -> None:
    """For lm-eval, Inspect and `run-model` alike."""
    run_model = _commands()["run-model"]
    (option,) = [option for option in run_model.params if option.name == "new_tokens"]
    assert option.default == MAX_TOKENS == 16


def test_nine_rows_are_few() -> None:
    assert few_rows_text({"2025Q2": 10, "2025Q3": 9, "2025Q4": 0}) == "2025Q3 (9), 2025Q4 (0)"
    many_times = few_rows_text({str(year): year - 2000 for year in range(2000, 2007)})
    assert many_times == "2 earlier ones and 2002 (2), 2003 (3), 2004 (4), 2005 (5), 2006 (6)"


# --- Bounds of keys and options -------------------------------------------------------------------


def _commands() -> Any:
    """The commands of the program by name."""
    return vars(typer.main.get_command(app))["commands"]


def _settings_models() -> list[type[BaseModel]]:
    """The models of what users write, and those inside them, each once."""
    waiting: list[type[BaseModel]] = [
        *(Recipe, Relation, Layout),
        *(*BUILDERS.values(), *MODELS.values()),
    ]
    models: list[type[BaseModel]] = []
    while waiting:
        model = waiting.pop()
        if model not in models:
            models.append(model)
            for field in model.model_fields.values():
                waiting += models_in(field_hint(field))
    return models


def _bounds() -> Iterator[tuple[str, Any, Any]]:
    """A name, the type with its bounds, and a value just beyond each bound."""
    for model in _settings_models():
        for name, field in model.model_fields.items():
            kind = Annotated[(field.annotation, *field.metadata)] if field.metadata else None
            for field_bound in field.metadata:
                for sign, beyond_step in {"ge": -1, "gt": 0, "le": 1, "lt": 0}.items():
                    if (bound := getattr(field_bound, sign, None)) is not None:
                        yield f"{model.__name__}.{name} {sign} {bound}", kind, bound + beyond_step


def test_every_bound_of_a_key_is_held() -> None:
    """Recipes, templates, layouts and what models are asked with."""
    bounds = list(_bounds())
    assert len(bounds) > 40
    for name, kind, beyond in bounds:
        with pytest.raises(ValidationError):
            TypeAdapter(kind).validate_python(beyond)
            pytest.fail(f"{name}: {beyond} is taken")


def test_every_bound_of_an_option_is_held() -> None:
    tried = 0
    for command_name, command in _commands().items():
        for option in command.params:
            for bound, beyond_step in ((option.min, -1), (option.max, 1)):
                if bound is not None:
                    command_words = (command_name, option.opts[-1], bound + beyond_step)
                    refused_run = run_cli(*command_words, ok=False)
                    error_text = " ".join(refused_run.stderr.replace("│", " ").split())
                    assert f"or equal to {bound}" in error_text, command_words
                    tried += 1
    assert tried > 20
