"""`python -m bench [NAME …] [ARGUMENTS]`: measure, or call `NAME:FUNCTION` for another bench.

`python -m bench moved` says which figures of the documentation are older than the code.
"""

import json
import sys
import time
from importlib import import_module

import psutil

from bench import BENCH, Figures

USUAL = "mine period_diff timeqa pages wmt score".split()
NAMES = [*USUAL, "model_road", "scale", "peers"]


def main(words: list[str]) -> int:
    """Run the named benches one after another, by default the usual; 1 where one missed a bound."""
    if words and ":" in words[0]:
        return _call(*words)
    if words == ["moved"]:
        _say_moved()
        return 0
    if words and words[0] not in NAMES:
        print(f"no bench {words[0]!r}; there are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    BENCH.mkdir(parents=True, exist_ok=True)
    say = Figures()
    for name in [word for word in words if word in NAMES] or USUAL:
        print(f"== {name}", flush=True)
        import_module(f"bench.{name}").main(say, [word for word in words if word not in NAMES])
    _say_moved()
    return 1 if say.missed else 0


def _say_moved() -> None:
    """Say which pages have figures of older code."""
    for notice in import_module("bench.page_figures").notices():
        print(notice, flush=True)


def _call(name: str, *arguments: str) -> int:
    """Call a function and print its wall and processor seconds and its answer as JSON."""
    module, _, function = name.partition(":")
    benched_function = getattr(import_module(f"bench.{module}"), function)
    wall, processor = time.perf_counter(), _processor()
    answer = benched_function(*arguments)
    wall, processor = time.perf_counter() - wall, _processor() - processor
    print("\n" + json.dumps({"wall": wall, "processor": processor, "answer": answer}))
    return 0


def _processor() -> float:
    """Of this process and all that it has started, a Java that it does not wait for included."""
    here = psutil.Process()
    return sum(sum(process.cpu_times()[:4]) for process in (here, *here.children(recursive=True)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
