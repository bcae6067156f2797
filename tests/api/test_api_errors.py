"""Mistakes in Python raise one typed error that names the argument; nothing prints, nothing ends the program."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import hotband as hb

DISK = "exos-15e900-512n"
LOOP: dict[str, object] = {}
LOOP["title"] = LOOP


def run(workload: object = "fio-randread", on: object = DISK, **more: object) -> object:
    """A run with something wrong."""
    return hb.run(workload, on=on, **{"duration": "1 s", **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "file", "key", "value"),
    [
        (lambda: run("fio-randreed"), "workload", "", "fio-randreed"),
        (lambda: run(on="exos"), "on", "", "exos"),
        (lambda: run(on=""), "on", "", "''"),
        (lambda: run(on=3), "on", "", "3"),
        (lambda: run(on=None), "on", "", "None"),
        (lambda: run({}), "workload", "streams", ""),
        (lambda: run("no toml = = ="), "workload", "line 1", ""),
        (lambda: run({"title": object()}), "workload", "", ""),
        (lambda: run(qd="x"), "settings", "qd", "x"),
        (lambda: run(qd=[1, 2]), "settings", "qd", "[1, 2]"),
        (lambda: run(qd=None), "settings", "qd", "None"),
        (lambda: run(nope=1), "settings", "", "nope"),
        (lambda: run(duration="5"), "duration", "", "5"),
        (lambda: run(duration=-5), "duration", "", "-5 s"),
        (lambda: run(seed=-1), "seed", "", "-1"),
        (lambda: run(seed="1"), "seed", "", "1"),
        (lambda: run(fail="d9@1 s"), "fail", "", "d9@1 s"),
        (lambda: run(fail=[1]), "fail", "", "[1]"),
        (lambda: run(power_loss="x"), "power_loss", "", "x"),
        (lambda: run(progress="yes"), "progress", "", "'yes'"),
        (lambda: hb.sweep("fio-randread", on=[]), "on", "", "[]"),
        (lambda: hb.sweep("fio-randread", on=[DISK, DISK]), "on", "", DISK),
        (lambda: hb.sweep("fio-randread", on=DISK, qd=[]), "qd", "", "[]"),
        (lambda: hb.sweep("fio-randread", on=DISK, qd=[1, 1]), "qd", "", "[1, 1]"),
        (lambda: hb.sweep("fio-randread", on=DISK, qd=[1, "x"]), "settings", "qd", "x"),
        (lambda: hb.sweep("fio-randread", on=DISK, target=[1]), "settings", "target", "[1]"),
        (lambda: hb.sequence([], on=DISK), "workloads", "", "[]"),
        (lambda: hb.drive("exos"), "name", "", "exos"),
        (lambda: hb.workload("fio"), "workload", "", "fio"),
        (lambda: hb.study("content"), "study", "", "content"),
        (lambda: hb.study("content-hdd").run(only=["x"]), "only", "", "x"),
        (lambda: hb.load("/nowhere"), "/nowhere", "", ""),
        (lambda: hb.load("/dev/null"), "/dev/null", "", ""),
        (lambda: run(set=["qd=4"]), "set", "", "['qd=4']"),
        (lambda: run(set={3: 4}), "set", "", "{3: 4}"),
        (lambda: run(set={"qd": 4}, qd=2), "settings", "qd", "2"),
        (lambda: run(depth=2, iodepth=4), "settings", "iodepth", "4"),
        (lambda: run(qd=np.arange(2)), "settings", "qd", "array([0, 1])"),
        (lambda: run(draws=8), "draws", "", "8"),
        (lambda: run(on="emulated:"), "on", "", "emulated:"),
        (lambda: hb.sweep("fio-randread", on="emulated:"), "on", "", "emulated:"),
        (lambda: hb.emulate("fio-randread", on="real:/tmp"), "on", "", "real:/tmp"),
        (lambda: run(out="a\0b"), "out", "", "a\0b"),
        (lambda: hb.sweep("fio-randread", on=DISK, qd=(1, "1")), "qd", "", "[1, '1']"),
        (lambda: hb.sweep("fio-randread", on=DISK, bs="4KiB,4k"), "bs", "", "['4 KiB', '4k']"),
        (lambda: hb.sweep("fio-randread", on=DISK, executor=3), "executor", "", "3"),
        (lambda: hb.sequence("fio-randread", on=DISK), "workloads", "", "fio-randread"),
        (lambda: hb.find("IOPS at p99 < 10 ms", "fio-randread", on=DISK, draws=8), "draws", "", "8"),
        (lambda: hb.find("IOPS at p99 < 10 ms", "fio-randread", on=DISK, ios=2e3), "ios", "", "2000.0"),
        (lambda: hb.find("IOPS at p99 < 10 ms", "fio-randread", on=DISK, range=(1, 8)), "range", "", "(1, 8)"),
        (lambda: hb.advise("fio-randread", slo="", capacity="", protect="", grow=30), "grow", "", "30"),
        (lambda: hb.advise("fio-randread", slo="", capacity=50, protect=""), "capacity", "", "50"),
        (lambda: hb.drives(min=3), "min", "", "3"),
        (lambda: hb.drives(max=3.84), "max", "", "3.84"),
        (lambda: run(thinktime=5000), "settings", "think", "5000"),
        (lambda: hb.sweep("fio-randread", on=DISK, thinktime=[0, 5000]), "settings", "think", "0"),
        (lambda: hb.keys(None, on=DISK), "workload", "", "None"),
        (lambda: hb.keys("fio-randread", on=[DISK]), "on", "", f"['{DISK}']"),
        (lambda: hb.report(3), "records", "", "3"),
        (lambda: hb.report("/nowhere"), "/nowhere", "", ""),
        (lambda: hb.report("/nowhere", media="ssd"), "audit", "", ""),
        (lambda: hb.audit(), "results", "", ""),
        (lambda: hb.audit(3), "results", "", "3"),
        (lambda: hb.audit("/nowhere"), "/nowhere", "", ""),
        (lambda: hb.audit(study="content"), "study", "", "content"),
        (lambda: hb.audit(study="content-hdd", on="exos"), "on", "", "exos"),
        (lambda: hb.audit(study="content-hdd", on=DISK, media="ssd"), "media", "", "ssd"),
        (lambda: hb.audit(study="content-hdd", cache="8"), "cache", "", "8"),
        (lambda: hb.compare("/nowhere", 3), "others", "", "3"),
        (lambda: hb.expect([3], on=DISK), "result", "", "[3]"),
        (lambda: hb.calibrate([], like=DISK), "target", "", "[]"),
        (lambda: hb.show_trace("/nowhere", columns=print), "columns", "", "<built-in function print>"),
        (lambda: hb.store("/nowhere").query(None), "sql", "", "None"),
        (lambda: hb.load(None), "path", "", "None"),
        (lambda: hb.drive(None), "name", "", "None"),
        (lambda: hb.workload(None), "name", "", "None"),
        (lambda: hb.store(None), "path", "", "None"),
        (lambda: hb.show_trace(None), "source", "", "None"),
        (lambda: hb.fit_trace(None), "source", "", "None"),
    ],
)
def test_a_mistake_names_the_argument(call: Callable[[], object], file: str, key: str, value: str) -> None:
    """Argument, key, value and what would be right; never the name of an option."""
    with pytest.raises(hb.UserError) as caught:
        call()
    assert (caught.value.file, caught.value.key, caught.value.value) == (file, key, value)
    assert caught.value.accepted
    assert "--" not in str(caught.value).partition(": ")[0]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: run(durations="1 s"),
            "settings = 'durations': did you mean \"duration\"? expected one of 68 names, such as qd, depth, threads",
        ),
        (lambda: run(spars=1), "settings = 'spars': did you mean \"spares\"? expected one of 68 names"),
        (lambda: run(qdd=1), "settings = 'qdd': did you mean \"qd\"? expected one of 68 names"),
        (
            lambda: hb.sweep("fio-randread", on=DISK, repeats=2),
            "settings = 'repeats': did you mean \"repeat\"? expected one of 68 names, such as qd, depth, threads",
        ),
    ],
)
def test_a_slip_in_an_argument_is_told_among_arguments_and_settings(call: Callable[[], object], text: str) -> None:
    """All of them are further arguments of the call."""
    with pytest.raises(hb.UserError) as caught:
        call()
    assert str(caught.value) == text


def test_a_list_says_what_its_elements_are() -> None:
    """It is a list that was given."""
    with pytest.raises(hb.UserError, match="expected a list of texts or paths or dicts") as caught:
        hb.sequence([3], on=DISK)  # type: ignore[list-item]
    assert caught.value.value == "[3]"
    with pytest.raises(hb.UserError, match="expected a whole number or a list of whole numbers"):
        hb.sweep("fio-randread", on=DISK, seed=["a"])  # type: ignore[list-item]


def test_another_argument_has_its_name_in_python() -> None:
    """Not that of an option."""
    with pytest.raises(hb.UserError, match="not together with duration"):
        hb.find("IOPS at p99 < 10 ms", "fio-randread", on=DISK, ios=2000, duration="1 s")


def test_a_table_is_no_path() -> None:
    """And shown in one line."""
    with pytest.raises(hb.UserError, match="expected text or a path") as caught:
        hb.advise("fio-randread", slo="", capacity="", protect="", prices=pl.DataFrame({"a": [1]}))
    assert (caught.value.file, "\n" in caught.value.value) == ("prices", False)


def test_an_argument_that_is_missing_is_a_type_error() -> None:
    """As of any function."""
    with pytest.raises(TypeError, match=r"run\(\) missing a required argument: 'on'"):
        hb.run("fio-randread")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hb.run("fio-randread", target=DISK), "did you mean on= instead of target="),
        (lambda: hb.run("fio-randread", DISK), "only workload without a name, the others as on="),
        (lambda: hb.sequence(["fio-randread"], machine=DISK), "did you mean on= instead of machine="),
        (lambda: hb.compare("a", "b", anway=True), "'anway'; did you mean anyway= instead of anway="),
        (lambda: hb.load(), "load() missing a required argument: 'path'"),
    ],
)
def test_a_call_that_does_not_fit_names_the_nearest_argument(call: Callable[[], object], message: str) -> None:
    """As a UserError, which is also Python's TypeError."""
    with pytest.raises(hb.UserError, match=re.escape(message)) as caught:
        call()
    assert isinstance(caught.value, TypeError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_small_number_for_a_capacity_has_both_readings() -> None:
    """A larger one is in bytes."""
    with pytest.raises(hb.UserError, match="is 50 B or 50 TB: expected text with its unit"):
        hb.advise("fio-randread", slo="p99 < 1 ms", capacity=50, protect="none")
    assert hb.drives(min=3 * 10**12).equals(hb.drives(min="3 TB"))


def test_an_error_has_a_path_of_fields() -> None:
    """`streams[0].size` as names and places."""
    load = {"title": "mine", "source": "a test", "confidence": "high", "streams": [{"read_pct": 100, "size": "4"}]}
    with pytest.raises(hb.UserError) as caught:
        run(load)
    assert caught.value.path[:2] == ("streams", 0)
    assert caught.value.file == "mine"


def test_an_error_survives_pickling() -> None:
    """So that it comes back from another process."""
    error = pickle.loads(pickle.dumps(hb.UserError("a", "b[0]", "c", "d")))
    assert (error.file, error.path, error.value, error.accepted) == ("a", ("b", 0), "c", "d")


def test_a_dict_that_holds_itself_is_refused() -> None:
    """Not a RecursionError."""
    with pytest.raises(hb.UserError):
        run(LOOP)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, disk: hb.Record) -> None:
    """Before anything is run, and when a record is saved."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    for call in (lambda: run(out=tmp_path / "file"), lambda: disk.save(tmp_path / "file")):
        with pytest.raises(hb.UserError, match="cannot be written"):
            call()


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="no attribute 'sweeep'"):
        hb.sweeep  # noqa: B018


@pytest.mark.parametrize(
    ("word", "key", "value"), [("queue_depth", "qd", 8), ("block_size", "bs", "8 KiB"), ("write_cache", "wce", False)]
)
def test_usual_words_for_a_key_are_accepted(word: str, key: str, value: object) -> None:
    usual, ours = (hb.run("fio-randwrite", on="ent-10k", duration="0.1 s", **{name: value}) for name in (word, key))
    assert usual == ours
    with pytest.raises(hb.UserError, match="is the same as"):
        hb.run("fio-randwrite", on="ent-10k", **{word: value, key: value})


def test_a_field_of_the_question_is_no_setting() -> None:
    with pytest.raises(hb.UserError, match="did you mean duration"):
        hb.run("fio-randread", on="ent-10k", runtime="1 s")


def test_a_unit_in_a_file_has_the_one_that_files_accept_as_a_hint() -> None:
    machine = '[drives.d]\nproduct = "ent-10k"\n[links.l]\nmembers = "d"\nrate = "25 Gbit/s"\n'
    with pytest.raises(hb.UserError, match='did you mean "25 Gb/s"'):
        hb.run("fio-randread", on=machine, duration="0.1 s")


def test_numbers_of_numpy_and_whole_floats_are_numbers() -> None:
    stream = {"read_pct": np.int64(100), "random_pct": np.float64(100), "size": "4 KiB"}
    load = {
        "title": "w", "source": "a test", "confidence": "high", "load": {"closed": {"threads": 1, "depth": 2}},
        "streams": [stream], "phases": [{"name": "measure", "duration": "1 s", "measure": True}],
    }  # fmt: skip
    plain = {**load, "streams": [{**stream, "read_pct": 100, "random_pct": 100.0}]}
    assert hb.run(load, on="ent-10k") == hb.run(plain, on="ent-10k")
    run = {"on": "ent-10k", "duration": "0.1 s"}
    assert hb.run("fio-randread", qd=np.float64(8), **run) == hb.run("fio-randread", qd=8, **run)
