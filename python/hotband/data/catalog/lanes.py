"""Rates of PCI Express lanes."""

from __future__ import annotations

LANE = {1: 250e6, 2: 500e6, 3: 984.6e6, 4: 1969.2e6, 5: 3938.5e6, 6: 7375e6}
"""Bytes per second of a lane in one direction, by generation, after coding: 8b/10b (1.0 and 2.0), 128b/130b (3.0 to
5.0), and flits, 236 of 256 bytes (6.0) (PCI Express Base Specification)."""
