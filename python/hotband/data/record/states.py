"""The state of the drives of a record in words: cache settings, and the content of solid-state drives at the start.

One wording for terminal, pages and JSON. Records of other tools, and older ones, do not state it: "not known". For
hardware the kernel reports the write cache, and the run its preparation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import tomli

if TYPE_CHECKING:
    from hotband.data.documents.record import ControllerStateDoc, DriveStateDoc, DriveStatesDoc, RecordDoc

NOT_KNOWN = "not known"

WRITES = {
    "volatile": "writes with a volatile cache",
    "protected": "writes with a protected cache",
    "off": "writes without a cache",
}
HOLDS = {
    "new": "is new flash",
    "preconditioned": "is preconditioned",
    "trimmed": "is trimmed",
    "filled": "was preconditioned first",
    "as left": "is as the previous run left it",
    # States of hardware, to be compared with models, whose flash is new or preconditioned.
    "purged": "is new flash",
}
NOT_COMPARED = {"as found"}
"""States that do not describe the content of a drive."""


def states_of(record: RecordDoc | Mapping[str, object]) -> DriveStatesDoc | None:
    """Return the states of a record's drives; None if it has none."""
    states = record.get("drive_state")
    return states if isinstance(states, dict) and states.get("drives") else None  # type: ignore[return-value]


def values_of(record: RecordDoc, drive: str) -> Mapping[str, str]:
    """Return the values of a drive as the run had them; none if the record does not hold its file."""
    states = states_of(record) or {"drives": []}
    product = next((state["product"] for state in states["drives"] if drive in state["drives"]), "")
    return values_of_file(record, product)


def values_of_file(record: RecordDoc, name: str) -> Mapping[str, str]:
    """Return the values of a file of the machine, of a drive or a daemon, as the run had them."""
    table = tomli.loads(record["spec"].get("drives", {}).get(name, "")).get("values", {})
    values = {key: str(value.get("value", "")) for key, value in table.items()}
    return values | {key: str(value) for key, value in record["spec"].get("set", {}).items() if key in values}


def state_lines(states: DriveStatesDoc | None) -> list[str]:
    """Return one line per group of equal drives, and one per controller with a cache."""
    if states is None:
        return [NOT_KNOWN]
    several = len(states["drives"]) > 1
    lines = [f"{_names(drive)}: {drive_words(drive)}" if several else drive_words(drive) for drive in states["drives"]]
    return lines + [_controller_words(controller) for controller in states.get("controllers", [])]


def state_words(record: RecordDoc | Mapping[str, object]) -> str:
    """Return the state lines as a single line."""
    return "; ".join(_lines_of(record))


def said_of(record: RecordDoc) -> list[str]:
    """Return the state as text below a table of the record."""
    return [f"  state: {line}" for line in _lines_of(record)]


def _lines_of(record: RecordDoc | Mapping[str, object]) -> list[str]:
    return [*state_lines(states_of(record)), *kept_lines(record), *warm_up_words(record)]


def kept_lines(record: RecordDoc | Mapping[str, object]) -> list[str]:
    """Return how a drive was brought into its state before the run; nothing if it was not."""
    document = record.get("state_kept")
    if not isinstance(document, dict):
        return []
    return [
        f"{document['state']} in {round(document['seconds']):,} s by: {'; '.join(document['by'])}",
        *document["notes"],
    ]


def warm_up_words(record: RecordDoc | Mapping[str, object]) -> list[str]:
    """Return the warm-up of a run whose measured time was set (`--duration`): "warm-up 2 s (workload: 60 s)", or of one
    that stopped by precision after a shorter warm-up. Empty for other runs, and for workloads without a warm-up."""
    spec = record.get("spec")
    if not isinstance(spec, dict):
        return []
    is_stopped = "stopped" in record and "warm_up" in spec.get("set", {})
    if spec.get("duration") is None and not is_stopped:
        return []
    try:
        phases = tomli.loads(spec.get("workload", "")).get("phases", [])
    except tomli.TOMLDecodeError:
        # A job of another tool describes its own warm-up.
        return []
    times = dict.fromkeys(
        str(phase["duration"]) for phase in phases if not phase.get("measure") and set(phase) <= {"name", "duration"}
    )
    if not times:
        return []
    of_workload = ", ".join(times)
    chosen = spec.get("set", {}).get("warm_up")
    return [
        f"warm-up {of_workload}" if chosen in (None, of_workload) else f"warm-up {chosen} (workload: {of_workload})"
    ]


def drive_words(state: DriveStateDoc) -> str:
    """Return text such as "write cache on (volatile), read-ahead on"."""
    parts = [_write_cache(state["write_cache"], declared=state["declared_volatile"])]
    if state["read_ahead"] is not None:
        parts.append(f"read-ahead {_switch(state['read_ahead'])}")
        if not state["read_cache_bytes"]:
            parts.append("read cache off")
    if state["flash_cache"] is not None:
        parts.append(f"flash cache {_switch(state['flash_cache'])}")
    if state["holds"] is not None:
        parts.append(state["holds"])
    if state["scale"] > 1:
        parts.append(f"scale {state['scale']}")
    return ", ".join(parts)


