"""Each long regular expression of the core, with a text it accepts and one that it refuses."""

import re
from importlib import import_module

import pytest
import yaml

from factdrift.builders.core import config

STEP_KEY = "0123456789abcdef"
PYTHON_TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: no day'
JAVA_TRACEBACK = "java.io.IOException: no space\n\tat java.io.File.open(File.java:7)"

SEARCHED = [
    # module, pattern, a text in which it is found, a text in which it is not
    ("core.errors", "_LONG_WORD", f"{'x' * 400}", f"{'x' * 399} x"),
    ("core.errors", "_CONTROL_CHARACTERS", "\x1b[31m", "a\tb\n"),
    ("core.inputs", "_ADDRESS_START", "S3://bucket", "./s3:/bucket"),
    ("core.remote", "_GLOB_CHARACTERS", "part-*.parquet", "part-1.parquet?key=1"),
    ("core.spark", "_KEY_IN_ADDRESS", "sc://host/;token=abc", "sc://host/;use_ssl=true"),
    ("core.spark", "_KEY_IN_ADDRESS", "spark://me:word@host", "spark://host:7077"),
    ("core.spark", "_PYTHON_TRACEBACK", PYTHON_TRACEBACK, JAVA_TRACEBACK),
    (
        "core.spark",
        "_LOST_TASK",
        "most recent failure: Lost task 0.3 (TID 7) (host executor 1): no space",
        "Job aborted: no space",
    ),
    ("recipes.recipe", "_DAY_IN_NAME", "news-20260201.jsonl", "news-120260201.jsonl"),
    ("cli", "_QUERY_STOPPED", "INTERRUPT Error: Interrupted!", "Interrupted system call"),
]
MATCHED = [
    # module, pattern, a text that it matches from beginning to end, a text that it does not
    ("core.dates", "_PERIOD_FORM", "2021Q3", "2021Q5"),
    ("core.records", "_MARKS", b"\xef\xbb\xbf", b"\xef"),
    ("core.records", "_DAY", "2020.01.05", "2020-01/05"),
    ("core.records", "_INTEGER", "12.0", "1e3"),
    ("core.dates", "_PERIOD_FORM", "2021M07", "2021M7"),
    ("core.names", "NAME", "two-hop.v1", "../two"),
    ("core.spark", "_LOCAL_MASTER", "local[*]", "local-cluster[2,1,1024]"),
    ("core.spark", "_SPARK_ADDRESS", "spark://host:7077", "host:7077"),
    ("core.tidy", "_STEP_NAME", f"time-lines-{STEP_KEY}", f"Time-lines-{STEP_KEY}"),
    ("core.tidy", "_STEP_NAME", f"mine-{STEP_KEY}", "mine-0123"),
]


@pytest.mark.parametrize(("module", "pattern", "accepted", "refused"), SEARCHED)
def test_searched_patterns(module: str, pattern: str, accepted: str, refused: str) -> None:
    form = getattr(import_module(f"factdrift.builders.{module}"), pattern)
    assert form.search(accepted)
    assert not form.search(refused)


@pytest.mark.parametrize(("module", "pattern", "accepted", "refused"), MATCHED)
def test_matched_patterns(module: str, pattern: str, accepted: str, refused: str) -> None:
    form = getattr(import_module(f"factdrift.builders.{module}"), pattern)
    assert re.fullmatch(form, accepted)
    assert not re.fullmatch(form, refused)


@pytest.mark.parametrize(
    ("tag", "accepted", "refused"),
    [
        ("bool", "true", "yes"),
        ("int", "-12", "012"),
        ("float", "1.5e3", "1:30"),
        ("null", "", "none"),
    ],
)
def test_scalars_of_yaml(tag: str, accepted: str, refused: str) -> None:
    def tag_of(scalar: str) -> str:
        mapping = yaml.compose(f"key: {scalar}", Loader=config._Loader)
        assert isinstance(mapping, yaml.MappingNode)
        return str(mapping.value[0][1].tag.rpartition(":")[2])

    assert tag_of(accepted) == tag
    assert tag_of(refused) != tag
