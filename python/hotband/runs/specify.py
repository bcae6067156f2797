"""From what a Python program names - a catalog name, a path, TOML text or a dict - to the text that a run takes."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TypeAlias

import tomli

from hotband.errors import UserError, characters
from hotband.targets.named import REAL

Scalar: TypeAlias = str | int | float | bool
Spec: TypeAlias = "str | PathLike[str] | Mapping[str, object]"
"""A catalog name, a short form, a path, TOML text, or a dict of what the TOML would say."""

# Names of arguments on the command line, and here.
ARGUMENTS = {
    "set": "settings",
    "repair.fail": "fail",
    "repair.spares": "spares",
    "repair.rebuild_rate": "rebuild_rate",
    "repair.rebuild_after": "rebuild_after",
    "--set": "settings",
    "--on": "on",
    "--erase": "erase",
    "--size": "size",
    "--hosts": "hosts",
    "--expect": "expect",
    "--purge-by": "purge_by",
    "--power": "power",
    "--minute": "minute",
    "--set-write-cache": "set_write_cache",
    "MACHINE": "on",
    "WORKLOAD": "workload",
    "STUDY": "study",
    "DRIVE": "name",
    "NAME": "name",
    "OSD": "name",
    "--only": "only",
    "--scale": "scale",
    "--duration": "duration",
    "--out": "out",
    "--io-log": "io_log",
    "--power-loss": "power_loss",
    "--fail": "fail",
    "--event": "events",
    "--spare": "spares",
    "--rebuild-rate": "rebuild_rate",
    "--rebuild-after": "rebuild_after",
    "--fresh": "fresh",
    "--interval": "interval",
    "--draws": "draws",
    "FILE": "source",
    "--output": "output",
    "--issue": "issue",
    "--target": "target",
    "QUESTION": "question",
    "RESULT": "result",
    "TARGET": "target",
    "RECORD": "target",
    "--like": "like",
    "--for": "duration",
    "-o": "output",
    "--within": "within",
    "--range": "range",
    "--arrival": "arrival",
    "--ios": "ios",
    "--nbd": "socket",
    "--store": "store",
    "--spin": "spin",
    "--class": "drive_class",
    "--test": "tests",
    "--threads": "threads",
    "--depth": "depth",
    "DIR": "fuse",
    "--loop": "loop",
    "--slo": "slo",
    "--slo-degraded": "slo_degraded",
    "--capacity": "capacity",
    "--protect": "protect",
    "--candidates": "candidates",
    "--cost": "cost",
    "--grow": "grow",
    "--years": "years",
    "--duty": "duty",
}


@dataclass(frozen=True)
class Named:
    """A machine or a workload: the name that records and errors use, and its text where it has one of its own."""

    name: str
    text: str | None = None


def named(spec: object, argument: str) -> Named:
    """What `spec` names. Raises UserError where it is nothing that could be run, or a file that cannot be read."""
    from hotband.runs.run import text_of

    if isinstance(spec, Mapping):
        return _of_table(spec, argument)
    if isinstance(spec, PathLike):
        path = fspath(spec)
        # A path without a folder is a file too, not a name of the catalog.
        return Named(path, text_of(path if "/" in path or path.endswith(".toml") else f"./{path}", argument))
    if not isinstance(spec, str) or not spec.strip():
        accepted = "expected a catalog name, a path, TOML text or a dict"
        raise UserError(argument, "", _short(spec), accepted)
    if characters(argument, spec).startswith(REAL):
        return Named(spec)
    # No name or short form has line ends; one line of TOML has an equals sign. Files may have both in their names.
    if ("\n" in spec or "=" in spec) and not os.path.isfile(spec):
        return Named(_title(spec, argument), spec)
    return Named(spec, text_of(spec, argument))


def _of_table(spec: Mapping[str, object], argument: str) -> Named:
    """A dict, as the TOML that says the same."""
    import tomlkit

    try:
        text = tomlkit.dumps(spec)
    except (tomlkit.exceptions.TOMLKitError, TypeError, ValueError, RecursionError) as error:
        raise UserError(argument, "", "", f"the dict is no TOML table: {error}") from None
    return Named(_title(text, argument), text)


def _title(text: str, argument: str) -> str:
    """The title that TOML text gives itself, else the argument's name. What is no TOML is told by the engine."""
    try:
        title = tomli.loads(text).get("title")
    except (tomli.TOMLDecodeError, RecursionError):
        return argument
    return title if isinstance(title, str) and title else argument


def whole(given: object) -> int | None:
    """A whole number, be it one of numpy's; None for anything else."""
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        return None
    return operator.index(given)


def setting(key: str, value: object) -> str:
    """A setting as text: True and False are on and off. Raises UserError for what is no text, number or truth."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str | int | float):
        return f"{value!r}" if isinstance(value, float) else characters(key, str(value))
    if hasattr(value, "item"):
        # A number of numpy.
        return setting(key, value.item())
    several = "; several values are for sweep" if isinstance(value, list | tuple | range) else ""
    accepted = f'expected text with its unit, such as "4 KiB", a number or a bool{several}'
    raise UserError("settings", key, _short(value), accepted)


def changes(given: Mapping[str, object] | None, settings: Mapping[str, object]) -> dict[str, object]:
    """What `set` and the further arguments of a call change together. Raises UserError for a key that is in both."""
    given = given or {}
    if twice := given.keys() & settings:
        key = min(twice)
        raise UserError("set", key, str(given[key]), f"is given twice, as {key}={settings[key]!r}, too")
    return {**given, **settings}


def settings_of(settings: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Settings as the pairs that a run takes."""
    return tuple((key, setting(key, value)) for key, value in settings.items())


def texts(value: object, argument: str) -> tuple[str, ...]:
    """One text or several."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and all(isinstance(one, str) for one in value):
        return tuple(value)
    raise UserError(argument, "", _short(value), "expected a text or a list of texts")


def in_python(error: UserError) -> UserError:
    """The same mistake under the names that arguments have in Python."""
    where = ARGUMENTS.get(error.where.split("[")[0])
    if where is None:
        return error
    return UserError(where, error.key, error.value, error.accepted).with_traceback(error.__traceback__)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
