"""Candidates: every drive in every layout, number and setting of its write cache, with what is known of each before a
run: size, price, rebuild time at media rate, chance of loss.

Left out: drives of several products in one array, hot spares (here they would change only the price), and pools
(`replicated`, `erasure`), which also need hosts and a network.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import hotband._core as _core
from hotband.base.engine import mistakes_of
from hotband.base.errors import UserError
from hotband.base.text.nearest import unknown_name
from hotband.base.text.numbers import size
from hotband.data import catalog
from hotband.data.catalog import entries, is_file
from hotband.data.catalog.layouts import layout_meant
from hotband.data.inputs.specify import Named
from hotband.execution.experiment import Progress, Tick
from hotband.execution.runs.drives import MOST_DRIVES, STAND_IN, family
from hotband.inference.reliability.array import HOURS_PER_YEAR, Array, Conditions
from hotband.inference.reliability.asked import ReliabilityQuestion, Subject, hours, subject_of
from hotband.inference.reliability.chain import build, loss_within
from hotband.questions.advise.asked import Needs
from hotband.questions.advise.offered import named_drives
from hotband.questions.advise.prices import Prices

LAYOUTS = ("raid0", "raid1", "raid5", "raid6", "raid10", "raid50", "raid60", "raidz1", "raidz2", "raidz3")
"""Layouts of one host that a machine's short form can name, with the number of arbitrary failures that each
survives."""
USUAL = ("raid5", "raid6", "raid10", "raid50", "raid60", "raidz1", "raidz2", "raidz3", "raid0")
"""Default layouts. A mirror of many drives is not among them: it stores no more than one drive does."""
NO_SHORT_FORM = "that no short form makes"
NUMBER_REFUSED = "of a number of drives that"
PADDED = ("raidz1", "raidz2", "raidz3")
GROUPS = 2
"""Groups of RAID 50 and 60 in the short form."""
SETTINGS = ("drives", "layouts", "counts", "caches")
SPACED = re.compile(r"\braid\s+(?=[\dz])", re.IGNORECASE)
"""The space in "RAID 10", which separates no candidates."""
CACHES = ("own", "off", "on", "protected")
"""Settings of a write cache: as the drive comes; off; on and volatile; on and saved when power is lost."""
STEPS = (1.0, 1.5, 2.0, 3.0)
"""Default drive counts: multiples of the fewest drives that hold the data, before the counts in between
(`hotband.questions.advise.between`)."""
FIELD_AFR = {"disk": 0.04, "ssd": 0.025}
"""Pessimistic annual failure rates in the field: 2 to 4 % of disks are common (Schroeder and Gibson, FAST 2007); 4 to
10 % of flash drives were replaced in four years (Schroeder, Lagisetty and Merchant, FAST 2016). The upper end of the
chance of loss uses them instead of the data sheet's MTBF."""


@dataclass(frozen=True)
class Drive:
    """A candidate drive: its name or file, its mechanism, and its values as text."""

    name: str
    kind: str
    values: Mapping[str, tuple[str, tuple[str, str] | None]]

    @property
    def is_flash(self) -> bool:
        """Return whether the drive is a solid-state drive."""
        return self.kind != "disk"

    def caches(self, wanted: Sequence[str]) -> list[str]:
        """Return the settings of the drive's write cache that differ from each other. A solid-state drive has only the
        one it comes with: it completes writes from protected memory, or reports a volatile cache and is flushed. A
        protected cache takes precedence over `wce`."""
        if self.is_flash or "wce" not in self.values:
            return ["own"]
        has = ["protected", "off", "on"] if "awc" in self.values else ["off", "on"]
        usual = ["protected"] if "awc" in self.values else ["off", "on"]
        return [setting for setting in has if setting in wanted] if wanted else usual


@dataclass(frozen=True)
class Static:
    """Properties of a candidate that need no run. Times are in hours, `loss` is the chance of losing data within the
    years of the question; both are None if the catalog has no MTBF or media rate. `cost` is None without a price."""

    usable_bytes: float
    cost: tuple[float, float, float] | None
    rebuild: float | None
    loss: float | None
    loss_low: float | None
    watts: float | None = None


@dataclass(frozen=True)
class Candidate:
    """A number of drives of one product in a layout, with a setting of their write cache."""

    drive: Drive
    layout: str
    count: int
    cache: str
    static: Static

    @property
    def machine(self) -> str:
        """Return the short form of the machine."""
        return f"{self.layout}:{self.count}x{self.drive.name}"

    @property
    def name(self) -> str:
        """Return the candidate's name: the machine, with its write cache if that is a choice."""
        suffix = {"off": ", write cache off", "on": ", write cache on", "own": "", "protected": ""}
        return self.machine + suffix[self.cache]

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Return the settings of its drives."""
        return settings_of(self.drive, self.cache)

    @property
    def is_volatile(self) -> bool:
        """Return whether the candidate acknowledges writes that a loss of power would destroy."""
        return self.cache == "on"


def settings_of(drive: Drive, cache: str) -> tuple[tuple[str, str], ...]:
    """Return the settings of a drive's write cache."""
    has_protected = "awc" in drive.values
    by = {
        "own": (),
        "off": (("wce", "off"), *((("awc", "off"),) if has_protected else ())),
        "on": (("wce", "on"), *((("awc", "off"),) if has_protected else ())),
        "protected": (("awc", "on"),),
    }
    return by[cache]


