"""Workloads of trials: the same streams at a given rate or number of outstanding I/Os, for the time that a trial needs.

Left out: effects that only a longer run shows. A trial measures a number of I/Os, after a warm-up that ends with its
own time or after a fifth as many, so that a hundred trials take seconds on any machine; a time that the user sets
stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hotband.base.errors import UserError
from hotband.base.heavy import tomlkit
from hotband.base.text.numbers import counted
from hotband.base.text.quantities import size_bytes
from hotband.base.text.tomltable import loads
from hotband.base.text.values import Toml
from hotband.data.jobs.shares import flushes_per_io, percent_of

WARM_UP = 5
"""Ratio of measured I/Os to those of the warm-up, which ends earlier if its own time is shorter."""
ENDS = ("duration", "ios", "until", "operations", "until_precise", "until_done")
"""Keys that end a measured phase (docs/guides/workloads.md)."""
LOOP_KEYS = ("qd", "depth", "threads", "think", "rate_iops")
"""Keys of `set` that change the intensity of the load."""
OPEN = ("open", "bursts", "arrivals")
"""Loops that issue I/Os at their own times, whether or not earlier ones have completed: their rate is not a figure of
the machine."""
IN_A_ROW = "in_a_row"
"""Key of `[load]` in addition to its kind: the order of its streams."""


class Load:
    """The text of a workload, to change."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        lines = text.split("\n")
        # A converted job begins with comments about its conversion.
        self.head = [line for line in lines[: _first_key(lines)] if line.startswith("#")]
        self.table: dict[str, Toml] = loads(text, name)

    def text(self) -> str:
        """Return the workload as TOML."""
        return "\n".join([*self.head, "", tomlkit.dumps(self.table)])

    def measured(self) -> list[dict[str, Toml]]:
        """Return the measured phases."""
        return [phase for phase in _tables(self.table, "phases") if phase.get("measure")]

    @property
    def script(self) -> dict[str, Toml] | None:
        """Return the only script, if it repeats: its runs are transactions, whose rate can be set. None for others."""
        scripts = _tables(self.table, "scripts")
        return scripts[0] if len(scripts) == 1 and scripts[0].get("repeat") is True else None

    def closed_text(self, outstanding: int) -> str:
        """Return what `with_closed_loop` keeps outstanding, in words."""
        clients = counted(int(str(self.script["clients"])), "client") if self.script else ""
        return f"closed loop, {clients or f'{outstanding} outstanding'}"

    def with_ios(self, ios: int) -> Load:
        """Return the workload with `ios` measured I/Os in every measured phase whose end can be replaced, and warm-ups
        of at most a fifth as many."""
        changed = Load(self.text(), self.name)
        for phase in _tables(changed.table, "phases"):
            if phase.get("measure") and "until_steady" not in phase and "operations" not in phase:
                for key in ENDS:
                    phase.pop(key, None)
                phase["ios"] = ios
            elif not phase.get("untimed") and set(phase) & set(ENDS) == {"duration"} and "until_warm" not in phase:
                phase["until"] = [f"{ios // WARM_UP} I/Os", str(phase.pop("duration"))]
        return changed

    def with_open_loop(self, rate: float, arrival: str) -> Load:
        """Return the workload with an open loop: the loop of `[load]`, or all streams if none shares one; of a script
        its transactions, which its clients run."""
        if self.script:
            return self._with_script({"rate": rate, "arrival": arrival})
        return self._asked({"open": {"rate_iops": rate, "arrival": arrival}}, rate, arrival)

    def with_closed_loop(self, outstanding: int) -> Load:
        """Return the workload with this many I/Os outstanding, or at most this many clients of a script, without
        pauses."""
        if self.script:
            return self._with_script({"clients": min(outstanding, int(str(self.script["clients"])))})
        return self._asked({"closed": {"threads": outstanding, "depth": 1}}, None, "")

    def _with_script(self, keys: Mapping[str, Toml]) -> Load:
        """Return the workload with other keys of its script in the place of those of its load."""
        changed = Load(self.text(), self.name)
        assert changed.script is not None, "its text is the same"
        for key in ("think", "start_every", "rate", "arrival"):
            changed.script.pop(key, None)
        changed.script.update(keys)
        for phase in _tables(changed.table, "phases"):
            if "clients" in phase:
                phase["clients"] = min(phase["clients"], int(str(changed.script["clients"])))
        return changed

    def _asked(self, load: dict[str, Toml], rate: float | None, arrival: str) -> Load:
        changed = Load(self.text(), self.name)
        streams = _tables(changed.table, "streams")
        with_load = [stream for stream in streams if "load" in stream]
        shared = "load" in changed.table
        self.expect_loop()
        if shared or len(with_load) == 1:
            owner: dict[str, Any] = changed.table if shared else with_load[0]
            in_a_row = {key: value for key, value in owner["load"].items() if key == IN_A_ROW}
            if shared and ("closed" in owner["load"]) != (rate is None):
                mix = changed.shares_of_mix()
                shared_streams = (stream for stream in streams if "load" not in stream)
                for stream, (_, share) in zip(shared_streams, mix, strict=False):
                    stream["share_pct"] = f"{share:.6g} %"
            owner["load"] = {**load, **in_a_row}
            return changed
        weights = _weights(with_load)
        for stream, share in zip(with_load, weights, strict=True):
            stream["load"] = load if rate is None else {"open": {"rate_iops": rate * share, "arrival": arrival}}
        return changed

    def shares_of_mix(self) -> list[tuple[str, float]]:
        """Return the streams of `[load]` and their shares in percent for the same mix of reads, writes and trims in a
        loop of the other kind: only the shares of a closed loop count flushes. Empty if no share changes."""
        streams = [stream for stream in _tables(self.table, "streams") if "load" not in stream]
        shares = [percent_of(stream.get("share_pct", 100.0)) for stream in streams]
        factors = [1 + flushes_per_io(stream) for stream in streams]
        if len(set(factors)) < 2:
            return []
        load = self.table.get("load")
        if isinstance(load, dict) and "closed" in load:
            factors = [1 / factor for factor in factors]
        weights = [share * factor for share, factor in zip(shares, factors, strict=True)]
        names = (str(stream.get("name", "main")) for stream in streams)
        return [(name, 100 * weight / sum(weights)) for name, weight in zip(names, weights, strict=True)]

    def varied(self) -> set[int]:
        """Return the indices of the streams whose load the loop of a question sets."""
        streams = _tables(self.table, "streams")
        return {index for index, stream in enumerate(streams) if "load" not in self.table or "load" not in stream}

    def expect_loop(self) -> None:
        """Raise UserError for a workload without loops, or whose loops change during the run."""
        others = ("app", "trace", "scripts", "sequence")
        what = next((key for key in others if key in self.table and not (key == "scripts" and self.script)), None)
        if what == "scripts":
            raise UserError(self.name, what, "", "have no rate: expected a single script, which repeats")
        if what is not None:
            raise UserError(self.name, what, "", "sets its own load; a question about rates needs a loop of streams")
        if len(self.measured()) > 1:
            accepted = "several phases are measured; a question about rates needs one"
            raise UserError(self.name, "phases", str(len(self.measured())), accepted)
        with_load = [stream for stream in _tables(self.table, "streams") if "load" in stream]
        if self.script is None and "load" not in self.table and len(with_load) > 1:
            _weights(with_load)

    def says(self) -> str:
        """Describe the workload's own load."""
        return {frozenset({"closed"}): "a closed loop", frozenset({"open"}): "an open loop"}.get(
            frozenset(self._kinds()), "loops of several kinds"
        )

    @property
    def is_open(self) -> bool:
        """Return whether all of its loops issue I/Os at their own times."""
        return bool(kinds := self._kinds()) and kinds <= set(OPEN)

    def _kinds(self) -> set[str]:
        """Return the kinds of its loops."""
        loads = [self.table["load"]] if "load" in self.table else []
        loads += [stream["load"] for stream in _tables(self.table, "streams") if "load" in stream]
        return {kind for load in loads if isinstance(load, dict) for kind in load if kind != IN_A_ROW}

    def mean_bytes(self) -> float | None:
        """Return the mean size of its I/Os by the shares of its streams; None if they share no loop, or a size is
        missing."""
        every = _tables(self.table, "streams")
        streams = [every[index] for index in sorted(self.varied())]
        if not streams or (len(streams) > 1 and "load" not in self.table):
            return None
        shares = [percent_of(stream.get("share_pct", 100.0 / len(streams))) for stream in streams]
        sizes = [_mean_size(stream) for stream in streams]
        if any(size is None for size in sizes) or not sum(shares):
            return None
        return sum(share * (size or 0.0) for share, size in zip(shares, sizes, strict=True)) / sum(shares)


