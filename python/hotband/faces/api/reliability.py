"""`hb.reliability`: how long an array keeps its data, from Python (docs/guides/reliability.md)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from os import PathLike
from pathlib import Path

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.data.inputs.specify import Spec, changes, expect_seed, named, settings_of
from hotband.data.record.record import Record
from hotband.inference.reliability.asked import Asked
from hotband.inference.reliability.assess import assess
from hotband.inference.reliability.options import LEAST_ARRAYS, MOST_ARRAYS, MOST_SPARES, Distribution, Method, Rebuilds
from hotband.inference.reliability.result import Reliability


@public
def reliability(
    on: Spec,
    *,
    layout: str | None = None,
    set: Mapping[str, object] | None = None,
    mtbf: str | None = None,
    afr: str | None = None,
    rebuild_time: str | None = None,
    rebuild_rate: str | None = None,
    record: Record | str | PathLike[str] | None = None,
    spares: int = 0,
    replacement: str | None = None,
    error_rate: str | None = None,
    one_rebuild: bool = False,
    distribution: str = "exponential",
    shape: float | None = None,
    rebuild_distribution: str = "exponential",
    years: float = 10.0,
    method: str = "auto",
    arrays: int = 200_000,
    seed: int = 1,
    **settings: object,
) -> Reliability:
    """Says how long an array keeps its data: mean time to data loss and the chance of loss within some `years`,
    simulated, beside the closed form.

    The machine `on` has the array; `layout` names one of several, `settings` change values of its drives. Lives of
    drives are from the catalog, or a mean (`mtbf="1400000 h"`), or drives failing a year (`afr="0.9 %"`), with a
    `distribution` "exponential" or "weibull" of a `shape`. A rebuild takes as long as the media do, at most at
    `rebuild_rate` ("50 MB/s"), or a time (`rebuild_time="6 h"`), or as long as in a `record` of a run in which a drive
    failed, "exponential" or "constant" (`rebuild_distribution`); `one_rebuild` has one drive rebuilt after the other. A
    new drive is there at once, or after `replacement` ("24 h") where none of the `spares` is left. `error_rate` is bits
    read for one unrecoverable error ("1e15", or "none"). `method` ("auto", "biased", "direct") and `arrays` are how and
    how much is simulated.

    The result has `mttdl_years`, `loss`, `bytes_lost_per_tb` (each with `value`, `low`, `high`), `exact_mttdl_years`,
    `exact_loss`, `causes`, `sources` and a `frame`. Raises UserError.
    """
    _expect_whole("spares", spares, 0, MOST_SPARES)
    _expect_whole("arrays", arrays, LEAST_ARRAYS, MOST_ARRAYS)
    expect_seed(seed)
    _expect_one_of("distribution", distribution, Distribution)
    _expect_one_of("rebuild_distribution", rebuild_distribution, Rebuilds)
    _expect_one_of("method", method, Method)
    machine = named(on, "on")
    asked = Asked(
        machine.name, layout, settings_of(changes(set, settings, of_load=False)), mtbf, afr, rebuild_time, rebuild_rate,
        record if isinstance(record, Record | None) else Path(record), spares, replacement, error_rate, one_rebuild,
        distribution, shape, rebuild_distribution, years, method, arrays, seed, machine.text,
    )  # fmt: skip
    return Reliability(assess(asked))


def _expect_whole(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UserError(name, "", str(value), f"expected a whole number from {least:,} to {most:,}")


def _expect_one_of(name: str, value: str, words: type[StrEnum]) -> None:
    if value not in list(words):
        raise UserError(name, "", value, f"expected one of {', '.join(words)}")
