"""Write four quarterly dumps from the facts of `samples/wikidata/facts`.

    python samples/quarters/make.py FOLDER

Each dump says what Wikidata said on its day: facts that begin later are absent, and ends that come
later are open. What an editor put right between two dumps is in `corrections.yaml`. The same YAML
gives the same bytes.
"""

import sys
from collections.abc import Collection
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from samples.wikidata import make as sample  # noqa: E402 - a script finds its neighbours itself

DAYS = ("20250407", "20250707", "20251006", "20260105")


def correct(items: dict[str, sample.SampleItem], path: Path) -> None:
    """Let the dumps before each correction hold what it corrects. `MistakeError`: nothing there."""
    for day, entries in sample.load(path).items():
        for one in entries:
            if one.keys() != {"item", "relation", "object", "said"} or day not in DAYS[1:]:
                raise sample.MistakeError(f"{path.name}: {one}: day, item, relation, object, said")
            statements = items[one["item"]].statements if one["item"] in items else []
            key = one["relation"], one["object"]
            found = [fact for fact in statements if (fact.relation, fact.value) == key]
            if len(found) != 1:
                raise sample.MistakeError(f"{path.name}: {one}: {len(found)} such facts, not one")
            found[0].before[DAYS[DAYS.index(day) - 1]] = sample.interval_of(one["said"])


def build(
    corrections: Path = HERE / "corrections.yaml", only: Collection[str] = sample.RELATIONS
) -> dict[str, bytes]:
    """The content of every dump, by file name; `only`: with statements of these properties."""
    items = sample.read_facts(sample.HERE / "facts")
    ids, _ = sample.assign_ids(items, sample.HERE)
    correct(items, corrections)
    for item in items.values():
        item.statements = [one for one in item.statements if one.relation in only]
    return {f"wikidata-{day}-all.json.gz": sample.dump(items, day, ids) for day in DAYS}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python samples/quarters/make.py FOLDER")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in build().items():
        (folder / name).write_bytes(content)
        print(folder / name)
