"""`hb.find`: inverse questions from Python (docs/guides/find.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.data.catalog.named import is_family
from hotband.data.inputs.specify import Named, Spec, changes, expect_interval, is_toml, named, settings_of
from hotband.execution.experiment import using, watch
from hotband.execution.runs.interrupted import as_interrupt
from hotband.inference.interval import DRAWS
from hotband.inference.interval.of_run import Asked as IntervalsAsked
from hotband.questions.find.find import Asked
from hotband.questions.find.find import find as answers_to
from hotband.questions.find.kept import answers_kept

if TYPE_CHECKING:
    from hotband.execution.experiment import Executor
    from hotband.execution.experiment.watch import Wanted
    from hotband.questions.find.found import Found


@public
def find(
    question: str,
    workload: Spec,
    *,
    on: Spec | Sequence[Spec],
    range: str | None = None,
    within: float = 2.0,
    arrival: str = "poisson",
    ios: int | None = None,
    duration: str | None = None,
    seed: int = 1,
    set: Mapping[str, object] | None = None,
    interval: float | None = None,
    draws: int | None = None,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    into: str | PathLike[str] | None = None,
    progress: Wanted = None,
    **settings: object,
) -> Found:
    """Finds the rate, queue depth, number of drives or value of a key that meets a condition, in at most 12 runs a
    machine; the searches of several machines go on beside one another.

    `question` is text: "IOPS at p99 < 10 ms" (the highest rate of an open loop with `arrival` "poisson" or "fixed"),
    "drives for 50000 IOPS at p99 < 2 ms" (`on="raid10:{n}xDRIVE"`), "queue depth for 90 % of the most", "bs for 500
    MB/s". `range` bounds what is varied ("1..64"), `within` is how near the answer is to the crossing in percent. A
    trial measures `ios` I/Os (60,000 to 300,000 where not said), or lasts `duration`. With `interval` (a percentage)
    every answer has bounds, from `draws` draws (64 where not said) of the machine's uncertain
    values. `executor` as in `sweep`. `into` is the folder of a
    store that takes the run of each answer, with what was found as a factor.

    The result has an `Answer` a machine (`found.answers`, `found["MACHINE"]`): `status`, `text`, `value` (I/Os a
    second, bytes, seconds or a count), `figures` (I/Os and bytes a second, seconds), `interval`, `trials`,
    `record`; a `frame` with a row a trial, and `to_dict()`. An answer that is not reached is an answer. Raises
    UserError for a mistake, KeyboardInterrupt where it is stopped.
    """
    with as_interrupt():
        drawn = DRAWS if draws is None else draws
        expect_interval(interval, draws)
        if interval is not None:
            IntervalsAsked(interval, drawn)
        asked = Asked(
            question,
            named(workload, "workload"),
            [machine(one) for one in (on if isinstance(on, list) else [on])],
            settings_of(changes(set, settings)),
            seed,
            duration,
            ios,
            within,
            range,
            arrival,
            interval,
            drawn,
            jobs,
        )
        with using(executor, jobs), answers_kept(into) as keep:
            found = answers_to(asked, lambda title: watch.watch(title, progress))
            keep(found)
            return found


def machine(spec: object) -> Named:
    """A machine, also one whose number of drives is left open."""
    if isinstance(spec, str) and not is_toml(spec) and is_family(spec):
        return Named(spec)
    return named(spec, "machine")
