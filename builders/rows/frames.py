"""How rows are put to a model that writes: the words of `run-model` and of the harnesses' tasks.

`prompts.yaml` beside this has them, once.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field

from factdrift.builders.core.config import Strict, load
from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import digest
from factdrift.builders.rows.cloze import PromptFact

DEFAULT = resource("builders/rows/prompts.yaml")
BARE = "bare"
"""Instead of a prompt file: the row's prompt as it is, after its context if it has one."""
ANY_RELATION = ""
"""The key of the examples of relations that have none of their own."""
EXAMPLE_COUNT = 3
"""Examples of a prompt, where a release has as many."""
BLANK_SLOT = "<blank>"
_SLOT = re.compile(r"<(prompt|context|blank|choices)>")


class FrameExample(Strict):
    """A row and its answer, as a model is shown them."""

    prompt: str
    context: str = ""
    choices: str = ""
    answer: str


class Frame(Strict):
    """How rows of one kind are put to a model that writes."""

    instruction: str = ""
    layout: str = Field(description="one row with its slots; what the model writes follows it")
    examples: tuple[FrameExample, ...] = ()

    def text(self, values: Mapping[str, str]) -> str:
        """The instruction, the examples with their answers, and the row; slots are filled once."""
        head = self.head(values)
        return "\n\n".join([*([head] if head else []), _filled(self.layout, values)])

    def head(self, values: Mapping[str, str]) -> str:
        """The instruction and the examples with their answers."""
        parts = [_filled(self.instruction, values)] if self.instruction else []
        for one in self.examples:
            slots = {n: _filled(text, values) for n, text in one.model_dump().items()}
            parts.append(f"{_filled(self.layout, slots)} {slots['answer']}")
        return "\n\n".join(parts)


def _filled(text: str, slots: Mapping[str, str]) -> str:
    return _SLOT.sub(lambda found: slots.get(found[1], ""), text)


BARE_FRAME = Frame(layout="<prompt>")


class Frames(Strict):
    """A file of frames: one for statements with a gap, for questions, for those over a text, and
    for choices; and what a model writes where it has no answer.
    """

    cloze: Frame = BARE_FRAME
    relations: Mapping[str, tuple[FrameExample, ...]] = Field(
        default={}, description="examples of a cloze by its relation, in place of its frame's"
    )
    question: Frame = BARE_FRAME
    passage: Frame = Frame(layout="<context>\n<prompt>")
    choices: Frame = Frame(layout="<prompt>\n<choices>")
    no_answer: tuple[str, ...] = ()

    def frame_for(
        self, prompt: str, gaps: Sequence[str], context: bool, relation: str = ""
    ) -> tuple[Frame, str | None]:
        """The frame of a row, and what stands for the answer in its prompt, if anything does."""
        gap = next((one for one in gaps if one in prompt), None)
        if context or gap is None:
            return self.passage if context else self.question, gap
        examples = self.relations.get(relation) or self.relations.get(ANY_RELATION)
        return self.cloze.model_copy(update={"examples": examples}) if examples else self.cloze, gap

    @property
    def identity(self) -> str:
        """A hash of all of it."""
        return digest(self.model_dump(mode="json"))


def read_frames(
    named: str | None, facts: Sequence[PromptFact] = (), gaps: Sequence[str] = ()
) -> Frames:
    """The frames of a file, the project's own by default, or none with `bare`.

    `facts`: what a release shows instead of the examples of the project's own cloze; `gaps`: what
    may stand for the answer in them.
    """
    if named == BARE:
        return Frames()
    frames = load(Path(named) if named else DEFAULT, Frames)
    return frames if named or not facts else frames.model_copy(update=_by_relation(facts, gaps))


def _by_relation(
    facts: Sequence[PromptFact], gaps: Sequence[str]
) -> dict[str, Mapping[str, tuple[FrameExample, ...]]]:
    """Up to `SHOWN` facts of each relation, filled up with the first ones of the others."""
    of: dict[str, list[FrameExample]] = {}
    for fact in facts:
        gap = next((one for one in gaps if one in fact.prompt), BLANK_SLOT)
        example = FrameExample(prompt=fact.prompt.replace(gap, BLANK_SLOT), answer=fact.answer)
        of.setdefault(fact.relation, []).append(example)
    firsts = [some[0] for some in of.values()]
    some = {
        relation: tuple(dict.fromkeys([*own[:EXAMPLE_COUNT], *firsts]))[:EXAMPLE_COUNT]
        for relation, own in of.items()
    }
    return {"relations": some | {ANY_RELATION: tuple(firsts[:EXAMPLE_COUNT])}}
