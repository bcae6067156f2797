"""Failure and repair on a page: failures, rebuilds, and the service for hosts in every state of the machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hotband.base.heavy import pl
from hotband.base.text.numbers import finite, millis, number, percent, rate, size, span
from hotband.data.documents.record import RebuildDoc, RecordDoc, RepairDoc, ServiceDoc
from hotband.data.record.load import LoadedRecord
from hotband.data.record.repair import state_name, took_ns
from hotband.views.report.page import Block, Cell, Group, Prose, Table

Records = Mapping[str, LoadedRecord]

SERVICE_COLUMNS = ["State", "For", "IOPS", "Bandwidth", "Mean latency", "p50", "p99", "Errors"]
REBUILD_COLUMNS = ["Rebuild", "State", "Began", "Took", "Done", "Mean rate", "Limit", "Unreadable sectors"]


# Names of marks in the key of a chart.
FAILS = "a drive fails"
# Most drives that the key of a chart names.
NAMED = 3
# Endings of rebuilds that did not finish.
STOPPED = ("stopped", "spare failed")


def repair_blocks(records: Records) -> list[Block]:
    """Return failures and their effects, for every record of a run with planned failures."""
    texts, services, rebuilds = [], [], []
    for label, loaded in records.items():
        repair = loaded.record.get("repair")
        if not repair:
            continue
        name = label if len(records) > 1 else ""
        texts.append(_text(name, repair))
        services.append(Group([_service(service, repair) for service in repair.get("service") or []], name))
        rows = [_rebuild(rebuild, loaded.record) for rebuild in repair.get("rebuilds") or []]
        if rows:
            rebuilds.append(Group(rows, name))
    blocks: list[Block] = [Prose(texts)] if texts else []
    if services:
        blocks.append(Table(SERVICE_COLUMNS, services, caption="Service before, during and after repair"))
    if rebuilds:
        blocks.append(Table(REBUILD_COLUMNS, rebuilds, caption="Rebuilds"))
    return blocks


def mark_frame(records: Records) -> pl.DataFrame:
    """Return the times when drives failed and rebuilds began and ended, for charts over time: run, time_s, mark (the
    event), and kind: its name in the key of the chart."""
    rows = [
        (label, at / 1e9, mark, kind) for label, loaded in records.items() for at, mark, kind in _marks(loaded.record)
    ]
    kinds: dict[str, type[pl.DataType]] = {"run": pl.String, "time_s": pl.Float64, "mark": pl.String, "kind": pl.String}
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    failures = frame.filter(pl.col("kind") == FAILS)["mark"].unique(maintain_order=True).to_list()
    # A few failures are named; if there are more, only the tooltip names them.
    drives = [failure.removesuffix(" fails") for failure in failures]
    named = FAILS if len(drives) > NAMED else f"{', '.join(drives)} fail{'s' if len(drives) == 1 else ''}"
    return frame.with_columns(pl.col("kind").replace({FAILS: named}))


def _marks(record: RecordDoc) -> Iterator[tuple[float, str, str]]:
    repair = record.get("repair")
    if not repair:
        return
    for failure in repair.get("failures") or []:
        at = finite(failure.get("at_ns"))
        if at is not None:
            yield at, f"{failure.get('drive')} fails", FAILS
    for rebuild in repair.get("rebuilds") or []:
        for key, word in (("began_ns", "begins"), ("ended_ns", "ends")):
            at = finite(rebuild.get(key))
            if at is not None:
                ends = "stops" if word == "ends" and rebuild.get("state") in STOPPED else word
                text = f"rebuild of {rebuild.get('drive')} on {rebuild.get('spare')} {ends}"
                yield at, text, f"rebuild {ends}"


def _text(label: str, repair: RepairDoc) -> str:
    failures = repair.get("failures") or []
    failed = ", ".join(f"{failure.get('drive')} after {span(failure.get('at_ns'))}" for failure in failures)
    lost = finite(repair.get("bytes_lost")) or 0
    sentence = f"{size(lost)} of data were lost" if lost else "No data was lost"
    errors = finite(repair.get("io_errors")) or 0
    refused = f"{number(errors)} I/Os failed" if errors else "no I/O failed"
    text = f"Failed: {failed or 'nothing yet'}. {sentence}, {refused}."
    return f"{label}: {text}" if label else text


def _numbers(texts: list[str]) -> list[Cell]:
    return [Cell(text, numeric=True) for text in texts]


def _service(service: ServiceDoc, repair: RepairDoc) -> list[Cell]:
    latencies = [millis(service.get(f"latency_{key}_ns")) for key in ("mean", "p50", "p99")]
    texts = [span(service.get("duration_ns")), number(service.get("iops")), rate(service.get("bandwidth_bytes_per_s"))]
    return [Cell(state_name(service, repair)), *_numbers([*texts, *latencies, number(service.get("errors"))])]


def _rebuild(rebuild: RebuildDoc, record: RecordDoc) -> list[Cell]:
    began, ended = finite(rebuild.get("began_ns")), finite(rebuild.get("ended_ns"))
    end = ended if ended is not None else finite(record.get("duration_ns"))
    done, whole, mean = (finite(rebuild.get(key)) for key in ("bytes", "of_bytes", "mean_bytes_per_s"))
    share = percent(100.0 * done / whole, signed=False) if done is not None and whole else percent(None)
    texts = [span(began), span(took_ns(began, end, done, mean)), share, rate(rebuild.get("mean_bytes_per_s"))]
    texts += [rate(rebuild.get("rate_limit_bytes_per_s")), number(rebuild.get("sector_errors"))]
    name = f"{rebuild.get('drive')} of {rebuild.get('layout')} on {rebuild.get('spare')}"
    return [Cell(name), Cell(str(rebuild.get("state"))), *_numbers(texts)]
