"""Experiments: a grid of runs and their measurements, on all cores, each run kept as it finishes
(docs/guides/sweeps.md)."""

from hotband.data.record.lock import Lock
from hotband.execution.experiment.chosen import chosen, cores, executor_of, expect_models, using
from hotband.execution.experiment.executor import Cancelled, Executor, Local, Progress, Tick, unwatched
from hotband.execution.experiment.experiment import Experiment, Measure, Outcome, Say, Value
from hotband.execution.experiment.own_folder import expect_no_record, expect_out, expect_own_page, new_record
from hotband.execution.experiment.point import Point
from hotband.execution.experiment.ranges import Range, at_end, one_at_a_time
from hotband.execution.experiment.samplers import grid, points_of, sequence
from hotband.execution.experiment.store import expect_no_experiment, expect_same_run

__all__ = [
    "Cancelled",
    "Executor",
    "Experiment",
    "Local",
    "Lock",
    "Measure",
    "Outcome",
    "Point",
    "Progress",
    "Range",
    "Say",
    "Tick",
    "Value",
    "at_end",
    "chosen",
    "cores",
    "executor_of",
    "expect_models",
    "expect_no_experiment",
    "expect_no_record",
    "expect_out",
    "expect_own_page",
    "expect_same_run",
    "grid",
    "new_record",
    "one_at_a_time",
    "points_of",
    "sequence",
    "unwatched",
    "using",
]
