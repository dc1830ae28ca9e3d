"""An MTEB task (Muennighoff et al. 2023): the files of BEIR, and a Python file that loads them."""

import json
from pathlib import Path

from factdrift.scoring.export import beir
from factdrift.scoring.export.release import Release

TASK = "mteb_task.py"
_TEXT = '''"""The MTEB task of this folder: `mteb.evaluate(model, tasks=[Task()])`."""

import csv
import json
from pathlib import Path
from typing import Any

from datasets import Dataset
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata

FOLDER = Path(__file__).parent
NAME, VERSION, SPLITS = json.loads(%(about)r)


def _records(name: str) -> list[dict[str, Any]]:
    with (FOLDER / name).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _split(split: str) -> dict[str, Any]:
    judged: dict[str, dict[str, int]] = {}
    with (FOLDER / "qrels" / f"{split}.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\\t", quoting=csv.QUOTE_NONE):
            judged.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    passages = [{"id": p["_id"], "title": p["title"], "text": p["text"]}
                for p in _records("corpus.jsonl")]
    queries = [{"id": q["_id"], "text": q["text"]}
               for q in _records("queries.jsonl") if q["_id"] in judged]
    return {"corpus": Dataset.from_list(passages), "queries": Dataset.from_list(queries),
            "relevant_docs": judged, "top_ranked": None}


class Task(AbsTaskRetrieval):
    metadata = TaskMetadata(
        name=NAME, description=f"{NAME} {VERSION}: questions over time, and passages",
        dataset={"path": NAME, "revision": VERSION}, type="Retrieval", category="t2t",
        modalities=["text"], eval_splits=SPLITS, eval_langs=["eng-Latn"], main_score="ndcg_at_10",
    )

    def load_data(self, *args: Any, **kwargs: Any) -> None:
        """Read the files beside this one."""
        if not self.data_loaded:
            self.dataset = {"default": {split: _split(split) for split in SPLITS}}
            self.data_loaded = True
'''


def write(release: Release, corpus: Path | None = None) -> None:
    """The files of `beir` and `mteb_task.py`, which needs `mteb` 2 alone."""
    beir.write(release, corpus)
    splits = [Path(name).stem for name in release.files if name.startswith(beir.QRELS)]
    about = json.dumps([release.manifest.dataset, release.manifest.version, splits])
    with release.text(TASK) as file:
        file.write(_TEXT % {"about": about})
    release.files[TASK] = 1
