"""Replays of traces on the wall clock: when each I/O is due, who issues it, and when it completed."""
