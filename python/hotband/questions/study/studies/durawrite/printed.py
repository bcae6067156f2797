"""What the published figures of the DuraWrite study say about themselves: arithmetic on the visible rows alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hotband.questions.study.runs import Results
from hotband.questions.study.studies.durawrite.cells import percent, published, stated

if TYPE_CHECKING:
    from hotband.data.documents.study import FindingDoc, TableCell

HALF = 0.5
"""Percentages are printed whole: the true one lies within half of one."""
RATIO_HALF = 0.005
"""And ratios to a hundredth."""


def no_absolute(results: Results) -> FindingDoc:
    """Nowhere is a write amplification printed, only ratios of two."""
    rows = [row for row in results.study.published if "write amplification" in row.metric.lower()]
    absolute = [row for row in rows if "ratio" not in row.metric.lower()]
    ratio, entropy = stated(results, "-007"), stated(results, "-019")
    least = entropy / (ratio + RATIO_HALF)
    assert not absolute, "a printed write amplification is a figure to compare with, not a finding"
    return {
        "id": "no-absolute-write-amplification",
        "title": "No write amplification is printed, only ratios of two",
        "text": (
            f"Of {len(results.study.published)} visible rows {len(rows)} "
            f"{'is' if len(rows) == 1 else 'are'} about write amplification, and "
            f"{'it is a ratio' if len(rows) == 1 else 'all are ratios'}: {ratio:.2f} can be 0.5 against 1.5 or 1.5 "
            "against 4.5. Neither the wear of a drive nor its lifetime follows from it. What it does bound: if the "
            f"drive cannot write less than an archive keeps ({percent(entropy)} under VDI), the others wrote at least "
            f"{least:.2f} bytes to flash for each byte of the host."
        ),
        "table": {
            "columns": ["row", "load", "metric", "printed"],
            "rows": [[row.id, row.workload.split(",")[0], row.metric, row.text] for row in rows],
        },
    }


def spread(gain_pct: float, reduction_pct: float) -> float | None:
    """How many times as fast one of two others is as the other, if both percentages are against plain means.

    With rates a and b of the others and clients that wait for each answer, the mean of the rates is (a + b) / 2 and the
    mean latency follows (1 / a + 1 / b) / 2. So (1 + gain) (1 - reduction) = 4 a b / (a + b)^2; None where that is
    above 1, which no two rates give.
    """
    product = (1 + gain_pct / 100) * (1 - reduction_pct / 100)
    if product > 1:
        return None
    root = math.sqrt(1 - product)
    return (1 + root) / (1 - root)


def three_gains(results: Results) -> FindingDoc:
    """Whether the gain, the latency and the time of YCSB fit Little's law."""
    gain, latency, time = (stated(results, number_of) for number_of in ("-001", "-002", "-003"))
    expected = (1 - 1 / (1 + gain / 100)) * 100
    ends = [(gain + one, latency + other) for one in (-HALF, HALF) for other in (-HALF, HALF)]
    spreads = [found for one in ends if (found := spread(*one)) is not None]
    reach = [(1 - 1 / (1 + (gain + shift) / 100)) * 100 for shift in (-HALF, HALF)]
    fits = reach[0] <= latency + HALF and latency - HALF <= reach[1]
    verdict = (
        "Within rounding the three agree."
        if fits
        else (
            f"Rounding gives {reach[0]:.1f} to {reach[1]:.1f} %, so {latency:.0f} % does not follow from one pair of "
            "drives. It does if all are against means of two: the mean of two times is more than the inverse of the "
            f"mean of two rates. One of the others then was {min(spreads):.2f} to {max(spreads):.2f} times as fast "
            f'as the other: "the average" hides that beside the {1 + gain / 100:.2f} that it shows.'
        )
    )
    rows = [
        ["op/s gain", f"{gain:.0f} %", f"{1 + gain / 100:.2f} times the rate"],
        ["mean latency reduction", f"{latency:.0f} %", f"{expected:.1f} % from the gain"],
        ["total time reduction", f"{time:.0f} %", f"{expected:.1f} % from the gain"],
    ]
    return {
        "id": "ycsb-littles-law",
        "title": "47 % more operations and 33 % less latency tell how far the competitors are apart",
        "text": (
            "The time of 1,000,000 operations is their number over the rate, and with a fixed number of clients that "
            f"wait for each answer so is the latency (Little's law): {1 + gain / 100:.2f} times the operations a "
            f"second mean {expected:.1f} % less of both. {verdict}"
        ),
        "table": {"columns": ["figure", "printed", "by Little's law"], "rows": rows},
    }


