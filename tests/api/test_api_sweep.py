"""`hb.sweep`: a grid of runs, its frame, what an interrupt keeps and how it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hotband as hb
from hotband.execution.experiment import Progress, watch

DISKS = ["exos-15e900-512n", "ent-10k"]


@pytest.fixture(scope="module")
def grid() -> hb.Sweep:
    """Two machines, three depths, two seeds."""
    return hb.sweep("fio-randread", on=DISKS, qd=[1, 4, 16], seed=[1, 2], wce=True, duration="1 s")


def test_every_combination_is_a_row(grid: hb.Sweep) -> None:
    """In the order of the grid, coordinates as they were given; a truth is on or off, as on the command line."""
    frame = grid.frame
    assert grid.axes == ("target", "qd", "seed")
    assert grid.complete
    assert frame.height == len(grid) == 12
    assert frame.columns[:5] == ["target", "workload", "qd", "wce", "seed"]
    assert frame["qd"].to_list() == [1, 1, 4, 4, 16, 16] * 2
    assert frame["wce"].to_list() == ["on"] * 12


def test_a_row_is_what_the_run_alone_gives(grid: hb.Sweep) -> None:
    """The order in which runs end does not matter."""
    alone = hb.run("fio-randread", on="ent-10k", qd=4, seed=2, wce=True, duration="1 s")
    (found,) = grid.select(target="ent-10k", qd=4, seed=2)
    assert found == alone
    row = grid.frame.filter(target="ent-10k", qd=4, seed=2).to_dicts()[0]
    assert row["iops"] == alone.iops
    assert row["read_latency_p99_ns"] == alone.document["summary"]["read"]["latency_p99_ns"]


def test_a_hundred_settings_run_in_this_process() -> None:
    """On threads: nothing is started beside it."""
    import multiprocessing

    sweep = hb.sweep("fio-randread", on="ent-10k", qd=range(1, 101), duration="100 ms")
    assert len(sweep) == 100
    assert not multiprocessing.active_children()
    assert sweep.frame["latency_mean_ns"].is_not_null().all()


def test_an_unknown_coordinate_names_those_there_are(grid: hb.Sweep) -> None:
    """As any other mistake."""
    with pytest.raises(hb.UserError, match="expected one of target, workload, qd, wce, seed"):
        grid.select(depth=4)


@pytest.mark.parametrize(
    ("at", "accepted"),
    [({"qd": "4"}, "no run has it; expected one of 1, 4"), ({"target": "zz"}, "expected one of 'exos-15e900-512n'")],
)
def test_a_value_that_no_run_has_names_those_there_are(grid: hb.Sweep, at: dict[str, Any], accepted: str) -> None:
    """A text is no number, though it reads like one."""
    with pytest.raises(hb.UserError, match=accepted):
        grid.select(**at)


@contextmanager
def stopped_after(count: int) -> Iterator[Any]:
    """A user who presses Ctrl-C once so many runs are done."""

    def tick(told: Progress) -> None:
        if told.done >= count:
            raise KeyboardInterrupt

    yield tick


def test_an_interrupt_keeps_what_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweep says what is missing, and goes on with that alone."""
    with monkeypatch.context() as patched:
        patched.setattr(watch, "watch", lambda title, progress: stopped_after(1))
        sweep = hb.sweep("fio-randread", on="ent-10k", qd=[1, 2, 3, 4], duration="1 h", jobs=1)
    assert 1 <= len(sweep) < 4
    assert not sweep.complete
    assert [at["qd"] for at in sweep.missing] == [1, 2, 3, 4][len(sweep) :]
    assert f"{4 - len(sweep)} missing" in repr(sweep)
    assert "Missing" in sweep._repr_html_()
    with pytest.raises(KeyError):
        sweep[3]
    kept = sweep[0]
    whole = sweep.resume()
    assert whole.complete
    assert whole[0] is kept
    assert whole.frame["qd"].to_list() == [1, 2, 3, 4]


def test_an_interrupt_before_the_first_run_leaves_an_empty_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an empty frame, shown as such."""
    monkeypatch.setattr(watch, "watch", lambda title, progress: stopped_after(0))
    sweep = hb.sweep("fio-randread", on="ent-10k", qd=[1, 2], duration="10 h")
    assert len(sweep) == 0
    assert sweep.frame.height == 0
    assert sweep._repr_html_()
    with pytest.raises(hb.UserError, match="no run has ended"):
        sweep.plot()


def test_a_single_run_that_is_interrupted_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing to keep."""
    monkeypatch.setattr(watch, "watch", lambda title, progress: stopped_after(0))
    with pytest.raises(KeyboardInterrupt):
        hb.run("fio-randread", on="ent-10k", duration="10 h")