@dataclass
class Space:
    """The search space: `counts` is empty if the capacity determines them; `named` is True if the user named the
    drives."""

    drives: list[Drive]
    layouts: list[str]
    counts: list[int]
    caches: list[str]
    named: bool


@dataclass
class Listed:
    """Candidates that remain before any run, and how many were left out, by reason."""

    candidates: list[Candidate]
    left_out: dict[str, int]
    unpriced: list[str]

    @property
    def of(self) -> int:
        """Return the number of candidates before any was left out."""
        return len(self.candidates) + sum(self.left_out.values())


def space_of(text: str, tolerated: int) -> Space:
    """Read drives, layouts, counts and caches from a text such as `drives=a,b,layouts=raid6`. Raises UserError."""
    values = _said(text)
    names = named_drives(values.get("drives", [])) or [drive["name"] for drive in entries.drives()]
    usual = [layout for layout in USUAL if tolerates(layout, 8) >= tolerated]
    layouts = values.get("layouts") or usual
    for one in layouts:
        if one not in LAYOUTS:
            raise unknown_name("question.candidates: layouts", one, LAYOUTS)
    for one in values.get("caches", []):
        if one not in CACHES:
            raise unknown_name("question.candidates: caches", one, CACHES)
    drives, counts = [_drive(name) for name in names], _counts(values.get("counts", []))
    return Space(drives, layouts, counts, values.get("caches", []), "drives" in values)


def _said(text: str) -> dict[str, list[str]]:
    """Return values by key; a part without a key belongs to the last one."""
    said: dict[str, list[str]] = {}
    key = ""
    for part in (part.strip() for part in re.split(r"[,;\s]+", SPACED.sub("raid", text)) if part.strip()):
        name, equals, value = part.partition("=")
        if equals:
            key = name.strip()
            if key not in SETTINGS:
                raise unknown_name("question.candidates", key, SETTINGS)
            if key in said:
                raise UserError("question.candidates", key, part, "is given twice; expected a list with commas")
            said[key] = []
        if not key:
            raise UserError(
                "question.candidates", "", part, "expected KEY=VALUES, such as drives=ent-10k,layouts=raid6,counts=8"
            )
        word = value.strip() if equals else part
        layout = layout_meant(word) if key == "layouts" else None
        value = word if layout is None else layout.name
        if value in said[key]:
            accepted = "is given twice" if value == word else f"is given twice, also as {value}"
            raise UserError("question.candidates", key, word, accepted)
        said[key] += [value] if value else []
    empty = next((key for key, values in said.items() if not values), None)
    if empty is not None:
        raise UserError("question.candidates", empty, "", "is empty: expected one or more, with commas")
    return said


def _drive(name: str) -> Drive:
    try:
        product = entries.drive(name)
    except UserError as error:
        if is_file(name):
            raise
        raise UserError("question.candidates: drives", error.key, error.value, error.accepted) from None
    values = {value["key"]: (str(value["value"]), value["range"]) for value in product["values"]}
    return Drive(name, product["kind"], values)


def _counts(texts: Sequence[str]) -> list[int]:
    for text in texts:
        if not text.isdigit() or not 1 <= int(text) <= 10 * MOST_DRIVES:
            accepted = f"expected whole numbers of drives up to {10 * MOST_DRIVES}, such as counts=8,12,24"
            raise UserError("question.candidates", "counts", text, accepted)
    return sorted({int(text) for text in texts})


def tolerates(layout: str, count: int) -> int:
    """Return how many arbitrary drives may fail without a loss of data."""
    return Array.of_layout(layout, count, 1.0, 1.0, 512.0, GROUPS if layout in ("raid50", "raid60") else 1).tolerated


def candidates_of(space: Space, needs: Needs, prices: Prices, tick: Tick | None = None) -> Listed:
    """Return the candidates that hold the data, survive the failures and can stay within the power, as far as that is
    known before a run; `tick` receives the progress over drives. Raises UserError if none is left."""
    listed = Listed([], {}, [])
    for done, drive in enumerate(space.drives):
        if tick is not None:
            tick(Progress(done / len(space.drives), 0, done, len(space.drives), noun="drives"))
        if prices.of and drive.name not in prices.of:
            listed.unpriced.append(drive.name)
            continue
        for layout in space.layouts:
            _of_layout(listed, space, needs, prices, drive, layout)
    if not listed.candidates:
        raise _nothing(listed, space, needs, prices)
    return listed


