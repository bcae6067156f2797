"""Advice, for the terminal."""
