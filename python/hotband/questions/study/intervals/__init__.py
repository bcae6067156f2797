"""Intervals of studies: their width, and how often they contain the published figure."""
