"""Measures of operations (of a database or a file system) and of wear (bytes that a drive wrote to its flash).

Wear is measured as testers do with SMART: counters at the end of the measured time less those at its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from hotband.base.text.numbers import number
from hotband.data.documents.record import AppDoc, OperationDoc, SmartDoc
from hotband.questions.study.readings import Parameters, Record, Runs, Value, milliseconds, pick

MISSED = 1.01
"""Ratio of requested to achieved rate from which a load exceeds its target (a hundredth is chance and rounding)."""


def _apps(runs: Runs, parameters: Parameters) -> list[AppDoc]:
    """Return the app of each run, in the order of the queue depths; runs without one are left out."""
    apps = [_app(run.record, parameters.step) for _, run in sorted(runs.items())]
    return [app for app in apps if app]


def _app(record: Record, step: str) -> AppDoc | None:
    """Return the app of the record, or of its named step."""
    if not step:
        return record.get("app")
    return next(
        (step_record.get("app") for step_record in record.get("steps") or [] if step_record["name"] == step), None
    )


def _of_app(runs: Runs, parameters: Parameters, read: Callable[[AppDoc], float | None]) -> Value:
    apps = _apps(runs, parameters)
    if not apps:
        return Value(
            None,
            f'no app in the step "{parameters.step}"'
            if parameters.step
            else "no app in the record: it has no operations",
        )
    values = [read(app) for app in apps]
    if all(value is None for value in values) and parameters.operation:
        known = list(dict.fromkeys(str(operation["name"]) for app in apps for operation in app["operations"]))
        return Value(
            None, f'no operation "{parameters.operation}" in the record; its operations: {", ".join(known) or "none"}'
        )
    return Value(pick(values, parameters.pick))


def _operation(app: AppDoc, name: str) -> OperationDoc | None:
    return next((operation for operation in app["operations"] if operation["name"] == name), None)


def ops_per_s(runs: Runs, parameters: Parameters) -> Value:
    """Return operations per second, of one name or of all."""

    def rate(app: AppDoc) -> float | None:
        if not parameters.operation:
            return float(app["achieved_ops_per_s"])
        operation = _operation(app, parameters.operation)
        return None if operation is None else float(operation["ops_per_s"])

    return _of_app(runs, parameters, rate)


def requested_ops_per_s(runs: Runs, parameters: Parameters) -> Value:
    """Return requested operations per second; None for a closed loop."""
    return _of_app(runs, parameters, lambda app: app.get("requested_ops_per_s"))


def operation_mean_ms(runs: Runs, parameters: Parameters) -> Value:
    """Return the mean latency (ms) of the operations, of one name or of all (weighted by count)."""

    def mean(app: AppDoc) -> float | None:
        if parameters.operation:
            operation = _operation(app, parameters.operation)
            return None if operation is None else milliseconds(operation["latency_mean_ns"])
        return mean_latency_ms(app)

    return _of_app(runs, parameters, mean)


def mean_latency_ms(app: AppDoc) -> float | None:
    """Return the mean latency (ms) of all operations of an app; None if none completed."""
    ended = [
        operation for operation in app["operations"] if operation["count"] and operation["latency_mean_ns"] is not None
    ]
    count = sum(int(operation["count"]) for operation in ended)
    total = sum(int(operation["count"]) * float(operation["latency_mean_ns"] or 0.0) for operation in ended)
    return milliseconds(total / count) if count else None


def service_mean_ms(runs: Runs, parameters: Parameters) -> Value:
    """Return the mean time (ms) from the start of an operation to its completion, as a load generator measures it. If
    the requested rate exceeds the achieved one, operations start late, which this excludes."""
    apps = _apps(runs, parameters)
    counted = [app["counters"] for app in apps if "service_time_ns" in app["counters"]]
    if not counted:
        return Value(None, "no app in the record that counts service times")
    means = [
        counters["service_time_ns"] / counters["operations"] if counters["operations"] else None for counters in counted
    ]
    late = [app for app in apps if (app.get("requested_ops_per_s") or 0) > MISSED * app["achieved_ops_per_s"]]
    note = "the requested rate exceeds the achieved one: every client is always busy" if late else ""
    return Value(pick([milliseconds(mean) for mean in means], parameters.pick), note)


def operations_total_s(runs: Runs, parameters: Parameters) -> Value:
    """Return the seconds that a job of `operations` takes at the measured rate."""
    assert parameters.operations is not None, "the reader of studies refuses this measure without it"
    wanted = parameters.operations
    rate = ops_per_s(runs, Parameters(parameters.pick, step=parameters.step))
    if not rate.number:
        return Value(None, rate.note)
    return Value(wanted / rate.number, f"{number(wanted)} operations at the rate of the measured time")


def _smart(record: Record) -> list[SmartDoc]:
    counters = record.get("smart") or []
    return counters


def _of_smart(runs: Runs, parameters: Parameters, read: Callable[[Record], float | None]) -> Value:
    records = [run.record for _, run in sorted(runs.items()) if _smart(run.record)]
    if not records:
        return Value(None, "no drive of the record has SMART counters")
    values = [read(record) for record in records]
    note = "the host wrote nothing in that time" if all(value is None for value in values) else ""
    return Value(pick(values, parameters.pick), note)


def written(record: Record, counter: str, since_new: bool = False) -> float:
    """Sum a SMART counter over all drives: over the measured time, or up to its end since the drives were new."""
    smart = _smart(record)
    at_end = (cast("Mapping[str, float]", drive["at_end"]) for drive in smart)
    at_begin = (cast("Mapping[str, float]", drive["at_begin"]) for drive in smart)
    end = sum(float(counts[counter]) for counts in at_end)
    return end if since_new else end - sum(float(counts[counter]) for counts in at_begin)


def amplification(record: Record, since_new: bool = False) -> float | None:
    """Return bytes written to flash over bytes written by the host; None if the host wrote nothing."""
    host = written(record, "host_bytes", since_new)
    return written(record, "flash_bytes", since_new) / host if host else None


def write_amplification(runs: Runs, parameters: Parameters) -> Value:
    """Return flash bytes over host bytes of the measured time."""
    return _of_smart(runs, parameters, amplification)


def write_amplification_total(runs: Runs, parameters: Parameters) -> Value:
    """Return flash bytes over host bytes since the drives were new, preconditioning included."""
    return _of_smart(runs, parameters, lambda record: amplification(record, since_new=True))


def endurance_tb(runs: Runs, parameters: Parameters) -> Value:
    """Return the terabytes that the host can write until the drives are worn out, at the measured amplification."""

    def projected(record: Record) -> float | None:
        projections = [drive.get("endurance_bytes") for drive in _smart(record)]
        known = [float(projection) for projection in projections if projection is not None]
        return sum(known) / 1e12 if known else None

    return _of_smart(runs, parameters, projected)
