"""Sweeps: one or several workloads on machines at every combination of settings, with one row per run, stored as it
ends, curves, and the answer in words (docs/guides/sweeps.md)."""