def _nothing(listed: Listed, space: Space, needs: Needs, prices: Prices) -> UserError:
    """Return the error for an empty search space, which names the option that excluded most candidates."""
    if not listed.left_out:
        return UserError("question.prices", "", prices.file, f"has a price of none of {', '.join(listed.unpriced)}")
    reasons = ", ".join(f"{count} {reason}" for reason, count in listed.left_out.items())
    left = f"leaves none of {listed.of} candidates: {reasons}; expected"
    why = max(listed.left_out, key=lambda reason: listed.left_out[reason])
    if why.startswith(NUMBER_REFUSED):
        return UserError(
            "question.candidates", "counts", ",".join(str(count) for count in space.counts), f"{left} others"
        )
    option = "question.protect" if "failure" in why else "question.power" if "power" in why else "question.capacity"
    values = {"question.protect": f"{needs.tolerated}", "question.power": f"{needs.watts} W"}.get(
        option, size(needs.bytes_at_end)
    )
    return UserError(option, "", values, f"{left} another {option}, or other question.candidates")


def _of_layout(listed: Listed, space: Space, needs: Needs, prices: Prices, drive: Drive, layout: str) -> None:
    """Add the candidates of a drive in a layout."""
    try:
        known = _Known.of(drive, layout)
    except UserError as error:
        # Only a file can describe some machines, such as a drive with two logical units; the user named none of them.
        if space.named:
            accepted = f"is no member of {layout}: {error.accepted}, in a file of your own (variant_of)"
            raise UserError("question.candidates", "drives", drive.name, accepted) from None
        listed.left_out[NO_SHORT_FORM] = listed.left_out.get(NO_SHORT_FORM, 0) + 1
        return
    counts = space.counts or _usual_counts(known, needs.bytes_at_end)
    caches = drive.caches(space.caches)
    for count in counts:
        why = _refused(known, count, needs)
        if why is None:
            static = known.static(count, needs, prices)
            listed.candidates += [Candidate(drive, layout, count, cache, static) for cache in caches]
        else:
            listed.left_out[why] = listed.left_out.get(why, 0) + len(caches)
    if not counts or not caches:
        why = "too small with 64 drives" if not counts else "without such a write cache"
        listed.left_out[why] = listed.left_out.get(why, 0) + 1


def with_count(candidate: Candidate, count: int, needs: Needs, prices: Prices) -> Candidate | None:
    """Return the candidate with another drive count; None if that is not a candidate."""
    known = _Known.of(candidate.drive, candidate.layout)
    if _refused(known, count, needs) is not None:
        return None
    return replace(candidate, count=count, static=known.static(count, needs, prices))


def _refused(known: _Known, count: int, needs: Needs) -> str | None:
    """Return in a few words why a drive count is not a candidate; None if it is one."""
    if not is_legal(known.layout, count):
        first, step = legal_counts(known.layout)
        return f"{NUMBER_REFUSED} {known.layout} does not take ({first}, {first + step}, ...)"
    if tolerates(known.layout, count) < needs.tolerated:
        return f"that do not survive {needs.tolerated} {'failure' if needs.tolerated == 1 else 'failures'}"
    if known.usable(count) < needs.bytes_at_end:
        return "too small"
    if needs.watts is not None and known.idle_watts * count > needs.watts:
        return "over the power at rest"
    return None


def is_legal(layout: str, count: int) -> bool:
    """Return whether a layout accepts this number of drives."""
    first, step = legal_counts(layout)
    return count >= first and (count - first) % step == 0


@cache
def legal_counts(layout: str) -> tuple[int, int]:
    """Return the smallest number of drives that a layout accepts, and the step to the next number, from the engine."""
    machines = family(f"{layout}:{{n}}x{STAND_IN}")
    return machines.first, machines.step


def _usual_counts(known: _Known, needed: float) -> list[int]:
    """Return the fewest drives that hold the data, and more by `STEPS`, up to a shelf."""
    legal = [count for count in range(1, MOST_DRIVES + 1) if is_legal(known.layout, count)]
    start = bisect_left(legal, needed, key=known.usable)
    if start == len(legal):
        return []
    wanted = [math.ceil(legal[start] * step) for step in STEPS]
    counts = [next((count for count in legal if count >= number), None) for number in wanted]
    return list(dict.fromkeys(number for number in counts if number is not None))


