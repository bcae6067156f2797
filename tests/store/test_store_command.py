"""What do `hotband store`, `hotband store query` and `--into` print, and what do they refuse?"""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import hotband as hb
from hotband.data.record.record import Record
from hotband.execution.experiment.experiment import execute
from hotband.execution.targets import emulated
from hotband.execution.targets.emulated import OnServed, Plan, ServedRuns

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, runs: list[Record]) -> Path:
    """A folder with a store `s` of six runs, one record, and an empty store."""
    folder = tmp_path_factory.mktemp("stores")
    with hb.store(folder / "s") as store:
        for one in runs:
            store.append(one, {"shelf": "A" if one.seed == 1 else "B"})
    runs[0].save(folder / "one")
    with hb.store(folder / "empty"):
        hb.store(folder / "empty")._opened().close()
    return folder


@pytest.fixture
def ask(call: Hotband, shared: Path) -> Hotband:
    """The command line in that folder."""
    return lambda *arguments: call(*arguments, cwd=shared)


def test_runs_are_listed_and_filtered(ask: Hotband, runs: list[Record]) -> None:
    done = ask("store", "list", "s", "--where", "qd = 4 and shelf = 'B'", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["target"], row["qd"], row["seed"], row["shelf"]) for row in rows] == [
        ("ent-10k", "4", "3", "B"),
        ("ent-10k", "4", "2", "B"),
    ]
    assert [float(row["IOPS"]) for row in rows] == [one.iops for one in reversed(runs) if one.seed != 1][:2]
    assert "6 runs in 1 part" in done.stderr
    # `list` is meant where no command is named.
    assert ask("store", "s").stdout == ask("store", "list", "s").stdout
    found = json.loads(ask("store", "list", "s", "--limit", "1", "--json").stdout)
    assert (len(found), found[0]["latency_p99_ns"]) == (1, runs[-1].document["summary"]["latency_p99_ns"])


def test_an_empty_store_is_listed_and_asked(ask: Hotband) -> None:
    assert "0 runs in 0 parts" in ask("store", "list", "empty").stdout
    assert (
        ask("store", "query", "select count(*) as n from runs", "--from", "empty", "--format", "csv").stdout == "n\n0\n"
    )
    assert (
        ask("store", "query", "select * from histograms, records, factors", "--from", "empty", "--json").stdout
        == "[]\n"
    )


def test_a_run_is_shown_and_written_as_a_record(ask: Hotband, shared: Path, runs: list[Record], tmp_path: Path) -> None:
    key = json.loads(ask("store", "list", "s", "--where", "qd = 1 and seed = 1", "--json").stdout)[0]["run"]
    done = ask("store", "show", "s", key[:8], "--out", str(tmp_path / "out"))
    assert (done.returncode, "iometer-database on ent-10k" in done.stdout) == (0, True)
    assert hb.load(tmp_path / "out") == runs[0]
    assert json.loads(ask("store", "show", "s", key, "--json").stdout) == runs[0].document


