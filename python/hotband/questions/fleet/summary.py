"""Summarise a fleet over the whole time, as plain data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from hotband.base.arrays import Floats
from hotband.base.text.numbers import number
from hotband.data.documents.fleet import CostDoc, FleetDoc, GroupDoc, LossDoc, PartDoc, SparesDoc
from hotband.questions.fleet.loss import closed_form_losses
from hotband.questions.fleet.outcome import Costs, Outcome, figure, no_cost
from hotband.questions.fleet.result import Fleet, sum_of
from hotband.questions.fleet.spec import Group

STATE_NOTE = "Losses are expected values: every degraded episode adds its chance of loss."


def summary_of(fleet: Fleet) -> FleetDoc:
    """Return the summary of a fleet."""
    spec = fleet.spec
    reason = no_cost(spec)
    return {
        "schema": "hotband-fleet",
        "version": 1,
        "name": spec.name,
        "months": spec.months,
        "repetitions": fleet.repetitions,
        "asked": spec.repetitions,
        "seed": str(spec.seed),
        "currency": spec.prices.currency or spec.power.currency,
        "no_cost": reason,
        "fleet": part_of(fleet.outcomes),
        "groups": [group_of(outcome) for outcome in fleet.outcomes],
        "notes": notes_of(fleet),
    }


def part_of(outcomes: Sequence[Outcome]) -> PartDoc:
    """Return the figures of a group, or of several together."""
    plans = [outcome.group.plan for outcome in outcomes]
    hours = sum(float(plan.machine_hours().sum()) for plan in plans)
    degraded = np.sum([outcome.column("degraded_hours").sum(axis=1) for outcome in outcomes], axis=0)
    repair = np.sum([outcome.column("repair_hours").sum(axis=1) for outcome in outcomes], axis=0)
    energy = [outcome.energy_kwh for outcome in outcomes if outcome.energy_kwh is not None]
    is_known = len(energy) == len(outcomes)
    return {
        "machines": sum(plan.machines for plan in plans),
        "drives": sum(plan.drives for plan in plans),
        "usable_bytes": sum(plan.machines * plan.array.usable_bytes for plan in plans),
        "failures": sum_of(outcomes, "failures"),
        "worn": sum_of(outcomes, "worn"),
        "rebuilds": figure(repair / plans[0].horizon),
        "degraded_share": figure(degraded / hours),
        "loss": loss_of(outcomes),
        "energy_kwh": figure(np.sum([energies.sum(axis=1) for energies in energy], axis=0)) if is_known else None,
        "cost": cost_of([outcome.costs for outcome in outcomes]),
    }


def loss_of(outcomes: Sequence[Outcome]) -> LossDoc:
    """Return the losses of data, and those of independent failures."""
    events: Floats = np.sum([outcome.losses.sum(axis=1) for outcome in outcomes], axis=0)
    events_figure = figure(events)
    independent = sum(independent_losses(outcome) for outcome in outcomes)
    exact = all(is_exact(outcome) for outcome in outcomes)
    log_intact: Floats = np.sum([outcome.total("log_intact") for outcome in outcomes], axis=0)
    return {
        "events": events_figure,
        "by_failure": sum_of(outcomes, "loss_failure"),
        "chance": float(np.abs(np.expm1(log_intact)).mean()),
        "bytes_lost": figure(np.sum([outcome.bytes_lost() for outcome in outcomes], axis=0)),
        "seen": int(sum(outcome.total("seen").sum() for outcome in outcomes)),
        "independent": independent,
        "is_exact": exact,
        "within_interval": events_figure["mean_low"] <= independent <= events_figure["mean_high"] if exact else None,
    }


def is_exact(outcome: Outcome) -> bool:
    """Return whether the Markov chain applies exactly to this group: exponential independent lives, no waits, no
    sampled values, and repairs so short that a group is whole again after a loss."""
    group = outcome.group
    if outcome.total("likely").any():
        return False
    values = [group.delay, *([] if group.rebuild is None else [group.rebuild])]
    known = group.rebuild is not None and group.law.is_known and all(value.is_known for value in values)
    return known and group.law.middle.is_exponential and group.plan.stock is None and not has_wear(outcome)


def has_wear(outcome: Outcome) -> bool:
    """Return whether drives are replaced because they are worn."""
    return outcome.group.wear.limit is not None


def independent_losses(outcome: Outcome) -> float:
    """Return the losses with as many failures of independent drives with exponential lives, and repairs of the same
    mean."""
    plan = outcome.group.plan
    failures = float(outcome.column("failures").sum(axis=1).mean())
    lives = outcome.group.law.middle
    hours = float(plan.machine_hours().sum()) * plan.array.drives
    is_told = (lives.is_exponential and outcome.group.law.is_known) or failures == 0
    mtbf = lives.scale if is_told else hours / failures
    repair = float((outcome.draws.rebuild + outcome.draws.delay).mean())
    return closed_form_losses(plan, mtbf, repair, outcome.group.error)


def cost_of(costs: Sequence[Costs | None]) -> CostDoc | None:
    """Return the cost over the whole time; None if a price is missing."""
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs) or not known:
        return None
    all_of = known[0]
    for further in known[1:]:
        all_of = all_of.plus(further)
    return {
        "drives": figure(all_of.drives.sum(axis=1)),
        "machines": None if all_of.machines is None else figure(all_of.machines.sum(axis=1)),
        "replacements": figure(all_of.replacements.sum(axis=1)),
        "energy": None if all_of.energy is None else figure(all_of.energy.sum(axis=1)),
        "losses": None if all_of.losses is None else figure(all_of.losses.sum(axis=1)),
        "total": figure(all_of.total.sum(axis=1)),
    }


def group_of(outcome: Outcome) -> GroupDoc:
    """Return a group with its basis."""
    group, left = outcome.group, outcome.endurance_left
    middle, fit = group.law.middle, group.law.fit
    source = group.rebuild.source if group.rebuild is not None else "runs of the model with its workload"
    return {
        **part_of([outcome]),
        "name": group.name,
        "machine": group.machine,
        "workload": group.workload,
        "lives": {
            "scale_hours": middle.scale,
            "shape": middle.shape,
            "batch_variance": middle.variance,
            "source": group.law.source,
            "fitted_drives": None if fit is None else fit.drives,
            "fitted_failures": None if fit is None else fit.failures,
        },
        "rebuild_hours": figure(outcome.draws.rebuild),
        "rebuild_source": source,
        "spares": spares_of(outcome),
        "endurance_left": None if left is None else figure(left[:, last_served(outcome)]),
        "service": None
        if outcome.service is None
        else {
            "whole": outcome.service.nominal.whole,
            "degraded": None if group.rebuild is not None else outcome.service.nominal.degraded,
        },
    }


def last_served(outcome: Outcome) -> int:
    """Return the last month in which the group has machines."""
    return int(np.flatnonzero(outcome.group.plan.machine_hours() > 0)[-1])


def spares_of(outcome: Outcome) -> SparesDoc | None:
    """Return the stock of spares, and a sufficient one; None without spares."""
    stock = outcome.group.plan.stock
    if stock is None:
        return None
    needed = outcome.total("spares")
    waited = outcome.column("waited").sum(axis=1) / np.maximum(outcome.column("failures").sum(axis=1), 1.0)
    return {
        "on_site": stock.on_site,
        "order": stock.order,
        "waited_share": figure(waited),
        "longest_wait_hours": figure(outcome.total("wait_hours")),
        "needed_95": math.ceil(np.percentile(needed, 95)),
        "needed_99": math.ceil(np.percentile(needed, 99)),
    }


def _without_effect(group: Group) -> Iterator[str]:
    """Yield the words of a group of unknown wear that change nothing."""
    if group.wear.limit is not None:
        yield "replace_at has no effect, because endurance or writes are unknown"
    elif group.wear.writes is not None:
        yield 'writes has no effect, because endurance is unknown (endurance = "2 PB")'
    if group.plan.age > 0 and group.law.is_ageless:
        yield "age has no effect: drives of any age fail alike (weibull states otherwise)"


def notes_of(fleet: Fleet) -> list[str]:
    """Return notes on the figures."""
    notes = [STATE_NOTE]
    for outcome in fleet.outcomes:
        group = outcome.group
        likely = float(outcome.total("likely").mean())
        if likely > 0:
            notes.append(
                f"{group.name}: in {number(likely)} episodes per repetition another drive was likely to fail before "
                "the first was replaced; for them simulated losses are counted"
            )
        if group.workload is None and group.drive_power is None and outcome.energy_kwh is not None:
            notes.append(f"{group.name}: drives use their idle power, because no workload is given")
        if group.subject.lacks_error_rate:
            products = ", ".join(group.products)
            notes.append(
                f"{group.name}: losses exclude sectors that cannot be read during a rebuild, because the error rate "
                f'of {products} is unknown (error_rate = "1e15" in the group, the bits of a data sheet)'
            )
        if group.subject.assumes_error_rate:
            source = group.subject.sources["unrecoverable_error_bits"]
            notes.append(f'{group.name}: the rate of unreadable sectors is {source} (error_rate = "1e15" sets another)')
        if outcome.energy_kwh is None:
            notes.append(f"{group.name}: no energy, because the catalog has no power of {', '.join(group.products)}")
        if outcome.endurance_left is None:
            notes += [f"{group.name}: {words}" for words in _without_effect(group)]
    prices = fleet.spec.prices
    if no_cost(fleet.spec) is None:
        left = [
            name for name, value in (("machines", prices.machine), ("energy", fleet.spec.power.price)) if value is None
        ]
        if left:
            notes.append(f"Cost excludes {' and '.join(left)}, which have no price")
    return notes
