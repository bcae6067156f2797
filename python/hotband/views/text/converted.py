"""A converted workload or trace on a screen: how much was preserved, and what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted, span
from hotband.base.text.words import capitalized
from hotband.data.jobs.loss import Fate
from hotband.views.text.screen import Screen, command, with_hidden

if TYPE_CHECKING:
    from hotband.data.inputs.convert import ConvertWorkloadQuestion
    from hotband.data.jobs.converted import Converted
    from hotband.inference.traces.convert import ConvertTraceQuestion, TraceConverted

MOST_LOST = 12
"""Most lines of a screen about losses."""


def workload(converted: Converted, question: ConvertWorkloadQuestion) -> Screen:
    """Return what the terminal shows of a workload that was written to a file."""
    losses = converted.losses
    unchanged = sum(loss.fate in (Fate.KEPT, Fate.UNUSED) for loss in losses)
    counts = f"{unchanged} of {counted(len(losses), 'option')} {'is' if unchanged == 1 else 'are'} kept"
    # The first line of an import counts options; those below it, and those of an export, list the losses.
    summaries = [*converted.read.splitlines()[:1], *([converted.summary] if converted.summary else [])]
    lost = [line for line in converted.lines() if line not in summaries]
    what = f"The workload is written as {'a job file' if losses else 'TOML'}"
    return Screen(
        answer=f"{what}: {counts}." if losses else f"{what}.",
        verdict="likely" if lost else "yes",
        state=[f"{capitalized(line)}." for line in summaries],
        remarks=with_hidden(lost, MOST_LOST, "more option"),
        next=question if len(lost) > MOST_LOST else "",
        details=converted.lines(),
    )


def trace(converted: TraceConverted, _: ConvertTraceQuestion) -> Screen:
    """Return what the terminal shows of a trace in another format."""
    whole = converted.written == converted.ios
    ios = f"All {converted.ios:,} I/Os" if whole else f"{converted.written:,} of {converted.ios:,} I/Os"
    lost = [f"Lost: {what} ({counted(count, 'I/O')})" for what, count in converted.lost.items()]
    if converted.rounded_ns:
        lost.append(f"Times are rounded by up to {span(converted.rounded_ns)}.")
    formats = f"{converted.source_format} to {converted.output_format}"
    return Screen(
        answer=f"{ios} are converted, {formats}{'' if lost else '; nothing is lost'}.",
        verdict="yes" if whole and not lost else "likely",
        state=[f"Written: {converted.output}"],
        remarks=with_hidden([*lost, *converted.notes], MOST_LOST),
        next=command("trace show", converted.output),
        details=converted.lines(),
    )
