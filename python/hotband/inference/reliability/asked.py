"""The reliability question: an array from a machine's layout, conditions from options and the catalog with sources."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypedDict

import hotband._core as _core
from hotband.base.engine import mistakes_without_load
from hotband.base.errors import UserError
from hotband.base.question import Question, asks, seed
from hotband.base.text.nearest import repeated
from hotband.base.text.quantities import SPAN_FORM, SPAN_UNITS, share, size_bytes, span_ns
from hotband.data.catalog import CATALOG_DIR, entries
from hotband.data.catalog.classes import drive_classes
from hotband.data.catalog.named import expect_model
from hotband.data.inputs.kinds import Machine, RecordGiven, SettingsOfDrives
from hotband.data.inputs.texts import text_of
from hotband.data.record.incomplete import refusing_incomplete
from hotband.inference.reliability.array import HOURS_PER_YEAR, Array, Conditions
from hotband.inference.reliability.recorded import NS_PER_HOUR, Rebuilt, recorded_rebuild

MOST_SPARES = 64
LEAST_ARRAYS, MOST_ARRAYS = 1000, 10_000_000


class Distribution(StrEnum):
    """Distributions of the lives of drives."""

    exponential = "exponential"
    weibull = "weibull"


class Rebuilds(StrEnum):
    """Distributions of rebuild times."""

    exponential = "exponential"
    constant = "constant"


class Method(StrEnum):
    """Methods of simulating the mean time to data loss."""

    auto = "auto"
    biased = "biased"
    direct = "direct"


GIVEN = "given"
"""The source of a value that was given with the question."""
POOL = ".replicated"
"""End of the key of a pool's layout."""
POOL_REFUSED = (
    "is a replicated pool, whose chance of losing data is not modelled: it depends on which drives hold the copies of "
    "an object together; expected an array (hotband layouts). hotband run predicts its recovery, with the event "
    "'at 10 s: osd-out data.1'"
)
NO_ERROR_RATE = "the catalog has none"
"""The source of the rate of unrecoverable errors if neither question nor catalog has one."""
# Bits read per unrecoverable error that makers' data sheets state by class: client and NAS disks 1e14, nearline and
# enterprise disks 1e15; client SSDs 1e16, enterprise SSDs 1e17, of which the catalog has most (`hotband drives NAME`).
ASSUMED_BITS = {("disk", False): "1e14", ("disk", True): "1e15", ("ssd", False): "1e16", ("ssd", True): "1e17"}
"""Bits per error by mechanism, and whether the class is sold for arrays; for products without a stated rate."""
ARRAY_MARKETS = ("enterprise", "nearline")
ASSUMED = "assumed"
"""Beginning of the source of such a rate."""
BITS_EXPECTED = 'expected bits read for one error, such as "1e15", or none'
RATE_EXPECTED = 'expected a rate with its unit, such as "50 MB/s"'
# Rebuild hours of layouts without rebuilds; no figure depends on them.
NEVER_REBUILT = 1.0
# An upper bound of all times, so that products of several of them stay finite.
MOST_HOURS = 1e12
LEAST_AFR = HOURS_PER_YEAR / MOST_HOURS
# Number of zones over which the time of a rebuild at a limited rate is summed.
ZONES = 1000


