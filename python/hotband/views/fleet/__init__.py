"""Fleets, for the terminal and as a page."""
