"""Results of other tools beside predictions: good or bad? (docs/guides/expect.md)."""

from __future__ import annotations
