"""Train, dev and test: each subject in one of them."""

from hashlib import sha256
from pathlib import Path

from pydantic import Field, model_validator

from builders.config import Strict
from builders.dataset import FromParquet, Table

SPLITS = ("train", "dev", "test")
GROUP = 256
"""Questions of a row group: each carries its page."""


class Splits(Strict):
    """Shares of the subjects; a subject is in one split with all its questions."""

    train: float = Field(default=0.70, ge=0, le=1)
    dev: float = Field(default=0.15, ge=0, le=1)
    test: float = Field(default=0.15, ge=0, le=1)

    @model_validator(mode="after")
    def _add_up(self) -> "Splits":
        if abs(self.train + self.dev + self.test - 1) > 1e-9:
            raise ValueError(f"the shares add up to {self.train + self.dev + self.test}, not 1")
        return self

    def of(self, subject: str, seed: int) -> str:
        """The split of a subject: by its own hash, whatever else there is."""
        chance = int(sha256(f"{seed}\tsplit\t{subject}".encode()).hexdigest()[:13], 16) / 16**13
        return (
            "train" if chance < self.train else "dev" if chance < self.train + self.dev else "test"
        )


def split_table(name: str, row: type, about: str, path: Path, **where: str) -> Table:
    """A config of the rows of a file that have these values, by their column `split`."""
    splits = {s: FromParquet(path, {**where, "split": s}) for s in SPLITS}
    return Table(name, row, about, splits, GROUP)
