"""Prefixes of targets that are not models in virtual time, and the key of their state."""

import re

from hotband.base.errors import UserError

EMULATED = "emulated:"
"""Prefix of a machine that is served on the wall clock."""
REAL = "real:"
"""Prefix of hardware: a device, a file or a folder of this host."""
STATE = "state"
"""The key of `--set` for the initial contents of a drive."""
OPEN = re.compile(r"\{(\d{0,4})\s*\*?\s*n\}")
"""An open number of drives in the name of a machine: `{n}`, `{8n}`."""


def is_family(machine: str) -> bool:
    """Return whether the number of drives of a machine is open."""
    return OPEN.search(machine) is not None


def is_real(name: str) -> bool:
    """Return whether a target is hardware."""
    return name.startswith(REAL)


def is_emulated(name: str) -> bool:
    """Return whether a target is a served machine."""
    return name.startswith(EMULATED)


def served_machine(name: str) -> str:
    """Return the machine that an emulated target names. Raises UserError without one."""
    if machine := name.removeprefix(EMULATED):
        return machine
    raise UserError("question.on", "", name, "expected emulated:MACHINE, such as emulated:exos-15e900-512n")


def is_model(name: str) -> bool:
    """Return whether a target is a machine in virtual time."""
    return not (is_real(name) or is_emulated(name))


def expect_model(name: str, who: str, where: str = "question.on", instead: str = "") -> None:
    """Raise UserError for a served machine or hardware if only models are accepted; `who` is the caller in the message,
    and `instead` the alternative on the wall clock."""
    prefix = next((candidate for candidate in (REAL, EMULATED) if name.startswith(candidate)), None)
    if prefix is not None:
        otherwise = f", or {instead}" if instead else ""
        raise UserError(where, "", name, f"{who} models: expected a machine without {prefix}{otherwise}")


NONE = "none"
NEAREST = "nearest"
"""Words in place of the product that judges a result on hardware: no prediction (`--expect none`), or the nearest
product of the catalog."""