@dataclass(frozen=True, kw_only=True)
class ReliabilityQuestion(Question):
    """Predict when an array loses data: mean time to data loss and the chance of loss, with the closed form.

    Unless they are given, lives of drives are from the catalog, and rebuild times from the media rate.

    The result has `mttdl_years`, `loss`, `bytes_lost_per_tb` (each with `value`, `low`, `high`), `exact_mttdl_years`,
    `exact_loss`, `causes`, `sources` and a `frame`. Raises UserError.
    """

    name = "reliability"
    schema = "hotband-reliability"
    answers = "hotband.inference.reliability.result:Reliability"

    on: Machine = asks("A drive, LAYOUT:COUNTxDRIVE, or a TOML file.", metavar="MACHINE", positional=True)
    layout: str | None = asks("Layout of a machine that has several.", default=None, metavar="NAME")
    settings: SettingsOfDrives = asks("Change a value.", default=(), metavar="KEY=VALUE")
    mtbf: str | None = asks('Mean life of a drive, as "1400000 h".', default=None, metavar="TIME")
    afr: str | None = asks(
        'Instead of mtbf: share of drives failing per year, as "0.9 %".', default=None, metavar="SHARE"
    )
    rebuild_time: str | None = asks('Time to rebuild a drive, as "6 h".', default=None, metavar="TIME")
    rebuild_rate: str | None = asks(
        'Rate limit of a rebuild, such as "50 MB/s". Default: the media rate.', default=None, metavar="RATE"
    )
    record: RecordGiven | None = asks(
        "Rebuild time from a record of a run in which a drive failed.", default=None, metavar="RECORD"
    )
    spares: int = asks("Spare drives in stock.", default=0, least=0, most=MOST_SPARES)
    replacement: str | None = asks(
        'Delivery time of an ordered drive, such as "24 h". Default: none.', default=None, metavar="TIME"
    )
    error_rate: str | None = asks(
        'Bits read for one unrecoverable error, as "1e15", or none.', default=None, metavar="BITS"
    )
    one_rebuild: bool = asks("Rebuild drives one after the other.", default=False)
    distribution: Distribution = asks("Distribution of drives' lives.", default=Distribution.exponential)
    shape: float | None = asks("Shape of Weibull lives; above 1 drives wear out.", default=None)
    rebuild_distribution: Rebuilds = asks("Distribution of rebuild times.", default=Rebuilds.exponential)
    years: float = asks("Length of the mission in years.", default=10.0)
    method: Method = asks("Method of simulating the mean time.", default=Method.auto)
    arrays: int = asks("Number of simulated cycles or arrays.", default=200_000, least=LEAST_ARRAYS, most=MOST_ARRAYS)
    seed: int = seed()


@dataclass(frozen=True)
class Subject:
    """The array, its conditions, and the sources of its values."""

    name: str
    array: Array
    conditions: Conditions
    sources: dict[str, str]

    @property
    def lacks_error_rate(self) -> bool:
        """Whether losses exclude sectors that cannot be read during a rebuild, because nobody stated their rate."""
        return bool(self.array.tolerated) and self.sources.get("unrecoverable_error_bits") == NO_ERROR_RATE

    @property
    def assumes_error_rate(self) -> bool:
        """Whether the rate of sectors that cannot be read during a rebuild is that of the drives' class."""
        return self.sources.get("unrecoverable_error_bits", "").startswith(ASSUMED)


def subject_of(question: ReliabilityQuestion) -> Subject:
    """Return the array and the conditions of a question. Raise UserError for the first mistake."""
    layout = layout_of(question)
    members = layout["members"]
    values = {member["product"]: values_of(member) for member in members}
    smallest = min(member["size_bytes"] for member in members)
    block = max(member["block_bytes"] for member in members)
    array = Array.of_layout(
        layout["kind"],
        len(members),
        layout["capacity_bytes"],
        smallest,
        block,
        layout["groups"],
        layout["parities"],
    )
    refuse_without_effect(question, array)
    refuse_order_of_groups(question, array)
    sources: dict[str, str] = {}
    life = mean_life(question, values, sources)
    rebuilt = Rebuilt(question.on.name, layout["name"], smallest, values, members[0]["set"])
    rebuild, bits = NEVER_REBUILT, None
    if array.tolerated:
        rebuild, bits = rebuild_hours(question, rebuilt, sources), error_bits(question, values, sources)
    replacement = hours("question.replacement", question.replacement) if question.replacement is not None else 0.0
    conditions = Conditions(
        life,
        rebuild,
        bits,
        question.spares,
        replacement,
        question.one_rebuild,
        shape_of(question),
        question.rebuild_distribution == "constant",
    )
    return Subject(layout["name"], array, conditions, sources)


