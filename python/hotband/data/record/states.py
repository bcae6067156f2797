"""The state of the drives of a record in words: how caches are set, and what solid-state drives held when it began.

One wording for terminal, pages and JSON. Records of other tools, and those of before, do not tell: "not known". Of
hardware the kernel tells how the write cache is set, and the run what was done before it.
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
    "filled": "was filled first",
    "as left": "is as the run before left it",
    # Of hardware; to be compared with models, whose flash is new or was written over.
    "purged": "is new flash",
}
NOT_COMPARED = {"as found"}
"""What says nothing of what a drive held."""


def states_of(record: RecordDoc | Mapping[str, object]) -> DriveStatesDoc | None:
    """What a record says of its drives; None where it does not."""
    found = record.get("drive_state")
    return found if isinstance(found, dict) and found.get("drives") else None  # type: ignore[return-value]


def state_lines(states: DriveStatesDoc | None) -> list[str]:
    """A line for drives that are alike, and for every controller with a cache."""
    if states is None:
        return [NOT_KNOWN]
    several = len(states["drives"]) > 1
    lines = [f"{_names(drive)}: {drive_words(drive)}" if several else drive_words(drive) for drive in states["drives"]]
    return lines + [_controller_words(one) for one in states.get("controllers", [])]


def state_words(record: RecordDoc | Mapping[str, object]) -> str:
    """The same in one line."""
    return "; ".join(_lines_of(record))


def said_of(record: RecordDoc) -> list[str]:
    """The same for the terminal, below a table of the record."""
    return [f"  state: {line}" for line in _lines_of(record)]


def _lines_of(record: RecordDoc | Mapping[str, object]) -> list[str]:
    return [*state_lines(states_of(record)), *kept_lines(record), *warm_up_words(record)]


def kept_lines(record: RecordDoc | Mapping[str, object]) -> list[str]:
    """How a drive was brought into its state before the run; nothing where it was not."""
    kept = record.get("state_kept")
    if not isinstance(kept, dict):
        return []
    return [f"{kept['state']} in {round(kept['seconds']):,} s by: {'; '.join(kept['by'])}", *kept["notes"]]


def warm_up_words(record: RecordDoc | Mapping[str, object]) -> list[str]:
    """How long a run with a measured time of its own (`--duration`) warmed up: "warm-up 2 s (workload: 60 s)", or one
    that stopped by precision after a shorter warm-up. Nothing of other runs, and of workloads without a warm-up."""
    spec = record.get("spec")
    if not isinstance(spec, dict):
        return []
    is_stopped = "stopped" in record and "warm_up" in spec.get("set", {})
    if spec.get("duration") is None and not is_stopped:
        return []
    try:
        phases = tomli.loads(spec.get("workload", "")).get("phases", [])
    except tomli.TOMLDecodeError:
        # Another tool's job, whose warm-up its own words describe.
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
    """ "write cache on (volatile), read-ahead on"."""
    said = [_write_cache(state["write_cache"], declared=state["declared_volatile"])]
    if state["read_ahead"] is not None:
        said.append(f"read-ahead {_switch(state['read_ahead'])}")
        if not state["read_cache_bytes"]:
            said.append("read cache off")
    if state["flash_cache"] is not None:
        said.append(f"flash cache {_switch(state['flash_cache'])}")
    if state["holds"] is not None:
        said.append(state["holds"])
    if state["scale"] > 1:
        said.append(f"scale {state['scale']}")
    return ", ".join(said)


def settings_of(states: DriveStatesDoc | None) -> list[dict[str, str]]:
    """The settings of drives that are alike, and of controllers, a row each: "of", "write cache", "look-ahead", "flash"
    (its read cache, and what a solid-state drive held). Empty texts for what there is not."""
    if states is None:
        return [{"of": "", "write cache": NOT_KNOWN, "look-ahead": NOT_KNOWN, "flash": NOT_KNOWN}]
    several = len(states["drives"]) > 1
    rows = []
    for one in states["drives"]:
        cache, ahead = _write_cache(one["write_cache"], one["declared_volatile"]), one["read_ahead"]
        flash = [] if one["flash_cache"] is None else [f"cache {_switch(one['flash_cache'])}"]
        flash += [] if one["holds"] is None else [one["holds"]]
        flash += [f"scale {one['scale']}"] if one["scale"] > 1 else []
        rows.append({
            "of": _names(one) if several else "",
            "write cache": cache.removeprefix("write cache "),
            "look-ahead": "" if ahead is None else _switch(ahead),
            "flash": ", ".join(flash),
        })  # fmt: skip
    for own in states.get("controllers", []):
        cache = _write_cache(own["write_cache"]).removeprefix("write cache ")
        ahead_of = _switch(own["read_ahead"])
        rows.append({"of": f"controller {own['name']}", "write cache": cache, "look-ahead": ahead_of, "flash": ""})
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
    """What is not equal in the states of several results, a sentence each: to be said before anything is compared.
    What is not known, or what one of them does not have, is not compared."""
    known = [(name, states) for name, states in named if states is not None]
    aspects: list[tuple[Callable[[DriveStatesDoc], str], str]] = [
        (_writes, "acknowledged writes are not the same thing"),
        (_controllers, "the cache acknowledges writes of one only"),
        (_reads_ahead, "sequential reads differ by it"),
        (_flash, "repeated reads differ by it"),
        (_holds, "new and trimmed flash is faster than flash in use"),
    ]
    found = []
    for words, why in aspects:
        said = [(name, of) for name, states in known if (of := words(states))]
        by_words: dict[str, list[str]] = {}
        for name, of in said:
            by_words.setdefault(of, []).append(name)
        if len(by_words) > 1:
            pieces = [f"{' and '.join(names)} {of}" for of, names in by_words.items()]
            found.append(f"{', '.join(pieces)}: {why}")
    return found


def _all(words: Sequence[str]) -> str:
    """What all are; of several kinds, each."""
    return " and ".join(dict.fromkeys(words))


def _writes(states: DriveStatesDoc) -> str:
    kinds = [drive["write_cache"] for drive in states["drives"]]
    return "" if NOT_KNOWN in kinds else _all([WRITES.get(kind, kind) for kind in kinds])


def _controllers(states: DriveStatesDoc) -> str:
    kinds = [one["write_cache"] for one in states.get("controllers", [])]
    return _all([f"has a controller whose {_write_cache(kind).replace('cache', 'cache is', 1)}" for kind in kinds])


def _reads_ahead(states: DriveStatesDoc) -> str:
    known = [drive["read_ahead"] for drive in states["drives"] if drive["read_ahead"] is not None]
    return _all(["reads ahead" if on else "does not read ahead" for on in known])


def _flash(states: DriveStatesDoc) -> str:
    known = [drive["flash_cache"] for drive in states["drives"] if drive["flash_cache"] is not None]
    return _all([f"has its flash cache {_switch(on)}" for on in known])


def _holds(states: DriveStatesDoc) -> str:
    known = [drive["holds"] for drive in states["drives"] if drive["holds"] is not None]
    known = [one for one in known if one not in NOT_COMPARED]
    return _all([HOLDS.get(one, one) for one in known])
