"""Residuals that intervals rest on: those that ship, and those of the user's own corpus."""

from __future__ import annotations

from hotband.inference.corpus.conformal import Pools, Residual
from hotband.inference.corpus.residuals import shipped_pools, shipped_residuals


def known_residuals() -> tuple[Residual, ...]:
    """Return all residuals."""
    return shipped_residuals()


def known_pools() -> Pools:
    """Return all residuals by group."""
    return shipped_pools()
