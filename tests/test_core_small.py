"""Small parts of the core: hashes and draws, the answer cache, DuckDB as everything opens it."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

import ibis
import pytest

from factdrift.builders.core import duck, hashing, tables
from factdrift.builders.core.cache import AnswerCache
from factdrift.builders.core.errors import UserError
from tests.tables import column_of, names_of


def test_values_that_releases_depend_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    sha = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert hashing.file_sha256(tmp_path / "file") == hashing.text_sha256("abc") == sha
    assert hashing.row_id("abc") == sha[:16]
    assert hashing.seeded_hash("abc") == int(sha[:16], 16)
    assert hashing.seeded_fraction("abc") == int(sha[:13], 16) / 16**13
    assert hashing.seeded_index(10, "abc") == int(sha[:16], 16) % 10
    assert hashing.seeded_hash(1, "a", "b") == hashing.seeded_hash("1\ta\tb")
    assert hashing.digest({"b": 1, "a": ["é"]}) == hashing.text_sha256('{"a": ["é"], "b": 1}')[:16]
    assert hashing.fast_hash(b"abc").hex() == "d8bb14d833d59559"
    first_of_splitmix64 = 0xE220A8397B1DCDAF  # from the state 0, as Vigna's reference code has it
    assert hashing.RandomStream(0).next_bits() == first_of_splitmix64
    with pytest.raises(UserError, match="cannot be read"):
        hashing.file_sha256(tmp_path / "none")


def test_draws_are_even() -> None:
    drawn_shares = [hashing.seeded_fraction(7, "split", n) for n in range(4000)]
    for drawn_share in drawn_shares:
        assert 0 <= drawn_share < 1
    streamed = [hashing.RandomStream(n).next_below(1 << 30) / (1 << 30) for n in range(4000)]
    for fractions in (drawn_shares, streamed):
        quarters = Counter(int(fraction * 4) for fraction in fractions)
        for quarter_count in quarters.values():
            # 1,000 are expected; 7 standard deviations either way happen to no even draw
            assert 800 < quarter_count < 1200


def test_a_table_is_drawn_from_as_python_draws() -> None:
    item_table = ibis.memtable({"subject": ["Q2", "Q10"], "label": ["Jürgen", ""]})
    order = tables.seeded_order(7, item_table.subject, "example").name("order")
    row_id = tables.row_id_of(item_table.subject, "é").name("row_id")
    has_name = tables.has_label(item_table.label).name("named")
    drawn_rows = item_table.select(order, row_id, has_name).to_pyarrow().to_pylist()
    for subject, row in zip(["Q2", "Q10"], drawn_rows, strict=True):
        assert row["order"] == hashing.text_sha256(f"7\t{subject}\texample")
        assert int(row["order"][:16], 16) == hashing.seeded_hash(7, subject, "example")
        assert row["row_id"] == hashing.row_id(subject, "é")
    assert column_of(drawn_rows, "named") == [True, False]


@pytest.mark.parametrize("kept", [True, False])
def test_the_first_answer_stays(kept: bool, tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.sqlite" if kept else None
    cache = AnswerCache(path)
    assert cache.get("a") is None
    assert cache.keep("a", "one") == "one"
    assert (cache.keep("a", "two"), cache.get("a")) == ("one", "one")
    assert AnswerCache(path, "other").get("a") is None
    assert AnswerCache(path).get("a") == ("one" if kept else None)


def test_a_changed_answer_is_removed_and_told(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file.sqlite"
    answers = {f"key{n}": f"the answer {n} é" for n in range(300)}
    cache = AnswerCache(path)
    for key, text in answers.items():
        cache.keep(key, text)
    cache._db.close()
    whole_bytes, told_count = path.read_bytes(), 0
    for seed in range(60):
        random = Random(seed)
        changed_bytes = bytearray(whole_bytes)
        if seed % 6 == 5:
            del changed_bytes[random.randrange(1, len(changed_bytes)) :]
        else:
            changed_bytes[random.randrange(len(changed_bytes))] ^= 1 << random.randrange(8)
        path.write_bytes(changed_bytes)
        capfd.readouterr()
        try:
            cache = AnswerCache(path)
            found_answers = {key: cache.get(key) for key in answers}
        except UserError as error:
            assert "cache cannot be opened" in str(error)
            assert not path.with_name("file.sqlite-wal").exists()
            told_count += 1
            continue
        missing = [key for key, text in found_answers.items() if text is None]
        assert all(text in (None, answers[key]) for key, text in found_answers.items())
        assert not missing or "will be asked for again" in capfd.readouterr().err
        told_count += bool(missing)
        assert [cache.keep(key, answers[key]) for key in missing] == [
            answers[missing_key] for missing_key in missing
        ]
        cache._db.close()
    assert told_count > 20


def test_a_cache_of_an_earlier_version_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "file.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("CREATE TABLE results (key TEXT PRIMARY KEY, result TEXT) WITHOUT ROWID")
        database.execute("INSERT INTO results VALUES ('a', 'one')")
    assert AnswerCache(path).get("a") == AnswerCache(path).get("a") == "one"


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"something else, and more of it than a header" * 9)
    with pytest.raises(UserError, match="cannot be opened: file is not a database\n  move it away"):
        AnswerCache(path)
    with pytest.raises(ValueError, match="not a name"):
        AnswerCache(None, "a; drop table b")


def test_query_over_a_file_with_an_odd_name(tmp_path: Path) -> None:
    path = tmp_path / "it's [1]*.parquet"
    with duck.connect(tmp_path) as db:
        db.execute(f"COPY (SELECT 7 AS n UNION ALL SELECT 8) TO {duck.text(str(path))}")
    assert duck.query(f"SELECT n FROM {duck.parquet(path)} ORDER BY n") == [(7,), (8,)]
    assert duck.query("SELECT sum(n) FROM read_parquet(?)", [duck.escape_globs(path)]) == [(15,)]
    assert names_of(tmp_path.iterdir()) == [path.name]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("threads", 3),
        ("memory_limit", "95.3 MiB"),
        ("TimeZone", "UTC"),
        ("preserve_insertion_order", False),
        ("autoload_known_extensions", False),
        ("autoinstall_known_extensions", False),
    ],
)
def test_settings(setting: str, value: object, tmp_path: Path) -> None:
    with duck.connect(tmp_path, "100MB", 3, ordered=False) as db:
        assert db.execute(f"SELECT current_setting('{setting}')").fetchall() == [(value,)]
        place = db.execute("SELECT current_setting('temp_directory')").fetchall()[0][0]
        assert Path(place).parent == tmp_path
    assert not Path(place).exists()
