"""Rules that are learned from the corpus: the behaviour of a drive from the lines that its data sheet states and lacks.

Each quantity of a drive (the time of a single read, its rate at a deep queue, its streams) is regressed over the
measured families, on the class, flash, interface and memory that their data sheets state. If the sheet
rates the quantity, the ratio of measured to rated is learned. The method is one for all
(`hotband.inference.corpus.shrinkage`); no family has a separate value, and the predicted family is left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from hotband.data.corpus import files
from hotband.inference.corpus.shrinkage import Fit, fitted
from hotband.questions.datasheet.assumed import flash_of, memory_of, with_class
from hotband.questions.datasheet.expected import Expected, expected
from hotband.questions.datasheet.lines import Answers, stated_number

PRIORS = {
    "consumer": 0.3,
    "sata": 0.4,
    "sas": 0.4,
    "pcie 2": 0.3,
    "pcie 4": 0.3,
    "pcie 5": 0.4,
    "slc": 0.4,
    "mlc": 0.3,
    "qlc": 0.4,
    "xpoint": 1.5,
    "dramless": 0.3,
    "protected": 0.2,
    "terabytes": 0.15,
}
"""Standard deviations of what each feature may change, as logarithms: 0.3 is a third more or less. The drive without
any is an enterprise NVMe drive of PCIe 3.0 with TLC."""
MIDDLE_YEAR, GENERATION = 2018, 4
"""The year of most drives that were measured, and the years that flash and controllers of one generation last."""
RATED_PRIOR = 0.5
"""By how much the priors shrink where the data sheet rates the quantity: makers err alike."""
RATED_INTERCEPT, RELATIVE_INTERCEPT, FREE_INTERCEPT = 0.3, 1.0, 10.0
NORMAL_90 = 1.645
OWN_FIGURES = "what others measured on this family"
"""Begins the basis of a value that is fitted to the drive's own figures."""
WIDEST = 5.0
"""The widest range of a value, as a factor either way."""
TESTERS = 0.12
"""The standard deviation between two testers of one product, as a logarithm (docs/accuracy.md, reads)."""
TESTERS_OF_TAILS = 0.45
"""The same of a ratio of percentiles (docs/accuracy.md, SSD p99)."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Drives of a family that were measured: their kind ("hdd", "ssd", "nvme"), the lines that their sheet states (base
    units), and the quantities that their figures show (`hotband.inference.corpus.observed`)."""

    family: str
    kind: str
    stated: Answers
    observed: Mapping[str, float]


SHIPPED_EVIDENCE = Path(files.__file__).parent / "evidence.json"
"""Written by `scripts/corpus_learn.py` from the figures and sheets that ship (`make accuracy`)."""


@cache
def shipped_evidence() -> tuple[Evidence, ...]:
    """Return the evidence of the families that ship with Hotband."""
    return tuple(Evidence(**row) for row in json.loads(SHIPPED_EVIDENCE.read_text(encoding="utf-8")))


def evidence_text(evidence: Iterable[Evidence]) -> str:
    """Return evidence as in its file: one line per family."""
    rows = [
        json.dumps(
            {
                "family": each.family,
                "kind": each.kind,
                "stated": dict(each.stated),
                "observed": {name: float(f"{value:.5g}") for name, value in sorted(each.observed.items())},
            }
        )
        for each in sorted(evidence, key=lambda each: each.family)
    ]
    return "[\n" + ",\n".join(rows) + "\n]\n"


@dataclass(frozen=True)
class Rule:
    """A quantity, the lines that rate it in order of preference, lines that hint at it without rating it, features that
    may change it more than others, and the share of the usual priors that the other features have. Without such a line
    the quantity itself is learned or, if `is_relative`, its ratio to the value expected from the other lines."""

    quantity: str
    anchors: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    is_relative: bool = False
    priors: Mapping[str, float] = field(default_factory=dict, hash=False, compare=False)
    others: float = 1.0


SSD_RULES = (
    Rule("read_time", ("read-latency",), priors={"year": 0.3}),
    Rule("write_time", ("write-latency",), is_relative=True),
    Rule("write_tail"),
    Rule("read_rate", ("read-iops",), is_relative=True, priors={"sata": 0.8}),
    Rule("write_rate_new", ("write-iops-burst",), is_relative=True, priors={"year": 0.3}),
    Rule("write_rate_steady", ("write-iops",), is_relative=True),
    Rule("read_stream", ("read-bandwidth",), is_relative=True, priors={"sata": 0.8}),
    Rule("write_stream", ("write-bandwidth",), is_relative=True),
    Rule("write_stream_after_cache", ("write-bandwidth-after-cache",), ("write-bandwidth",), priors={"qlc": 1.0}),
    # What a flush waits for is decided by protection and port: the fewer other features, the better left-out families
    # are predicted (docs/decisions/0009-learned-from-the-corpus.md).
    Rule("flush_time", priors={"protected": 2.0, "protected port": 1.5, "xpoint": 2.0}, others=0.1),
)


