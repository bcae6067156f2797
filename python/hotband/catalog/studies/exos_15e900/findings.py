"""What the published Iometer figures of the Exos baseline say, and what the model says about them."""

from __future__ import annotations

from typing import Any

from hotband.measures import error_pct
from hotband.study import Conclusion, Results, figure
from hotband.studyfile import Published

BASELINE = "awc-off"


def row(results: Results, number: str) -> Published:
    """A published row by the end of its id."""
    return next(one for one in results.study.published if one.id.endswith(number))


def write_through_finding(results: Results) -> dict[str, Any]:
    """ "Advanced Write Cache off" is not write-through."""
    published = row(results, "-007").value
    table = []
    for config, name in (("write-through", "write-through"), (BASELINE, "write-back, 16 extents")):
        predicted = results.iops(config, "write")
        error = error_pct(published, predicted)
        table.append(
            [
                name,
                published,
                round(predicted),
                round(predicted * 2 / 24),
                None if error is None else f"{error:+.0f} %",
            ]
        )
    return {
        "id": "awc-off-is-not-write-through",
        "title": 'With "Advanced Write Cache off" the drives still acknowledge writes from a cache',
        "text": (
            "At queue depth 64 each of the 24 drives has at most 64 x 2 / 24 = 5.3 writes outstanding. In positioning "
            "order a write-through disk of 15,000 rpm does not reach the published 383 writes/s from that few; it "
            "takes the choice among some 16 writes. The baseline is therefore predicted with a small write-back cache "
            "(8 to 32 extents), and write-through is shown beside it."
        ),
        "table": {
            "columns": ["drives", "published IOPS", "predicted IOPS", "writes/s a drive", "error"],
            "rows": table,
        },
    }


def knee_finding(results: Results) -> dict[str, Any]:
    """How the published read maximum relates to the queue each drive sees."""
    cell = results.cells[BASELINE, "read"]
    rows = [
        [depth, round(record["summary"]["iops"]), round(depth / 24, 2), round(record["summary"]["iops"] / 24)]
        for depth, record in sorted(cell.records.items())
    ]
    return {
        "id": "shallow-queues",
        "title": "Queue depth 64 leaves each drive with fewer than three reads",
        "text": (
            "The published maximum is not that of the drives: 64 reads over 24 drives are 2.7 each, where a drive has "
            "little to sort. The curve is still rising."
        ),
        "table": {"columns": ["queue depth", "IOPS", "outstanding a drive", "reads/s a drive"], "rows": rows},
    }


def more_figures(results: Results) -> list[dict[str, Any]]:
    """Latency at queue depth 1, and I/Os a drive at queue depth 64."""
    first = results.cells[BASELINE, "read"].records[1]["summary"]["latency_mean_ns"] / 1e6
    values = {
        "-041": ("device writes a drive", results.iops(BASELINE, "write") * 2 / 24, "derived"),
        "-044": ("device reads a drive", results.iops(BASELINE, "read") / 24, "derived"),
        "-023": ("mean latency at queue depth 1", first, "4 KB random read"),
    }
    listed = []
    for number, (metric, predicted, group) in values.items():
        published = row(results, number)
        listed.append(
            figure(
                id=published.id,
                config=published.config,
                label=published.workload.split(",")[0],
                workload=published.workload,
                metric=metric,
                published=published.value,
                unit=published.unit,
                predicted=predicted,
                source=published.id,
                caveat=published.caveat,
                group=group,
            )
        )
    return listed


def claims(results: Results) -> list[dict[str, Any]]:
    """Statements of the evaluation that the baseline alone can check."""
    first = results.cells[BASELINE, "read"].records[1]["summary"]["latency_mean_ns"] / 1e6
    reads = [record["summary"]["iops"] for _, record in sorted(results.cells[BASELINE, "read"].records.items())]
    return [
        {
            "id": "qd1-latency",
            "text": "At the lowest queue depth a random 4 KB I/O takes about 5 ms",
            "holds": abs(first / 5 - 1) < 0.1,
            "measured": f"{first:.2f} ms",
            "source": row(results, "-023").id,
        },
        {
            "id": "nearly-6000",
            "text": "Random reads of the whole array reach nearly 6,000 IOPS at queue depth 64",
            "holds": 5400 <= reads[-1] <= 6300,
            "measured": f"{reads[-1]:.0f} IOPS",
            "source": row(results, "-022").id,
        },
    ]


def conclude(results: Results) -> Conclusion:
    """Claims, findings and further figures of the study."""
    findings = [write_through_finding(results), knee_finding(results)]
    return Conclusion(claims(results), findings, more_figures(results))
