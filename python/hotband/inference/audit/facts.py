"""Known facts of a target, from `--on MACHINE`, a model's record, or `--media`.

Left out: host page caches and controllers' memory (`--cache` states them). With drives of several products the slowest
spindle counts, and caches add up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import tomli

from hotband.base.errors import UserError
from hotband.base.text.quantities import SIZE_EXPECTED, size_bytes, span_ns
from hotband.data.catalog import entries
from hotband.data.catalog.capacity import KINDS, MOST_DRIVES, capacity_of, usable_bytes
from hotband.data.catalog.lanes import LANE
from hotband.data.inputs.texts import text_of

if TYPE_CHECKING:
    from hotband.base.text.values import Toml
    from hotband.data.documents.record import RecordDoc
    from hotband.data.inputs.specify import Named

MEDIA_EXPECTED = 'expected hdd, ssd or a speed, such as "7200rpm"'
# The slowest spindle of a server's disk: what it cannot do, an unknown disk (`--media hdd`) cannot do either. Users
# state a faster speed.
USUAL_RPM = 7200.0


@dataclass(frozen=True)
class MachineFacts:
    """Facts of a target; None is unknown. `known` names their source, for the words of findings."""

    name: str = ""
    known: str = ""
    kind: str | None = None
    drives: int | None = None
    rpm: float | None = None
    write_through: bool | None = None
    read_cache_bytes: float = 0.0
    write_cache_bytes: float = 0.0
    capacity_bytes: float | None = None
    raw_bytes: float | None = None
    read_time_ns: float | None = None
    port_bytes_per_s: float | None = None
    media_bytes_per_s: float | None = None

    @property
    def revolution_ns(self) -> float | None:
        """Time of one turn of the slowest spindle."""
        return None if self.rpm is None else 60e9 / self.rpm


def of_options(on: str | Named | None, media: str | None, cache: str | None) -> MachineFacts | None:
    """Return facts from `--on`, `--media` and `--cache`; None without any of them. Raises UserError."""
    if on is not None and media is not None:
        raise UserError("question.media", "", media, "cannot be combined with question.on, which names the drives")
    return of_media(media, cache) if on is None else of_machine(on, cache)


def of_media(text: str | None, cache: str | None = None) -> MachineFacts | None:
    """Return facts from `--media` and `--cache`; None without both. Raises UserError."""
    facts = None
    if text is not None:
        speed = re.fullmatch(r"(\d{4,5})\s*rpm", text.strip().lower())
        if text == "ssd":
            facts = MachineFacts("SSD", "question.media", "ssd")
        elif text == "hdd" or (speed and 3600 <= int(speed[1]) <= 20000):
            rpm = float(speed[1]) if speed else USUAL_RPM
            facts = MachineFacts(f"{rpm:,.0f} rpm disk", "question.media", "disk", rpm=rpm)
        else:
            raise UserError("question.media", "", text, MEDIA_EXPECTED)
    if cache is None:
        return facts
    size = size_bytes(cache)
    if size is None:
        raise UserError("question.cache", "", cache, f"expected {SIZE_EXPECTED}")
    return replace(facts or MachineFacts("the target", "question.cache"), read_cache_bytes=size)


def of_machine(argument: str | Named, cache: str | None = None) -> MachineFacts:
    """Return facts of a catalog drive, a short form or a TOML file, as `hotband run --on` accepts them, or of a named
    text. Raises UserError."""
    name = argument if isinstance(argument, str) else argument.name
    text = text_of(argument, "machine") if isinstance(argument, str) else argument.text
    facts = _of_text(name, name if text is None else text, text is not None, {}, {})
    extra = of_media(None, cache)
    named = replace(facts, name=name, known="question.on")
    return named if extra is None else replace(named, read_cache_bytes=named.read_cache_bytes + extra.read_cache_bytes)


def of_record(record: RecordDoc) -> MachineFacts | None:
    """Return facts of the machine of a model's record; None for other records."""
    spec = record.get("spec") or {}
    if record["target"].get("kind") != "model" or not spec.get("machine"):
        return None
    drives, changed = spec.get("drives") or {}, spec.get("set") or {}
    facts = _of_spec(str(spec["machine"]), tuple(drives.items()), tuple(changed.items()))
    return facts and replace(facts, name=str(record["target"].get("machine") or ""), known="the record")