def test_every_form_of_an_answer(ask: Hotband) -> None:
    columns = "qd, count(*) as n, min(added_utc) < now() as past, [1.5, 'nan'::double] as l"
    sql = f"select {columns} from runs group by qd order by qd"
    done = json.loads(ask("store", "query", sql, "--from", "s", "--json").stdout)
    assert done == [{"qd": qd, "n": 3, "past": True, "l": [1.5, None]} for qd in (1.0, 4.0)]
    assert (
        ask(
            "store", "query", "select qd, 1 as n from runs limit 1", "--from", "s", "--format", "markdown"
        ).stdout.count("|")
        >= 9
    )
    assert (
        ask("store", "query", "pivot factors on factor using max(number) group by run", "--from", "s").returncode == 0
    )
    assert "latency_p99_ns" in ask("store", "query", "describe runs", "--from", "s").stdout
    many = ask("store", "query", "select * from range(300)", "--from", "s")
    assert many.stdout.startswith("The statement returns 300 rows of 1 column.\n")
    assert "100 more rows: --details" in many.stdout
    whole = ask("store", "query", "select * from range(300)", "--from", "s", "--details")
    assert whole.stdout.strip().endswith("200 of 300 rows; the csv format has all")


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("select nosuch from runs", 'Binder Error: Referenced column "nosuch" not found'),
        ("selec 1", "Parser Error: syntax error"),
        ("", "expected one statement, not 0"),
        ("select 1; select 2", "expected one statement, not 2"),
        ("copy (select 1) to '{here}/x.csv'", "expected a statement that selects"),
        ("create table x as select 1", "expected a statement that selects"),
        ("attach '{here}/x.db'", "expected a statement that selects"),
        ("install httpfs", "expected a statement that selects"),
        ("set enable_external_access = true", "expected a statement that selects"),
        ("explain analyze copy (select 1) to '{here}/x.csv'", "expected a statement that selects"),
        ("select * from read_text('/etc/hostname')", "Permission Error"),
        ("select * from '/etc/hostname'", "does not exist"),
        ("select * from glob('/*')", "Permission Error"),
        ("select * from '{here}/one/series.parquet'", "Error"),
        ("select * from read_parquet('{here}/s/../one/series.parquet')", "Permission Error"),
        ("select * from runs where pg_read_file('/etc/hostname') = ''", "does not exist"),
    ],
)
def test_statements_that_fail_or_reach_further(ask: Hotband, shared: Path, sql: str, why: str) -> None:
    before = sorted(shared.rglob("*"))
    done = ask("store", "query", sql.format(here=shared), "--from", "s")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith("hotband: error: SQL")
    assert why in done.stderr
    assert sorted(shared.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("store", "list", "none"), "none: does not exist: expected the folder of a store"),
        (("store", "none"), "none: does not exist"),
        (("store", "list", "one"), "one: is not a store: expected a folder with a hotband-store.json"),
        (("store", "query", "select 1"), ".: is not a store"),
        (
            ("store", "add", "one", "one"),
            "one: is not a store and contains other files (caches.parquet): expected an empty",
        ),
        (("store", "add", "new", "none"), "none: no such file or folder"),
        (("store", "add", "new", "s"), "s: none of its files is a result that Hotband recognises"),
        (("store", "add", "s", "one", "--small"), "--small = 's': stores complete runs"),
        (("store", "list", "s", "--where", "nosuch > 1"), "--where = 'nosuch > 1': Binder Error"),
        (("store", "list", "s", "--where", "1); select (2"), "--where = '1); select (2'"),
        (("store", "list", "s", "--limit", "0"), "--limit = '0': expected a whole number"),
        (("store", "show", "s", "xyz"), "RUN = 'xyz': expected a run's key"),
        (("store", "show", "s", "00000000000000000000"), "no run of the store begins with this"),
        (("run", "fio-randread", "--on", "ent-10k", "--into", "one"), "one: is not a store and contains other files"),
        (("run", "nosuch", "--on", "ent-10k", "--into", "s"), "WORKLOAD = 'nosuch'"),
    ],
)
def test_what_is_refused_is_one_line(ask: Hotband, shared: Path, arguments: tuple[str, ...], why: str) -> None:
    done = ask(*arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert why in done.stderr
    shutil.rmtree(shared / "new", ignore_errors=True)


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("hotband-store.json", '{"schema": "hotband-store", "schema_version": 2, "keeps": "all"}', "another version"),
        (
            "hotband-store.json",
            '{"schema": "other"}',
            'expected an unchanged file of Hotband with schema "hotband-store"',
        ),
        ("hotband-store.json", "[", "expected an unchanged file of Hotband"),
        ("hotband-store.json", '{"schema": "hotband-store", "schema_version": 1, "keeps": 5}', "one of all, small"),
        (
            "manifest/part-x.json",
            '{"schema": "hotband-store-part", "schema_version": 9}',
            "'9': was written by another version",
        ),
        ("manifest/part-x.json", "{}", "not a part's entry"),
        (
            "manifest/part-x.json",
            '{"schema": "hotband-store-part", "schema_version": 1, "runs": 1, "replaces": [],'
            ' "files": {"../../../etc/passwd": {"bytes": 1, "sha256": ""}}}',
            "not a part's entry",
        ),
    ],
)
def test_a_store_that_is_none_of_ours(
    ask: Hotband, shared: Path, tmp_path: Path, file: str, text: str, why: str
) -> None:
    shutil.copytree(shared / "s", tmp_path / "s")
    (tmp_path / "s" / file).write_text(text)
    for arguments in (("list", str(tmp_path / "s")), ("add", str(tmp_path / "s"), "one")):
        done = ask("store", *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert why in done.stderr
    done = ask("store", "check", str(tmp_path / "s"), "--json")
    assert why.partition(", of")[0] in done.stdout + done.stderr
    # A part's entry that is damaged is one finding of a check; without the store's own file there is none.
    assert done.returncode == (1 if file.startswith("manifest") else 2)


def test_a_check_names_a_damaged_entry_and_goes_on(ask: Hotband, shared: Path, tmp_path: Path) -> None:
    shutil.copytree(shared / "s", tmp_path / "s")
    (entry,) = (tmp_path / "s/manifest").iterdir()
    shutil.copy(entry, entry.with_name("part-y-00000.json"))
    entry.write_text(entry.read_text()[:100])
    (summary,) = tmp_path.glob("s/summary/*/*.parquet")
    summary.unlink()
    found = json.loads(ask("store", "check", str(tmp_path / "s"), "--json").stdout)
    assert [line.partition(":")[0] for line in found["damaged"]] == [
        f"manifest/{entry.name}",
        str(summary.relative_to(tmp_path / "s")),
    ]
    assert found["runs"] == 6


@pytest.mark.parametrize("data", [b"", bytes(100)], ids=["empty", "zeros"])
@pytest.mark.parametrize("table", ["summary", "factors"])
def test_a_broken_file_of_a_part_is_named(ask: Hotband, shared: Path, tmp_path: Path, table: str, data: bytes) -> None:
    shutil.copytree(shared / "s", tmp_path / "s")
    (file,) = tmp_path.glob(f"s/{table}/*/*.parquet")
    file.write_bytes(data)
    for command in ("store", "list"), ("store", "query", "select * from runs", "--from"):
        done = ask(*command, str(tmp_path / "s"))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert f"{file}: cannot be read: " in done.stderr
        assert "hotband store check lists all damage" in done.stderr
        assert "SQL" not in done.stderr


def test_damage_within_a_file_is_no_mistake_of_the_statement(ask: Hotband, shared: Path, tmp_path: Path) -> None:
    shutil.copytree(shared / "s", tmp_path / "s")
    (file,) = tmp_path.glob("s/summary/*/*.parquet")
    whole = file.read_bytes()
    half = len(whole) // 2
    file.write_bytes(whole[:4] + b"\xff" * half + whole[4 + half :])
    done = ask("store", "list", str(tmp_path / "s"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert f"error: {tmp_path / 's'}: a file cannot be read: " in done.stderr
    assert "hotband store check lists the damage" in done.stderr


def test_folders_of_every_kind_are_added(hotband: Hotband, tmp_path: Path) -> None:
    assert hotband("sweep", "fio-randread", "--on", "ent-10k", "--set", "qd=1,2", "--set", "bs=4KiB,8KiB", "--duration",
                   "1 s", "--out", "rows").returncode == 0  # fmt: skip
    hb.sweep("fio-randread", on="ent-10k", qd="4,8", duration="1 s", out=tmp_path / "whole", progress=False)
    line = hotband(
        "run", "fio-randread", "--on", "ent-15k", "--then", "fio-randwrite", "--duration", "1 s", "--out", "line"
    )
    assert line.returncode == 0
    done = hotband("store", "add", "s", "rows", "whole", "line", "--json")
    assert json.loads(done.stdout) == {"schema": "hotband-store-add", "schema_version": 1, "added": 8, "there": 0}
    assert json.loads(hotband("store", "add", "s", "rows", "whole", "line/1", "--json").stdout)["added"] == 0
    found = json.loads(hotband("store", "list", "s", "--json").stdout)
    assert sorted(row["qd"] for row in found if row["qd"]) == [1, 1, 2, 2, 4, 8]
    assert sorted(row["bs_bytes"] for row in found if row["bs_bytes"]) == [4096, 4096, 8192, 8192]
    assert {row["experiment"] for row in found} == {
        "the sweep in rows", "the sweep in whole", "the runs fio-randread, fio-randwrite on ent-15k",
    }  # fmt: skip
    assert {row["point"] for row in found} == {None, "run 0", "run 1"}
    rows = next(row["run"] for row in found if row["experiment"] == "the sweep in rows")
    assert "has no record" in hotband("store", "show", "s", rows).stderr


def test_commands_give_their_runs_to_a_store(hotband: Hotband, tmp_path: Path) -> None:
    run = ("run", "fio-randread", "--on", "ent-10k", "--duration", "1 s", "--into", "s")
    for _ in range(2):
        assert hotband(*run).returncode == 0
    with_interval = ("fio-randread", "--on", "ent-15k", "--duration", "0.1 s", "--interval", "90", "--draws", "8")
    assert hotband("run", *with_interval, "--into", "s").returncode == 0
    assert hotband("sweep", *with_interval, "--set", "qd=2", "--into", "s").returncode == 0
    assert hotband("run", *run[1:], "--then", "fio-randwrite", "--out", "line").returncode == 0
    # Those that are kept already are given, too.
    assert hotband("run", *run[1:-1], "other", "--then", "fio-randwrite", "--out", "line").returncode == 0
    found = json.loads(hotband("store", "list", "s", "--json").stdout)
    assert len(found) == 5
    intervals = [row["iops_interval_low"] < row["iops_interval_high"] for row in found if row["iops_interval_low"]]
    assert intervals == [True, True]
    assert len(hb.store(tmp_path / "other")) == 2


def test_an_emulated_run_goes_into_a_store_with_the_intervals_of_its_model(
    hotband: Hotband, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def served(_: OnServed, line: Sequence[Plan], *__: object) -> ServedRuns:
        [measured] = execute([replace(line[0].spec, machine="ent-15k", seed=2)])
        measured.record["serving"] = {"lateness": None, "late": None, "way_ns": 0, "cores_awake": False, "kinds": []}
        return ServedRuns([measured], measured, ())

    monkeypatch.setattr(OnServed, "run", served)
    monkeypatch.setattr(emulated, "find_fio", lambda: "fio")
    on = ("--on", "emulated:ent-15k", "--duration", "0.1 s", "--interval", "90", "--draws", "8", "--into", "s")
    assert hotband("run", "fio-randread", *on).returncode == 0
    rows = json.loads(hotband("store", "list", "s", "--json").stdout)
    assert sorted(row["iops_interval_low"] is not None for row in rows) == [False, True]


def test_the_answers_of_a_search_go_into_a_store(hotband: Hotband, tmp_path: Path) -> None:
    on = ("-w", "fio-randread", "--on", "ent-10k", "--ios", "1000", "--into", "s")
    assert hotband("find", "IOPS at mean < 10 ms", *on).returncode == 0
    done = hotband("find", "bs for 20 MB/s", *on, "--on", "ent-15k", "--set", "qd=4")
    assert done.returncode == 0, done.stderr
    rows = (
        hb.store(tmp_path / "s")
        .query("select experiment, target, rate, bs, qd from runs order by all")
        .rows(named=True)
    )
    assert [(row["experiment"], row["target"]) for row in rows] == [
        ("find: IOPS at mean < 10 ms", "ent-10k"),
        ("find: bs for 20 MB/s", "ent-10k"),
        ("find: bs for 20 MB/s", "ent-15k"),
    ]
    assert rows[0]["rate"] > 50
    assert all(row["bs"].endswith(" KiB") and row["qd"] == 4 for row in rows[1:])
    # From Python it is the same run, which is there already.
    store = tmp_path / "s"
    hb.find("IOPS at mean < 10 ms", "fio-randread", on="ent-10k", ios=1000, into=store, progress=False)
    assert len(hb.store(store)) == 3
    hb.find("IOPS at mean < 10 ms", "fio-randread", on="ent-15k", ios=1000, into=store, progress=False)
    assert len(hb.store(store)) == 4


def test_a_search_refuses_a_folder_that_is_no_store_before_it_runs(hotband: Hotband, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "mine").touch()
    done = hotband("find", "IOPS at mean < 10 ms", "-w", "fio-randread", "--on", "ent-10k", "--into", "s")
    assert done.returncode == 2
    assert "s: is not a store and contains other files" in done.stderr


def test_factors_that_are_bytes_are_texts(call: Hotband, runs: list[Record], tmp_path: Path) -> None:
    # As in a file whose column lost its type: found by probing.
    with hb.store(tmp_path / "s") as store:
        store.append(runs[0], {"shelf": "A"})
    (path,) = (tmp_path / "s/factors").rglob("*.parquet")
    factors = pl.read_parquet(path)
    factors.with_columns(pl.col("factor").cast(pl.Binary)).write_parquet(path)
    listed = call("store", "list", "s", "--json", cwd=tmp_path)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert json.loads(listed.stdout)[0]["shelf"] == "A"


def test_results_of_other_tools_have_their_queue_depth_where_models_have_it(call: Hotband, tmp_path: Path) -> None:
    side = {"total_ios": 4, "io_bytes": 16384, "runtime": 1000, "clat_ns": {"mean": 3e3, "min": 2000, "max": 5000}}
    idle = {"total_ios": 0, "io_bytes": 0, "runtime": 0}
    job = {"jobname": "a", "groupid": 0, "error": 0, "read": side, "write": idle, "trim": idle}
    common = {"ioengine": "libaio", "filename": "/dev/x", "rw": "randread", "bs": "4k", "direct": "1"}
    for name, load in (("one", {"iodepth": "8"}), ("two", {"iodepth": "4", "numjobs": "2", "group_reporting": "1"})):
        document = {"fio version": "fio-3.33", "jobs": [{**job, "job options": {**common, **load}}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    run = ("run", "fio-randread", "--on", "ent-10k", "--set", "qd=8", "--set", "bs=4 KiB", "--duration", "1 s")
    assert call(*run, "--into", "s", cwd=tmp_path).returncode == 0
    assert call("store", "add", "s", "one.json", "two.json", cwd=tmp_path).returncode == 0
    stored = hb.store(tmp_path / "s").runs()
    assert stored["qd"].to_list() == [8, 8, 8]
    assert "depth" not in stored.columns
