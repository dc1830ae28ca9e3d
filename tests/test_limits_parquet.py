"""Parquet files that stand for far more than their size are refused, and never fill the memory."""

import re
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.limits import LARGEST_BATCH
from factdrift.builders.core.outside_tables import bounded_batches
from factdrift.builders.core.schema import reading
from factdrift.builders.wikipedia.records import parquet_rows
from factdrift.builders.wmt.archive import line_blocks
from factdrift.scoring.predictions import read_predictions

# of one letter, it packs to some bytes
MEGABYTE = 1 << 20


def bomb(table_path: Path, text: str, rows: int, **options: object) -> Path:
    """A file of equal rows that is read as pages, news and predictions alike."""
    columns = {
        "title": pa.array(["A"] * rows),
        "date": pa.array(["2020-01-05"] * rows),
        "prediction": pa.array([text] * rows),
        "text": pa.array([text] * rows),
    }
    pq.write_table(pa.table(columns), table_path, compression="zstd", **options)
    return table_path


def read_pages(table_path: Path) -> None:
    for _ in parquet_rows(table_path, list(range(pq.read_metadata(table_path).num_row_groups)), 0):
        pass


def read_news(table_path: Path) -> None:
    for _ in line_blocks(table_path):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("read", [read_pages, read_news])
@pytest.mark.parametrize("use_dictionary", [True, False])
def test_a_small_file_that_unpacks_to_gigabytes(
    tmp_path: Path, read: object, use_dictionary: bool
) -> None:
    """It is refused at once, whether pages or a dictionary make it large."""
    table_path = tmp_path / "bomb.parquet"
    bomb(table_path, "x" * MEGABYTE, 200, use_dictionary=use_dictionary)
    assert table_path.stat().st_size < MEGABYTE / 2
    with pytest.raises(UserError, match="unpacks to more than 300 times"):
        read(table_path)  # type: ignore[operator]


@pytest.mark.parametrize("read", [read_pages, read_news])
def test_millions_of_rows_without_values(tmp_path: Path, read: object) -> None:
    """Each takes no byte of the file, and a row of the dropped ones."""
    table_path = tmp_path / "nulls.parquet"
    names = ("title", "date", "text")
    pq.write_table(pa.table({name: pa.nulls(400_000, pa.string()) for name in names}), table_path)
    assert table_path.stat().st_size < MEGABYTE / 16
    with pytest.raises(UserError, match="unpacks to more than 300 times"):
        read(table_path)  # type: ignore[operator]


def test_predictions_that_unpack_to_gigabytes(tmp_path: Path) -> None:
    """The same for what is scored."""
    table_path = tmp_path / "p.parquet"
    prediction_table = pa.table({"id": ["a"] * 200, "prediction": ["x" * MEGABYTE] * 200})
    pq.write_table(prediction_table, table_path)
    with pytest.raises(UserError, match="unpacks to more than 300 times"):
        list(read_predictions(table_path))


def test_honest_rows_are_read_in_full_batches(tmp_path: Path) -> None:
    """Short texts, most of them different, come as many at a time as they are asked for."""
    table_path = tmp_path / "honest.parquet"
    pq.write_table(pa.table({"text": [f"text {n}" for n in range(5000)]}), table_path)
    with reading(table_path) as parquet_file:
        sizes = [
            batch.num_rows for batch in bounded_batches(parquet_file, table_path, 1000, ["text"])
        ]
    assert sizes == [1000] * 5


def test_fewer_rows_at_a_time_where_each_may_be_long(tmp_path: Path) -> None:
    """A dictionary of eight megabytes may be eight megabytes in every row."""
    table_path = tmp_path / "long.parquet"
    row_texts = ["x" * (8 * MEGABYTE), *["y"] * 99]
    pq.write_table(
        pa.table({"text": row_texts}), table_path, dictionary_pagesize_limit=64 * MEGABYTE
    )
    with reading(table_path) as parquet_file:
        batch_sizes = [
            batch.num_rows for batch in bounded_batches(parquet_file, table_path, 1000, ["text"])
        ]
    assert sum(batch_sizes) == 100
    assert max(batch_sizes) <= LARGEST_BATCH // (8 * MEGABYTE)


def _peak(read: object, table_path: Path) -> int:
    with pytest.raises(UserError):
        read(table_path)  # type: ignore[operator]
    # `ru_maxrss` of a child begins with its parent's, which the tests before have made large
    status_text = Path("/proc/self/status").read_text("ascii")
    return int(re.findall(r"^VmHWM:\s+(\d+) kB", status_text, re.MULTILINE)[0]) << 10


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="needs /proc")
def test_peak_memory_of_ten_gigabytes(tmp_path: Path) -> None:
    """1 MB that unpacks to 10 GB takes less than a gigabyte before it is refused.

    A dictionary of one text is written, since the rows themselves would fill this test's memory.
    """
    row_count = 1000
    page_texts = pa.DictionaryArray.from_arrays(
        pa.array([0] * row_count, pa.int32()), pa.array(["x" * (10 * MEGABYTE)])
    )
    page_table = pa.table({"title": pa.array(["A"] * row_count), "text": page_texts})
    table_path = tmp_path / "bomb.parquet"
    pq.write_table(
        page_table,
        table_path,
        compression="zstd",
        store_schema=False,  # read as plain texts, not as a dictionary
        dictionary_pagesize_limit=64 * MEGABYTE,
    )
    assert table_path.stat().st_size < 2 * MEGABYTE
    with get_context("spawn").Pool(1) as process_pool:
        assert process_pool.apply(_peak, (read_pages, table_path)) < 1 << 30