@lru_cache(maxsize=64)
def _of_spec(
    machine: str, drives: tuple[tuple[str, str], ...], changed: tuple[tuple[str, str], ...]
) -> MachineFacts | None:
    """Return facts of the machine of a run; None if its text cannot be read. The records of a sweep share them."""
    try:
        return _of_text("machine", machine, True, dict(drives), dict(changed))
    except UserError:
        return None


def _of_text(
    name: str, text: str, is_toml: bool, products: Mapping[str, str], changed: Mapping[str, str]
) -> MachineFacts:
    """Return facts of a machine from its TOML text or its short form."""
    if not is_toml:
        short = re.fullmatch(r"([a-z0-9]+):(\d+)x([^:]+)(:.+)?", text)
        layout, count, product = (short[1], int(short[2]), short[3]) if short else ("single", 1, text)
        if layout not in KINDS or not 1 <= count <= MOST_DRIVES:
            raise UserError("question.on", "", text, f"expected LAYOUT:COUNTxDRIVE with a layout of {', '.join(KINDS)}")
        try:
            values = _values(product, products, changed, {})
        except UserError as error:
            raise UserError("question.on", "", error.value, error.accepted) from None
        size = _size(values)
        return _sum_up([(values, count)], None if size is None else usable_bytes(layout, [size] * count, {}))
    try:
        machine = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        raise UserError(name, "", "", f"not TOML: {error}") from None
    tables = list(_drives(name, machine, products, changed))
    sizes: dict[str, float] = {}
    for key, values, number in tables:
        size = _size(values)
        if size is not None:
            sizes |= {key if number is None else f"{key}{n}": size for n in range(number or 1)}
    usable = (
        capacity_of(machine, sizes) if machine.get("layouts") else (sum(sizes.values()) if len(tables) == 1 else None)
    )
    return _with_caches(_sum_up([(values, number or 1) for _, values, number in tables], usable), machine)


def _with_caches(facts: MachineFacts, machine: Mapping[str, Toml]) -> MachineFacts:
    """Add the memory of controllers, which acknowledges writes if it is protected."""
    layouts = machine.get("layouts")
    for table in layouts.values() if isinstance(layouts, dict) else ():
        cache = table.get("controller") if isinstance(table, dict) else None
        if not isinstance(cache, dict):
            continue
        size = size_bytes(str(cache.get("cache", "2 GiB"))) or 0.0
        # Its memory answers at the rate of its own link.
        facts = replace(facts, read_cache_bytes=facts.read_cache_bytes + size, port_bytes_per_s=None)
        if cache.get("battery", "on") == "on":
            facts = replace(facts, write_through=False, write_cache_bytes=facts.write_cache_bytes + size)
    return facts


def _drives(
    name: str, machine: Mapping[str, Toml], products: Mapping[str, str], changed: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, str], int | None]]:
    """Yield name, values and count of each table of drives; without a count it is one drive of that name."""
    tables = machine.get("drives")
    if not isinstance(tables, dict) or not tables:
        raise UserError(name, "drives", "", "is missing; expected tables such as [drives.d]")
    for key, table in tables.items():
        product = table.get("product") if isinstance(table, dict) else None
        if not isinstance(table, dict) or not isinstance(product, str):
            raise UserError(name, f"drives.{key}.product", str(product or ""), "expected a drive of the catalog")
        settings = table.get("set", {})
        if not isinstance(settings, dict):
            raise UserError(name, f"drives.{key}.set", str(settings), 'expected a table such as { wce = "off" }')
        count = table.get("count")
        if count is not None and not (type(count) is int and 1 <= count <= MOST_DRIVES):
            accepted = f"expected a whole number from 1 to {MOST_DRIVES:,}"
            raise UserError(name, f"drives.{key}.count", str(count), accepted)
        yield (
            key,
            _values(product, products, changed, {setting: str(value) for setting, value in settings.items()}),
            count,
        )


