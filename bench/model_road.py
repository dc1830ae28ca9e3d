"""Speed of the road of questions by a language model: `python -m bench model_road [ARTICLES]`.

The whole command `factdrift release` with the recipe `streamingqa-lm`: it indexes news, draws
articles, asks a model about each, filters what it wrote (two of the filters ask about every
question), keeps every answer on disk and writes a release. The model is a server in a process of
its own on this machine, which answers at once: it asks for a name, date or number of a line by the
other names in it, and knows what it asked. So what is measured is what the road itself takes; a
real model takes its own time on top.

The loop is the common way to ask: the same requests, one after another by one session of
`requests`, each answer read as JSON and appended to a file. It finds no articles, reads no pairs,
filters nothing, keeps no answer for a second run and writes no release.

1 where fewer than 1,000 articles are asked about in a minute of processor time (and of wall time,
where the machine is quiet), or where releases by other numbers of calls at a time have other rows.
The news are real ones (FACTDRIFT_DATA, else ../shared/data, else the sample, which has fewer
articles).
"""

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import requests
import yaml

from bench import BENCH, DATA, QUIET, ROOT, Cost, Figures, cost, own
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.text.dates import WEEKDAYS

ARTICLES = 600
"""Articles that are drawn, and asked about in one call each."""
LEAST_A_MINUTE = 1000
AT_A_TIME = (1, 4, 16)
"""Calls at a time; the middle is what a recipe says where it says nothing."""
_NAME = re.compile(r"[A-Z]\w+(?: [A-Z]\w+)*")
_ANSWERS = {
    "date": re.compile(r"\b\d{1,2} [A-Z][a-z]+ \d{4}\b"),
    "phrase": re.compile(r"\b\d+ [a-z]{4,}\b"),
    "entity": _NAME,
}
"""What is asked for in a line, the rarest first."""
_PAIRS = 4
"""Questions about an article, as many as the recipe asks for."""


class Model:
    """A model that asks about the lines of an article, and knows the answers."""

    def __init__(self) -> None:
        self.answer_by_question: dict[str, str] = {}

    def reply(self, call: Any) -> str:
        """What the model says to a call."""
        prompt, form = call["messages"][0]["content"], call["response_format"]["json_schema"]
        if form["name"] == "pairs":
            return json.dumps({"pairs": list(self._pairs(prompt))})
        if form["name"] == "news":
            return '{"guess": "", "reason": "It is.", "new": true, "unique": true}'
        question = prompt.rpartition("\nQuestion: ")[2].partition("\n")[0]
        return json.dumps({"answer": self.answer_by_question.get(question, "unknown")})

    def _pairs(self, prompt: str) -> Iterator[dict[str, str]]:
        article = prompt.rpartition("Article of ")[2].rpartition("\n\nAsked on ")[0]
        pair_count = 0
        for line in article.split("\n")[2:]:
            for answer_type, pattern in _ANSWERS.items():
                answer = pattern.search(line)
                names = [
                    name
                    for name in _NAME.findall(line)
                    if answer and name not in answer[0] and answer[0] not in name
                ]
                names = [name for name in names if not set(name.split()) & set(WEEKDAYS)]
                if answer is None or not names or pair_count == _PAIRS:
                    continue
                question = f"Which words did Reuters print beside {' and '.join(names[:4])}?"
                # of two articles' answers to a question the same one, whichever comes first
                known_answer = self.answer_by_question.get(question, answer[0])
                self.answer_by_question[question] = min(known_answer, answer[0])
                pair_count += 1
                yield {
                    "event": "it happened",
                    "event_day": "",
                    "sentence": line,
                    "question": question,
                    "answer": answer[0],
                    "answer_type": answer_type,
                }
                break


def serve(folder: str) -> None:
    """Answer chats on a free port until somebody ends this process.

    The address is written into `address`, and every call as a line of `calls.jsonl`.
    """
    asyncio.run(_serve(Path(folder)))


