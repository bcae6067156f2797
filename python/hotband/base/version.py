"""The version of Hotband in records and pages."""

__version__ = "0.2.0"
