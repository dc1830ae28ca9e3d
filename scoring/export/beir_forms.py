"""Exports made from the files of `beir`: the training questions of DPR, with passages that answer
them and passages that do not (Karpukhin et al. 2020), and a task of MTEB (Muennighoff et al. 2023).
"""

import json
from pathlib import Path
from typing import Any

from factdrift.builders.core import duck
from factdrift.builders.core.files import resource
from factdrift.scoring.export import beir
from factdrift.scoring.export.release import Release, Row

TASK = "mteb_task.py"
_QUESTIONS = """
    WITH judged AS (
        SELECT "query-id" AS query, "corpus-id" AS passage, score::INT AS score FROM {qrels}
    ), texts AS (
        SELECT query, score > 0 AS is_positive,
            list({{title: title, text: text, score: score, passage_id: _id}}
                ORDER BY score DESC, _id) AS ctxs
        FROM judged JOIN {corpus} ON _id = passage GROUP BY ALL
    )
    SELECT q._id AS id, q.text AS question, q.metadata.targets AS answers,
        good.ctxs AS positive_ctxs, bad.ctxs AS hard_negative_ctxs
    FROM {queries} q JOIN texts good ON good.query = q._id AND good.is_positive
    LEFT JOIN texts bad ON bad.query = q._id AND NOT bad.is_positive ORDER BY q._id
"""


def write_dpr(release: Release) -> None:
    """`<split>.json` of each split; hard negatives state what held at another time.

    Each passage has its judgment as `score`, and the positive ones with the highest come first.
    """
    beir.write(release)
    for name in [name for name in release.files if name.startswith(beir.QRELS)]:
        with duck.connect(release.out) as db:
            query_sql = _QUESTIONS.format(
                qrels=_read("read_csv", release.out / name, "delim = '\t', all_varchar = true"),
                corpus=_lines(release.out / beir.CORPUS, "title: 'VARCHAR', text: 'VARCHAR'"),
                queries=_lines(
                    release.out / beir.QUERIES,
                    "text: 'VARCHAR', metadata: 'STRUCT(targets VARCHAR[])'",
                ),
            )
            question_batches = db.sql(query_sql).to_arrow_reader(256)
            rows = (
                _question(query_row)
                for batch in question_batches
                for query_row in batch.to_pylist()
            )
            release.json_list(f"{Path(name).stem}.json", rows)


def _read(reader_name: str, file_path: Path, reader_options: str) -> str:
    return f"{reader_name}({duck.text(str(file_path))}, {reader_options})"


def _lines(file_path: Path, column_names: str) -> str:
    return _read(
        "read_json",
        file_path,
        f"format = 'newline_delimited', columns = {{_id: 'VARCHAR', {column_names}}}",
    )


def _question(query_row: dict[str, Any]) -> Row:
    passage_lists = {
        name: query_row[name] or [] for name in ("positive_ctxs", "hard_negative_ctxs")
    }
    return {**query_row, **passage_lists, "dataset": "", "negative_ctxs": []}


def write_mteb(release: Release) -> None:
    """The files of `beir` and `mteb_task.py`, which needs `mteb` 2 alone."""
    beir.write(release)
    split_names = [Path(name).stem for name in release.files if name.startswith(beir.QRELS)]
    task_description = json.dumps([release.manifest.dataset, release.manifest.version, split_names])
    text = resource("scoring/export/mteb_task.py.j2").read_text("utf-8")
    with release.text(TASK) as file:
        file.write(text.replace("{{ about }}", repr(task_description)))
    release.files[TASK] = 1
