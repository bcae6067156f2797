"""Describe the pools of a run: copies, hosts, placement groups and image, by default or stated, a client at its limit,
and how full RAID-Z is. Left out: the filled share of machines with other layouts next to a pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import tomli

from hotband.base.text.numbers import counted, number, share, size, span
from hotband.base.text.quantities import size_bytes, span_ns
from hotband.base.text.words import enumerated
from hotband.data.catalog.capacity import COPIES, POOLS, SHARDS
from hotband.data.record.states import state_lines, states_of, values_of_file

if TYPE_CHECKING:
    from hotband.base.text.values import Toml
    from hotband.data.documents.record import RecordDoc

DEFAULTS: Mapping[str, Toml] = {
    "replicas": COPIES, "k": SHARDS[0], "m": SHARDS[1], "hosts": 1, "placement_groups": 256, "object": "4 MiB",
    "failure_domain": "osd", "osd": "bluestore-14",
}  # fmt: skip
"""Values of a pool that its machine does not state [docs/guides/machines.md]."""
LARGEST_IMAGE = float(1 << 46)
"""Bytes of the largest image of the model, 64 TiB: a larger pool is not filled."""
RAIDZ = "raidz"
"""Beginning of the names of its three kinds."""
RAIDZ_FILLED = "80 %"
"""Share of RAID-Z's space that is full unless its machine states another [docs/models/layouts.md]."""
NEARLY_EMPTY = 0.5
"""Share of the space below which an image of that size leaves a pool so empty that seeks are clearly shorter."""
FEW_GROUPS = 30.0
"""Copies of placement groups per daemon below which Ceph 14 warns (mon_pg_warn_min_per_osd)."""
BUSY = 0.9
"""Share of the time that the client's thread works from which it, and not the drives, sets the rate."""


@dataclass(frozen=True)
class Pool:
    """A pool of a run: its values with defaults, the keys that its machine states, its daemons, and the bytes of its
    image and of the drives (None if other layouts use them, too)."""

    values: Mapping[str, Toml]
    stated: frozenset[str]
    is_erasure: bool
    daemons: int
    image_bytes: float
    raw_bytes: float | None

    @property
    def copies(self) -> int:
        """Return the daemons that hold a part of each object."""
        return self.count("k") + self.count("m") if self.is_erasure else self.count("replicas")

    @property
    def data_shards(self) -> int:
        """Return the parts of an object without its redundancy."""
        return self.count("k") if self.is_erasure else 1

    @property
    def filled(self) -> float | None:
        """Return the share of the drives' space that the image fills; None if unknown."""
        stored = self.image_bytes * self.copies / self.data_shards
        return stored / self.raw_bytes if self.raw_bytes else None

    @property
    def groups_per_daemon(self) -> float:
        """Return the copies of placement groups that a daemon has in the mean."""
        return self.count("placement_groups") * self.copies / (self.daemons or 1)

    def count(self, key: str) -> int:
        """Return a value that is a whole number."""
        return int(str(self.values[key]))


def pools_of(record: RecordDoc) -> Iterator[Pool]:
    """Yield the pools of a run; none for other machines, and for records of other tools."""
    layouts = _layouts_of(record, POOLS)
    for name, layout in layouts.items():
        kind, stated = next(iter(layout.items()))
        if kind in POOLS:
            daemons = [part for part in record["parts"] if part["kind"] == "osd" and part["id"].startswith(f"{name}.")]
            objects = sum(part.get("at_end", {}).get("objects", 0) for part in daemons)
            raw = _raw_bytes(record) if len(layouts) == 1 else None
            pool = Pool({**DEFAULTS, **stated}, frozenset(stated), kind == "erasure", len(daemons), 0.0, raw)
            yield replace(pool, image_bytes=objects * (size_bytes(str(pool.values["object"])) or 0.0) / pool.copies)


def _layouts_of(record: RecordDoc, kinds: Iterable[str]) -> dict[str, dict[str, dict[str, Toml]]]:
    """Return the layouts of a run's machine; none if it has no layout of these kinds."""
    text = record["spec"].get("machine", "") if isinstance(record.get("spec"), dict) else ""
    # Every run of a sweep comes here, and parsing takes longer than looking for the words.
    return tomli.loads(text).get("layouts", {}) if any(kind in text for kind in kinds) else {}


