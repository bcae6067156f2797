"""Rule group 0 for the sections that only Hotband's records have: steps, operations, energy, wear, limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from hotband.base.claim import EXACT, LENGTH_OF_TIME, Claim, equal
from hotband.data.record.stats import DIRECTIONS, OTHER_DIRECTIONS, latency_sum
from hotband.data.record.steady import rule
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.consistency import PLURALS, ordered, rates
from hotband.inference.audit.distribution import sides_of

Block = Mapping[str, object]
DRIVE_KINDS = frozenset({"disk", "smr", "ssd", "black-box"})
"""Kinds of drives among the parts of a record, as the engine names them (`Drive::kind`)."""


def further(run: Audited) -> Iterator[Claim]:
    """Yield checks of a record's further sections against each other."""
    record: Block = run.record
    yield from _blocks(run, record)
    for scope in (None, *DIRECTIONS, *OTHER_DIRECTIONS):
        block = run.summary(scope)
        times = _block(block, "times_mean_ns")
        if times:
            name, parts = f"{PLURALS[scope]}: " if scope else "", sum(_number(value) or 0.0 for value in times.values())
            least = min(_number(value) or 0.0 for value in times.values())
            yield Claim(f"{name}shortest of its times", least, LENGTH_OF_TIME, 0.0, math.inf)
            yield from equal(f"{name}mean latency", block.get("latency_mean_ns"), "the sum of its times", parts)
    yield from _energy(run, record)
    yield from _wear(record)
    yield from _verdicts(run, record)


def _blocks(run: Audited, record: Block) -> Iterator[Claim]:
    """Yield rates and orders of blocks with a count and a time: steps, service, operations, scripts."""
    for step in _rows(record, "steps"):
        name, summary, took = f"step {step.get('name')}: ", _block(step, "summary"), _number(step.get("duration_ns"))
        for scope in ("", "read", "write"):
            whose = f"{name}{scope}s: " if scope else name
            yield from _rated(whose, _block(summary, scope) if scope else summary, took, run.deepest)
        for direction in ("count", "bytes"):
            parts = [_number(_block(summary, scope).get(direction)) for scope in ("read", "write")]
            if None not in parts:
                source = "reads and writes"
                yield from equal(
                    f"{name}{direction}", _number(summary.get(direction)), source, sum(p or 0 for p in parts)
                )
    for service in _rows(_block(record, "repair"), "service"):
        yield from _rated(f"{service.get('phase')}: ", service, _number(service.get("duration_ns")))
    app = _block(record, "app")
    for operation in _rows(app, "operations"):
        yield from _rated(f"{operation.get('name')}: ", operation, run.duration_ns)
    operations = [_number(operation.get("ops_per_s")) or 0.0 for operation in _rows(app, "operations")]
    achieved = _number(app.get("achieved_ops_per_s"))
    yield from equal("operations/s achieved", achieved, "the sum over its operations", sum(operations))
    for script in _rows(record, "scripts"):
        yield from _rated(f"{script.get('name')}: ", script, run.duration_ns)
        yield from ordered(f"{script.get('name')}: ", script, "duration")
        yield from _clients(run, script)


def _clients(run: Audited, script: Block) -> Iterator[Claim]:
    """Yield times of a script's transactions against the run's, and how many its clients can do in them."""
    name = str(script.get("name"))
    first, last = _number(script.get("first_begin_ns")), _number(script.get("last_end_ns"))
    if first is None or last is None:
        return
    yield Claim(f"{name}: end of the last, ns", last, "the run and the first begin", max(0.0, first), run.duration_ns)
    longest, mean = _number(script.get("duration_max_ns")), _number(script.get("duration_mean_ns"))
    if longest is not None:
        most = (last - first) * (1 + EXACT)
        yield Claim(f"{name}: longest, ns", longest, "the first begin and the last end", 0.0, most)
    clients, completed = _number(script.get("clients")), _number(script.get("completed"))
    if clients is not None and completed and mean is not None and last > first:
        # Each client does one at a time.
        source = f"{completed:,.0f} of {mean / 1e9:.6g} s from the first begin to the last end"
        yield Claim(f"{name}: clients", clients, source, completed * mean / (last - first) * (1 - EXACT), math.inf)


