"""Read FLEET.toml: groups of machines, failures and replacements, power and prices (docs/guides/fleet.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.nearest import repeated
from hotband.base.text.numbers import number
from hotband.base.text.quantities import YEARLY_EXPECTED, size_bytes, watts, yearly_share
from hotband.base.text.tomltable import TomlTable
from hotband.data.catalog import entries
from hotband.data.inputs.keys import set_keys
from hotband.data.inputs.specify import Named
from hotband.inference.reliability.asked import Member, ReliabilityQuestion, Subject, layout_of, subject_of, values_of
from hotband.questions.fleet import values
from hotband.questions.fleet.law import Law, read_law
from hotband.questions.fleet.plan import Plan, Stock, months_of_service
from hotband.questions.fleet.prices import Power, Prices, read_power, read_prices
from hotband.questions.fleet.values import Value, value_of

MOST_MACHINES, MOST_DRIVES, MOST_MONTHS, MOST_GROUPS = 1_000_000, 20_000_000, 1200, 200
MOST_SPARES = 10_000_000
REBUILDS = ("rebuild_time", "rebuild_rate", "rebuild_record")
DISTRIBUTIONS = ("constant", "exponential")


@dataclass(frozen=True)
class Wear:
    """Wear of drives: bytes written to each per day, and its endurance; a run may determine both (None). A drive is
    replaced at the share `limit` of its endurance, if given."""

    writes: Value | None
    endurance: Value | None
    limit: float | None


@dataclass(frozen=True)
class Group:
    """A checked group. `table_key` is its position in the file; `rebuild` is the mean time in hours, None if a run
    determines it; `drive_power` is the power of a drive in watts, `machine_power` that of a machine without its
    drives."""

    name: str
    table_key: str
    machine: str
    workload: str | None
    set: tuple[tuple[str, str], ...]
    subject: Subject
    products: tuple[str, ...]
    first_drive: str
    plan: Plan
    law: Law
    error: float
    rebuild: Value | None
    delay: Value
    delivery: Value
    wear: Wear
    drive_power: Value | None
    machine_power: Value

    @property
    def wants_run(self) -> bool:
        """Whether a run of the model determines the service."""
        return self.workload is not None


@dataclass(frozen=True)
class Spec:
    """A whole fleet."""

    file: str
    name: str
    months: int
    repetitions: int
    seed: int
    groups: tuple[Group, ...]
    power: Power
    prices: Prices


def read_spec(table: TomlTable, folder: Path) -> Spec:
    """Read a fleet from its table; files are relative to `folder`. Raises UserError for the first mistake."""
    years = table.positive("years", 10.0)
    months = round(min(years * 12, MOST_MONTHS + 1))
    if not 1 <= months <= MOST_MONTHS or abs(years * 12 - months) > 1e-6:
        table.refuse("years", f"expected whole months, from 1/12 to {MOST_MONTHS // 12} years")
    repetitions = table.whole("repetitions", 1000, least=2)
    if repetitions > 1_000_000:
        table.refuse("repetitions", "expected at most 1,000,000")
    seed = table.whole("seed", 1)
    if seed >= 2**64:
        table.refuse("seed", "expected a whole number from 0 to 2^64 - 1")
    name = table.text("name", "")
    power, prices = read_power(table.part("power")), read_prices(table.part("prices"))
    if power.currency and prices.currency and power.currency != prices.currency:
        table.refuse("power.price", f"expected the currency of the other prices, {prices.currency}", power.currency)
    parts = table.parts("group")
    table.finish()
    if not 1 <= len(parts) <= MOST_GROUPS:
        table.refuse("group", f"expected 1 to {MOST_GROUPS} tables [[group]]", str(len(parts)))
    groups = tuple(read_group(part, folder, months) for part in parts)
    twice = repeated(group.name for group in groups)
    if twice is not None:
        raise UserError(table.file, "group.name", twice, "is the name of two groups; expected each once")
    drives = sum(group.plan.drives for group in groups)
    if drives > MOST_DRIVES:
        raise UserError(table.file, "group", f"{drives:,} drives", f"expected at most {MOST_DRIVES:,} in all groups")
    prices.expect_known({product for group in groups for product in group.products}, table.file)
    return Spec(table.file, name or Path(table.file).stem, months, repetitions, seed, groups, power, prices)


def read_group(table: TomlTable, folder: Path, months: int) -> Group:
    """Read a group. Raises UserError."""
    name = table.text("name")
    machine, workload = (in_folder(table.text(key, ""), folder) for key in ("machine", "workload"))
    if not machine:
        table.text("machine")
    settings = table.settings("set")
    law = read_law(table, folder)
    question = asked_of(table, folder, machine, of_drives(table, settings, workload, machine))
    subject, members = subject_in(table, question, law.is_given)
    law = law.of_catalog(life_of_catalog(subject, members[0]))
    plan = read_plan(table, name, subject, months)
    delivery, stock = read_spares(table)
    plan = replace(plan, batch=law.batch, mixed=law.mixed, stock=stock, rebuild_constant=is_constant(table, plan))
    group = Group(
        name,
        table.path,
        machine,
        workload or None,
        settings,
        subject,
        tuple(dict.fromkeys(str(member["product"]) for member in members)),
        str(members[0]["drive"]),
        plan,
        law,
        subject.conditions.error_chance(subject.array) if subject.array.tolerated else 0.0,
        read_rebuild(table, subject, plan, workload),
        value_of(table, "replacement", values.hours, values.HOURS_EXPECTED) or Value(0.0, 0.0),
        delivery,
        read_wear(table, workload),
        value_of(table, "drive_power", watts, 'a power, such as "7 W"'),
        value_of(table, "machine_power", watts, 'a power, such as "150 W"') or Value(0.0, 0.0),
    )
    table.finish()
    return group


def of_drives(
    table: TomlTable, settings: tuple[tuple[str, str], ...], workload: str, machine: str
) -> tuple[tuple[str, str], ...]:
    """Return the settings of the machine's drives; the others belong to the workload."""
    if not workload:
        return settings
    try:
        keys = {set_key.key for set_key in set_keys(workload, machine) if set_key.part.startswith("drive ")}
    except UserError as error:
        raise in_group(table, error) from None
    return tuple((key, value) for key, value in settings if key in keys)


