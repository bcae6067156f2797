"""Compare results of other tools with predictions: good or bad? (docs/guides/expect.md)."""

from __future__ import annotations
