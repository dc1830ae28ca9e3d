"""`python -m bench [NAME [ARGUMENTS] …]`: measure, or call `NAME:FUNCTION` for another bench."""

import importlib
import json
import resource
import sys
import time

ALL = "mine period_diff timeqa pages wmt score engines reasoning".split()


def main(words: list[str]) -> int:
    """Run the named benches one after another, without names all; 1 where one missed a bound."""
    if words and ":" in words[0]:
        _call(*words)
        return 0
    names = [*ALL, "scale", "alignment", "filters"]
    if words and words[0] not in names:
        print(f"no bench {words[0]!r}; there are: {', '.join(names)}", file=sys.stderr)
        return 2
    runs: list[list[str]] = []
    for word in words or ALL:
        if word in names:
            runs.append([])
        runs[-1].append(word)
    missed = []
    for name, *arguments in runs:
        print(f"== {name}", flush=True)
        if importlib.import_module(f"bench.{name}").main(arguments):
            missed.append(name)
    if missed:
        print(f"missed a mark: {', '.join(missed)}")
    return 1 if missed else 0


def _call(name: str, *arguments: str) -> None:
    """Call a function and print its wall and processor seconds and its answer as JSON."""
    module, _, function = name.partition(":")
    found = getattr(importlib.import_module(f"bench.{module}"), function)
    wall, processor = time.perf_counter(), _processor()
    answer = found(*arguments)
    wall, processor = time.perf_counter() - wall, _processor() - processor
    print("\n" + json.dumps({"wall": wall, "processor": processor, "answer": answer}))


def _processor() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(one.ru_utime + one.ru_stime for one in map(resource.getrusage, kinds))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
