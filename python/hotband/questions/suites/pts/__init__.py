"""SNIA's Solid State Storage Performance Test Specification (PTS) 2.0.2, October 2020: its tests on models and on real
drives, one file per test, and its report (docs/guides/measure.md).

Left out of the specification: composite workloads, demand intensity, and tests of power (sections 13 on).
"""

from hotband.questions.suites.pts.suite import Asked, Interrupted, run_pts
from hotband.questions.suites.pts.tests import RANDOM, TESTS

__all__ = ["RANDOM", "TESTS", "Asked", "Interrupted", "run_pts"]