@dataclass
class _Known:
    """A drive in a layout: the reliability of the smallest array of them, extended to any number."""

    drive: Drive
    layout: str
    subject: Subject | None
    member_bytes: float
    used_bytes: float
    mtbf_high: float | None
    padded: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, drive: Drive, layout: str) -> _Known:
        least = legal_counts(layout)[0]
        machine = f"{layout}:{least}x{drive.name}"
        subject: Subject | None = None
        try:
            subject = subject_of(ReliabilityQuestion(on=Named(machine)))
        except UserError as error:
            if error.where not in ("question.mtbf", "question.rebuild_time", "question.error_rate"):
                raise
        described = _layout(machine)
        members, usable = described["members"], float(str(described["capacity_bytes"]))
        assert isinstance(members, list), "a layout has members"
        member = min(float(member["size_bytes"]) for member in members)
        # Only whole chunks hold data. The padding of RAID-Z depends on the number of drives.
        used = usable / data_drives(layout, least) if layout not in PADDED else 0.0
        mtbf = drive.values.get("reference.mtbf")
        high = None if mtbf is None or mtbf[1] is None else hours("mtbf", mtbf[1][1])
        return cls(drive, layout, subject, member, used, high)

    @property
    def idle_watts(self) -> float:
        """Return the least power of a drive in watts; zero if the catalog has none."""
        value = self.drive.values.get("power_idle")
        if value is None:
            return 0.0
        return float((value[1][0] if value[1] else value[0]).split()[0])

    def usable(self, count: int) -> float:
        """Return the usable bytes of this number of drives."""
        if self.layout in PADDED:
            if count not in self.padded:
                described = _layout(f"{self.layout}:{count}x{self.drive.name}")
                self.padded[count] = float(str(described["capacity_bytes"]))
            return self.padded[count]
        return data_drives(self.layout, count) * self.used_bytes

    def array(self, count: int) -> Array:
        """Return the array of this number of drives."""
        assert self.subject is not None, "asked where reliability is known"
        groups = GROUPS if self.layout in ("raid50", "raid60") else 1
        array = self.subject.array
        return Array.of_layout(self.layout, count, self.usable(count), self.member_bytes, array.sector_bytes, groups)

    def static(self, count: int, needs: Needs, prices: Prices) -> Static:
        """Return the properties that are known for this number of drives."""
        price = prices.of.get(self.drive.name)
        cost = None if price is None else (count * price.price, count * price.low, count * price.high)
        watts = None if price is None or price.watts is None else count * price.watts
        if self.subject is None:
            return Static(self.usable(count), cost, None, None, None, watts)
        given, array = self.subject.conditions, self.array(count)
        best = given if self.mtbf_high is None else replace(given, mtbf=max(given.mtbf, self.mtbf_high))
        rebuild = given.rebuild if array.tolerated else math.inf
        return Static(
            self.usable(count),
            cost,
            rebuild,
            loss_of(array, given, needs.years),
            loss_of(array, best, needs.years),
            watts,
        )


def loss_of(array: Array, conditions: Conditions, years: float) -> float:
    """Return the chance of losing data within `years`, by the closed form."""
    return float(loss_within(build(array, conditions), years * HOURS_PER_YEAR).sum())


def worst_loss(candidate: Candidate, rebuild: float, years: float) -> float | None:
    """Return the chance of loss with the pessimistic failure rates of the field and rebuilds of `rebuild` hours; None
    if the reliability is unknown."""
    known = _Known.of(candidate.drive, candidate.layout)
    if known.subject is None:
        return None
    afr = FIELD_AFR["ssd" if candidate.drive.is_flash else "disk"]
    mtbf = min(known.subject.conditions.mtbf, -HOURS_PER_YEAR / math.log1p(-afr))
    worst = replace(known.subject.conditions, mtbf=mtbf, rebuild=max(rebuild, known.subject.conditions.rebuild))
    return loss_of(known.array(candidate.count), worst, years)


def lacks_error_rate(candidate: Candidate) -> bool:
    """Return whether the chance of loss excludes sectors that cannot be read, because nobody stated their rate."""
    subject = _Known.of(candidate.drive, candidate.layout).subject
    return subject is not None and subject.lacks_error_rate


def assumes_error_rate(candidate: Candidate) -> bool:
    """Return whether the rate of sectors that cannot be read is that of the drive's class."""
    subject = _Known.of(candidate.drive, candidate.layout).subject
    return subject is not None and subject.assumes_error_rate


def data_drives(layout: str, count: int) -> float:
    """Return the number of drives in a layout that hold data rather than parity or copies."""
    lost = {"raid0": 0, "raid1": count - 1, "raid5": 1, "raid6": 2, "raid50": GROUPS, "raid60": 2 * GROUPS}
    return count / 2 if layout == "raid10" else float(count - lost[layout])


def _layout(machine: str) -> Mapping[str, object]:
    import json

    with mistakes_of(machine):
        layouts: list[dict[str, object]] = json.loads(_core.layouts_of(catalog.CATALOG_DIR, machine, None, []))
    return layouts[0]