def features(kind: str, stated: Answers) -> dict[str, float]:
    """Return the features of a drive by name; missing lines are assumed as elsewhere."""
    sheet, _ = with_class(kind, stated)
    if kind == "hdd":
        return {str(sheet["class"]): 1.0}
    on: dict[str, float] = {}
    if sheet["class"] == "consumer":
        on["consumer"] = 1.0
    if kind == "ssd":
        on["sata" if str(sheet["interface"]).startswith("sata") else "sas"] = 1.0
    else:
        on[f"pcie {str(sheet['pcie'])[0]}"] = 1.0
    on[flash_of(sheet).lower()] = 1.0
    if memory_of(sheet) != "full":
        on["dramless"] = 1.0
    if sheet.get("power-loss-protection") == "on":
        on["protected"] = 1.0
        if kind == "ssd":
            on["protected port"] = 1.0
    capacity, year = stated_number(sheet, "capacity"), stated_number(sheet, "year")
    if capacity is not None:
        on["terabytes"] = math.log2(capacity / 1e12)
    if year is not None:
        on["year"] = (year - MIDDLE_YEAR) / GENERATION
    return on


@dataclass(frozen=True)
class Learned:
    """Rules from these families and, for drives of one family, what was measured on it."""

    families: tuple[Evidence, ...]
    measured: tuple[Evidence, ...] = ()

    def without(self, family: str) -> Learned:
        """Return the rules without a family."""
        return Learned(tuple(evidence for evidence in self.families if evidence.family != family))

    def fitted_to(self, family: str) -> Learned:
        """Return the rules for a drive of a family that was measured: what the other families teach is the prior, and
        its own figures are the evidence."""
        measured = tuple(evidence for evidence in self.families if evidence.family == family)
        return Learned(self.without(family).families, measured)

    def fitted(self) -> frozenset[str]:
        """Return the quantities that the own figures show."""
        measured = {name for each in self.measured for name, value in each.observed.items() if value}
        return frozenset(measured.intersection(rule.quantity for rule in SSD_RULES))

    def expected(self, kind: str, stated: Answers) -> dict[str, Expected]:
        """Return the expected values of a drive (the signature of `Expect`): by these rules if families show a
        quantity, else those usual for the class."""
        values = dict(expected(kind, stated))
        if kind not in ("ssd", "nvme"):
            return values
        for rule in SSD_RULES:
            learned = self.value(rule, kind, stated)
            if learned is not None and rule.quantity in values:
                values[rule.quantity] = learned
        if values["slc_cache"].value == 0:
            # Only drives with a cache show what is behind one.
            values["write_stream_after_cache"] = values["write_stream"]
        return values

    def value(self, rule: Rule, kind: str, stated: Answers) -> Expected | None:
        """Return the expected value of a quantity for a drive with these lines; None if no family shows it."""
        believed = self._believed(rule, kind, stated)
        if believed is None:
            return None
        mean, deviation, why = believed
        residuals = [
            math.log(each.observed[rule.quantity]) - prior[0]
            for each in self.measured
            if each.observed.get(rule.quantity) and (prior := self._believed(rule, each.kind, each.stated)) is not None
        ]
        if residuals:
            # The sizes of a family err alike, and a tester has measured one or two of them: together they count once.
            testers = TESTERS_OF_TAILS if rule.quantity == "write_tail" else TESTERS
            weight = deviation**2 / (deviation**2 + testers**2)
            mean += weight * sum(residuals) / len(residuals)
            deviation *= math.sqrt(1.0 - weight)
            why = f"{OWN_FIGURES}, and {why}"
        factor = min(WIDEST, math.exp(NORMAL_90 * deviation))
        value = math.exp(mean)
        return Expected(value, value / factor, value * factor, why)

    def _believed(self, rule: Rule, kind: str, stated: Answers) -> tuple[float, float, str] | None:
        """Return the mean of a quantity's logarithm as the families teach it, its deviation, and their number in words;
        None if they teach nothing."""
        anchor = next((line for line in (*rule.anchors, *rule.hints) if line in stated), None)
        fit, count = _fit(self.families, rule, anchor)
        if not count and anchor is None:
            return None
        mean, deviation = fit.at(features(kind, stated))
        rated = "the rating and " if anchor in rule.anchors else ""
        why = f"{rated}{count} measured families"
        return mean + _base(rule, anchor, kind, stated), deviation, why


@cache
def _fit(families: Sequence[Evidence], rule: Rule, anchor: str | None) -> tuple[Fit, int]:
    rows, names = [], []
    for evidence in families:
        value = evidence.observed.get(rule.quantity)
        if not value or evidence.kind == "hdd" or (anchor is not None and anchor not in evidence.stated):
            continue
        base = _base(rule, anchor, evidence.kind, evidence.stated)
        rows.append((features(evidence.kind, evidence.stated), math.log(value) - base))
        names.append(evidence.family)
    is_rated = anchor in rule.anchors
    shrunk = RATED_PRIOR if is_rated else 1.0
    usual = {name: deviation * rule.others for name, deviation in PRIORS.items()}
    priors = {name: deviation * shrunk for name, deviation in {**usual, **rule.priors}.items()}
    free = RELATIVE_INTERCEPT if rule.is_relative else FREE_INTERCEPT
    return fitted(RATED_INTERCEPT if is_rated else free, priors, rows, names), len(set(names))


def _base(rule: Rule, anchor: str | None, kind: str, stated: Answers) -> float:
    """Return the logarithm of the value to which the learned ratio refers; 0 if the quantity itself is learned."""
    if anchor is not None:
        value = stated_number(stated, anchor)
        assert value is not None, f"{anchor} is stated"
        return math.log(value)
    return math.log(expected(kind, with_class(kind, stated)[0])[rule.quantity].value) if rule.is_relative else 0.0


@cache
def shipped_rules() -> Learned:
    """Return the rules from all families that ship with Hotband."""
    return Learned(shipped_evidence())
