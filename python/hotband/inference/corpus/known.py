"""Residuals that intervals rest on: those that ship, and those of the user's own corpus."""

from __future__ import annotations

from functools import cache

from hotband.inference.corpus.conformal import Pools, Residual
from hotband.inference.corpus.residuals import own_residuals, shipped_residuals


@cache
def known_residuals() -> tuple[Residual, ...]:
    """Return all residuals. Raises UserError for a mistake in the user's own."""
    return (*shipped_residuals(), *own_residuals())


@cache
def known_pools() -> Pools:
    """Return all residuals by group. Raises UserError for a mistake in the user's own."""
    return Pools(known_residuals())
