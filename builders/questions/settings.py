"""What a recipe can say about answer candidates."""

from pathlib import Path

from pydantic import Field

from builders.config import Strict


class CandidateSettings(Strict):
    """Where answer candidates come from."""

    pipeline: str = Field(
        default="rules",
        description="`rules` (no model needed), or an installed spaCy pipeline: en_core_web_sm",
    )
    entities: Path | None = Field(
        default=None, description="entities.parquet of mined facts: its labels are names"
    )
    facts: Path | None = Field(
        default=None, description="facts.parquet beside it: tells people from organisations"
    )
