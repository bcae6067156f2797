"""Intervals of studies: how wide they are, and how often they hold what was published."""
