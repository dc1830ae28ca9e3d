"""What each filter, and each reason inside it, refuses of judged questions: does it pay?

    python -m bench filters

Every table of `tests/filter_cases` whose cases are whole questions goes through every filter that
needs neither model nor index, so that one filter is met with what another one's table keeps.
`right` and `wrong`: refused questions that are judged bad and good; `alone`: bad ones that nothing
else refuses; `recall`: of the bad ones in the filter's own table.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from bench import Figures
from factdrift.filters import FILTERS
from factdrift.filters.base import FilterContext, QuestionItem
from tests.filter_cases import FINDER, cases, item

QUESTIONS: dict[str, Callable[[tuple[str, ...]], QuestionItem]] = {
    "question_mark": lambda c: item(c[1]),
    "length": lambda c: item(c[1]),
    "answer_in_question": lambda c: item(c[1], c[2]),
    "context_reference": lambda c: item(c[1]),
    "pronoun_without_antecedent": lambda c: item(c[1]),
    "entity_required": lambda c: item(c[2], kind=c[1]),
    "time_answer": lambda c: item(c[2], c[3], kind=c[1]),
}
"""How a case of a table is a question; times as answers are a matter of `context_reference`."""
ALSO = ("answer_not_in_article", "boilerplate", "toxicity")


def judged() -> Iterator[tuple[str, bool, dict[str, str]]]:
    """The filter of each judged question, whether it is bad, and the reasons that refuse it."""
    context = FilterContext(names=FINDER)
    used = {name: FILTERS[name]() for name in (*QUESTIONS, *ALSO) if name in FILTERS}
    scored: dict[str, FilterContext] = {name: FilterContext(names=FINDER) for name in used}
    for table, question in QUESTIONS.items():
        own = table if table in FILTERS else "context_reference"
        for case in cases(table):
            asked = [question(case.cells)]
            found = {n: one.judge(asked, scored.get(n, context))[0] for n, one in used.items()}
            reasons = {n: verdict.reason for n, verdict in found.items() if not verdict.keep}
            yield own, case.wanted != "keep", reasons


def main(_: Figures, words: list[str]) -> None:
    """Print a line a reason."""
    lines: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    bad: Counter[str] = Counter()
    for own, is_bad, reasons in judged():
        bad[own] += is_bad
        for name, reason in reasons.items():
            line = lines[name, reason]
            line["right" if is_bad else "wrong"] += 1
            line["alone"] += is_bad and len(reasons) == 1
            line["own"] += is_bad and name == own
    print(f"{'filter':27}{'reason':27} right wrong alone recall")
    for (name, reason), line in sorted(lines.items()):
        recall = f"{line['own'] / bad[name]:6.0%}" if bad[name] else "     –"
        numbers = f"{line['right']:6}{line['wrong']:6}{line['alone']:6}"
        print(f"{name:27}{reason:27}{numbers} {recall}")