def test_a_sweep_is_drawn_along_its_numbers(grid: hb.Sweep) -> None:
    """IOPS against depth, a line for the rest; any column may be chosen."""
    assert grid.plot().to_dict()["layer"]
    assert grid.plot("read_latency_p99_ns", x="seed").to_dict()["layer"]
    with pytest.raises(hb.UserError, match="expected one of"):
        grid.plot("latency")


def drawn_rows(chart: Any) -> list[dict[str, Any]]:
    [rows] = chart.to_dict()["datasets"].values()
    return list(rows)


def test_latency_over_iops_is_a_line_per_machine_through_the_depths() -> None:
    sweep = hb.sweep("fio-randread", on=DISKS, qd=[16, 1, 4], duration="1 s")
    for x in ("iops", "latency_mean"):
        rows = drawn_rows(sweep.plot("latency_p99_ns", x=x))
        assert {row["line"] for row in rows} == set(DISKS)
        assert [row["along"] for row in rows if row["line"] == DISKS[0]] == [1, 4, 16]
    frame = sweep.frame.filter(target=DISKS[0]).sort("qd")
    first = [row for row in drawn_rows(sweep.plot("latency_p99_ns", x="iops")) if row["line"] == DISKS[0]]
    assert [row["x"] for row in first] == frame["iops"].to_list()
    assert [row["y"] for row in first] == pytest.approx([value / 1e6 for value in frame["latency_p99_ns"]])
    sized = hb.sweep("fio-randread", on=DISKS[0], bs=["4 KiB", "64 KiB"], duration="0.2 s")
    over = drawn_rows(sized.plot("iops", x="latency_p99"))
    assert [row["along"] for row in over] == [4096, 65536]


def test_runs_without_numbers_are_bars() -> None:
    sweep = hb.sweep("fio-randread", on=DISKS, duration="0.2 s")
    assert [row["row"] for row in drawn_rows(sweep.plot())] == DISKS
    assert [row["value"] for row in drawn_rows(sweep.plot())] == sweep.frame["iops"].to_list()
    alone = hb.sweep("fio-randread", on=DISKS[0], duration="0.2 s")
    assert [row["row"] for row in drawn_rows(alone.plot("latency_p99"))] == DISKS[:1]


def test_machines_of_ones_own_are_named_by_their_titles() -> None:
    own = [{"title": name, "drives": {"d": {"product": name, "count": np.int64(1)}}} for name in DISKS]
    found = hb.sweep("fio-randread", on=own, duration="0.1 s")
    assert found.frame["target"].to_list() == DISKS
    assert found.frame["iops"].equals(hb.sweep("fio-randread", on=DISKS, duration="0.1 s").frame["iops"])
    with pytest.raises(hb.UserError, match='a "title" of their own'):
        hb.sweep("fio-randread", on=[{"drives": machine["drives"]} for machine in own])


def test_hostile_titles_are_escaped() -> None:
    """In the table and in the picture."""
    load = {
        "title": "<script>alert(1)</script>{}",
        "source": "a test",
        "confidence": "high",
        "load": {"closed": {"threads": 1, "depth": 2}},
        "streams": [{"read_pct": 100, "random_pct": 100, "size": "4 KiB"}],
        "phases": [{"name": "measure", "duration": "1 s", "measure": True}],
    }
    html = hb.sweep([load, "fio-randread"], on="ent-10k", qd=[1, 2], duration="1 s")._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_values_of_several_types_are_one_column() -> None:
    """A switch as text stands beside one as a truth."""
    frame = hb.sweep("fio-randread", on="ent-10k", wce=[True, "off"], duration="100 ms").frame
    assert frame["wce"].to_list() == ["on", "off"]


def test_a_sweep_is_saved_with_its_frame(grid: hb.Sweep, tmp_path: Path) -> None:
    """Every record in a folder of its own."""
    import polars as pl

    grid.save(tmp_path / "sweep")
    assert hb.load(tmp_path / "sweep" / "3") == grid[3]
    assert pl.read_parquet(tmp_path / "sweep" / "sweep.parquet").equals(grid.frame)


