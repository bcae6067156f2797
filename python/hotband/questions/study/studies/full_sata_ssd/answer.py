"""The answer to the question of full-sata-ssd: reads, durable writes, and what the write cache changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.questions.study.answer import beside, ratio, said, times

if TYPE_CHECKING:
    from hotband.data.documents.study_answer import AnswerDoc, AnswerPointDoc
    from hotband.questions.study.answer import Figures

DRIVE = "full"
READS = (1, 4, 8, 16, 32)
FLUSHED_ON, FLUSHED_OFF = "flushed-1-w1", "flushed-1-w0"


def answer(of: Figures) -> AnswerDoc:
    """The answer, and IOPS of all loads below it."""
    return {
        "text": f"{_writes(of)} {_reads(of)}",
        "further": _trust(of),
        "chart": {
            "title": "4 KiB I/O of the full drive",
            "quantity": "IOPS",
            "caption": "",
            "points": _points(of),
            "rule": None,
        },
    }


def _two(of: Figures, loads: tuple[str, str], between: str) -> str:
    """ "288 with it on, 18,100 with it off (predicted 322 and 21,900)"."""
    published, predicted = ([one(DRIVE, load, "iops") for load in loads] for one in (of.published, of.predicted))
    return (
        f"{said(published[0])} {between} {said(published[1])} (predicted {said(predicted[0])} and {said(predicted[1])})"
    )


def _writes(of: Figures) -> str:
    """What a flush costs, and what the cache changes for writes that are forced."""
    gain = ratio(of.published(DRIVE, FLUSHED_OFF, "iops"), of.published(DRIVE, FLUSHED_ON, "iops"))
    advice = "should turn this drive's write cache off" if (gain or 0) > 1 else "may leave this drive's write cache on"
    forced = _two(of, ("forced-1-w1", "forced-1-w0"), "with it on and") + " with it off"
    on, off = (of.published(DRIVE, f"forced-1-{cache}", "iops") for cache in ("w1", "w0"))
    if on == off:
        forced = f"{beside(on, of.predicted(DRIVE, 'forced-1-w1', 'iops'))} whether it is on or off"
    return (
        f"Who flushes after each write {advice}: queue depth 1 gives "
        f"{_two(of, (FLUSHED_ON, FLUSHED_OFF), 'writes a second with the cache on and')} with it off, while writes "
        f"that are forced one by one do {forced}."
    )


def _reads(of: Figures) -> str:
    """Reads against queue depth."""
    return f"Random reads rise from {_two(of, ('read-1', 'read-32'), 'a second at queue depth 1 to')} at 32."


def _trust(of: Figures) -> str:
    """How far the model is off."""
    errors = {load: abs(of.cells[DRIVE, load, "iops"]["error_pct"] or 0.0) for _, load, _ in of.cells}
    reads = {depth: errors[f"read-{depth}"] for depth in READS}
    deepest = max(reads, key=lambda depth: reads[depth])
    off = times(ratio(of.predicted(DRIVE, f"read-{deepest}", "iops"), of.published(DRIVE, f"read-{deepest}", "iops")))
    writes = max(error for load, error in errors.items() if not load.startswith("read"))
    return (
        f"Beyond depth 1 reads are predicted too high, {off} what was measured at depth {deepest}, which is not "
        "explained; "
        f"writes are within {said(writes)} %."
    )


def _points(of: Figures) -> list[AnswerPointDoc]:
    """Every load: its group as a heading is the row, the rest its name."""
    rows = {
        **{f"read-{depth}": f"random read, QD {depth}" for depth in READS},
        **{
            f"{kind}-{depth}-{cache}": f"{words}, QD {depth}, cache {state}"
            for kind, words, depths in (("forced", "forced write", (1, 4, 32)), ("flushed", "write and flush", (1, 32)))
            for depth in depths
            for cache, state in (("w1", "on"), ("w0", "off"))
        },
    }
    return [of.point(DRIVE, row, load, "iops") for load, row in rows.items()]
