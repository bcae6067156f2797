"""`hotband measure`: tests of drives and data that the user has."""

from __future__ import annotations

from hotband.faces.commands.declared import question
from hotband.faces.commands.groups import group_of

MEASURE = {
    **question("quick"),
    **question("pts"),
    **question("device"),
    **question("measure selftest", "selftest"),
    **question("calibrate"),
    **question("entropy"),
}
"""Module of each command, and the first paragraph of its help."""
measure_app = group_of(
    "measure",
    "Test a drive that you have: quick test, SNIA test, SMART data, self-test, calibration, compressibility.",
    MEASURE,
)
