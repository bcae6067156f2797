"""The version of Hotband, as records and pages have it."""

__version__ = "0.2.0"
