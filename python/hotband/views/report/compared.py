"""Measured next to replayed latencies: a chart of both distributions, a table by class, percentiles."""

from __future__ import annotations

from collections.abc import Mapping

from hotband.base.heavy import pl
from hotband.base.text.numbers import number, percent
from hotband.base.text.table import MS
from hotband.base.text.words import capitalized
from hotband.data.documents.record import KIND_REAL, ComparedDoc, ComparisonDoc
from hotband.data.record.load import LoadedRecord
from hotband.views.draw.cumulative import cumulative_chart
from hotband.views.report.page import Block, Cell, Chart, Charts, Group, Prose, Section, Table

Names = tuple[str, str]
OF_RECORD: Names = ("measured", "replayed")
DOUBT = "The difference is an error of the model only if the trace was recorded on the drive that replays it."
CAPTION = "Demerit is the root of the mean squared horizontal distance of the two lines."


def comparison_section(records: Mapping[str, LoadedRecord]) -> Section | None:
    """Return the replayed latencies of traces next to the measured ones, for the records that have them."""
    comparisons = {
        label: loaded.record["comparison"] for label, loaded in records.items() if "comparison" in loaded.record
    }
    blocks: list[Block] = []
    for label, comparison in comparisons.items():
        blocks += comparison_blocks(comparison, OF_RECORD, label if len(comparisons) > 1 else "")
    has_model = any(
        loaded.record["target"].get("kind", "model") != KIND_REAL
        for loaded in records.values()
        if "comparison" in loaded.record
    )
    blocks += [Prose([DOUBT])] if has_model else []
    return Section("comparison", "Measured and replayed", blocks) if blocks else None


def comparison_blocks(comparison: ComparisonDoc, names: Names, label: str = "") -> list[Block]:
    """Return the summary of the figures, both distributions, a table by class, and percentiles."""
    prefix = f"{label}: " if label else ""
    blocks: list[Block] = [Prose([prefix + sentence(comparison, names)])]
    frame = distribution_frame(comparison, names)
    if frame is not None:
        blocks.append(
            Charts([Chart(f"{prefix}latencies, {names[0]} and {names[1]}", cumulative_chart(frame, names), CAPTION)])
        )
    return [*blocks, class_table(comparison, names), percentile_table(comparison, names)]


def sentence(comparison: ComparedDoc, names: Names) -> str:
    """Return mean and demerit in words."""
    means = (comparison["mean_measured_ns"] / 1e6, comparison["mean_replayed_ns"] / 1e6)
    text = f"Mean {number(means[0])} ms {names[0]}, {number(means[1])} ms {names[1]}"
    if comparison["mean_error_pct"] is not None:
        text += (
            f" ({percent(comparison['mean_error_pct'])}); demerit {percent(comparison['demerit_pct'], signed=False)}"
        )
    if comparison["rms_ns"] is not None:
        text += f"; single I/Os differ by {number(comparison['rms_ns'] / 1e6)} ms (RMS)"
    return f"{text}."


def distribution_frame(comparison: ComparisonDoc, names: Names) -> pl.DataFrame | None:
    """Return both distributions: line, share_pct, latency_ms. None for an old record."""
    distribution = comparison.get("distribution")
    if distribution is None:
        return None
    frames = [
        pl.DataFrame(
            {"share_pct": distribution["share_pct"], "latency_ms": [value / 1e6 for value in values]}
        ).with_columns(line=pl.lit(name))
        for name, values in zip(names, (distribution["measured_ns"], distribution["replayed_ns"]), strict=True)
    ]
    return pl.concat(frames)


def class_table(comparison: ComparisonDoc, names: Names) -> Table:
    """Return a row of all I/Os, and one of each class."""
    columns = ["", "I/Os", f"Mean {names[0]} (ms)", f"Mean {names[1]} (ms)", "Difference", "Demerit (ms)", "Demerit"]
    classes: list[tuple[str, ComparedDoc]] = [
        (f"{entry['direction']}s, {entry['distance']}", entry) for entry in comparison["classes"]
    ]
    rows = [_row(name, entry) for name, entry in [("all", comparison), *classes]]
    return Table([*columns, "RMS of an I/O (ms)"], [Group(rows)], caption="By class of I/O", tight=True)


def _row(name: str, entry: ComparedDoc) -> list[Cell]:
    count = f"{entry['ios']:,}" + (f" and {entry['ios_replayed']:,}" if "ios_replayed" in entry else "")
    texts = [
        count,
        MS.bare(entry["mean_measured_ns"]),
        MS.bare(entry["mean_replayed_ns"]),
        percent(entry["mean_error_pct"]),
        MS.bare(entry["demerit_ns"]),
        percent(entry["demerit_pct"], signed=False),
        MS.bare(entry["rms_ns"]),
    ]
    return [Cell(name), *(Cell(text, numeric=True) for text in texts)]


def percentile_table(comparison: ComparisonDoc, names: Names) -> Table:
    """Return measured and replayed percentiles side by side."""
    rows = [
        [Cell(f"{percentile['percentile']:g} %", numeric=True)]
        + [Cell(number(percentile[key] / 1e6), numeric=True) for key in ("measured_ns", "replayed_ns")]
        for percentile in comparison["percentiles"]
    ]
    columns = ["Percentile", *(f"{capitalized(name)} (ms)" for name in names)]
    return Table(columns, [Group(rows)], caption="Percentiles", folded=True)