def _first_key(lines: Sequence[str]) -> int:
    """Return the index of the first line that is neither a comment nor empty."""
    return next((n for n, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))


def _tables(table: Mapping[str, Toml], key: str) -> list[dict[str, Any]]:
    tables = table.get(key)
    return [entry for entry in tables if isinstance(entry, dict)] if isinstance(tables, list) else []


def _weights(streams: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the shares of a rate for streams with loops of their own: in proportion to their rates, or to their
    outstanding I/Os if all loops are closed."""
    rates = [stream["load"].get("open", {}).get("rate_iops") for stream in streams]
    closed = [stream["load"].get("closed") for stream in streams]
    if all(closed):
        rates = [one.get("threads", 1) * one.get("depth", 1) for one in closed]
    if any(not isinstance(rate, int | float) or rate <= 0 for rate in rates):
        accepted = "have loops of several kinds; a question about rates needs loops that are all closed, or all open"
        names = ", ".join(str(stream.get("name", "")) for stream in streams)
        raise UserError("question.workload", "streams", names, accepted)
    return [rate / sum(rates) for rate in rates]


def _mean_size(stream: Mapping[str, Any]) -> float | None:
    sizes = stream.get("sizes") or {str(stream.get("size", "")): 1.0}
    pairs = [(size_bytes(str(size)), float(weight)) for size, weight in sizes.items()]
    whole = sum(weight for _, weight in pairs)
    if not whole or any(size is None for size, _ in pairs):
        return None
    return sum((size or 0.0) * weight for size, weight in pairs) / whole
