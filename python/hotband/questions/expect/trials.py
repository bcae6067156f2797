"""Causes that are tried as a model: each needs a sign in the result, and a prediction with it that comes near.

Left out: two causes at a time, and causes without a setting of a drive or a machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hotband.base.text.numbers import number, rate, span
from hotband.base.text.table import unit_of
from hotband.execution.experiment import Experiment, Point
from hotband.execution.runs.run import refusal
from hotband.inference.audit.facts import SATA, MachineFacts
from hotband.questions.expect.judge import Judged, compared, first_outside
from hotband.questions.expect.predict import Predicted

if TYPE_CHECKING:
    from hotband.data.documents.expected import Verdict
    from hotband.data.documents.run import RunSpec

CLOSER = 0.5
"""Share of the distance (in logarithms) that a cause must remove to be reported."""
NEAR = math.log(2)
"""Distance from the measured figure within which the prediction with a cause must lie: another model's error."""
BEYOND = math.log(1.25)
"""Distance by which a result may pass the prediction with a cause: a cause explains only results that it allows."""
EVEN = 0.05
"""Share by which p99 may lie above the mean of a load that a rate limit spaces evenly."""
ROUND = 0.005
"""Share by which a limit may differ from a round number: tokens for an interval are handed out whole."""
LEAST_LINK = 100e6
"""Bytes per second below which the limit is no current link."""


@dataclass(frozen=True)
class Cause:
    """A cause in words, the sign of it in a result (None: no sign), and the settings that reproduce it."""

    words: str
    sign: Callable[[Predicted], str | None]
    change: Callable[[RunSpec], RunSpec]
    label: str
    is_sata: bool = False


def verdict_of(prediction: Predicted) -> Verdict:
    """Return the verdict of the first figure outside."""
    return outside_of(prediction).verdict or "worse"


def outside_of(prediction: Predicted) -> Judged:
    """Return the first figure outside its interval."""
    return first_outside(prediction.figures) or prediction.figures[0]


def _set(key: str, value: str) -> Callable[[RunSpec], RunSpec]:
    return lambda spec: replace(spec, set=(*spec.set, (key, value)))


def _failed(spec: RunSpec) -> RunSpec:
    return replace(spec, repair=replace(spec.repair, fail=("d0@0 s",)))


def _queued(prediction: Predicted) -> str | None:
    record = prediction.row.record
    depth, iops = record.get("concurrency"), record["summary"]["iops"]
    if not depth or depth < 2 or not iops:
        return None
    return f"each I/O took 1/{number(iops)} s = {span(1e9 / iops)} although {depth} were in flight"


def _wrote(prediction: Predicted) -> str | None:
    median = prediction.row.record["summary"]["write"].get("latency_p50_ns")
    mean = prediction.row.record["summary"]["write"].get("latency_mean_ns")
    if median is not None:
        return f"half of the writes took {span(median)} or less"
    return None if mean is None else f"a write took {span(mean)} on average"


def _compressed(prediction: Predicted) -> str | None:
    spec = prediction.row.record["spec"]
    options = {key for table in [spec.get("global", {}), *spec.get("jobs", {}).values()] for key in table}
    named = sorted(options & {"buffer_compress_percentage", "zero_buffers", "buffer_pattern", "scramble_buffers"})
    return f"its options say {named[0]}" if named else None


def _moved(prediction: Predicted) -> str | None:
    moved = prediction.row.record["summary"]["bandwidth_bytes_per_s"] or 0.0
    return f"it moved {rate(moved)}" if moved >= LEAST_LINK else None


def _is_array(prediction: Predicted) -> str | None:
    return "the machine is an array" if len(prediction.finished.record["parts"]) > 1 else None


def _whole_target(prediction: Predicted) -> str | None:
    load = prediction.row.load
    assumed = load is not None and any("whole target" in text for text in load.assumed)
    return "the result does not say how much of the target it used" if assumed else None


CAUSES: dict[Verdict, tuple[Cause, ...]] = {
    "better": (
        Cause("the drives' volatile write cache on", _wrote, _set("wce", "on"), "wce=on"),
        Cause("drives that are new (nothing was written before)", _wrote, _set("state", "fob"), "state=fob"),
        Cause("data that compresses to 30 %", _compressed, _set("data", "0.3"), "data=0.3"),
        Cause("only a part of the target was used", _whole_target, _set("span", "1 %"), "span=1 %"),
    ),
    "worse": (
        Cause("no queueing (no NCQ, a controller in IDE mode)", _queued, _set("queue_tags", "1"), "queue_tags=1"),
        Cause("the drives' write cache off or bypassed", _wrote, _set("wce", "off"), "wce=off"),
        Cause("a link of 1 lane", _moved, _set("pcie_lanes", "1"), "pcie_lanes=1"),
        Cause("a link of 2 lanes", _moved, _set("pcie_lanes", "2"), "pcie_lanes=2"),
        Cause("a link of generation 2", _moved, _set("pcie_generation", "2"), "pcie_generation=2"),
        Cause("a link of generation 3", _moved, _set("pcie_generation", "3"), "pcie_generation=3"),
        Cause("a SATA port of 3 Gb/s", _moved, _set("link_rate", "285 MB/s"), "link_rate=285 MB/s", True),
        Cause("a SATA port of 1.5 Gb/s", _moved, _set("port_rate", "150 MB/s"), "port_rate=150 MB/s", True),
        Cause("a degraded array, or one that is rebuilt", _is_array, _failed, "d0 failed"),
    ),
}
"""Causes that testers often omit or do not see. 285 MB/s: 300 MB/s less frames, as SATA II drives were sold."""


