"""Prompt frames: the wording in which `run-model` and the harnesses' tasks put rows to a model.

`prompts.yaml` in this folder has the project's own frames.
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
"""The name, in place of a prompt file, of a frame that adds nothing to context and prompt."""
ANY_RELATION = ""
"""The key of the examples for relations that have none of their own."""
EXAMPLE_COUNT = 3
"""Examples in a prompt, where a release has as many: enough to show a model the form of an answer,
and few enough that a long context still fits."""
BLANK_SLOT = "<blank>"
# A slot of a frame: `<prompt>` matches, `<Prompt>` and `<answer>` do not.
_SLOT = re.compile(r"<(prompt|context|blank|choices)>")


class FrameExample(Strict):
    """An example row with its answer."""

    prompt: str
    context: str = ""
    choices: str = ""
    answer: str


class Frame(Strict):
    """The wording in which rows of one kind are put to a model."""

    instruction: str = ""
    layout: str = Field(description="one row with its slots; what the model writes follows it")
    examples: tuple[FrameExample, ...] = ()

    def text(self, values: Mapping[str, str]) -> str:
        """Return the instruction, the examples and the row; each slot is filled once."""
        head = self.head(values)
        return "\n\n".join([*([head] if head else []), _filled(self.layout, values)])

    def head(self, values: Mapping[str, str]) -> str:
        """Return the instruction and the examples with their answers."""
        parts = [_filled(self.instruction, values)] if self.instruction else []
        for example in self.examples:
            slots = {name: _filled(text, values) for name, text in example.model_dump().items()}
            parts.append(f"{_filled(self.layout, slots)} {slots['answer']}")
        return "\n\n".join(parts)


def _filled(text: str, slots: Mapping[str, str]) -> str:
    return _SLOT.sub(lambda slot: slots.get(slot[1], ""), text)


BARE_FRAME = Frame(layout="<prompt>")


class Frames(Strict):
    """A file of frames, one for each kind of row.

    The kinds are statements with a gap, questions, questions over a text, and choices. `no_answer`
    lists what a model writes where it has no answer.
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
        """Return the frame of a row, and the gap in its prompt that stands for the answer."""
        gap = next((candidate for candidate in gaps if candidate in prompt), None)
        if context or gap is None:
            return self.passage if context else self.question, gap
        examples = self.relations.get(relation) or self.relations.get(ANY_RELATION)
        return self.cloze.model_copy(update={"examples": examples}) if examples else self.cloze, gap

    @property
    def identity(self) -> str:
        """A hash of all frames: prompts of equal identity are worded alike."""
        return digest(self.model_dump(mode="json"))


def read_frames(
    file_name: str | None, facts: Sequence[PromptFact] = (), gaps: Sequence[str] = ()
) -> Frames:
    """Read the frames of a file; the project's own by default, and plain ones with `bare`.

    `facts` are a release's examples, which replace those of the project's own cloze frame. `gaps`
    are the words that may stand for the answer in them.
    """
    if file_name == BARE:
        return Frames()
    frames = load(Path(file_name) if file_name else DEFAULT, Frames)
    return frames if file_name or not facts else frames.model_copy(update=_by_relation(facts, gaps))


def _by_relation(
    facts: Sequence[PromptFact], gaps: Sequence[str]
) -> dict[str, Mapping[str, tuple[FrameExample, ...]]]:
    """Up to `EXAMPLE_COUNT` facts of each relation, filled up with first ones of the others."""
    examples_by_relation: dict[str, list[FrameExample]] = {}
    for fact in facts:
        gap = next((candidate for candidate in gaps if candidate in fact.prompt), BLANK_SLOT)
        example = FrameExample(prompt=fact.prompt.replace(gap, BLANK_SLOT), answer=fact.answer)
        examples_by_relation.setdefault(fact.relation, []).append(example)
    firsts = [examples[0] for examples in examples_by_relation.values()]
    relations = {}
    for relation, examples in examples_by_relation.items():
        candidates = dict.fromkeys([*examples[:EXAMPLE_COUNT], *firsts])
        relations[relation] = tuple(candidates)[:EXAMPLE_COUNT]
    return {"relations": relations | {ANY_RELATION: tuple(firsts[:EXAMPLE_COUNT])}}
