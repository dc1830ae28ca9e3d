"""StreamingQA: a file of JSON lines a split, as Liška et al. 2022 publish it."""

from collections.abc import Iterator

from factdrift.builders.rows import HumanAnswer, NewsQuestion
from factdrift.scoring.export.release import Release, Row

REFERENCES = 3
"""Answers that the original scores against; a further one is the human baseline's."""
_TOXICITY = (
    *("toxicity_identity_attack", "toxicity_insult", "toxicity_profanity"),
    *("toxicity_severe_toxicity", "toxicity_sexually_explicit", "toxicity_threat"),
)


def write(release: Release) -> None:
    """`streaminqa_<split>.jsonl.gz`, spelled as the original is; one row each of a question.

    Toxicity that no scorer gave is null. `qa_id` is the row's id.
    """
    configs = release.configs(NewsQuestion)
    baseline_row: dict[str, str | None] = {}
    if any(config.name == "human_baseline" for config in release.manifest.configs):
        for config in release.configs(HumanAnswer):
            for split in config.splits:
                baseline_row |= {
                    question_row["id"]: question_row["answer"]
                    for question_row in release.rows(split)
                }
    whole_config = next((config for config in configs if config.name == "all"), configs[0])
    for split in whole_config.splits:
        if split.rows:
            file_name = f"streaminqa_{split.name}.jsonl.gz"
            release.json_lines(file_name, _records(release.rows(split), baseline_row))


def _records(question_rows: Iterator[Row], baseline_row: dict[str, str | None]) -> Iterator[Row]:
    for question_row in question_rows:
        answer_texts = [*question_row["answers"], *question_row["answers_additional"]]
        human_rows = baseline_row.get(question_row["id"])
        further = [*answer_texts[REFERENCES:], *([human_rows] if human_rows else [])]
        yield {
            "qa_id": question_row["qa_id"],
            "question": question_row["question"],
            "answers": answer_texts[:REFERENCES],
            "answers_additional": further or "",
            "question_ts": question_row["question_ts"],
            "evidence_ts": question_row["evidence_ts"],
            "evidence_id": question_row["evidence_id"],
            "recent_or_past": question_row["recent_or_past"],
            "written_or_generated": question_row["written_or_generated"],
            **{file_name: question_row[file_name] for file_name in _TOXICITY},
        }
