"""Measures of operations (what a database or a file system answered) and of wear (what a drive wrote to its flash).

The wear is read as a tester reads SMART: the counters at the end of the measured time less those at its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from hotband.base.text.numbers import number
from hotband.data.documents.record import AppDoc, OperationDoc, SmartDoc
from hotband.questions.study.readings import Parameters, Record, Runs, Value, milliseconds, pick

MISSED = 1.01
"""Asked for over done from which on a load is more than its target can do (a hundredth is chance and rounding)."""


def _apps(runs: Runs, how: Parameters) -> list[AppDoc]:
    """What the app of each run did, in the order of the queue depths; none for runs without one."""
    found = [_app(run.record, how.step) for _, run in sorted(runs.items())]
    return [app for app in found if app]


def _app(record: Record, step: str) -> AppDoc | None:
    """The app of the record, or of its step of that name."""
    if not step:
        return record.get("app")
    return next((one.get("app") for one in record.get("steps") or [] if one["name"] == step), None)


def _of_app(runs: Runs, how: Parameters, read: Callable[[AppDoc], float | None]) -> Value:
    apps = _apps(runs, how)
    if not apps:
        return Value(
            None, f'no app in the step "{how.step}"' if how.step else "no app in the record: it has no operations"
        )
    values = [read(app) for app in apps]
    if all(value is None for value in values) and how.operation:
        known = list(dict.fromkeys(str(operation["name"]) for app in apps for operation in app["operations"]))
        return Value(
            None, f'no operation "{how.operation}" in the record; its operations: {", ".join(known) or "none"}'
        )
    return Value(pick(values, how.pick))


def _operation(app: AppDoc, name: str) -> OperationDoc | None:
    return next((operation for operation in app["operations"] if operation["name"] == name), None)


def ops_per_s(runs: Runs, how: Parameters) -> Value:
    """Operations a second, of one name or of all."""

    def rate(app: AppDoc) -> float | None:
        if not how.operation:
            return float(app["achieved_ops_per_s"])
        found = _operation(app, how.operation)
        return None if found is None else float(found["ops_per_s"])

    return _of_app(runs, how, rate)


def requested_ops_per_s(runs: Runs, how: Parameters) -> Value:
    """Operations a second that were asked for; none for a closed loop."""
    return _of_app(runs, how, lambda app: app.get("requested_ops_per_s"))


def operation_mean_ms(runs: Runs, how: Parameters) -> Value:
    """Mean latency of the operations, of one name or of all (weighted by how many there were)."""

    def mean(app: AppDoc) -> float | None:
        if how.operation:
            found = _operation(app, how.operation)
            return None if found is None else milliseconds(found["latency_mean_ns"])
        return mean_latency_ms(app)

    return _of_app(runs, how, mean)


def mean_latency_ms(app: AppDoc) -> float | None:
    """Mean latency of all operations of an app; None where none ended."""
    ended = [
        operation for operation in app["operations"] if operation["count"] and operation["latency_mean_ns"] is not None
    ]
    count = sum(int(one["count"]) for one in ended)
    total = sum(int(one["count"]) * float(one["latency_mean_ns"] or 0.0) for one in ended)
    return milliseconds(total / count) if count else None


def service_mean_ms(runs: Runs, how: Parameters) -> Value:
    """Mean time from when a client began with an operation to its answer: what a load generator measures. Where more is
    asked for than is done, an operation begins late, and this has no part of that."""
    apps = _apps(runs, how)
    counted = [app["counters"] for app in apps if "service_time_ns" in app["counters"]]
    if not counted:
        return Value(None, "no app in the record that counts service times")
    means = [one["service_time_ns"] / one["operations"] if one["operations"] else None for one in counted]
    late = [app for app in apps if (app.get("requested_ops_per_s") or 0) > MISSED * app["achieved_ops_per_s"]]
    note = "more is asked for than is done: every client is busy all the time" if late else ""
    return Value(pick([milliseconds(mean) for mean in means], how.pick), note)


def operations_total_s(runs: Runs, how: Parameters) -> Value:
    """Seconds that a job of so many operations takes at the rate measured."""
    assert how.operations is not None, "the reader of studies refuses this measure without it"
    wanted = how.operations
    found = ops_per_s(runs, Parameters(how.pick, step=how.step))
    if not found.number:
        return Value(None, found.note)
    return Value(wanted / found.number, f"{number(wanted)} operations at the rate of the measured time")


def _smart(record: Record) -> list[SmartDoc]:
    found = record.get("smart") or []
    return found


def _of_smart(runs: Runs, how: Parameters, read: Callable[[Record], float | None]) -> Value:
    records = [run.record for _, run in sorted(runs.items()) if _smart(run.record)]
    if not records:
        return Value(None, "no drive of the record keeps SMART counters")
    values = [read(record) for record in records]
    note = "the host wrote nothing in that time" if all(value is None for value in values) else ""
    return Value(pick(values, how.pick), note)


def written(record: Record, counter: str, since_new: bool = False) -> float:
    """A SMART counter over all drives: of the measured time, or up to its end since the drives were new."""
    smart = _smart(record)
    at_end = (cast("Mapping[str, float]", one["at_end"]) for one in smart)
    at_begin = (cast("Mapping[str, float]", one["at_begin"]) for one in smart)
    end = sum(float(counts[counter]) for counts in at_end)
    return end if since_new else end - sum(float(counts[counter]) for counts in at_begin)


def amplification(record: Record, since_new: bool = False) -> float | None:
    """Bytes written to flash over bytes written by the host; None where the host wrote nothing."""
    host = written(record, "host_bytes", since_new)
    return written(record, "flash_bytes", since_new) / host if host else None


def write_amplification(runs: Runs, how: Parameters) -> Value:
    """Flash bytes over host bytes of the measured time."""
    return _of_smart(runs, how, amplification)


def write_amplification_total(runs: Runs, how: Parameters) -> Value:
    """Flash bytes over host bytes since the drives were new, preconditioning included."""
    return _of_smart(runs, how, lambda record: amplification(record, since_new=True))


def endurance_tb(runs: Runs, how: Parameters) -> Value:
    """Terabytes that the host can write until the drives are worn out, at the write amplification measured."""

    def projected(record: Record) -> float | None:
        found = [one.get("endurance_bytes") for one in _smart(record)]
        known = [float(one) for one in found if one is not None]
        return sum(known) / 1e12 if known else None

    return _of_smart(runs, how, projected)
