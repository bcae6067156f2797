"""The catalog: drives, workloads and studies as data files, each value with unit and source."""

from pathlib import Path

CATALOG_DIR = Path(__file__).resolve().parent
"""The folder that holds `drives/`, `workloads/` and `studies/`."""