async def _serve(folder: Path) -> None:
    model = Model()
    with (folder / "calls.jsonl").open("wb") as calls:

        async def chat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while head := await _head(reader):
                body = await reader.readexactly(int(head["content-length"]))
                calls.write(body + b"\n")
                message = {"role": "assistant", "content": model.reply(json.loads(body))}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                usage = {"prompt_tokens": len(body) // 4, "completion_tokens": 20}
                reply = json.dumps({"choices": [choice], "usage": usage}).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n%s" % (len(reply), reply)
                )
                await writer.drain()
            calls.flush()
            writer.close()

        server = await asyncio.start_server(chat, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        (folder / "address.part").write_text(f"http://127.0.0.1:{port}/v1")
        (folder / "address.part").rename(folder / "address")
        await server.serve_forever()


async def _head(reader: asyncio.StreamReader) -> dict[str, str]:
    """The headers of the next request, by their names in small letters; none: the caller left."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return {}
    lines = head.decode("latin-1").split("\r\n")[1:]
    return {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server in a process of its own, which writes calls into a folder."""
    (folder / "address").unlink(missing_ok=True)
    with subprocess.Popen(own("model_road:serve", folder), cwd=ROOT) as server:
        try:
            while not (folder / "address").is_file():
                if server.poll() is not None:
                    raise RuntimeError("the server did not start")
                time.sleep(0.05)
            yield (folder / "address").read_text()
        finally:
            server.kill()


def recipe(folder: Path, address: str, articles: int, at_a_time: int) -> Path:
    """The project's recipe with this server and so many draws, no article twice in a split."""
    build_recipe = yaml.safe_load((ROOT / "builders/recipes/streamingqa-lm.yaml").read_text())
    real = DATA / "news"
    news = real if real.is_dir() else ROOT / "samples" / "news"
    build_recipe["inputs"] = {"news": {"kind": "news", "path": str(news), "licence": "CC0"}}
    model = {"backend": "openai", "base_url": address, "model": "at-once"}
    build_recipe["build"]["generate"]["backend"] = {**model, "concurrency": at_a_time}
    draws = {"recent": 0, "past": articles // 3}
    dates = dict.fromkeys(("eval", "train", "valid"), draws)
    build_recipe["build"]["dates"] = {"most_draws": 1, "shares": _EQUAL_SHARES, **dates}
    path = folder / f"road-{at_a_time}.yaml"
    path.write_text(yaml.safe_dump(json.loads(json.dumps(build_recipe))))
    return path


_EQUAL_SHARES = {"eval": 1, "train": 1, "valid": 1}


def loop(address: str, calls_path: str, out: str) -> int:
    """Send the calls of a file one after another; their number."""
    session = requests.Session()
    call_count = 0
    with (
        Path(calls_path).open(encoding="utf-8") as calls,
        Path(out).open("w", encoding="utf-8") as answers,
    ):
        for line in calls:
            reply = session.post(f"{address}/chat/completions", json=json.loads(line), timeout=60)
            said = reply.json()["choices"][0]["message"]["content"]
            answers.write(json.dumps({"call": line, "said": json.loads(said)}) + "\n")
            call_count += 1
    return call_count


def rows_of(release: Path) -> dict[str, str]:
    """The sha256 of every table of a release."""
    return {
        path.relative_to(release).as_posix(): file_sha256(path)
        for path in sorted(release.rglob("*.parquet"))
    }


def main(say: Figures, words: list[str]) -> None:
    """Measure the road by other numbers of calls at a time, and the loop over the same calls."""
    articles = int(words[0]) if words else ARTICLES
    with TemporaryDirectory(dir=BENCH) as folder_name:
        folder = Path(folder_name)
        roads = {
            at_a_time: road(folder / str(at_a_time), articles, at_a_time) for at_a_time in AT_A_TIME
        }
        calls = folder / str(AT_A_TIME[0]) / "calls.jsonl"
        with served(folder) as address:
            looped = cost(own("model_road:loop", address, calls, folder / "answers.jsonl"))
        tables = [rows_of(folder / str(at_a_time) / "out") for at_a_time in AT_A_TIME]
        asked = sum(b'"name": "pairs"' in line for line in calls.open("rb"))
    say(f"loop, {looped.answer:,} calls about {asked:,} articles", looped)
    for at_a_time, spent in roads.items():
        by_wall, by_processor = (60 * asked / spent.wall, 60 * asked / spent.processor)
        judged = by_processor if spent.others > QUIET else min(by_wall, by_processor)
        label = f"road, {at_a_time} at a time: {by_processor:,.0f} a minute of processor"
        label += f", {by_wall:,.0f} of wall time (others took {spent.others:.0%} of a processor)"
        say(label, spent, judged >= LEAST_A_MINUTE, f">= {LEAST_A_MINUTE:,}")
    road_processor = min(spent.processor for spent in roads.values())
    say("road to loop, processor", f"{road_processor / looped.processor:.1f}")
    say("the same rows", f"{len(tables[0])} files", tables.count(tables[0]) == len(tables), "equal")


def road(folder: Path, articles: int, at_a_time: int) -> Cost:
    """What the whole command costs, in a folder of its own."""
    folder.mkdir()
    with served(folder) as address:
        path = recipe(folder, address, articles, at_a_time)
        command: list[str | Path] = [sys.executable, "-m", "factdrift", "release", path]
        return cost([*command, "--build", folder / "build", "--out", folder / "out"])
