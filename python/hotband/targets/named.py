"""What the name of a target begins with, where it is not a model in virtual time; the key that says its state."""

EMULATED = "emulated:"
"""A machine that is served on the wall clock."""
REAL = "real:"
"""A folder of the host."""
STATE = "state"
"""The key of `--set` that says what a drive holds before."""
