"""Sweeps: one workload or several on machines, at every combination of settings; one row per run, kept as it ends,
curves, and the answer in words (docs/guides/sweeps.md)."""
