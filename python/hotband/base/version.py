"""The version of Hotband, as records and pages show it."""

__version__ = "0.2.0"
