"""StreamingQA: a file of JSON lines a split, as Liška et al. 2022 publish it."""

from collections.abc import Iterator, Mapping

from factdrift.builders.rows import HumanAnswer, NewsQuestion
from factdrift.scoring.export.release import Release, Row

REFERENCES = 3
"""Answers that the original scores against; a further one is the human baseline's."""
IDS = "streaminqa_ids.csv"
"""The row of each question whose id is of the original's form."""
_TOXICITY = (
    *("toxicity_identity_attack", "toxicity_insult", "toxicity_profanity"),
    *("toxicity_severe_toxicity", "toxicity_sexually_explicit", "toxicity_threat"),
)


def write(release: Release) -> None:
    """`streaminqa_<split>.jsonl.gz`, spelled as the original is; one row each of a question.

    As in the original, an evaluation question has up to three references and a list of further
    answers, and one of training or validation has one answer and an empty text for the further
    ones. `streaminqa_ids.csv` has the row of each `qa_id`, for predictions that are to be scored
    here. Toxicity that no scorer gave is null, and the run says so.
    """
    configs = release.configs(NewsQuestion)
    baseline_answers = _baseline_answers(release)
    whole_config = next((config for config in configs if config.name == "all"), configs[0])
    row_ids: list[Row] = []
    for split in whole_config.splits:
        if split.rows:
            records = _records(release, split.name, release.rows(split), baseline_answers, row_ids)
            release.json_lines(f"streaminqa_{split.name}.jsonl.gz", records)
    if release.ids == "original":
        release.table(IDS, ("qa_id", "id"), row_ids)


def _baseline_answers(release: Release) -> dict[str, str | None]:
    """The answer of the human baseline by the id of its question."""
    answers: dict[str, str | None] = {}
    if any(config.name == "human_baseline" for config in release.manifest.configs):
        for config in release.configs(HumanAnswer):
            for split in config.splits:
                answers |= {row["id"]: row["answer"] for row in release.rows(split)}
    return answers


def _records(
    release: Release,
    split_name: str,
    question_rows: Iterator[Row],
    baseline_answers: Mapping[str, str | None],
    row_ids: list[Row],
) -> Iterator[Row]:
    """The records of a split; the ids of its rows are added to `row_ids`."""
    is_evaluation = split_name not in ("train", "valid")
    for index, question_row in enumerate(question_rows):
        answer_texts = [*question_row["answers"], *question_row["answers_additional"]]
        baseline_answer = baseline_answers.get(question_row["id"])
        further = [*answer_texts[REFERENCES:], *([baseline_answer] if baseline_answer else [])]
        qa_id = question_row["qa_id"]
        if release.ids == "original":
            qa_id = f"{split_name}-{index}"
            row_ids.append({"qa_id": qa_id, "id": question_row["id"]})
        toxicity_scores = {name: question_row[name] for name in _TOXICITY}
        release.notes["rows without all six toxicity scores (null); see `scorer: model`"] += (
            None in toxicity_scores.values()
        )
        yield {
            "qa_id": qa_id,
            "question": question_row["question"],
            "answers": answer_texts[: REFERENCES if is_evaluation else 1],
            "answers_additional": further if is_evaluation else "",
            "question_ts": question_row["question_ts"],
            "evidence_ts": question_row["evidence_ts"],
            "evidence_id": question_row["evidence_id"],
            "recent_or_past": question_row["recent_or_past"],
            "written_or_generated": question_row["written_or_generated"],
            **toxicity_scores,
        }
