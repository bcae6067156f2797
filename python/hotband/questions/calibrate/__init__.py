"""A product's uncertain values, fitted to measurements of one drive (docs/guides/calibrate.md)."""

from __future__ import annotations
