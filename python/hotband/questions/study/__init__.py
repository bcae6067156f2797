"""Studies: published evaluations, predicted."""

from __future__ import annotations
