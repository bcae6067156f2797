"""Crashes of served machines under file systems and databases: what was promised, and what is left of it."""
