"""Runs: prepared and checked together, executed in parallel, each saved as soon as it is done."""
