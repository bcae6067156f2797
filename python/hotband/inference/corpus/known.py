"""Residuals that intervals rest on: the shipped ones, and those of the user's own corpus."""

from __future__ import annotations

from functools import cache

from hotband.data.corpus.named import family_among
from hotband.inference.corpus.conformal import Pools
from hotband.inference.corpus.residuals import own_residuals, own_stamp, shipped_residuals


def known_pools() -> Pools:
    """Return all residuals by group: the same object until the user's own change. Raises UserError for a mistake in the
    user's own."""
    return _known(own_stamp())


def line_of(product: str, title: str) -> str:
    """Return the product line of a drive whose figures residuals are of: a family of the shipped corpus, by the drive's
    title, or the product itself."""
    return family_among(title, _shipped_families()) or product


@cache
def _shipped_families() -> tuple[str, ...]:
    return tuple(dict.fromkeys(residual.family for residual in shipped_residuals()))


@cache
def _known(_: tuple[str, int, int] | None) -> Pools:
    return Pools((*shipped_residuals(), *own_residuals()))