def _values(
    product: str, products: Mapping[str, str], changed: Mapping[str, str], settings: Mapping[str, str]
) -> dict[str, str]:
    """Return the values of a drive with the changes of the machine and `--set`, and its kind under "kind"."""
    if product in products:
        table = tomli.loads(products[product])
        values = {key: str(value.get("value")) for key, value in table.get("values", {}).items() if "value" in value}
        values["kind"] = str(table.get("kind"))
    else:
        drive = entries.drive(product)
        values = {value["key"]: str(value["value"]) for value in drive["values"]} | {"kind": drive["kind"]}
    given = {**settings, **changed}
    return {key: given.get(key, value) for key, value in values.items()}


def _sum_up(drives: list[tuple[dict[str, str], int]], usable: float | None) -> MachineFacts:
    count = sum(number for _, number in drives)
    kinds = {values["kind"] for values, _ in drives}
    rpms = [float(values["rpm"].split()[0]) for values, _ in drives if "rpm" in values]
    raw = sum((_size(values) or 0.0) * number for values, number in drives)
    times = [span_ns(values["read_time"]) for values, _ in drives if "read_time" in values]
    known_times = [time for time in times if time is not None]
    return MachineFacts(
        kind=kinds.pop() if len(kinds) == 1 else None,
        drives=count,
        rpm=min(rpms) if rpms else None,
        write_through=all(_writes_through(values) for values, _ in drives),
        read_cache_bytes=sum(number * _read_cache(values) for values, number in drives),
        write_cache_bytes=sum(number * _write_cache(values) for values, number in drives),
        capacity_bytes=usable,
        raw_bytes=raw or None,
        read_time_ns=min(known_times) if known_times else None,
        port_bytes_per_s=_summed(drives, _port),
        media_bytes_per_s=_summed(drives, lambda values: _rate(values.get("sustained_outer", ""))),
    )


def _summed(
    drives: Sequence[tuple[dict[str, str], int]], each: Callable[[Mapping[str, str]], float | None]
) -> float | None:
    """Return the sum of a rate over all drives; None if it is unknown for one."""
    rates = [(each(values), count) for values, count in drives]
    known = [value * count for value, count in rates if value is not None]
    return sum(known) if known and len(known) == len(rates) else None


def _rate(text: str) -> float | None:
    """Return the bytes per second of a rate such as "261 MB/s"."""
    return size_bytes(text.removesuffix("/s"))


SATA, SAS = 600e6, 2400e6
"""Most of a port of an SSD: SATA 6 Gb/s, one direction at a time; SAS 24 Gb/s, the fastest there is."""


def _port(values: Mapping[str, str]) -> float | None:
    """Return the bytes per second of a drive's port in one direction."""
    if "port_rate" in values:
        return _rate(values["port_rate"])
    if "pcie_lanes" in values:
        lane = LANE.get(int(float(values.get("pcie_generation", "0"))))
        return None if lane is None else lane * float(values["pcie_lanes"])
    return None if values["kind"] != "ssd" else SATA if values.get("link_duplex") == "off" else SAS


def _size(values: Mapping[str, str]) -> float | None:
    """Return the bytes of a drive: a simulated SSD may have a smaller model size."""
    size = size_bytes(values.get("capacity", ""))
    return None if size is None else size / float(values.get("scale", "1"))


def _writes_through(values: Mapping[str, str]) -> bool:
    """Return whether it is a disk without volatile or protected write cache; an SSD acknowledges from its buffer."""
    return values["kind"] == "disk" and values.get("wce") != "on" and values.get("awc") != "on"


def _read_cache(values: Mapping[str, str]) -> float:
    """Return the bytes of memory that serve repeated reads, with flash if it is switched on."""
    memory = size_bytes(values.get("cache_size", "")) or 0.0
    flash = size_bytes(values.get("flash_size", "")) or 0.0
    return (0.0 if values.get("rcd") == "on" else memory) + (flash if values.get("turboboost") == "on" else 0.0)


def _write_cache(values: Mapping[str, str]) -> float:
    if values["kind"] == "ssd":
        return size_bytes(values.get("write_buffer", "")) or 0.0
    volatile = size_bytes(values.get("write_cache_size", "")) or 0.0 if values.get("wce") == "on" else 0.0
    protected = size_bytes(values.get("awc_size", "")) or 0.0 if values.get("awc") == "on" else 0.0
    return max(volatile, protected)
