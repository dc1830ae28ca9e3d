"""Any multi-label text classifier of transformers."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt, model_validator

from factdrift.builders.core.config import Strict, did_you_mean
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import read_texts, resource
from factdrift.builders.core.hints import require_extra
from factdrift.filters.toxicity.scores import ATTRIBUTES, Scoring, Thresholds, ToxicityScores

PRESETS: Mapping[str, Mapping[str, Any]] = read_texts(resource("filters/toxicity/presets.yaml"))
"""Public classifiers: of each its `model` and `revision` on the Hugging Face Hub, and its `labels`,
the name of its label for each attribute that it gives."""


class TransformersScorer(Strict):
    """A text classifier by name or folder, with a map from our attributes to its labels.

    Each label has its own probability (a sigmoid): labels do not exclude each other. Attributes
    that `labels` leaves out are null. Thresholds have no default: they belong to one model, see
    `annotation.bands`. The model's name should carry a `revision`, else it may change.
    `preset` is one of `PRESETS`: it says model, revision and labels, each of which may be given
    beside it (a folder with a copy of the model, where the Hub cannot be reached).

    `preset`: the name of a model that is known here; `model`: name on the Hub, or folder;
    `revision`: the commit of the model on the Hub; `labels`: our attribute to the model's label;
    `batch`: texts at a time; `most_tokens`: where a text is cut.
    """

    libraries: ClassVar[tuple[str, ...]] = ("torch", "accelerate", "transformers")

    scorer: Literal["transformers"] = "transformers"
    preset: Literal["detoxify", "detoxify-unbiased"] | None = None
    model: str
    revision: str | None = None
    labels: Mapping[str, str]
    thresholds: Thresholds
    batch: PositiveInt = 32
    most_tokens: PositiveInt = 512

    @model_validator(mode="before")
    @classmethod
    def _of_preset(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("preset") not in PRESETS:
            return values
        preset = PRESETS[values["preset"]]
        # another model than the preset's has another revision
        not_from_preset = {"revision"} if "model" in values else set()
        return {
            name: value for name, value in preset.items() if name not in not_from_preset
        } | values

    @model_validator(mode="after")
    def _attributes(self) -> "TransformersScorer":
        for name in self.labels:
            if name not in ATTRIBUTES:
                near_name = did_you_mean(name, ATTRIBUTES)
                raise ValueError(
                    f"labels: {name!r} is no attribute, they are {', '.join(ATTRIBUTES)}"
                    + (f"; did you mean {near_name!r}?" if near_name else "")
                )
        unscored = [
            attribute
            for attribute in self.thresholds.model_dump(exclude_none=True)
            if attribute not in self.labels
        ]
        if unscored:
            raise ValueError(f"thresholds: {unscored[0]!r} has no label in 'labels'")
        return self

    def start(self, cache: Path | None, say: Callable[[str], None]) -> Scoring:
        """Load the model; UserError where torch or the model is missing, or a label unknown."""
        require_extra("lm", "the scorer `transformers` needs PyTorch")
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        try:
            tokenizer = AutoTokenizer.from_pretrained(self.model, revision=self.revision)
            model = AutoModelForSequenceClassification.from_pretrained(
                self.model, revision=self.revision
            )
        except (OSError, ValueError) as error:
            first_line = str(error).splitlines()[0]
            raise UserError(
                f"the classifier cannot be loaded: {first_line}", where=self.model
            ) from error
        model.eval()
        label_columns = {
            str(label).casefold(): int(index) for index, label in model.config.id2label.items()
        }
        for label in self.labels.values():
            if label.casefold() not in label_columns:
                label_list = ", ".join(map(str, model.config.id2label.values()))
                raise UserError(f"no label {label!r}, it has {label_list}", where=self.model)
        attribute_columns = {
            name: label_columns[label.casefold()] for name, label in self.labels.items()
        }

        def score(texts: Sequence[str]) -> Sequence[ToxicityScores]:
            all_scores: list[ToxicityScores] = []
            for batch_start in range(0, len(texts), self.batch):
                model_inputs = tokenizer(
                    list(texts[batch_start : batch_start + self.batch]),
                    return_tensors="pt",
                    padding=True,
                    truncation=True,
                    max_length=self.most_tokens,
                )
                with torch.inference_mode():
                    probabilities = torch.sigmoid(model(**model_inputs).logits).tolist()
                scores = (
                    {name: round(row[column], 4) for name, column in attribute_columns.items()}
                    for row in probabilities
                )
                all_scores += [ToxicityScores(**text_scores) for text_scores in scores]
            return all_scores

        return score
