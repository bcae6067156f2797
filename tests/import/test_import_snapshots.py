"""Are snapshots of one run of fio (--status-interval) its series, whatever the first of them says?"""

from __future__ import annotations

from pathlib import Path

from hotband.data.importers import load

CASE = Path(__file__).parent.parent / "probe/cases/result/fio-no-time.json"


def test_a_snapshot_of_no_time_is_none_of_the_series(tmp_path: Path) -> None:
    """fio prints one while it lays out its files."""
    text = CASE.read_text(encoding="utf-8")
    (alone,) = load(CASE, "fio")
    assert alone.record["duration_ns"] == 10**9
    assert alone.series is None
    more = text.rindex('{\n  "fio version"')
    last = text[more:].replace('"runtime": 1000', '"runtime": 3000').replace('"total_ios": 4', '"total_ios": 12')
    path = tmp_path / "run.json"
    path.write_text(text + last, encoding="utf-8")
    (run,) = load(path, "fio")
    assert run.series is not None
    assert set(run.series["time_ns"]) == {0, 10**9}