def _raw_bytes(record: RecordDoc) -> float:
    """Return the bytes of all drives, at their model size."""
    states = states_of(record) or {"drives": []}
    capacities = {state["product"]: values_of_file(record, state["product"]) for state in states["drives"]}
    sizes = {product: size_bytes(values.get("capacity", "")) or 0.0 for product, values in capacities.items()}
    return sum(len(state["drives"]) * sizes[state["product"]] / state["scale"] for state in states["drives"])


def machine_state_lines(record: RecordDoc) -> list[str]:
    """Return a line for each group of equal drives, with the state of their caches, and one for each pool."""
    return [*state_lines(states_of(record)), *pool_lines(record)]


def pool_lines(record: RecordDoc) -> list[str]:
    """Return a line for each pool, "3 copies on separate osds, 1 host and 256 placement groups by default, image 37.8
    TB (65 % full)", and for each RAID-Z, whose writes are slower the fuller it is."""
    return [*map(_words, pools_of(record)), *_raidz_lines(record)]


def _raidz_lines(record: RecordDoc) -> Iterator[str]:
    for layout in _layouts_of(record, [RAIDZ]).values():
        kind, stated = next(iter(layout.items()))
        if kind.startswith(RAIDZ):
            filled = stated.get("filled")
            yield f"RAID-Z {filled} full" if filled else f"RAID-Z {RAIDZ_FILLED} full by default"


def _words(pool: Pool) -> str:
    copies = f"{pool.values['k']}+{pool.values['m']} shards" if pool.is_erasure else f"{pool.copies} copies"
    texts = {
        "k" if pool.is_erasure else "replicas": f"{copies} on separate {pool.values['failure_domain']}s",
        "hosts": counted(pool.count("hosts"), "host"),
        "placement_groups": f"{pool.count('placement_groups'):,} placement groups",
    }
    stated = [text for key, text in texts.items() if key in pool.stated]
    assumed = [text for key, text in texts.items() if key not in pool.stated]
    full = "" if pool.filled is None else f" ({share(pool.filled)} full)"
    by_default = [f"{enumerated(assumed, len(assumed))} by default"] if assumed else []
    return ", ".join([*stated, *by_default, f"image {size(pool.image_bytes)}{full}"])


def pool_notes(record: RecordDoc) -> list[str]:
    """Return what limits or distorts the figures of the pools of a run."""
    notes: list[str] = []
    for pool in pools_of(record):
        filled = pool.filled or 1.0
        notes += _of_client(record, pool)
        if pool.groups_per_daemon < FEW_GROUPS:
            few = f"{number(pool.groups_per_daemon)} placement groups per daemon (Ceph warns below {FEW_GROUPS:g})"
            notes.append(f"{few}: some daemons get more work than others; set placement_groups, or balanced")
        if "image" not in pool.stated and pool.image_bytes > 0.99 * LARGEST_IMAGE and filled < NEARLY_EMPTY:
            largest = f"the image is the largest possible, {size(LARGEST_IMAGE)}"
            notes.append(f"{largest}, so the pool is {share(filled)} full: a full one has longer seeks and is slower")
    return notes


def _of_client(record: RecordDoc, pool: Pool) -> list[str]:
    """Return the sentence on a client whose thread is the limit; none if it is not, and on flash, where a note of the
    engine states it."""
    changed = pool.values.get("osd_set")
    set_of_pool = {key: str(value) for key, value in changed.items()} if isinstance(changed, Mapping) else {}
    daemon = {**values_of_file(record, str(pool.values["osd"])), **set_of_pool}
    time = span_ns(record["spec"].get("set", {}).get("cpu_client", daemon.get("cpu_client", "")))
    if time is None or any(entry["what"] == "flash-pool" for entry in record.get("unmodelled", [])):
        return []
    reference = float(daemon.get("cpu_clock_mhz", "0"))
    time *= reference / float(str(pool.values.get("core_clock_mhz", reference)))
    busy = (record["summary"]["iops"] or 0.0) * time / 1e9
    most = f"at most {number(1e9 / time)} I/Os per second at {span(time)} each (cpu_client)"
    client = f"the client's only thread is {share(min(busy, 1.0))} busy and limits the rate, not the drives"
    return [f"{client}: {most}; several clients do more"] if busy >= BUSY else []
