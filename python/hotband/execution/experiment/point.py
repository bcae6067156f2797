"""One run of an experiment, and the key that determines whether two runs must leave the same record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

import tomli

import hotband._core as _core
from hotband.base.engine import version
from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR
from hotband.data.catalog.named import EMULATED
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.texts import bytes_of, text_of
from hotband.data.inputs.values import Coordinate
from hotband.data.traces.files import digest_of
from hotband.execution.experiment.parcel import is_data_file
from hotband.execution.runs.run import Prepared

Named = tuple[str, str | None, str, str | None]
Texts = dict[str, object]
# Where machines find what they are built from.
PRODUCT_FOLDERS = ("drives", "osds")


@dataclass(frozen=True)
class Point:
    """One run of an experiment. `at` are its coordinates, which are columns of the frame: target, workload, seed and
    what its sampler varies. `prepared` is the run if it was checked before; the cores of this computer execute it.
    """

    spec: RunSpec
    at: Mapping[str, Coordinate] = field(default_factory=dict)
    prepared: Prepared | None = field(default=None, compare=False, repr=False)

    @property
    def id(self) -> str:
        """Its name, which no other run of the experiment has."""
        return self.spec.id


def keys_of(lines: Iterable[Sequence[RunSpec]]) -> dict[str, str]:
    """The key of every run of these lines by its id: equal keys leave equal records.

    A key is the SHA-256 of all that a record follows from: texts of machine and workload, settings, seed, duration,
    what happens to the machine, the texts of the catalog that the machine uses, the version of Hotband and, of runs on
    one machine, the whole line.
    """
    keys = {}
    texts: dict[Named, Texts] = {}
    digests: dict[str, str] = {}
    for line in lines:
        contents = [_content(spec, texts, digests) for spec in line]
        for index, spec in enumerate(line):
            text = json.dumps([version(), index, contents], sort_keys=True, ensure_ascii=False)
            keys[spec.id] = hashlib.sha256(text.encode()).hexdigest()
    return keys


def key_of_all(lines: Iterable[Sequence[RunSpec]]) -> str:
    """The key of a result that is made of all runs of these lines, such as the figures of a draw: equal keys have equal
    results."""
    return hashlib.sha256(json.dumps(sorted(keys_of(lines).items())).encode()).hexdigest()


def _content(spec: RunSpec, texts: dict[Named, Texts], digests: dict[str, str]) -> dict[str, object]:
    """Return everything that determines a record. Names are included, because the record has them. `texts` and
    `digests` cache those of previous runs: thousands of one sweep name the same."""
    named = (spec.machine, spec.machine_text, spec.workload, spec.workload_text)
    if named not in texts:
        texts[named] = _texts(spec)
    repair = spec.repair
    return {
        **texts[named],
        "set": spec.set,
        "seed": spec.seed,
        "duration": spec.duration,
        "events": spec.events,
        "power_loss": spec.power_loss,
        "in_use": spec.in_use,
        "repair": [repair.fail, repair.spares, repair.rate, repair.after],
        **({} if spec.precision is None else {"precision": spec.precision}),
        **_data(spec, digests),
    }


def _data(spec: RunSpec, digests: dict[str, str]) -> dict[str, object]:
    """Return digests of the files that describe how data compresses (`data=mysql.json`) by name; empty if none is set.
    `digests` has those of runs before. One that cannot be read is refused by the engine."""
    named = [value for key, value in spec.set if key == "data" and is_data_file(value)]
    for value in named:
        if value not in digests:
            digests[value] = ""
            with suppress(UserError):
                digests[value] = hashlib.sha256(bytes_of(value, "data")).hexdigest()
    return {"data": {value: digests[value] for value in named}} if named else {}


def _texts(spec: RunSpec) -> Texts:
    """Return the texts that a run names."""
    machine_text, machine = spec.machine_text, spec.machine.removeprefix(EMULATED)
    machine_text = text_of(machine, "machine") if machine_text is None else machine_text
    workload_text = text_of(spec.workload, "workload") if spec.workload_text is None else spec.workload_text
    if workload_text is None:
        workload_text = _catalog_text("workloads", spec.workload)
    trace = digest_of(spec.workload, workload_text)
    return {
        "machine": [spec.machine, machine_text],
        "workload": [spec.workload, workload_text],
        **({} if trace is None else {"trace": trace}),
        "products": _products(spec.machine if machine_text is None else machine_text)
        | _own_drives(spec.machine, machine_text),
    }


def _own_drives(machine: str, text: str | None) -> dict[str, str]:
    """Texts of the drives that are files of the user's; none of what is wrong, which the engine refuses."""
    if ".toml" not in machine and ".toml" not in (text or ""):
        return {}
    try:
        return _core.machine(CATALOG_DIR, machine, text)["own_drives"]
    except _core.SpecError:
        return {}


def _products(machine: str) -> dict[str, str]:
    """Texts of the catalog's drives and daemons whose names are in a machine, and of those that they are variants of.
    One whose name is part of another's is taken with it, which does no harm."""
    products: dict[str, str] = {}
    for folder in PRODUCT_FOLDERS:
        for name in _core.catalog_names(CATALOG_DIR, folder):
            if name in machine:
                products |= _with_origin(folder, name)
    return products


@cache
def _with_origin(folder: str, name: str) -> dict[str, str]:
    """The text of a product, and those of what it is a variant of."""
    text = _catalog_text(folder, name)
    origin = tomli.loads(text).get("variant_of")
    return {name: text} | (_with_origin(folder, origin) if origin else {})


@cache
def _catalog_text(folder: str, name: str) -> str:
    """The text of an entry; empty if there is none, which the engine refuses."""
    path = CATALOG_DIR / folder / f"{name}.toml"
    return path.read_text(encoding="utf-8") if path.is_file() else ""