def tried(prediction: Predicted, verdict: Verdict, facts: MachineFacts | None) -> list[str]:
    """Return the causes with a sign in the result whose predictions come near, from runs with them. Causes that make no
    difference, those beyond a nearer one of their kind, and those of a port that the drives lack are left out."""
    if prediction.row.load is None:
        return []
    held = dict(prediction.spec.set)
    causes = [cause for cause in CAUSES[verdict] if not cause.is_sata or _has_sata(facts)]
    signed = [(cause, sign) for cause in causes if (sign := cause.sign(prediction)) is not None]
    signed = [(cause, sign) for cause, sign in signed if cause.label.partition("=")[0] not in held]
    specs = {cause.label: replace(cause.change(prediction.spec), id=cause.label) for cause, _ in signed}
    accepted = {label: spec for label, spec in specs.items() if refusal([spec]) is None}
    if not accepted:
        return []
    finished = {run.spec.id: run for run in Experiment([Point(spec) for spec in accepted.values()]).run().finished}
    main, sentences = outside_of(prediction), []
    for cause, sign in signed:
        if cause.label not in finished:
            continue
        figures = compared(prediction.row.record, finished[cause.label].record, prediction.row.load.asks)
        other = next((figure for figure in figures if figure.figure == main.figure), None)
        if other is not None and _explains(other, main):
            predicted = unit_of(other.figure).shown(other.predicted)
            would = f"{predicted} would be predicted ({cause.label}; {prediction.row.name})"
            sentences.append((abs(other.log_ratio), f"{cause.words}: {would}; {sign}"))
    return [words for _, words in sorted(sentences, key=lambda pair: pair[0])]


def _has_sata(facts: MachineFacts | None) -> bool:
    """Return whether no port of the drives is faster than SATA."""
    return facts is not None and (facts.port_bytes_per_s or math.inf) <= SATA * (facts.drives or 1)


def _explains(other: Judged, main: Judged) -> bool:
    passed = other.log_ratio * main.log_ratio < 0
    most = BEYOND if passed else NEAR
    return abs(other.log_ratio) < min(most, (1 - CLOSER) * abs(main.log_ratio))


def rate_cap(prediction: Predicted) -> str | None:
    """Return that a rate limit explains a row: all its latencies are depth / rate, at a round number of IOPS or MB/s.
    Its model is that arithmetic."""
    record, summary = prediction.row.record, prediction.row.record["summary"]
    depth, iops, median, late = (
        record.get("concurrency"), summary["iops"], summary["latency_p50_ns"], summary["latency_p99_ns"])  # fmt: skip
    if not depth or depth < 2 or not iops or not median or not late:
        return None
    each = depth / iops * 1e9
    if max(abs(median / each - 1), abs(late / each - 1)) > EVEN:
        return None
    limits = [f"{number(iops)} IOPS"] if _is_round(iops) else []
    moved = summary["bandwidth_bytes_per_s"] or 0.0
    limits += [
        f"{number(moved / unit)} {name}" for unit, name in ((1e6, "MB/s"), (2**20, "MiB/s")) if _is_round(moved / unit)
    ]
    if not limits:
        return None
    return (
        f"a rate limit of {limits[0]} (a cloud volume, a hypervisor): every latency is {depth} / {number(iops)} = "
        f"{span(each)}, from p50 {span(median)} to p99 {span(late)}{_spent(prediction)} ({prediction.row.name})"
    )


def _is_round(value: float) -> bool:
    """Return whether a number has one digit, or one and a half, before zeros: 3,000, 250, 16,000, 12.5."""
    if value <= 0:
        return False
    mantissa = value / 10 ** math.floor(math.log10(value))
    return any(abs(mantissa / digits - 1) <= ROUND for digits in ROUND_DIGITS)


ROUND_DIGITS: Sequence[float] = (1, 1.2, 1.25, 1.5, 1.6, 2, 2.4, 2.5, 3, 3.2, 4, 5, 6, 6.4, 7, 7.5, 8, 9, 10)
"""Leading digits of limits that providers sell: multiples of 100, 125, 500 and 1,000, and powers of two of 1,000."""


def _spent(prediction: Predicted) -> str:
    """Return that its samples began above the limit: credits ran out while it ran."""
    printed = [stream[way].get("printed") for stream in prediction.row.record["streams"] for way in ("read", "write")]
    most = max((side["iops_max"] or 0.0 for side in printed if side), default=0.0)
    iops = prediction.row.record["summary"]["iops"] or 0.0
    return f", after a burst of {number(most)} IOPS: credits ran out" if most > 1.5 * iops else ""
