"""What to buy for a workload: drives, layouts, counts and caches, searched (docs/guides/advise.md)."""

from __future__ import annotations

YEARS = 5.0
"""Data sheets warrant drives for five years (DWPD is stated over that time)."""