def refuse_without_effect(question: ReliabilityQuestion, array: Array) -> None:
    """Raise UserError for the first option that would change nothing."""
    repair: dict[str, object] = {
        "question.rebuild_time": question.rebuild_time,
        "question.rebuild_rate": question.rebuild_rate,
        "question.record": question.record,
        "question.spares": question.spares or None,
        "question.replacement": question.replacement,
        "question.error_rate": question.error_rate,
        "question.one_rebuild": True if question.one_rebuild else None,
        "question.rebuild_distribution": None
        if question.rebuild_distribution == "exponential"
        else question.rebuild_distribution,
    }
    option = next((option for option, value in repair.items() if value is not None), None)
    if array.tolerated == 0 and option is not None:
        shown = "" if repair[option] is True else str(repair[option])
        accepted = f"has no effect: {array.kind} has no redundancy, so nothing is rebuilt"
        raise UserError(option, "", shown, accepted)
    if array.tolerated == 0 and question.method == "biased":
        accepted = f"expected auto or direct: {array.kind} has no redundancy, so loss is not rare"
        raise UserError("question.method", "", question.method, accepted)
    if question.spares and question.replacement is None:
        accepted = 'has no effect without question.replacement, such as "24 h": a failed drive is replaced at once'
        raise UserError("question.spares", "", str(question.spares), accepted)


def refuse_order_of_groups(question: ReliabilityQuestion, array: Array) -> None:
    """Raise UserError where the order in which groups are rebuilt would matter."""
    orders = {
        "question.replacement": question.replacement,
        "question.one_rebuild": "" if question.one_rebuild else None,
    }
    given = [(option, value) for option, value in orders.items() if value is not None]
    if array.has_double_groups and given:
        accepted = f"not supported: the model does not define which group of {array.kind} gets a drive first"
        raise UserError(given[0][0], "", given[0][1], accepted)


class Member(TypedDict):
    """A member of a layout: its drive's name, product and changed values, and the bytes that the layout uses of it."""

    drive: str
    product: str
    size_bytes: int
    block_bytes: int
    set: dict[str, str]


class Layout(TypedDict):
    """A layout as the engine describes it.

    `on_layout` is the name of a layout that is a member, None if all members are drives; `parities` is m of an
    erasure-coded pool.
    """

    name: str
    kind: str
    capacity_bytes: int
    on_layout: str | None
    groups: int
    data: int | None
    parities: int | None
    members: list[Member]


def layout_of(question: ReliabilityQuestion) -> Layout:
    """Return the layout of the question, as the core describes it."""
    expect_model(question.on.name, "reliability is of", "question.on")
    text = text_of(question.on.name, "machine") if question.on.text is None else question.on.text
    try:
        with mistakes_without_load(
            question.on.name, question.settings, "and nothing runs here: expected a value of the drives"
        ):
            layouts: list[Layout] = json.loads(
                _core.layouts_of(CATALOG_DIR, question.on.name, text, list(question.settings))
            )
    except UserError as error:
        if not error.key.endswith(POOL):
            raise
        raise UserError("question.on", "", question.on.name, POOL_REFUSED) from None
    names = ", ".join(layout["name"] for layout in layouts)
    if question.layout is None and len(layouts) > 1:
        raise UserError("question.layout", "", "", f"missing: the machine has several layouts; expected one of {names}")
    chosen = [layout for layout in layouts if question.layout in (None, layout["name"])]
    if not chosen:
        raise UserError("question.layout", "", str(question.layout), f"expected one of {names}")
    layout = chosen[0]
    if layout["on_layout"] is not None:
        accepted = f"is built on the layout {layout['on_layout']}; expected a layout whose members are drives"
        raise UserError("question.on", f"layouts.{layout['name']}", layout["kind"], accepted)
    drives = [member["drive"] for member in layout["members"]]
    twice = repeated(drives)
    if twice is not None:
        accepted = "is a member more than once; expected members on different drives, which fail independently"
        raise UserError("question.on", f"layouts.{layout['name']}", twice, accepted)
    data, parities = layout["data"], layout["parities"]
    if data is not None and parities is not None and len(drives) != data + parities:
        accepted = f"expected k + m = {data + parities} drives: with more, the loss depends on the placement of data"
        raise UserError("question.on", f"layouts.{layout['name']}.members", str(len(drives)), accepted)
    return layout


def values_of(member: Member) -> dict[str, str]:
    """Return the values of a member's drive with the machine's changes; reference values are under "reference."."""
    product = entries.drive(member["product"])
    values = {value["key"]: str(value["value"]) for value in product["values"]}
    sources = {f"source.{value['key']}": str(value["source"]) for value in product["values"]}
    return {**values, **sources, "kind": product["kind"], **member["set"]}