def is_constant(table: TomlTable, plan: Plan) -> bool:
    """Return whether rebuilds take exactly their mean."""
    given = table.has("rebuild_distribution")
    distribution = table.choice("rebuild_distribution", DISTRIBUTIONS, "constant")
    if given and plan.array.tolerated == 0:
        table.refuse("rebuild_distribution", f"has no effect: {plan.array.kind} has no redundancy")
    return distribution == "constant"


def in_folder(name: str, folder: Path) -> str:
    """Return the path of a file in the folder of the fleet's file; any other name unchanged."""
    if not name or "\n" in name or Path(name).is_absolute() or not (folder / name).is_file():
        return name
    return str(folder / name)


def asked_of(
    table: TomlTable, folder: Path, machine: str, settings: tuple[tuple[str, str], ...]
) -> ReliabilityQuestion:
    """Return the question to `hotband reliability` for the group. Values with two ends are read elsewhere."""
    given = [name for name in REBUILDS if table.has(name)]
    if len(given) > 1:
        table.refuse(given[1], f"cannot be combined with {given[0]}, which states the same")
    rate, record, layout = (table.text(name, "") or None for name in ("rebuild_rate", "rebuild_record", "layout"))
    error = table.text_or_number("error_rate") or None
    path = None if record is None else folder / record
    return ReliabilityQuestion(
        on=Named(machine), layout=layout, settings=settings, rebuild_rate=rate, record=path, error_rate=error
    )


KEYS = {
    "question.rebuild_rate": "rebuild_rate",
    "question.rebuild_time": "rebuild_time",
    "question.record": "rebuild_record",
    "question.error_rate": "error_rate",
    "question.mtbf": "afr",
    "question.layout": "layout",
    "question.settings": "set",
    "question.on": "machine",
}
"""Fields of the question of reliability, as keys of a group."""


def subject_in(table: TomlTable, question: ReliabilityQuestion, has_lives: bool) -> tuple[Subject, list[Member]]:
    """Return the array with its conditions, and the members of its layout. Raises UserError with the keys of the
    group."""
    # Any value satisfies the check if the group states its lives: the catalog need not have one.
    known = replace(question, mtbf="1000000 h") if has_lives else question
    try:
        return subject_of(known), layout_of(question)["members"]
    except UserError as error:
        raise in_group(table, error) from None


def life_of_catalog(subject: Subject, member: Member) -> Value:
    """Return the mean life of the catalog, with its range."""
    product, middle = member["product"], subject.conditions.mtbf
    entries_of_mtbf = [value for value in entries.drive(product)["values"] if value["key"] == "reference.mtbf"]
    ends = [values.hours(str(end)) for entry in entries_of_mtbf for end in (entry["range"] or ())]
    is_own = "mtbf" in values_of(member)
    low, high = (middle, middle) if is_own or len(ends) != 2 else (ends[0] or middle, ends[1] or middle)
    return Value(low, high, f"{product}.mtbf", subject.sources.get("mtbf", ""))


