"""The answer to the question of exos-15e900: what a protected write cache and a flash read cache buy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.questions.study.answer import both_times, more, named, ratio, said

if TYPE_CHECKING:
    from hotband.data.documents.study_answer import AnswerDoc, AnswerPointDoc
    from hotband.questions.study.answer import Figures

OFF, AWC, TURBO = "awc-off", "awc-on", "turbo"
LOADS = {
    ("read", "iops"): "4 KB random read",
    ("write", "iops"): "4 KB random write",
    ("mixed", "iops"): "4 KB random, 70 % reads",
    ("hot-band", "iops-at-5ms"): "Hot band at 5 ms",
    ("web", "average-iops"): "Web server",
    ("oltp", "iops"): "OLTP",
    ("boot", "peak-iops"): "Boot storm, peak",
}
"""What the chart has, by load and measure."""
UNCHANGED = {
    "web": ("average-iops", "web serving"),
    "oltp": ("iops", "the OLTP rate"),
    "read": ("iops", "random reads"),
}
NOTHING = 0.02
"""A gain below this share is called nothing: the printed rates of one load lie as far apart without a cause."""


def answer(of: Figures) -> AnswerDoc:
    """The answer, and what both caches gain under every load below it."""
    return {
        "text": f"{_write_cache(of)} {_flash(of)}",
        "further": f"{_unchanged(of)} {_both(of)}",
        "chart": {
            "title": "IOPS over those of the same array with neither cache",
            "quantity": "Times the IOPS of 512n drives with Advanced Write Cache off",
            "caption": "",
            "points": [_point(of, config, row, *key) for key, row in LOADS.items() for config in (AWC, TURBO)],
            "rule": {"at": 1.0, "text": "the array with neither cache"},
        },
    }


def _point(of: Figures, config: str, row: str, load: str, measure: str) -> AnswerPointDoc:
    published, predicted = of.gain(config, OFF, load, measure)
    return {"machine": of.names[config], "row": row, "qd": None, "published": published, "predicted": predicted}


def _write_cache(of: Figures) -> str:
    """What the protected write cache buys."""
    published, predicted = (
        [one(config, "write", "iops") for config in (OFF, AWC)] for one in (of.published, of.predicted)
    )
    what = "buys writes" if (of.gain(AWC, OFF, "write", "iops")[0] or 0) > 1 else "does not even buy writes"
    return (
        f"The protected write cache {what}: random ones go from {said(published[0])} to {said(published[1])} IOPS "
        "(predicted "
        f"{said(predicted[0])} to {said(predicted[1])}), and the hot band at 5 ms to "
        f"{both_times(of.gain(AWC, OFF, 'hot-band', 'iops-at-5ms'))} the rate."
    )


def _flash(of: Figures) -> str:
    """What the flash cache adds."""
    web, oltp = of.gain(TURBO, OFF, "web", "average-iops"), of.gain(TURBO, OFF, "oltp", "iops")
    times_ms = [
        [said(one(config, "oltp", "response")) for config in (TURBO, OFF)] for one in (of.published, of.predicted)
    ]
    return (
        f"The flash cache on top buys reads that come again: {both_times(web)} the web server's rate, and "
        f"{both_times(oltp)} "
        f"the OLTP rate, in {times_ms[0][0]} ms instead of {times_ms[0][1]} (predicted {times_ms[1][0]} instead of "
        f"{times_ms[1][1]})."
    )


def _unchanged(of: Figures) -> str:
    """Where the write cache buys nothing."""
    gains = {words: of.gain(AWC, OFF, load, measure)[0] for load, (measure, words) in UNCHANGED.items()}
    none = [words for words, gain in gains.items() if gain is not None and abs(gain - 1) < NOTHING]
    return f"The write cache alone is published with no gain in {named(none)}." if none else ""


def _both(of: Figures) -> str:
    """Both caches, where that has not been said."""
    boot = ratio(of.predicted(TURBO, "boot", "boot-time"), of.predicted(OFF, "boot", "boot-time"))
    return (
        f"Both together take the hot band to {both_times(of.gain(TURBO, OFF, 'hot-band', 'iops-at-5ms'))} the "
        "rate; a boot "
        f"storm takes {more(boot)} time with them (predicted only)."
    )