def hours(option: str, text: str) -> float:
    """Return the hours of a time that is given with its unit."""
    # An MTBF may exceed the engine's clock; its own limit is checked below.
    ns = span_ns(text, math.inf)
    if ns is None:
        # Zero is well-formed, but not accepted here.
        zero = re.fullmatch(rf"\s*0+(\.0+)?\s*({'|'.join(SPAN_UNITS)})\s*", text)
        raise UserError(option, "", text, "expected a time above 0" if zero else f"expected {SPAN_FORM}")
    if ns > MOST_HOURS * NS_PER_HOUR:
        raise UserError(option, "", text, f"expected at most {MOST_HOURS:g} h")
    return ns / NS_PER_HOUR


def mean_life(question: ReliabilityQuestion, values: Mapping[str, Mapping[str, str]], sources: dict[str, str]) -> float:
    """Return the mean number of hours until a drive fails."""
    if question.mtbf is not None and question.afr is not None:
        raise UserError("question.afr", "", question.afr, "not together with question.mtbf, which states the same")
    if question.mtbf is not None:
        sources["mtbf"] = GIVEN
        return hours("question.mtbf", question.mtbf)
    if question.afr is not None:
        chance = share(question.afr)
        if chance is None or "%" not in question.afr:
            raise UserError("question.afr", "", question.afr, 'expected a share with its unit, such as "0.9 %"')
        if not LEAST_AFR <= chance < 1:
            accepted = f"expected a share of drives a year of {100 * LEAST_AFR:g} % or more, and below 100 %"
            raise UserError("question.afr", "", question.afr, accepted)
        sources["mtbf"] = GIVEN
        return -HOURS_PER_YEAR / math.log1p(-chance)
    text = reference("mtbf", "question.mtbf", values, sources)
    if text is None:
        names = ", ".join(values)
        raise UserError(
            "question.mtbf", "", "", f'missing: the catalog has none of {names}; expected such as "1400000 h"'
        )
    return hours("question.mtbf", text)


def reference(key: str, option: str, values: Mapping[str, Mapping[str, str]], sources: dict[str, str]) -> str | None:
    """Return a value, or a reference value, that all products share; None if no product has it."""
    name = key if any(key in values_of_drive for values_of_drive in values.values()) else f"reference.{key}"
    limits = {values_of_drive.get(name) for values_of_drive in values.values()}
    if len(limits) > 1:
        raise UserError(
            option, "", "", f"missing: the catalog's values of {', '.join(values)} differ, or some have none"
        )
    (text,) = limits
    if text is not None:
        product, values_of_drive = next(iter(values.items()))
        sources[key] = f"{product}: {values_of_drive[f'source.{name}']}"
    return text


def error_bits(
    question: ReliabilityQuestion, values: Mapping[str, Mapping[str, str]], sources: dict[str, str]
) -> float | None:
    """Return the bits read per unrecoverable error; None for no such errors."""
    text = question.error_rate
    if text is not None:
        sources["unrecoverable_error_bits"] = GIVEN
        if text.strip() == "none":
            return None
    else:
        text = reference("unrecoverable_error_bits", "question.error_rate", values, sources)
        if text is None and (assumed := assumed_bits(values)) is not None:
            text, sources["unrecoverable_error_bits"] = assumed
        if text is None:
            sources["unrecoverable_error_bits"] = NO_ERROR_RATE
            return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?(?:[eE]\+?\d{1,2})?)\s*(?:bits)?\s*", text)
    if match is None or float(match[1]) < 1:
        raise UserError("question.error_rate", "", text, BITS_EXPECTED)
    return float(match[1])


def assumed_bits(values: Mapping[str, Mapping[str, str]]) -> tuple[str, str] | None:
    """Return the lowest rate of the drives' classes, and its source; None for a mechanism without one."""
    rates = []
    for values_of_drive in values.values():
        drive_class = drive_classes().get(values_of_drive.get("reference.class", ""))
        key = values_of_drive["kind"], drive_class is not None and drive_class.market in ARRAY_MARKETS
        if key not in ASSUMED_BITS:
            return None
        title = f"a {key[0].replace('ssd', 'SSD')} of unknown class" if drive_class is None else drive_class.title
        rates.append((ASSUMED_BITS[key], f"{ASSUMED}, as makers' data sheets state for this class: {title}"))
    return min(rates, key=lambda pair: float(pair[0]))


