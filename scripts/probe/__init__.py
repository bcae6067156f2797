"""Looks for the next fault: damaged inputs of every kind, and commands that are ended at any moment."""
