"""The answer to the question of mach2-ceph: whether dual-actuator disks help, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.questions.study.answer import Value, both_times, ratio, said

if TYPE_CHECKING:
    from hotband.data.documents.study_answer import AnswerDoc, AnswerPointDoc
    from hotband.questions.study.answer import Figures

NORMAL, DUAL = "normal", "mach2"
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SHALLOW, DEEP, DEEPEST = 1, 16, 256
"""Queue depths with figures of both pools."""


def load_at(pool: str, operation: str, depth: int) -> str:
    """Id of the load that stands beside the published figure of a depth."""
    return "read-2-short" if (pool, operation, depth) == (DUAL, "read", 2) else f"{operation}-{depth}"


def answer(of: Figures) -> AnswerDoc:
    """The answer, and IOPS of both pools against queue depth below it."""
    return {
        "text": f"{_writes(of)} {_reads(of)}",
        "further": _media(of),
        "chart": {
            "title": "4 KB random I/O of both pools",
            "quantity": "IOPS",
            "caption": "Lines are predicted. Most reads of the conventional pool are answered from memory.",
            "points": [_point(of, pool, name, depth) for pool in (NORMAL, DUAL) for name in NAMES for depth in DEPTHS],
            "rule": None,
        },
    }


NAMES = {"reads": "read", "writes": "write"}


def _point(of: Figures, pool: str, name: str, depth: int) -> AnswerPointDoc:
    return of.point(pool, name, load_at(pool, NAMES[name], depth), "iops", depth)


def _values(of: Figures, pool: str, operation: str, depth: int) -> tuple[Value, Value]:
    """IOPS of a pool: published, predicted."""
    load = load_at(pool, operation, depth)
    return of.published(pool, load, "iops"), of.predicted(pool, load, "iops")


def _gain(of: Figures, operation: str, depth: int) -> tuple[Value, Value]:
    """The dual-actuator pool over the other: published, predicted."""
    dual, normal = _values(of, DUAL, operation, depth), _values(of, NORMAL, operation, depth)
    return ratio(dual[0], normal[0]), ratio(dual[1], normal[1])


def _writes(of: Figures) -> str:
    """Replicated writes."""
    first, last = _gain(of, "write", SHALLOW), _gain(of, "write", DEEPEST)
    helps = "For writes yes" if min(first[0] or 0, last[0] or 0) > 1 else "For writes not always"
    most = ", most of all at shallow queues" if (first[0] or 0) > (last[0] or 0) else ""
    dual, normal = (said(_values(of, pool, "write", SHALLOW)[0]) for pool in (DUAL, NORMAL))
    return (
        f"{helps}{most}: {dual} against {normal} IOPS at queue depth {SHALLOW}, {both_times(first)} as many, and "
        f"{both_times(last)} at {DEEPEST}; most of it is their protected write cache."
    )


def _reads(of: Figures) -> str:
    """Reads as they are published."""
    gains = {depth: _gain(of, "read", depth) for depth in (SHALLOW, DEEP)}
    some = "hardly" if max(gain[0] or 0 for gain in gains.values()) < 1.1 else "somewhat"
    depths = " and ".join(f"{both_times(gain)} at depth {depth}" for depth, gain in gains.items())
    return f"For reads {some}, as published: {depths}."


def _media(of: Figures) -> str:
    """What the disks did of the reads."""
    claim = of.claims.get("actuators-double-reads")
    measured = "" if claim is None else f" In the model disks themselves gain: {claim['measured']}."
    return (
        "Those reads mislead: every run repeats offsets that were read before, so the conventional pool answered "
        "most of "
        f"them from memory.{measured}"
    )