def _rated(name: str, block: Block, took: float | None, deepest: float = 0.0) -> Iterator[Claim]:
    yield from ordered(name, block)
    if took:
        yield from rates(name, {key: _number(value) for key, value in block.items()}, took, deepest)


def _energy(run: Audited, record: Block) -> Iterator[Claim]:
    """Yield mean power x time = energy, parts and whole, states and energy, energy and I/Os."""
    # Parts of an emulated machine count for as long as it was served.
    duration_ns = _number(_block(record, "serving").get("duration_ns")) or run.duration_ns
    whole, seconds = _block(record, "energy"), duration_ns / 1e9
    powers = [(part, power) for part in _rows(record, "parts") if (power := _block(part, "power"))]
    for name, power in [("", whole), *((f"{part.get('id')}: ", power) for part, power in powers)]:
        energy, mean = _number(power.get("energy_j")), _number(power.get("mean_w"))
        if energy is None or mean is None or not seconds:
            continue
        yield from equal(f"{name}energy (J)", energy, f"{mean:.6g} W for {seconds:.6g} s", mean * seconds)
        for end, low, high in (("low", 0.0, energy), ("high", energy, math.inf)):
            bound = _number(power.get(f"energy_{end}_j"))
            if bound is not None:
                yield Claim(f"{name}{end} end of energy (J)", bound, f"{energy:.6g} J", low, high * (1 + EXACT))
    # A failed drive draws nothing from then on.
    if not _rows(_block(record, "repair"), "failures"):
        yield from _states(powers, seconds)
        yield from _whole_energy(run, record, whole, [power for _, power in powers])


def _states(powers: Sequence[tuple[Block, Block]], seconds: float) -> Iterator[Claim]:
    """Yield energy as idle power and the states of each drive make it."""
    for part, power in powers:
        idle, states = _number(power.get("idle_w")), _rows(power, "states")
        if idle is None:
            continue
        above = 0.0
        for state in states:
            watts, took, joules = (_number(state.get(key)) or 0.0 for key in ("power_w", "time_ns", "above_idle_j"))
            above += joules
            source = f"{watts - idle:.6g} W above idle for {took / 1e9:.6g} s"
            yield from equal(
                f"{part.get('id')}: energy of {state.get('state')}", joules, source, (watts - idle) * took / 1e9
            )
        energy = _number(power.get("energy_j"))
        yield from equal(f"{part.get('id')}: energy (J)", energy, "idle power and its states", idle * seconds + above)


def _whole_energy(run: Audited, record: Block, whole: Block, powers: Sequence[Block]) -> Iterator[Claim]:
    """Yield the energy of all drives as sums, and for each I/O."""
    if not whole:
        return
    unknown = sum(part.get("kind") in DRIVE_KINDS for part in _rows(record, "parts")) - len(powers)
    yield from equal("drives of unknown power", _number(whole.get("drives_unknown")), "its parts", float(unknown))
    if unknown:
        return
    count = run.summary().get("count") or 0
    for end in ("", "_low", "_high"):
        energy = _number(whole.get(f"energy{end}_j"))
        parts = sum(_number(power.get(f"energy{end}_j")) or 0.0 for power in powers)
        yield from equal(f"energy{end} (J)", energy, f"the sum over {len(powers)} drives", parts)
        if energy is not None and count:
            each = _number(whole.get(f"joules_per_io{end}"))
            yield from equal(f"energy of an I/O{end} (J)", each, f"{energy:.6g} J for {count:,} I/Os", energy / count)
    idles = sum(_number(power.get("idle_w")) or 0.0 for power in powers)
    yield from equal("idle power (W)", _number(whole.get("idle_w")), f"the sum over {len(powers)} drives", idles)
    yield from equal("drives whose power is known", _number(whole.get("drives")), "its parts", float(len(powers)))


