"""Sweeps: lines, charts, pages."""
