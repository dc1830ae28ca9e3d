"""The same question at other times inside the same segment, for the consistency of a model.

After: TimeQA (paper 001), section 4.5 (consistency analysis): the time specifier is moved three
times, and a model that knows the segment answers the same each time.
"""

from collections.abc import Sequence

from builders.cloze.templates import Relation
from builders.rows import Specifier
from builders.store import row_id
from builders.timeqa import wording
from builders.timeqa.ask import Asked, Asker, Pair, Questions
from builders.timeqa.choose import Draws, hard, start
from builders.timeqa.specifiers import Time


def probes(
    asked: Sequence[Asked], pair: Pair, relation: Relation, settings: Questions, seed: int
) -> list[Asked]:
    """Up to `settings.probes` perturbations of each question of this pair, after one another.

    A probe has the specifier, the template and the answers of its question, and another time
    inside the segment that it was made of; its difficulty is hard, as no boundary is printed.
    Windows where nothing holds have none, and a segment without room has fewer than asked for.
    """
    asker = Asker(pair, relation, settings, seed)
    return [probe for one in asked for probe in _of(one, asker)]


def _of(one: Asked, asker: Asker) -> list[Asked]:
    i = one.segment
    if i is None:
        return []
    place = int(one.template.rpartition("/")[2]) - 1
    answers = [a.id for a in one.objects]
    draws = Draws(start(asker.seed, one.id, "probe"))
    found: list[Asked] = []
    seen = {one.time}
    for _ in range(asker.settings.probes * asker.settings.tries):
        if len(found) == asker.settings.probes:
            break
        time = _moved(one.specifier, i, asker, draws)
        if time is None or time in seen:
            continue
        seen.add(time)
        chosen = asker.settle(time, i, "hard")
        if isinstance(chosen, str):
            continue
        number = len(found) + 1
        when = wording.specifier(time, False)
        text = asker.frames[place].text(when)
        if asker.gives_away(chosen, place, when, text):
            continue
        id_ = row_id(one.id, "probe", number)
        row = asker.row(
            id_, text, one.template, time, chosen, i, "hard", probe_of=one.id, probe=number
        )
        if [a.id for a in row.objects] == answers:
            found.append(row)
    return found


def _moved(kind: Specifier, i: int, asker: Asker, draws: Draws) -> Time | None:
    return hard(asker.line, i, kind, asker.pointwise, draws)
