"""Does a store give back what was added, to us and to tools that know nothing of it?"""

from __future__ import annotations

import json
import os
import random
import threading
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.record.record import Record
from hotband.data.record.stats import percentile, whole
from hotband.data.store.compact import compact
from hotband.data.store.manifest import snapshot
from hotband.data.store.store_folder import opened
from hotband.data.store.stored_run import Buckets, coarser


def changed(record: Record, **keys: object) -> Record:
    """The record with other keys in its document."""
    return Record({**record.to_dict(), **keys}, record.tables)  # type: ignore[typeddict-item]


def test_a_record_comes_back_as_it_was_added(tmp_path: Path, runs: list[Record]) -> None:
    with hb.store(tmp_path / "s") as store:
        keys = [store.append(one) for one in runs]
        back = [store.record(key) for key in keys]
    assert back == runs
    for one, was in zip(back, runs, strict=True):
        assert set(one.tables) == set(was.tables) >= {"series", "caches", "power"}
        assert all(one.tables[name].equals(was.tables[name]) for name in was.tables)


def test_columns_are_those_of_records_and_sweeps(tmp_path: Path, runs: list[Record]) -> None:
    with hb.store(tmp_path / "s") as store:
        for one in runs:
            store.append(one, {"shelf": "A", "row": 3}, experiment="ours")
        frame = store.runs("qd = 4").sort("seed")
    assert frame["qd"].to_list() == [4.0] * 3
    assert frame["seed"].to_list() == [1, 2, 3]
    assert frame["target"].unique().to_list() == ["ent-10k"]
    assert frame["workload"].unique().to_list() == ["iometer-database"]
    assert (frame["shelf"][0], frame["row"][0], frame["experiment"][0]) == ("A", 3.0, "ours")
    of = [one for one in runs if one.settings["qd"] == "4"]
    summary = of[0].document["summary"]
    assert frame["iops"].to_list() == [one.iops for one in of]
    assert frame["latency_p99_ns"][0] == summary["latency_p99_ns"]
    assert frame["read_latency_mean_ns"][0] == summary["read"]["latency_mean_ns"]
    assert frame["count"].sum() == sum(one.summary.count or 0 for one in of)


def test_other_tools_read_the_files_as_they_are(tmp_path: Path, runs: list[Record]) -> None:
    with hb.store(tmp_path / "s") as store:
        for one in runs[:3]:
            store.append(one)
    with hb.store(tmp_path / "s") as store:
        for one in runs[3:]:
            store.append(one)
    files = f"{tmp_path}/s/summary/**/*.parquet"
    assert duckdb.sql(f"select count(*), sum(count) from '{files}'").fetchall() == [
        (6, sum(one.summary.count or 0 for one in runs))
    ]
    assert pl.read_parquet(files)["iops"].sort().to_list() == sorted(one.iops or 0 for one in runs)
    assert pl.scan_parquet(f"{tmp_path}/s/series").collect().height == sum(len(one.tables["series"]) for one in runs)
    buckets = duckdb.sql(f"select sum(list_sum(count)) from '{tmp_path}/s/histograms/**/*.parquet'").fetchall()
    assert buckets == [(sum(one.summary.count or 0 for one in runs),)]


def test_pandas_reads_them(tmp_path: Path, runs: list[Record]) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    with hb.store(tmp_path / "s") as store:
        store.append(runs[0])
    assert pandas.read_parquet(tmp_path / "s" / "summary")["iops"].tolist() == [runs[0].iops]


def test_the_same_run_is_one_run_and_one_with_intervals_is_the_same(tmp_path: Path, runs: list[Record]) -> None:
    with hb.store(tmp_path / "s") as store:
        key = store.append(runs[0])
        assert store.append(runs[0]) == key
        assert store.append(changed(runs[0], intervals={"level": 90, "draws": 8, "figures": [], "notes": []})) == key
        store.flush()
        assert store.append(runs[0]) == key
        assert store.append(changed(runs[0], seed="77")) != key
    with hb.store(tmp_path / "s") as store:
        assert store.append(runs[0]) == key
        assert len(store) == 2


def test_a_small_store_keeps_figures_exactly_and_latencies_within_a_bucket_of_fio(
    tmp_path: Path, runs: list[Record]
) -> None:
    with hb.store(tmp_path / "s", small=True) as store:
        key = store.append(runs[0])
        back = store.record(key)
    assert back.document["summary"] == runs[0].document["summary"]
    assert not back.tables
    assert not any((tmp_path / "s").glob("series/*"))
    for q in (0, 50, 99, 99.9, 100):
        exact, coarse = (percentile(whole(one.document), q) for one in (runs[0], back))
        assert exact is not None
        assert coarse == pytest.approx(exact, rel=1 / 128)
    assert sum(count for _, count in whole(back.document)["buckets"]) == runs[0].summary.count


