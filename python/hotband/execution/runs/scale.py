"""Solid-state drives of trials: simulated at a fraction of their size if the user set none.

A drive in use is written over before every run, which takes seconds at the size that a single run chooses. From a
512th to a 64th rates and latencies of reads and writes are alike within 1 % (docs/guides/find.md).
"""

from __future__ import annotations

from dataclasses import replace

from hotband.data.documents.run import RunSpec
from hotband.execution.runs.run import refusal

SCALES = ("512", "256", "128", "64")


def scaled(spec: RunSpec) -> RunSpec:
    """The run with its solid-state drives at the smallest fraction that they accept; unchanged if it has none, or if
    the user set a scale."""
    if any(key == "scale" for key, _ in spec.set):
        return spec
    tried = (replace(spec, set=(*spec.set, ("scale", scale))) for scale in SCALES)
    return next((one for one in tried if refusal([one]) is None), spec)


def scale_of(spec: RunSpec) -> str | None:
    """The scale that a run sets."""
    return dict(spec.set).get("scale")