def _wear(record: Block) -> Iterator[Claim]:
    """Yield write amplification = bytes to flash / bytes of the host, and counts that only grow."""
    counters = {str(part.get("id")): _block(part, "counters") for part in _rows(record, "parts")}
    for drive in _rows(record, "smart"):
        name, begin, end = str(drive.get("drive")), _block(drive, "at_begin"), _block(drive, "at_end")
        grown: dict[str, float] = {}
        for key in begin.keys() & end.keys():
            before, after = _number(begin[key]), _number(end[key])
            if before is None or after is None:
                continue
            grown[key] = after - before
            yield Claim(f"{name}: {key} at the end", after, f"{key} at the beginning", before, math.inf)
            counted = _number(counters.get(name, {}).get(key))
            if counted is not None and key.endswith("bytes"):
                source = f"{counted:,.0f} in its counters"
                yield from equal(f"{name}: {key} of the run", grown[key], source, counted)
        for key, flash, host in (
            ("write_amplification", grown.get("flash_bytes"), grown.get("host_bytes")),
            ("write_amplification_total", _number(end.get("flash_bytes")), _number(end.get("host_bytes"))),
        ):
            if flash and host:
                source = f"{flash:,.0f} B to flash for {host:,.0f} B of the host"
                yield from equal(f"{name}: {key}", _number(drive.get(key)), source, flash / host)


def _verdicts(run: Audited, record: Block) -> Iterator[Claim]:
    """Yield checks of conditions, limits, the steady state rule and intervals against the figures that they judge."""
    summary: Block = dict(run.summary())
    limits = _rows(record, "limits")
    for limit in limits:
        bound, value = _number(limit.get("limit")), _number(limit.get("value"))
        if bound is not None and value is not None:
            passed = value >= bound if limit.get("bound") == "at_least" else value <= bound
            yield from equal(
                f"limit of {limit.get('figure')} passed", _number(limit.get("passed")), "its value", passed
            )
        yield from equal(f"limit of {limit.get('figure')}", value, "its streams", _limited(run, limit))
    if limits and not any(limit.get("value") is None for limit in limits):
        passed = all(limit.get("passed") for limit in limits)
        yield from equal("limits passed", _number(record.get("passed")), "its limits", float(passed))
    for condition in _rows(record, "slo"):
        value, bound = _number(condition.get("value")), _number(condition.get("bound"))
        yield from _of_summary(f"{condition.get('condition')}", value, summary, condition.get("figure"))
        if value is not None and bound is not None:
            text = str(condition.get("condition"))
            met = value >= bound if ">" in text else value <= bound
            yield from equal(f"{text} met", _number(condition.get("met")), "its value", float(met))
    for figure in _rows(_block(record, "intervals"), "figures"):
        name, predicted = str(figure.get("figure")), _number(figure.get("predicted"))
        low, high = _number(figure.get("low")), _number(figure.get("high"))
        yield from _of_summary(f"predicted {name}", predicted, summary, name)
        if predicted is not None and low is not None and high is not None:
            yield Claim(f"predicted {name}", predicted, "its interval", low, high)
    states = [*_rows(record, "steady_state_before"), *([state] if (state := _block(record, "steady_state")) else [])]
    for state in states:
        rounds = [number for value in _block_list(state, "rounds") if (number := _number(value)) is not None]
        judged: Block = dict(rule(rounds))
        for key in ("reached", "round", "window_mean", "range_pct", "slope_pct"):
            yield from equal(f"steady state: {key}", _number(state.get(key)), "its rounds", _number(judged.get(key)))


def _limited(run: Audited, limit: Block) -> float | None:
    """Return the rate or mean latency of the streams of a limit; None for other figures."""
    names, op, figure = _block_list(limit, "streams"), str(limit.get("op")), limit.get("figure")
    sides = [side for stream in run.record["streams"] if stream["name"] in names
             for side in sides_of([stream], None if op == "all" else op)]  # fmt: skip
    count, summed = sum(side["count"] for side in sides), latency_sum(sides)
    if figure == "iops" and run.duration_ns:
        return count / run.duration_ns * 1e9
    return summed / count if figure == "latency_mean_ns" and summed is not None and count else None


def _of_summary(name: str, value: float | None, summary: Block, figure: object) -> list[Claim]:
    scope, _, key = str(figure).rpartition(".")
    block = _block(summary, scope) if scope else summary
    return equal(name, value, "its summary", _number(block.get(key)))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _block(document: Block, key: str) -> Block:
    value = document.get(key)
    return value if isinstance(value, Mapping) else {}


def _block_list(document: Block, key: str) -> Sequence[object]:
    value = document.get(key)
    return value if isinstance(value, list) else []


def _rows(document: Block, key: str) -> list[Block]:
    return [row for row in _block_list(document, key) if isinstance(row, Mapping)]
