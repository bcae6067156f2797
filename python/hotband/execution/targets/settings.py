"""`--set` keys of a workload put into its text: what the engine changes when it runs, for whoever runs it otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import hotband._core as _core
from hotband.base.engine import mistakes_of
from hotband.base.errors import UserError
from hotband.base.text.tomltable import loads
from hotband.base.text.tomltext import toml_text
from hotband.data.catalog import CATALOG_DIR
from hotband.data.jobs.form import number_text

Table = dict[str, Any]
Pairs = Sequence[tuple[str, str]]


def divided(pairs: Pairs, workload: str, machine: str, texts: tuple[str | None, str | None]) -> tuple[Pairs, Pairs]:
    """Pairs of `--set` for the workload, and those for the machine. `texts` are of the workload and of the machine,
    where they are files. Raises UserError for a key that neither has."""
    if not pairs:
        return (), ()
    with mistakes_of(machine):
        keys = _core.set_keys(CATALOG_DIR, workload, machine, workload_text=texts[0], machine_text=texts[1])
    of_workload = {one["key"] for one in keys if one["part"] == "workload"}
    return (
        tuple(pair for pair in pairs if pair[0] in of_workload),
        tuple(pair for pair in pairs if pair[0] not in of_workload),
    )


def applied(text: str, pairs: Pairs, duration: str | None) -> str:
    """The text of a workload with values of its keys, and its measured time, changed. Raises UserError for a key that
    is not part of what a job file says. The engine has checked the values before."""
    if not pairs and duration is None:
        return text
    table = cast("dict[str, Any]", loads(text, "question.workload"))
    for key, value in pairs:
        change = _CHANGES.get(key)
        if change is None:
            accepted = f"cannot be set where fio asks for the I/Os; expected one of {', '.join(_CHANGES)}"
            raise UserError("question.settings", key, value, accepted)
        try:
            change(table, value)
        except ValueError:
            raise UserError("question.settings", key, value, f"expected a number, such as {key}=8") from None
    if duration is not None:
        for phase in table["phases"]:
            if phase.get("measure"):
                for key in ("ios", "operations", "until", "until_steady", "until_warm"):
                    phase.pop(key, None)
                phase["duration"] = duration
    return toml_text(table)


def _closed(table: Table) -> Table:
    loads = [table.get("load"), *(stream.get("load") for stream in table["streams"])]
    closed = [load["closed"] for load in loads if load and "closed" in load]
    if len(closed) != 1:
        accepted = f"the workload has {len(closed)} closed loops: expected one where its threads or depth are set"
        raise UserError("question.settings", "", "", accepted)
    return closed[0]  # type: ignore[no-any-return]


def _queue_depth(table: Table, value: str) -> None:
    closed, depth = _closed(table), int(value)
    threads = int(closed["threads"])
    closed["threads"], closed["depth"] = (threads, depth // threads) if depth % threads == 0 else (1, depth)


def _of_closed(key: str, read: Callable[[str], object]) -> Callable[[Table, str], None]:
    def change(table: Table, value: str) -> None:
        _closed(table)[key] = read(value)

    return change


def _of_streams(change: Callable[[Table, str], None]) -> Callable[[Table, str], None]:
    def each(table: Table, value: str) -> None:
        for stream in table["streams"]:
            change(stream, value)

    return each


def _percent(key: str) -> Callable[[Table, str], None]:
    def change(stream: Table, value: str) -> None:
        stream[key] = float(value.strip().rstrip("%"))

    return _of_streams(change)


def _size(stream: Table, value: str) -> None:
    stream.pop("sizes", None)
    stream["size"] = value


def _span(stream: Table, value: str) -> None:
    stream["range"] = ["0 B", value] if "%" not in value else ["0 %", value]


def _rate(table: Table, value: str) -> None:
    loads: Iterable[Table | None] = [table.get("load"), *(stream.get("load") for stream in table["streams"])]
    for load in loads:
        if load and "open" in load:
            load["open"]["rate_iops"] = float(number_text(float(value)))


def _warm_up(table: Table, value: str) -> None:
    for phase in table["phases"]:
        if not phase.get("measure") and "duration" in phase:
            phase["duration"] = value
    if _core.quantity("time", value) == 0:
        table["phases"] = [phase for phase in table["phases"] if phase.get("measure") or phase.get("duration") != value]


def _data(table: Table, value: str) -> None:
    """One entropy of all that is written, in place of what the streams say."""
    try:
        mean = float(value)
    except ValueError:
        mean = -1.0
    if not 0.0 <= mean <= 1.0:
        raise UserError("question.settings", "data", value, "expected an entropy from 0 to 1, such as data=0.5")
    table["data"] = mean
    for stream in table["streams"]:
        stream.pop("data", None)


_CHANGES: dict[str, Callable[[Table, str], None]] = {
    "qd": _queue_depth,
    "depth": _of_closed("depth", int),
    "threads": _of_closed("threads", int),
    "think": _of_closed("think", str),
    "bs": _of_streams(_size),
    "read_pct": _percent("read_pct"),
    "random_pct": _percent("random_pct"),
    "span": _of_streams(_span),
    "rate_iops": _rate,
    "warm_up": _warm_up,
    "data": _data,
}
