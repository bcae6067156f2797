"""Mistakes in Python raise one typed error that names the argument; nothing prints, nothing ends the program."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

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
        (lambda: run(duration=5), "duration", "", "5"),
        (lambda: run(seed=-1), "seed", "", "-1"),
        (lambda: run(seed="1"), "seed", "", "1"),
        (lambda: run(fail="d9@1 s"), "fail", "", "d9@1 s"),
        (lambda: run(fail=[1]), "fail", "", "[1]"),
        (lambda: run(power_loss="x"), "power_loss", "", "x"),
        (lambda: run(progress="yes"), "progress", "", "'yes'"),
        (lambda: hb.sweep("fio-randread", on=[]), "on", "", "[]"),
        (lambda: hb.sweep("fio-randread", on=[DISK, DISK]), "on", "", ""),
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
    ],
)
def test_a_mistake_names_the_argument(call: Callable[[], object], file: str, key: str, value: str) -> None:
    """Argument, key, value and what would be right; never the name of an option."""
    with pytest.raises(hb.UserError) as caught:
        call()
    assert (caught.value.file, caught.value.key, caught.value.value) == (file, key, value)
    assert caught.value.accepted
    assert "--" not in str(caught.value).partition(": ")[0]


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
