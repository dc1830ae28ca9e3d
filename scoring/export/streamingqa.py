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
    baseline: dict[str, str | None] = {}
    if any(config.name == "human_baseline" for config in release.manifest.configs):
        for config in release.configs(HumanAnswer):
            for split in config.splits:
                baseline |= {row["id"]: row["answer"] for row in release.rows(split)}
    whole = next((config for config in configs if config.name == "all"), configs[0])
    for split in whole.splits:
        if split.rows:
            name = f"streaminqa_{split.name}.jsonl.gz"
            release.json_lines(name, _records(release.rows(split), baseline))


def _records(rows: Iterator[Row], baseline: dict[str, str | None]) -> Iterator[Row]:
    for row in rows:
        answer_texts = [*row["answers"], *row["answers_additional"]]
        human = baseline.get(row["id"])
        further = [*answer_texts[REFERENCES:], *([human] if human else [])]
        yield {
            "qa_id": row["qa_id"],
            "question": row["question"],
            "answers": answer_texts[:REFERENCES],
            "answers_additional": further or "",
            "question_ts": row["question_ts"],
            "evidence_ts": row["evidence_ts"],
            "evidence_id": row["evidence_id"],
            "recent_or_past": row["recent_or_past"],
            "written_or_generated": row["written_or_generated"],
            **{name: row[name] for name in _TOXICITY},
        }