def overloaded(results: Results) -> FindingDoc:
    """No drive kept up with the rate that VDI asks for, and the drive that writes least is not the fastest."""
    asked = stated(results, "-006")
    rows: list[list[TableCell]] = []
    for number_of in ("-004", "-005"):
        row, value = published(results, number_of), stated(results, number_of)
        rows.append([row.config, round(value), percent(value / asked, 1), round(asked - value)])
    one, other = stated(results, "-004"), stated(results, "-005")
    return {
        "id": "vdi-overloaded",
        "title": "Both drives miss the rate that VDI asks for, and the one that writes a third is no faster",
        "text": (
            f"{asked:,.0f} op/s are requested. With 15 % missing the load is no longer open: its clients wait, and a "
            "latency measured there is that of a queue without end. The drive whose flash takes "
            f"{stated(results, '-007'):.2f} of the others' bytes does {abs(one / other - 1) * 100:.1f} % fewer "
            "operations than the S4500: write amplification is not what limits this load."
        ),
        "table": {"columns": ["drive", "achieved op/s", "of those requested", "missing"], "rows": rows},
    }


def not_entropy_alone(results: Results) -> FindingDoc:
    """The visible figures do not follow the entropy of the data."""
    first, second = stated(results, "-018"), stated(results, "-019")
    gain = stated(results, "-001")
    loss = (stated(results, "-004") / stated(results, "-005") - 1) * 100
    return {
        "id": "gains-against-entropy",
        "title": "The less compressible data gains more: throughput does not follow entropy",
        "text": (
            f"YCSB's records keep {percent(first)} in an archive and gain {gain:.0f} % over the mean of the others; "
            f"VDI's keep {percent(second)} and do {loss:+.1f} % against the S4500. If compressibility decided, it "
            "would be the other way round. What else counts: how much of the load is writes, in what sizes, and what "
            "waits for them."
        )
        .replace("%,", " %,")
        .replace("% ", " % ")
        .replace("  ", " "),
        "table": {
            "columns": ["load", "entropy", "published against", "change of op/s"],
            "rows": [
                ["YCSB A", first, "mean of both", f"{gain:+.0f} %"],
                ["SPECsfs VDI", second, "S4500", f"{loss:+.1f} %"],
            ],
        },
    }


def test_data(results: Results) -> FindingDoc:
    """Jetstress' data is nothing like Exchange's."""
    jetstress, production = stated(results, "-022"), stated(results, "-023")
    low, high = (float(end) for end in published(results, "-024").text.split("-"))
    oltp = stated(results, "-021")
    rows = [
        [
            published(results, number_of).workload,
            published(results, number_of).config,
            published(results, number_of).text,
        ]
        for number_of in ("-022", "-023", "-021", "-024")
    ]
    inside = "lies within" if low <= oltp <= high else "lies outside"
    return {
        "id": "jetstress-data",
        "title": f"Jetstress' data compresses {production / jetstress:.0f} times as well as a production database",
        "text": (
            f"An archive keeps {percent(jetstress, 2)} of what Jetstress writes and {percent(production)} of a "
            "production database. With such data every chunk is as small as a drive can pack it, so the run measures "
            "granularity and metadata, not compression of mail: a best case that no mailbox reaches. OLTP's data "
            f"({oltp:.2f}) {inside} what is published for relational databases ({low:.2f} to {high:.2f})."
        )
        .replace("%", " %")
        .replace("  ", " "),
        "table": {"columns": ["workload", "of", "entropy"], "rows": rows},
    }


def all_of(results: Results) -> list[FindingDoc]:
    """Every finding of the published rows."""
    return [find(results) for find in (no_absolute, three_gains, overloaded, not_entropy_alone, test_data)]