def test_buckets_are_those_of_fio(tmp_path: Path) -> None:
    values = np.array([0, 63, 64, 127, 128, 129, 130, 2**40, 2**40 + 1, 2**62])
    found = coarser(Buckets(0, "main", "read", "hdr3", np.column_stack((values, np.arange(10)))))
    # plat_idx_to_val of fio's stat.c: up to 127 as they are, then the middle of 64 buckets to a power of two.
    middle, last = 2**40 + 2**33, 2**62 + 2**55
    assert found.pairs.tolist() == [[0, 0], [63, 1], [64, 2], [127, 3], [129, 9], [131, 6], [middle, 15], [last, 9]]
    assert found.kind == "fio"


def test_a_store_is_made_once_and_keeps_as_much_of_every_run(tmp_path: Path, runs: list[Record]) -> None:
    with hb.store(tmp_path / "s", small=True) as store:
        store.append(runs[0])
    assert len(hb.store(tmp_path / "s")) == 1
    with pytest.raises(UserError, match="stores runs without tables over time: expected another folder"):
        hb.store(tmp_path / "s", small=False)


def test_names_and_texts_of_records_are_data(tmp_path: Path, runs: list[Record]) -> None:
    place = tmp_path / 'it\'s [a] *store*; "drop" ö'
    evil = "x' or 1=1; drop table summary; --"
    with hb.store(place) as store:
        factors = {evil: evil, 'a"b': 1, "iops": "mine", "QD": "other", "run": 5, "\x1b[2J": "\x1b[31m"}
        key = store.append(changed(runs[0], name=evil, target={"kind": evil, "machine": evil}), factors)
        frame = store.runs()
        assert frame["name"].to_list() == frame["target"].to_list() == [evil]
        assert frame[evil].to_list() == [evil]
        assert frame['a"b'].to_list() == [1.0]
        assert frame["factor_iops"].to_list() == ["mine"]
        assert {"QD", "factor_qd"} <= set(frame.columns)
        assert store.record(key).document["name"] == evil
        assert store.runs("target = 'x'' or 1=1; drop table summary; --'").height == 1


@pytest.mark.parametrize("name", ["../x", "Series", "summary", "a b", "", "x" * 50, "manifest"])
def test_tables_that_are_no_folders_are_refused(tmp_path: Path, runs: list[Record], name: str) -> None:
    record = Record(runs[0].to_dict(), hb_tables({name: pl.DataFrame({"time_ns": [1]})}))
    with (
        hb.store(tmp_path / "s") as store,
        pytest.raises(UserError, match="a name of a record's table uses lower-case letters"),
    ):
        store.append(record)


def hb_tables(frames: dict[str, pl.DataFrame]) -> object:
    from hotband.data.record.tables import Tables

    return Tables(dict(frames))


def test_tables_of_other_columns_and_kinds_stand_beside_each_other(tmp_path: Path, runs: list[Record]) -> None:
    frames = [
        pl.DataFrame({"time_ns": [1, 2], "value": [1.5, 2.5]}),
        pl.DataFrame({"time_ns": [3], "value": ["text"], "more": [None]}, schema_overrides={"time_ns": pl.UInt64}),
        pl.DataFrame({"time_ns": [], "value": []}, schema={"time_ns": pl.UInt64, "value": pl.Float64}),
    ]
    with hb.store(tmp_path / "s") as store:
        records = [
            Record(changed(runs[n], seed=str(n)).to_dict(), hb_tables({"own": one})) for n, one in enumerate(frames)
        ]
        keys = [store.append(one) for one in records]
        for _ in range(2):
            back = [store.record(key).tables["own"] for key in keys]
            assert [one["time_ns"].to_list() for one in back] == [[1, 2], [3], []]
            assert [one.columns for one in back] == [one.columns for one in frames]
            assert back[1]["value"].to_list() == ["text"]
            store.close()
            compact(opened(tmp_path / "s"))


def test_a_record_that_is_odd_is_kept_as_it_is(tmp_path: Path, runs: list[Record]) -> None:
    odd = changed(
        runs[0],
        seed=None,
        summary={"iops": "many", "count": 2**70, "latency_p99_ns": 1.5, "read": None, "errors": True},
        streams=[{"name": 5, "read": {"histogram": {"kind": "hdr3", "buckets": [[1.5, 2], [3, 4]]}}}, "text"],
        name="half a character: \ud800",
        spec=None,
    )
    with hb.store(tmp_path / "s") as store:
        key = store.append(odd)
        assert store.record(key).document == odd.document
        row = store.runs().row(0, named=True)
    assert [row[name] for name in ("seed", "iops", "count", "latency_p99_ns", "errors")] == [None] * 5


def test_threads_add_to_one_store(tmp_path: Path, runs: list[Record]) -> None:
    with hb.store(tmp_path / "s") as store:

        def work(number: int) -> None:
            for seed in range(20):
                # Half of them are added by two threads.
                store.append(changed(runs[0], seed=str(seed + 10 * number)))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert sorted(hb.store(tmp_path / "s").runs()["seed"].to_list()) == list(range(50))


