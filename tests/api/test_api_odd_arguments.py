"""Whether any argument at all ends as a UserError: each function of the API with values that nobody means."""

from __future__ import annotations

import decimal
import inspect
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hotband as hb
from hotband.base.arguments import public


class Hostile:
    """A value whose every use raises."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)

    def __index__(self) -> int:
        raise RuntimeError("index")

    def __repr__(self) -> str:
        raise RuntimeError("repr")


def odd() -> list[object]:
    """Values that no argument takes, or only some do."""
    numbers = [True, -1, 2**31, 2**63, 2**64, 10**400, -0.5, 1e308, float("nan"), float("inf"), decimal.Decimal("NaN")]
    texts = [
        "",
        " ",
        "\0",
        "a\0b",
        "\ud800",
        "a\udfff",
        "\x1b[31m",
        "a" * 5000,
        "/" * 5000,
        "/dev/null",
        "nonsense",
        "٣",
    ]
    paths = [Path("a" * 300), Path("\0"), Path("\ud800"), Path("/dev/zero")]
    several = [
        [],
        [None],
        [[]],
        (),
        {1: 2},
        {"\ud800": 1},
        {"a": "\0"},
        {"qd": 2**70},
        set(),
        range(10**12),
        ["\ud800"],
    ]
    arrays = [
        np.float32("nan"),
        np.uint64(2**63),
        np.array([]),
        np.array([[1]]),
        np.int64,
        pl.Series([1]),
        pl.DataFrame(),
    ]
    return [None, *numbers, *texts, *paths, *several, *arrays, b"x", object, object(), len, 1j, Ellipsis, Hostile()]


FUNCTIONS = ["run", "sweep", "find", "keys", "drive", "workload", "load", "compare", "audit", "show_trace", "study"]
"""Those that end at once whatever they get; the boundary of all is the same (`hotband.base.arguments.public`)."""


def test_every_public_function_has_the_boundary() -> None:
    functions = {name: getattr(hb, name) for name in hb.__all__ if inspect.isfunction(getattr(hb, name))}
    unchecked = [function for function in functions.values() if not hasattr(function, "__wrapped__")]
    assert [function for function in unchecked if inspect.signature(function).parameters] == []


def expect_user_error(call: Callable[[], object]) -> None:
    """Raise whatever a call raises that is neither a UserError nor Python's own for a call that fits no signature."""
    try:
        call()
    except hb.UserError:
        return
    except TypeError as error:
        if "()" not in str(error):
            raise


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_odd_argument_is_a_user_error(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    function = getattr(hb, name)
    parameters = list(inspect.signature(function).parameters.values())
    needed = [one for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
    draw = random.Random(name)
    for value in odd():
        parameter = draw.choice(parameters) if parameters else None
        values: dict[str, Any] = {one.name: "nonsense" for one in needed}
        if parameter is not None and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            values[parameter.name] = value
        expect_user_error(lambda values=values: function(**values))  # type: ignore[misc]


@pytest.mark.parametrize("value", [2**62, 2**63, 2**64, 10**30, -1])
def test_a_number_that_the_engine_cannot_hold_is_a_user_error(tmp_path: Path, value: int) -> None:
    log = tmp_path / "log.parquet"
    hb.run("fio-randread", on="ent-10k", duration="200 ms", io_log=log, progress=False)
    expect_user_error(lambda: hb.show_trace(log, sample=value))


def test_what_the_engine_fails_with_is_a_user_error() -> None:
    class PanicException(BaseException):
        """What a panic of Rust is in Python."""

    @public
    def panics(count: int) -> None:
        raise PanicException("index out of bounds\nat lib.rs")

    with pytest.raises(hb.UserError, match=r"count = '7': is out of range \(index out of"):
        panics(7)


def test_methods_take_odd_values(tmp_path: Path) -> None:
    record = hb.run("fio-randread", on="ent-10k", duration="200 ms", progress=False)
    sweep = hb.sweep("fio-randread", on="ent-10k", duration="100 ms", qd=[1, 2], progress=False)
    for method in (record.save, record.plot, sweep.save, sweep.plot, sweep.report, sweep.write_frame, hb.ResultsStore):
        for value in (value for value in odd() if not isinstance(value, str)):
            expect_user_error(lambda method=method, value=value: method(value))  # type: ignore[misc]
