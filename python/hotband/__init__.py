"""Hotband: a storage evaluation lab. The command line is `hotband.cli`; the engine is `hotband._core`."""

__version__ = "0.1.0"
