"""Outlook of a run on hardware, printed before it begins: its length and its writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hotband.base.text.numbers import about, counted, share, size
from hotband.data.jobs.tables import Step, Stream
from hotband.execution.targets.client_run import Amounts, ClientRun, Rate
from hotband.execution.targets.fio_run import FioRun
from hotband.execution.targets.real_target import RealTarget


@dataclass(frozen=True)
class Outlook:
    """Planned runs: seconds (None if they count I/Os and no rate is known), bytes written (None if unknown), the source
    of the rate, whether anything is written or trimmed, and the share of the drive's endurance that the bytes use."""

    target: RealTarget
    runs: int
    seconds: float | None
    written_bytes: float | None
    rate_from: str
    writes: bool
    states: tuple[str, ...] = ()
    endurance_share: float | None = None

    def lines(self) -> list[str]:
        """Return it in words."""
        time = in_words(self.seconds)
        runs = f"{counted(self.runs, 'run')} on {self.target.text}"
        if not self.writes:
            return [f"{runs}: {time}, nothing is written"]
        amount = "an amount not known in advance" if self.written_bytes is None else _bytes(self.written_bytes)
        if self.written_bytes == 0:
            amount = "nothing"  # A purge alone.
        basis = f" ({self.rate_from})" if self.rate_from else ""
        lines = [f"{runs}: {time}, {amount} is written{basis}"]
        if self.states:
            lines.append(f"before them it is {' and '.join(self.states)}: its data is lost")
        if self.endurance_share is not None:
            lines.append(f"that is {share(self.endurance_share)} of what its endurance allows in all")
        return lines


def outlook_of(target: RealTarget, runs: Sequence[ClientRun], rate: Callable[[ClientRun], Rate]) -> Outlook:
    """Return the outlook of runs on a target. `rate` is called only for runs whose rate matters."""
    seconds: float | None = 0.0
    written: float | None = 0.0
    rate_from = ""
    for client_run in runs:
        time, amount, source = client_run.amounts(rate)
        rate_from = source or rate_from
        seconds = None if seconds is None or time is None else seconds + time
        written = None if written is None or amount is None else written + amount
        for state in filter(None, [client_run.state]):
            # Filled is written over twice; preconditioned that, and at least two capacities more (PTS).
            capacities = {"purged": 0, "filled": 2, "preconditioned": 4}[state]
            written = None if written is None else written + capacities * target.size_bytes
            seconds = None
    states = tuple(dict.fromkeys(client_run.state for client_run in runs if client_run.state))
    writes = any(client_run.writes for client_run in runs)
    return Outlook(target, len(runs), seconds, written, rate_from, writes, states)


def amounts_of_steps(fio_run: FioRun, rate: Callable[[], Rate]) -> Amounts:
    """Return the length and writes of a run of fio; `rate` is called only for closed loops that write or count I/Os."""
    seconds: float | None = fio_run.warm_up_s
    written: float | None = 0.0
    rate_from = ""
    for step in fio_run.steps:
        iops = _open_rate(step)
        if iops is None and (step.seconds is None or _write_bytes(step) > 0):
            iops, rate_from = rate()
        time, ios = _length(step, iops)
        seconds = None if seconds is None or time is None else seconds + time
        # The warm-up of a job asks as its first step does.
        ios = None if ios is None else ios + (fio_run.warm_up_s * (iops or 0.0) if step is fio_run.steps[0] else 0.0)
        share = _write_bytes(step)
        if share:
            written = None if written is None or ios is None else written + ios * share
    return seconds, written, rate_from


def _length(step: Step, iops: float | None) -> tuple[float | None, float | None]:
    """Return seconds and I/Os of a step, without flushes."""
    if step.ios is not None:
        requests = sum(stream.request_share for stream in step.streams)
        ios = step.ios * sum(stream.data_share for stream in step.streams) / (requests or 1.0)
        return (ios / iops if iops else step.seconds), ios
    return step.seconds, None if iops is None or step.seconds is None else iops * step.seconds


def _open_rate(step: Step) -> float | None:
    """Return the I/Os per second of a step whose loads are all open; None if one is closed."""
    rates = 0.0
    for stream in step.streams:
        if "open" not in stream.load:
            return None
        rates += float(stream.load["open"]["rate_iops"]) * stream.share
    return rates


def _write_bytes(step: Step) -> float:
    """Return the bytes that a mean I/O of a step writes."""
    whole = sum(stream.data_share for stream in step.streams) or 1.0
    return sum(stream.data_share * (1 - stream.read_pct / 100) * mean_bytes(stream) for stream in step.streams) / whole


def mean_bytes(stream: Stream) -> float:
    """Return the mean size of a stream's I/Os."""
    return sum(size * share for size, share in stream.sizes) / 100


def in_words(seconds: float | None) -> str:
    """Return a future time in words."""
    if seconds is None:
        return "its length is not known in advance"
    return f"about {about(max(1.0, seconds))}"


def _bytes(count: float) -> str:
    return f"about {size(count)}"
