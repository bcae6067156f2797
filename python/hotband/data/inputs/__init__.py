"""Inputs of a run: its spec, its settings, its events, checked before anything runs."""
