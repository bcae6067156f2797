"""The failure law of a group's drives: a rate, Weibull lives, or a fit to observed lifetimes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hotband.questions.fleet import values
from hotband.questions.fleet.lifetimes import Fit, fit_file
from hotband.questions.fleet.lives import Lives
from hotband.questions.fleet.values import Value, numbers_of, value_of

if TYPE_CHECKING:
    from hotband.base.text.tomltable import TomlTable

NAMES = ("afr", "mtbf", "weibull", "lifetimes")
SHAPES = (0.3, 10.0)
"""Accepted shapes of Weibull lives, as in `hotband reliability`."""
MOST_VARIANCE = 25.0
MOST_BATCH = 10_000_000
ONE = Value(1.0, 1.0)


@dataclass(frozen=True)
class Law:
    """Lives with a `rate` of failures per hour, or a scale in hours and a shape, or those of `fit`; without any of
    these, those of the catalog. `variance` is that of the factors of batches of `batch` drives (None: not given).
    Drives of a batch are neighbours unless they are `mixed`."""

    rate: Value | None = None
    scale: Value | None = None
    shape: Value = ONE
    variance: Value | None = None
    batch: int = 1
    mixed: bool = False
    fit: Fit | None = None
    source: str = ""

    @property
    def is_given(self) -> bool:
        """Whether the group states how drives fail."""
        return (self.rate, self.scale, self.fit) != (None, None, None)

    @property
    def is_ageless(self) -> bool:
        """Return whether drives of any age fail at the same rate."""
        return self.fit is None and self.variance is None and self.shape.low == self.shape.high == 1.0

    def of_catalog(self, mtbf: Value) -> Law:
        """Use the mean life of the catalog, unless the group states one."""
        return self if self.is_given else replace(self, scale=mtbf, source=mtbf.source)

    @property
    def is_known(self) -> bool:
        """Whether no value of it is sampled."""
        given = [value for value in (self.rate, self.scale, self.shape, self.variance) if value is not None]
        return self.fit is None and all(value.is_known for value in given)

    @property
    def middle(self) -> Lives:
        """The lives with the middle of each value."""
        variance = 0.0 if self.variance is None else self.variance.middle
        if self.fit is not None:
            return self.fit.lives if self.variance is None else replace(self.fit.lives, variance=variance)
        if self.rate is not None:
            return Lives(1.0 / self.rate.middle, 1.0, variance)
        return Lives(1.0 if self.scale is None else self.scale.middle, self.shape.middle, variance)

    def draws(self, seed: int, count: int, stream: str) -> list[Lives]:
        """Sample lives of the first `count` repetitions; `stream` names the random numbers of fitted ones."""
        if self.fit is not None:
            drawn = self.fit.draws(seed, count, stream)
        elif self.rate is not None:
            drawn = [Lives(1.0 / rate) for rate in self.rate.draws(seed, count).tolist()]
        else:
            scales = np.ones(count) if self.scale is None else self.scale.draws(seed, count)
            drawn = list(map(Lives, scales.tolist(), self.shape.draws(seed, count).tolist()))
        if self.variance is None:
            return drawn
        given = self.variance.draws(seed, count).tolist()
        return [replace(lives, variance=variance) for lives, variance in zip(drawn, given, strict=True)]


def read_law(table: TomlTable, folder: Path) -> Law:
    """Read the law of a group. Raises UserError."""
    given = [name for name in NAMES if table.has(name)]
    if len(given) > 1:
        table.refuse(given[1], f"cannot be combined with {given[0]}: both state how drives fail")
    law = read_batches(table)
    if "lifetimes" in given:
        path = folder / table.text("lifetimes")
        model = table.text("model", "") or None
        fit = fit_file(path, model, has_batches=law.batch > 1 and law.variance is None)
        return replace(law, fit=fit, source=fit.source)
    if table.has("model"):
        table.refuse("model", "has no effect without lifetimes, whose drives it chooses")
    for name in ("lifetimes", "model"):
        table.raw(name)
    if law.batch > 1 and law.variance is None:
        table.refuse("batches.variance", "is missing; expected a number, such as 0.5, or lifetimes with batches", "")
    product = table.table.get("machine", "")
    by_rate = value_of(table, "afr", values.afr_rate, 'a share of drives a year, such as "1.2 %"', f"{product}.afr")
    if by_rate is not None:
        return replace(law, rate=by_rate, source=table.key("afr"))
    by_mean = value_of(table, "mtbf", values.hours, values.HOURS_EXPECTED, f"{product}.mtbf")
    if by_mean is not None:
        return replace(law, scale=by_mean, source=table.key("mtbf"))
    if "weibull" in given:
        return read_weibull(table.part("weibull"), law)
    table.raw("weibull")
    return law


def read_weibull(table: TomlTable, law: Law) -> Law:
    """Read Weibull lives."""
    shape = numbers_of(table, "shape", *SHAPES, "a number")
    if shape is None:
        table.refuse("shape", "is missing; expected a number, such as 1.3")
    scale = value_of(table, "scale", values.hours, values.HOURS_EXPECTED)
    if scale is None:
        table.refuse("scale", 'is missing; expected the age at which 63 % have failed, such as "30 years"')
    table.finish()
    return replace(law, scale=scale, shape=shape, source=table.path)


def read_batches(table: TomlTable) -> Law:
    """Read the batches of a group, as a law without lives."""
    if not table.has("batches"):
        table.raw("batches")
        return Law()
    part = table.part("batches")
    drives = part.whole("drives", least=2)
    if drives > MOST_BATCH:
        part.refuse("drives", f"expected at most {MOST_BATCH:,}")
    variance = numbers_of(part, "variance", 0.0, MOST_VARIANCE, "a number")
    mixed = part.flag("mixed")
    part.finish()
    return Law(variance=variance, batch=drives, mixed=mixed)
