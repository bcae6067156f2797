"""Reliability of an array: mean time to data loss and chance of loss, simulated and by the closed form."""

from __future__ import annotations