def settings_of(states: DriveStatesDoc | None) -> list[dict[str, str]]:
    """Return the settings of equal drives, and of controllers, as one row each: "of", "write cache", "look-ahead",
    "flash" (its read cache, and the content of a solid-state drive). Missing settings are empty texts."""
    if states is None:
        return [{"of": "", "write cache": NOT_KNOWN, "look-ahead": NOT_KNOWN, "flash": NOT_KNOWN}]
    several = len(states["drives"]) > 1
    rows = []
    for drive in states["drives"]:
        cache, ahead = _write_cache(drive["write_cache"], drive["declared_volatile"]), drive["read_ahead"]
        flash = [] if drive["flash_cache"] is None else [f"cache {_switch(drive['flash_cache'])}"]
        flash += [] if drive["holds"] is None else [drive["holds"]]
        flash += [f"scale {drive['scale']}"] if drive["scale"] > 1 else []
        rows.append({
            "of": _names(drive) if several else "",
            "write cache": cache.removeprefix("write cache "),
            "look-ahead": "" if ahead is None else _switch(ahead),
            "flash": ", ".join(flash),
        })  # fmt: skip
    for controller in states.get("controllers", []):
        cache = _write_cache(controller["write_cache"]).removeprefix("write cache ")
        ahead_of = _switch(controller["read_ahead"])
        rows.append(
            {"of": f"controller {controller['name']}", "write cache": cache, "look-ahead": ahead_of, "flash": ""}
        )
    return rows


def _write_cache(kind: str, declared: bool = False) -> str:
    if kind in ("off", NOT_KNOWN):
        return f"write cache {kind}"
    return f"write cache on ({kind}{', called volatile' if declared else ''})"


def _controller_words(state: ControllerStateDoc) -> str:
    size = f"{state['cache_bytes'] / 2**30:g} GiB"
    cache = _write_cache(state["write_cache"])
    return f"controller {state['name']} ({size}): {cache}, read-ahead {_switch(state['read_ahead'])}"


def _switch(on: bool) -> str:
    return "on" if on else "off"


def _names(state: DriveStateDoc) -> str:
    names = state["drives"]
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def unequal(named: Sequence[tuple[str, DriveStatesDoc | None]]) -> list[str]:
    """Return one sentence per difference in the states of several results, to print before any comparison. A property
    that is unknown, or that one of them does not have, is not compared."""
    known = [(name, states) for name, states in named if states is not None]
    aspects: list[tuple[Callable[[DriveStatesDoc], str], str]] = [
        (_writes, "acknowledged writes have different guarantees"),
        (_controllers, "the cache acknowledges writes of only one of them"),
        (_reads_ahead, "this changes sequential reads"),
        (_flash, "this changes repeated reads"),
        (_holds, "new and trimmed flash is faster than flash in use"),
    ]
    sentences = []
    for words, why in aspects:
        described = [(name, text) for name, states in known if (text := words(states))]
        by_words: dict[str, list[str]] = {}
        for name, text in described:
            by_words.setdefault(text, []).append(name)
        if len(by_words) > 1:
            pieces = [f"{' and '.join(names)} {text}" for text, names in by_words.items()]
            sentences.append(f"{', '.join(pieces)}: {why}")
    return sentences


def _all(words: Sequence[str]) -> str:
    """Return the common word; if the words differ, all of them."""
    return " and ".join(dict.fromkeys(words))


def _writes(states: DriveStatesDoc) -> str:
    kinds = [drive["write_cache"] for drive in states["drives"]]
    return "" if NOT_KNOWN in kinds else _all([WRITES.get(kind, kind) for kind in kinds])


def _controllers(states: DriveStatesDoc) -> str:
    kinds = [controller["write_cache"] for controller in states.get("controllers", [])]
    return _all([f"has a controller whose {_write_cache(kind).replace('cache', 'cache is', 1)}" for kind in kinds])


def _reads_ahead(states: DriveStatesDoc) -> str:
    known = [drive["read_ahead"] for drive in states["drives"] if drive["read_ahead"] is not None]
    return _all(["reads ahead" if on else "does not read ahead" for on in known])


def _flash(states: DriveStatesDoc) -> str:
    known = [drive["flash_cache"] for drive in states["drives"] if drive["flash_cache"] is not None]
    return _all([f"has its flash cache {_switch(on)}" for on in known])


def _holds(states: DriveStatesDoc) -> str:
    known = [drive["holds"] for drive in states["drives"] if drive["holds"] is not None]
    known = [content for content in known if content not in NOT_COMPARED]
    return _all([HOLDS.get(content, content) for content in known])
