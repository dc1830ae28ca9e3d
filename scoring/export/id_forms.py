"""What the questions of an export are called by."""

from typing import Literal

IdForm = Literal["original", "rows"]
"""Ids of questions: of the original's own form (`eval-0`, `eval-1`, …), or those of the rows."""
