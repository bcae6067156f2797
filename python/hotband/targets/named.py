"""What the name of a target begins with, where it is not a model in virtual time."""

EMULATED = "emulated:"
"""A machine that is served on the wall clock."""
REAL = "real:"
"""A folder of the host."""