def test_compaction_keeps_every_row_and_removes_what_was_there_twice(tmp_path: Path, runs: list[Record]) -> None:
    for one in runs:
        with hb.store(tmp_path / "s") as store:
            store.append(one)
    place = opened(tmp_path / "s")
    # As two writers leave it on a file system without locks: one run in two parts.
    twice = snapshot(place).parts[0]
    for file in twice.files:
        path = place.path / file.path
        os.link(path, path.with_name("part-copy-00000.parquet"))
    entry = (place.manifest / f"{twice.name}.json").read_text().replace(twice.name, "part-copy-00000")
    (place.manifest / "part-copy-00000.json").write_text(entry)
    done = compact(place)
    assert (done.before, done.after) == (7, 1)
    store = hb.store(tmp_path / "s")
    assert [store.record(key) for key in store.runs().sort("qd", "seed")["run"]] == runs
    assert len(list((tmp_path / "s").glob("*/month=*/*"))) == len(snapshot(place).parts[0].files)
    assert not any(one for one in place.journal.iterdir())
    assert compact(place).after == 1


def test_a_reader_survives_a_compaction(tmp_path: Path, runs: list[Record], monkeypatch: pytest.MonkeyPatch) -> None:
    from hotband.data.store import views

    for one in runs[:2]:
        with hb.store(tmp_path / "s") as store:
            store.append(one)
    place = opened(tmp_path / "s")
    inner, seen = views.snapshot, []

    def late(of: object) -> object:
        found = inner(place)
        if not seen:
            # Between the list of files and their opening.
            compact(place)
        seen.append(found)
        return found

    monkeypatch.setattr(views, "snapshot", late)
    assert hb.store(tmp_path / "s").runs().height == 2
    assert len(seen) > 1


def test_a_store_is_given_every_run_of_a_block(tmp_path: Path) -> None:
    with hb.store(tmp_path / "s") as store, store.taking():
        one = hb.run("fio-randread", on="ent-10k", duration="1 s", progress=False)
        many = hb.sweep("fio-randread", on="ent-10k", bs="4KiB,8KiB", duration="1 s", records=False, progress=False)
    hb.run("fio-randread", on="ent-15k", duration="1 s", progress=False)
    frame = store.runs()
    assert frame.height == 3
    assert sorted(frame["iops"].to_list()) == sorted([one.iops, *many.frame["iops"]])
    assert sorted(frame["bs_bytes"].drop_nulls().to_list()) == [4096.0, 8192.0]
    assert {text.split()[1] for text in frame["experiment"]} == {"runs", "sweep"}


def test_a_setting_is_one_however_it_was_written(tmp_path: Path) -> None:
    """In SQL, by its text; what the record says was asked for stays."""
    with hb.store(tmp_path / "results") as store, store.taking():
        for size in ("4k", "4096 B"):
            hb.run("fio-randread", on="ent-10k", bs=size, duration="100 ms", progress=False)
        hb.sweep("fio-randread", on="ent-10k", bs="4KiB,8KiB", duration="100 ms", progress=False)
    counts = store.query("select bs, count(*) as runs from runs group by bs order by bs")
    assert counts.rows() == [("4 KiB", 3), ("8 KiB", 1)]
    asked = {store.record(run).to_dict()["spec"]["set"]["bs"] for run in store.runs()["run"]}
    assert asked == {"4k", "4096 B", "4 KiB", "8 KiB"}


def test_a_number_with_many_digits_is_a_number(tmp_path: Path, runs: list[Record]) -> None:
    with hb.store(tmp_path / "results") as store:
        store.append(runs[0], {"share": 0.1 + 0.2})
    assert store.query("select share from runs").item() == 0.1 + 0.2


def test_keys_are_found_by_their_beginning(tmp_path: Path, runs: list[Record]) -> None:
    with hb.store(tmp_path / "s") as store:
        keys = [store.append(changed(runs[0], seed=str(seed))) for seed in range(40)]
        first = random.Random(1).choice(keys)
        assert store.record(first[:12]).document == store.record(first).document
        with pytest.raises(UserError, match="no run of the store begins with this"):
            store.record("0" * 20)
        with pytest.raises(UserError, match=r"up to 20 digits 0 to f"):
            store.record("%' or 1=1")
        begin = next(letter for letter in "0123456789abcdef" if sum(key.startswith(letter) for key in keys) > 1)
        with pytest.raises(UserError, match="is the beginning of several runs"):
            store.record(begin)


def test_what_is_written_says_what_it_is(tmp_path: Path, runs: list[Record]) -> None:
    with hb.store(tmp_path / "s") as store:
        store.append(runs[0])
    assert json.loads((tmp_path / "s" / "hotband-store.json").read_text()) == {
        "schema": "hotband-store",
        "schema_version": 1,
        "keeps": "all",
    }
    (entry,) = (tmp_path / "s" / "manifest").iterdir()
    assert set(json.loads(entry.read_text())) == {"schema", "schema_version", "runs", "files", "replaces"}
