"""Questions about the catalog: its drives, daemons, workloads and layouts, keys of `set`, and events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.question import Question, Way, asks, capacity
from hotband.data.catalog import entries
from hotband.data.catalog.filters import SORT_KEYS, DriveSelection, product_of, select_drives
from hotband.data.catalog.layouts import LAYOUTS
from hotband.data.inputs.keys import SetKey, set_keys
from hotband.data.inputs.kinds import DaemonName, DriveWords, Target, Values, WorkloadName
from hotband.inference.interval.of_catalog import MeasuredLoad, measured_on

if TYPE_CHECKING:
    from hotband._core import CatalogEntry
    from hotband.data.catalog.entries import WorkloadEntry

BOOLEANS = ("supported", "estimate")
"""Columns of frames that hold truth values instead of text."""


@dataclass(frozen=True)
class Listing:
    """Entries of the catalog in a list: the title of their table, its headings by the keys of the entries, and which
    keys are columns of a frame."""

    title: str
    headings: Mapping[str, str]
    rows: Sequence[Mapping[str, object]]
    columns: tuple[str, ...]

    @property
    def frame(self) -> pl.DataFrame:
        """Return a row per entry."""
        return frame_of(self.rows, self.columns)


def frame_of(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> pl.DataFrame:
    """Return a frame of texts and truth values."""
    kinds = {name: pl.Boolean if name in BOOLEANS else pl.String for name in columns}
    return pl.DataFrame([{name: row[name] for name in columns} for row in rows], schema=kinds)


@dataclass(frozen=True, kw_only=True)
class CatalogQuestion(Question):
    """Base of questions whose answers are lists, or one entry in detail."""

    schema = ""
    answers = "hotband.questions.catalog:Listing"
    as_frame = True


@dataclass(frozen=True)
class ShownProduct:
    """A drive or a daemon with all its values, and others' measurements of it next to predictions."""

    entry: CatalogEntry
    schema: str
    measured: tuple[MeasuredLoad, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the entry, with the measurements of others."""
        measured = {"measured": [row.document() for row in self.measured]} if self.measured else {}
        return {**self.entry, **measured}

    @property
    def frame(self) -> pl.DataFrame:
        """Return a row per value; `low` and `high` are the ends of its range (null if it has none)."""
        values = [(value, value["range"] or (None, None)) for value in self.entry["values"]]
        rows = [{**value, "low": low, "high": high} for value, (low, high) in values]
        return frame_of(rows, ("key", "value", "low", "high", "source", "confidence", "estimate", "note"))


@dataclass(frozen=True, kw_only=True)
class DrivesQuestion(CatalogQuestion):
    """List the drives of the catalog; with NAME show every value of a drive, with its source.

    Returns a row per drive: capacity, interface, speed or flash, class, launch year, rated I/Os and rates, and the
    price of a terabyte of its class (null if the data sheet states nothing); of a single drive a row per value: `key`,
    `value`, `low`, `high`, `source`, `confidence`, `estimate`, `note`. Raises UserError for an unknown word, size or
    key.
    """

    name = "drives show"
    answers = "hotband.data.catalog.filters:DriveSelection"
    shown = (answers, "hotband.questions.catalog:ShownProduct")

    words: DriveWords = asks(
        "A drive in detail, or words that filter: nvme, sata, hdd, smr, 15k, tlc, enterprise, seagate ...",
        default=(),
        metavar="[NAME]...",
        positional=True,
    )
    min: str | None = capacity('Smallest capacity, such as "3 TB".', None)
    max: str | None = capacity("Largest capacity.", None)
    sort: str | None = asks(
        f"Sort by {', '.join(SORT_KEYS)}; drives without the value come last.", default=None, metavar="KEY"
    )
    whole: bool = asks("Print all of a long list on a terminal.", default=False, called="all", hidden=True)


def drives(question: DrivesQuestion, _: Way) -> DriveSelection | ShownProduct:
    """Return the selected drives, or one of them. Raises UserError."""
    product = product_of(question.words)
    if product is not None:
        try:
            return ShownProduct(entries.drive(product), "hotband-drive", tuple(measured_on(product)))
        except UserError as error:
            where = "question.words" if error.where == "question.name" else error.where
            raise UserError(where, error.key, error.value, error.accepted) from None
    return select_drives(question.words, least=question.min, most=question.max, sort=question.sort)


def entry() -> Any:
    """Return the field that names an entry, which the command line may leave out and Python does not have."""
    return asks("One entry in detail.", default=None, metavar="[NAME]", positional=True, hidden=True)


@dataclass(frozen=True, kw_only=True)
class OsdsQuestion(CatalogQuestion):
    """List object storage daemons of the catalog, for replicated pools; with NAME show all values of one."""

    name = "osds"
    shown = ("hotband.questions.catalog:Listing", "hotband.questions.catalog:ShownProduct")

    name_: DaemonName | None = entry()


def osds(question: OsdsQuestion, _: Way) -> Listing | ShownProduct:
    """Return the daemons, or one of them. Raises UserError."""
    if question.name_ is not None:
        return ShownProduct(entries.osd(question.name_), "hotband-osd")
    headings = {"name": "name", "title": "daemon", "model": "model", "kind": "kind"}
    return Listing("Object storage daemons", headings, entries.osds(), tuple(headings))


@dataclass(frozen=True)
class ShownWorkload:
    """A workload with its text."""

    entry: WorkloadEntry
    schema: str = "hotband-workload"

    def to_dict(self) -> WorkloadEntry:
        """Return the entry."""
        return self.entry


@dataclass(frozen=True, kw_only=True)
class WorkloadsQuestion(CatalogQuestion):
    """List workloads of the catalog; with NAME print the text of one, to copy and change."""

    name = "workloads show"
    shown = ("hotband.questions.catalog:Listing", "hotband.questions.catalog:ShownWorkload")

    workload: WorkloadName | None = entry()

    def text(self, result: Listing | ShownWorkload) -> str:
        """Return the text of a workload as it is in its file."""
        return result.entry["text"] if isinstance(result, ShownWorkload) else ""


def workloads(question: WorkloadsQuestion, _: Way) -> Listing | ShownWorkload:
    """Return the workloads, or one of them. Raises UserError."""
    if question.workload is not None:
        return ShownWorkload(entries.workload(question.workload))
    headings = {"name": "name", "title": "workload", "source": "source"}
    return Listing("Workloads", headings, entries.workloads(), tuple(headings))


class Layouts(list[str]):
    """Names of the layouts of drives."""

    @property
    def rows(self) -> Sequence[Mapping[str, object]]:
        """Return a document per layout."""
        return [layout._asdict() for layout in LAYOUTS]


@dataclass(frozen=True, kw_only=True)
class LayoutsQuestion(CatalogQuestion):
    """List the layouts of drives (RAID, mirrors, pools), how each is written, and what it survives.

    Returns their names: `on="raid5:8xent-10k"` is eight drives in one of them.
    """

    name = "layouts"
    answers = "hotband.questions.catalog:Layouts"
    as_frame = False


def layouts(_: LayoutsQuestion, __: Way) -> Layouts:
    """Return the layouts."""
    return Layouts(_core.LAYOUTS)


@dataclass(frozen=True)
class SetKeys:
    """Keys that `set` accepts for a workload on a machine."""

    keys: Sequence[SetKey]

    @property
    def rows(self) -> Sequence[Mapping[str, object]]:
        """Return a document per key."""
        return [key.data() for key in self.keys]

    @property
    def frame(self) -> pl.DataFrame:
        """Return a row per key."""
        return frame_of(self.rows, ("key", "part", "value", "accepted", "meaning", "fio"))


@dataclass(frozen=True, kw_only=True)
class KeysQuestion(CatalogQuestion):
    """List every key that --set takes for a workload on a machine: its current value, allowed values and meaning.

    Returns one row per key with `key`, `part` (its owner), `value` (current; null if it has none, or several),
    `accepted`, `meaning` and `fio` (its name in fio). `set` is changed first. Raises UserError.
    """

    name = "keys"
    answers = "hotband.questions.catalog:SetKeys"

    workload: WorkloadName = asks(
        "A catalog name, a TOML file, a job file or an I/O log.", metavar="WORKLOAD", positional=True
    )
    on: Target = asks("A drive, LAYOUT:COUNTxDRIVE, or a TOML file.", metavar="MACHINE")
    settings: Values = asks("Change a value.", default=(), metavar="KEY=VALUE")


def keys(question: KeysQuestion, _: Way) -> SetKeys:
    """Return the keys. Raises UserError."""
    return SetKeys(set_keys(question.workload, question.on, question.settings))


class EventDoc(TypedDict):
    """An event and a part; `why` is why it is not supported there, None if it is."""

    event: str
    group: str
    on: str
    supported: bool
    why: str | None


@dataclass(frozen=True)
class Events:
    """The events of a run, and what supports them."""

    rows: Sequence[EventDoc]

    @property
    def frame(self) -> pl.DataFrame:
        """Return a row per event and part."""
        return frame_of(self.rows, ("event", "group", "on", "supported", "why"))


@dataclass(frozen=True, kw_only=True)
class EventsQuestion(CatalogQuestion):
    """List the events of a run (failures, loss of power, changed values) and what supports them.

    Returns one row per event and part with `event`, `group` ("layout", "drive" or "with"), `on`, `supported` and
    `why` not (null if it is).
    """

    name = "events"
    answers = "hotband.questions.catalog:Events"


def events(_: EventsQuestion, __: Way) -> Events:
    """Return the events."""
    rows: list[EventDoc] = [
        {"event": event.event, "group": event.group, "on": event.on, "supported": not event.why, "why": event.why}
        for event in _core.event_table()
    ]
    return Events(rows)
