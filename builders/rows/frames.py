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
"""The slot that stands for the gap of a cloze."""
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

    def text(self, slot_texts: Mapping[str, str]) -> str:
        """Return the instruction, the examples and the row; each slot is filled once."""
        head_text = self.head(slot_texts)
        return "\n\n".join([*([head_text] if head_text else []), _filled(self.layout, slot_texts)])

    def head(self, slot_texts: Mapping[str, str]) -> str:
        """Return the instruction and the examples with their answers."""
        head_parts = [_filled(self.instruction, slot_texts)] if self.instruction else []
        for example in self.examples:
            example_slots = {
                slot_name: _filled(slot_text, slot_texts)
                for slot_name, slot_text in example.model_dump().items()
            }
            head_parts.append(f"{_filled(self.layout, example_slots)} {example_slots['answer']}")
        return "\n\n".join(head_parts)


def _filled(frame_text: str, slot_texts: Mapping[str, str]) -> str:
    return _SLOT.sub(lambda slot_match: slot_texts.get(slot_match[1], ""), frame_text)


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
        found_gap = next((possible_gap for possible_gap in gaps if possible_gap in prompt), None)
        if context or found_gap is None:
            return self.passage if context else self.question, found_gap
        examples = self.relations.get(relation) or self.relations.get(ANY_RELATION)
        if not examples:
            return self.cloze, found_gap
        return self.cloze.model_copy(update={"examples": examples}), found_gap

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
        found_gap = next(
            (possible_gap for possible_gap in gaps if possible_gap in fact.prompt), BLANK_SLOT
        )
        frame_example = FrameExample(
            prompt=fact.prompt.replace(found_gap, BLANK_SLOT), answer=fact.answer
        )
        examples_by_relation.setdefault(fact.relation, []).append(frame_example)
    first_examples = [examples[0] for examples in examples_by_relation.values()]
    relation_examples = {}
    for relation, examples in examples_by_relation.items():
        candidates = dict.fromkeys([*examples[:EXAMPLE_COUNT], *first_examples])
        relation_examples[relation] = tuple(candidates)[:EXAMPLE_COUNT]
    return {"relations": relation_examples | {ANY_RELATION: tuple(first_examples[:EXAMPLE_COUNT])}}