def test_a_sweep_with_a_folder_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that are there are read, and give the same records as runs in memory."""
    asked: dict[str, Any] = {"on": "ent-10k", "qd": [1, 2, 3], "duration": "2 min", "out": tmp_path / "kept"}
    with monkeypatch.context() as patched:
        patched.setattr(watch, "watch", lambda title, progress: stopped_after(1))
        first = hb.sweep("fio-randread", jobs=1, **asked)
    assert len(first) >= 1
    before = (tmp_path / "kept" / "sweep.journal").read_bytes()
    whole = hb.sweep("fio-randread", **asked)
    assert whole.complete
    after = (tmp_path / "kept" / "sweep.journal").read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == 4, "a line that says what it is, and one a run"
    asked.pop("out")
    alone = hb.sweep("fio-randread", **asked)
    assert list(whole) == list(alone)
    assert all(a.series is not None and a.series.equals(b.series) for a, b in zip(whole, alone, strict=True))


@pytest.mark.parametrize(
    "axis",
    [np.array([1, 2]), pl.Series([1, 2]), (one for one in (1, 2)), {1, 2}],
    ids=["array", "series", "generator", "set"],
)
def test_arrays_and_series_are_axes(axis: object) -> None:
    """As lists are."""
    swept = hb.sweep("fio-randread", on="ent-15k", qd=axis, seed=np.arange(2), duration="10 ms", progress=False)
    assert swept.axes == ("qd", "seed")
    assert swept.frame["qd"].to_list() == [1, 1, 2, 2]


def test_words_of_fio_are_words_of_ours() -> None:
    """As on the command line."""
    swept = hb.sweep("fio-randread", on="ent-15k", numjobs=[1, 2], duration="10 ms", progress=False)
    assert swept.axes == ("threads",)
    alone = hb.run("fio-randread", on="ent-15k", set={"iodepth": 4}, duration="10 ms", progress=False)
    assert alone.settings == {"depth": "4"}


def test_numbers_of_numpy_are_numbers() -> None:
    """In settings and in arguments, with and without a fraction."""
    numbers = {"jobs": np.int64(1), "interval": np.int64(90), "draws": np.int64(8), "records": np.bool_(True)}
    more = {**numbers, "read_pct": np.float64(70), "qd": np.array(2)}
    swept = hb.sweep("fio-randread", on="ent-15k", duration="10 ms", progress=False, **more)  # type: ignore[arg-type]
    assert swept.records[0].settings == {"read_pct": "70", "qd": "2"}
    assert swept.level == 90


@pytest.mark.parametrize("is_text", [False, True])
def test_machines_of_ones_own_are_told_apart_by_their_titles(is_text: bool) -> None:
    products = {"A": "exos-15e900-512n", "B": "ent-10k"}
    machines: list[object] = [{"title": title, "drives": {"d": {"product": of}}} for title, of in products.items()]
    if is_text:
        machines = [f'title = "{title}"\n[drives.d]\nproduct = "{of}"\n' for title, of in products.items()]
    sweep = hb.sweep("fio-randread", on=machines, duration="0.1 s")
    assert sweep.frame["target"].to_list() == ["A", "B"]
    named = hb.sweep("fio-randread", on=list(products.values()), duration="0.1 s")
    assert sweep.frame["iops"].equals(named.frame["iops"])


@pytest.mark.parametrize(
    ("machine", "says"),
    [
        ({"title": "real:/dev/sda", "drives": {"d": {"product": "ent-10k"}}}, "title"),
        ({"variant_of": "ent-10k", "values": {}}, "is a drive; expected the path of its file"),
        ('kind = "disk"\n[values]\n', "is a drive; expected the path of its file"),
    ],
)
def test_a_dict_that_is_no_machine_is_named_as_what_it_is(machine: object, says: str) -> None:
    with pytest.raises(hb.UserError, match=says):
        hb.run("fio-randread", on=machine)


def test_a_column_has_one_type_in_every_frame(tmp_path: Path) -> None:
    grid: dict[str, Any] = {"qd": [1, 4], "wce": [True, False], "think": ["0 ms", "1.5 ms"]}
    sweep = hb.sweep("fio-randread", on="ent-10k", duration="0.2 s", into=tmp_path / "store", **grid)
    stored = hb.store(tmp_path / "store").runs()
    found = hb.find("queue depth at p99 < 30 ms", "fio-randread", on="ent-10k", ios=1000, within=50).frame
    common = [name for name in sweep.frame.columns if name in stored.columns]
    assert {"qd", "wce", "seed", "latency_p99_ns", "read_latency_p99_ns", "latency_mean_ns"} <= set(common)
    both = pl.concat([sweep.frame.select(common), stored.select(common)])
    assert both.height == 2 * len(sweep)
    # A store spells 0 ms as 0 ns.
    common, order = [name for name in common if name != "think"], ["qd", "wce", "think_ns"]
    assert sweep.frame.select(common).sort(order).equals(stored.select(common).sort(order))
    for name in set(found.columns) & set(sweep.frame.columns):
        assert found.schema[name] == sweep.frame.schema[name], name
    assert stored["added_utc"].is_sorted()


def test_a_measured_result_is_a_row_of_the_frame() -> None:
    sweep = hb.sweep("fio-randread", on=DISKS, qd=[1, 4], duration="0.2 s")
    files = [hb.load(Path(__file__).parents[1] / f"house/results/fio-qd{depth}.json") for depth in (1, 4)]
    frame = pl.concat([sweep.frame, *(result.frame for result in files)], how="diagonal")
    assert frame["qd"].to_list() == [1, 4] * 3
    assert frame["iops"].to_list() == [*sweep.frame["iops"], *(result.iops for result in files)]
    assert frame["seed"].to_list()[-1] is None
    assert sweep[0].frame.equals(sweep.frame[:1])
