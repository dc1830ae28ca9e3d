"""Questions over several facts: `python -m bench reasoning [MILLIONS …]`.

The facts are those of `bench.period_diff`, by default a million, with subjects that are objects,
too, so that chains are found. The baseline is the step before, facts to timelines; the ratio has
no bound, the processor time has one: a minute for a million facts on DuckDB.
"""

from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import ibis

from bench import BENCH, Figures, cost, own
from bench.period_diff import RELATIONS, make
from factdrift.builders.core.engine import engine
from factdrift.builders.facts.relations import Phrases
from factdrift.builders.facts.timeline import timeline
from factdrift.builders.rows import Fact
from factdrift.reasoning.families import FAMILIES
from factdrift.reasoning.families.base import Scope
from factdrift.reasoning.rows import QuestionCandidate
from factdrift.reasoning.selection import select
from factdrift.reasoning.states import knowledge

_SCOPE = Scope(date(2010, 1, 1), date(2022, 6, 30), dict.fromkeys(Phrases.model_fields, RELATIONS))
_SUBJECTS = 250_000
"""So many subjects take turns; objects have numbers up to 200,000."""
BOUND = 60.0


def ours(folder: str, out: str, ask: str = "") -> int:
    """Timelines of the facts, and with `ask` the questions drawn from them; how many rows."""
    with engine("duckdb", Path(out, "scratch"), "2GB") as eng:
        facts = eng.read(Path(folder, "facts.parquet"), Fact)
        number = facts.subject.substr(1).cast("int64") % _SUBJECTS
        facts = facts.mutate(subject=ibis.literal("Q") + number.cast("string"))
        made = timeline(eng, facts, None, None, None)
        segments, gaps = eng.keep(made.segments), eng.keep(made.gaps)
        if not ask:
            return int(eng.rows(segments.agg(n=segments.count()))[0]["n"])
        known = knowledge(eng, segments, gaps, _SCOPE.last, 7)
        every = ibis.union(*(eng.keep(one.table(known, _SCOPE)) for one in FAMILIES.values()))
        chosen = eng.keep(select(every, 7, 500))
        path = Path(out, "chosen.parquet")
        return eng.write(chosen, path, QuestionCandidate, ("family", "hops", "id"))


def main(say: Figures, words: list[str]) -> None:
    """Measure at every size, and print the ratio to the step before."""
    for millions in [float(word) for word in words] or [1]:
        folder = make(millions)
        with TemporaryDirectory(dir=BENCH) as out:
            before = cost(own("reasoning:ours", folder, out))
            spent = cost(own("reasoning:ours", folder, out, "ask"))
        say(f"{millions:g} M facts to timelines", before)
        good = spent.processor <= BOUND * max(millions, 0.1)
        bound = f"{BOUND:.0f} s of processor a million facts"
        say(f"to {spent.answer:,} questions", spent, good, bound)
        say("to the timelines alone, processor", f"{spent.processor / before.processor:.1f}")
