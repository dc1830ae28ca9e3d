"""DuckDB as everything opens it."""

from pathlib import Path

import pytest

from factdrift.builders.core import duck


def test_query_over_a_file_with_an_odd_name(tmp_path: Path) -> None:
    path = tmp_path / "it's [1]*.parquet"
    with duck.connect(tmp_path) as db:
        db.execute(f"COPY (SELECT 7 AS n UNION ALL SELECT 8) TO {duck.text(str(path))}")
    assert duck.query(f"SELECT n FROM {duck.parquet(path)} ORDER BY n") == [(7,), (8,)]
    assert duck.query("SELECT sum(n) FROM read_parquet(?)", [duck.plain(path)]) == [(15,)]
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


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
