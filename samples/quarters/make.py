"""Write four quarterly dumps from the facts of `samples/wikidata/facts`.

    python samples/quarters/make.py FOLDER

Each dump says what Wikidata said on its day: facts that begin later are absent, and ends that come
later are open. What an editor put right between two dumps is in `corrections.yaml`. The same YAML
gives the same bytes.
"""

import sys
from collections.abc import Collection
from pathlib import Path

import yaml

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from samples.wikidata import make as sample  # noqa: E402 - a script finds its neighbours itself

DAYS = ("20250407", "20250707", "20251006", "20260105")
FIELDS = {"item", "relation", "object", "said"}


def correct(items: dict[str, sample.SampleItem], path: Path) -> None:
    """Let the dumps before each correction say what it corrects. `MistakeError`: nothing there."""
    with path.open(encoding="utf-8") as stream:
        root = yaml.compose(stream, Loader=sample.LOADER)
    if root is None:
        return
    for day, entries in sample.map_of(root, set(DAYS[1:])).items():
        for node in sample.list_of(entries):
            told = sample.map_of(node, FIELDS)
            if missing := FIELDS - told.keys():
                raise sample.mistake(node, f"say {', '.join(sorted(missing))}, too")
            item, relation, value = (
                sample.text_of(told[k]) for k in ("item", "relation", "object")
            )
            found = [
                one
                for one in (items[item].statements if item in items else [])
                if (one.relation, one.value) == (relation, value)
            ]
            if len(found) != 1:
                raise sample.mistake(node, f"{len(found)} such facts, expected one")
            found[0].before[DAYS[DAYS.index(day) - 1]] = sample.interval_of(told["said"])


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


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: python samples/quarters/make.py FOLDER", file=sys.stderr)
        return 2
    try:
        files = build()
    except (sample.MistakeError, yaml.YAMLError) as error:
        print(error, file=sys.stderr)
        return 1
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
        print(folder / name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