def rebuild_hours(question: ReliabilityQuestion, rebuilt: Rebuilt, sources: dict[str, str]) -> float:
    """Return the hours to rebuild a drive: as given, as recorded, or its size over the slower of media and limit."""
    given = {
        "question.rebuild_time": question.rebuild_time,
        "question.rebuild_rate": question.rebuild_rate,
        "question.record": question.record,
    }
    named = [option for option, value in given.items() if value is not None]
    if len(named) > 1:
        raise UserError(named[1], "", str(given[named[1]]), f"not together with {named[0]}, which states the same")
    if question.rebuild_time is not None:
        sources["rebuild"] = GIVEN
        return hours("question.rebuild_time", question.rebuild_time)
    if question.rebuild_rate is None:
        expect_no_shingles(rebuilt)
    if question.record is not None:
        with refusing_incomplete(
            [question.record if isinstance(question.record, Path) else Path(question.record.name)]
        ):
            recorded, sources["rebuild"] = recorded_rebuild(question.record, rebuilt)
        return recorded
    limit = math.inf
    sources["rebuild"] = "capacity over media rate"
    if question.rebuild_rate is not None:
        text = question.rebuild_rate.strip()
        rate = size_bytes(text.removesuffix("/s")) if text.endswith("/s") else None
        if rate is None:
            raise UserError("question.rebuild_rate", "", question.rebuild_rate, RATE_EXPECTED)
        limit, sources["rebuild"] = rate, "capacity over the slower of media rate and the limit given"
    return (
        max(media_seconds(values_of_drive, rebuilt.member_bytes, limit) for values_of_drive in rebuilt.values.values())
        / 3600.0
    )


def expect_no_shingles(rebuilt: Rebuilt) -> None:
    """Raise UserError for a shingled disk: rebuilds of those take many times their capacity over their media rate."""
    for product, values in rebuilt.values.items():
        if values.get("smr", "off") != "off":
            accepted = (
                f"missing: {product} is a shingled disk (SMR); rebuilds onto it stall, so they cannot be computed from "
                'its media rate; expected such as "200 h"'
            )
            raise UserError("question.rebuild_time", "", "", accepted)


def media_seconds(values: Mapping[str, str], size: float, limit: float) -> float:
    """Return the seconds to write `size` bytes in sequence over all zones in proportion, at no more than `limit`.

    With several actuators only one works at a time: each has its own range of addresses (docs/models/disk.md).
    """
    link = "link_write_rate" if "link_write_rate" in values else "link_rate"
    rate = {key: bytes_a_second(values.get(key)) for key in ("port_rate", link, "program_rate")}
    limit = min([limit, *(stated for stated in rate.values() if stated is not None)])
    outer, inner = (bytes_a_second(values.get(key)) for key in ("sustained_outer", "sustained_inner"))
    if outer is None or inner is None:
        if limit == math.inf:
            raise UserError(
                "question.rebuild_time", "", "", 'missing: the drive has no media rate; expected such as "6 h"'
            )
        return size / limit
    # Every track takes one revolution, so time is uniform over tracks, and bytes are proportional to the rate.
    tracks = [outer + (inner - outer) * (n + 0.5) / ZONES for n in range(ZONES)]
    return size * sum(track / min(track, limit) for track in tracks) / sum(tracks)


def bytes_a_second(text: str | None) -> float | None:
    """Return a rate of the catalog in bytes per second; None without one."""
    return None if text is None else size_bytes(text.strip().removesuffix("/s"))


def shape_of(question: ReliabilityQuestion) -> float:
    """Return the shape of the distribution of lives; 1 is exponential."""
    if question.distribution == "exponential":
        if question.shape is not None:
            raise UserError(
                "question.shape", "", f"{question.shape:g}", "applies only to question.distribution weibull"
            )
        return 1.0
    if question.shape is None:
        raise UserError(
            "question.shape", "", "", "missing: expected the shape of question.distribution weibull, such as 1.2"
        )
    if not 0.3 <= question.shape <= 10:
        raise UserError("question.shape", "", f"{question.shape:g}", "expected 0.3 to 10")
    return question.shape