def in_group(table: TomlTable, error: UserError) -> UserError:
    """Convert an error in a field of the question to one in a key of the group."""
    name = KEYS.get(error.where)
    if name is None:
        return error
    key = table.key(name) + (f" ({error.key})" if error.key and name == "machine" else "")
    accepted = error.accepted.replace("question.on", "machine")
    value = error.value or str(table.table.get(name, ""))
    if name == "afr":
        accepted = accepted.replace('expected such as "1400000 h"', 'expected such as afr = "1.2 %"')
    return UserError(table.file, key, value, accepted)


def read_plan(table: TomlTable, name: str, subject: Subject, months: int) -> Plan:
    """Read the numbers of machines over time."""
    machines = table.whole("machines", least=1)
    if machines > MOST_MACHINES:
        table.refuse("machines", f"expected 1 to {MOST_MACHINES:,}")
    begin = table.whole("from", 0)
    if begin >= months:
        table.refuse("from", f"expected a month before the end, 0 to {months - 1}")
    end = table.whole("until", months, least=1)
    if end <= begin:
        table.refuse("until", f"expected a month after {begin}")
    text = table.text("growth", "0 %/year")
    growth = yearly_share(text)
    if growth is None:
        table.refuse("growth", f"expected {YEARLY_EXPECTED}", text)
    grown = machines * (1.0 + growth) ** ((min(end, months) - begin) / 12)
    if grown > MOST_MACHINES or grown * subject.array.drives > MOST_DRIVES:
        table.refuse("growth", f"grows to {number(grown)} machines; expected at most {MOST_MACHINES:,}", text)
    age = value_of(table, "age", values.hours, values.HOURS_EXPECTED) or Value(0.0, 0.0)
    if not age.is_known:
        table.refuse("age", f"expected {values.HOURS_EXPECTED}")
    born, gone = months_of_service(machines, begin, end, growth, months)
    return Plan(name, subject.array, born, gone, months, age.low)


def read_rebuild(table: TomlTable, subject: Subject, plan: Plan, workload: str) -> Value | None:
    """Read the mean time of a rebuild, None if a run determines it."""
    given = value_of(table, "rebuild_time", values.hours, values.HOURS_EXPECTED)
    named = next((name for name in REBUILDS if table.has(name)), None)
    if plan.array.tolerated == 0:
        if named is not None:
            table.refuse(named, f"has no effect: {plan.array.kind} has no redundancy, so nothing is rebuilt")
        return Value(1.0, 1.0)
    if given is not None:
        return given
    if workload and named is None:
        return None
    mean = subject.conditions.rebuild
    return Value(mean, mean, "", subject.sources.get("rebuild", ""))


def read_spares(table: TomlTable) -> tuple[Value, Stock | None]:
    """Read the spare drives on site and the time of an order."""
    if not table.has("spares"):
        table.raw("spares")
        return Value(0.0, 0.0), None
    part = table.part("spares")
    on_site, order = part.whole("on_site"), part.whole("order", 1, least=1)
    if on_site > MOST_SPARES:
        part.refuse("on_site", f"expected at most {MOST_SPARES:,}")
    if order > max(on_site, 1):
        part.refuse("order", "expected at most the number on site: otherwise a failure waits for further ones")
    delivery = value_of(part, "delivery", values.hours, values.HOURS_EXPECTED)
    if delivery is None:
        part.refuse("delivery", f"is missing; expected {values.HOURS_EXPECTED}")
    part.finish()
    return delivery, Stock(on_site, order)


def read_wear(table: TomlTable, workload: str) -> Wear:
    """Read writes and endurance of drives."""
    size = 'a size with its unit, such as "2 TB"'
    writes = value_of(table, "writes", day_bytes, 'the bytes written to a drive per day, such as "500 GB/day"')
    endurance = value_of(table, "endurance", size_bytes, size)
    limit = value_of(table, "replace_at", values.percent, 'a share of the endurance, such as "90 %"')
    if limit is not None and (not limit.is_known or limit.low <= 0):
        table.refuse("replace_at", 'expected one share of the endurance above 0 %, such as "90 %"')
    for name, value in (("replace_at", limit), ("endurance", endurance)):
        if value is not None and writes is None and not workload:
            table.refuse(name, "has no effect without writes or a workload, which state how fast drives wear")
    return Wear(writes, endurance, None if limit is None else limit.low)


def day_bytes(text: str) -> float | None:
    """Read bytes per day; None for another text."""
    return size_bytes(text.strip().removesuffix("/day")) if text.strip().endswith("/day") else None
