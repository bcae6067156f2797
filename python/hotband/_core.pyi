"""What the Rust extension offers. Units are in the names; errors are typed."""

from pathlib import Path
from typing import Any

LOG_COLUMNS: list[str]
"""Columns of an I/O log file: rows of unsigned 64-bit little-endian numbers."""

LAYOUTS: list[str]
"""Names of the layouts."""

class SpecError(Exception):
    """A mistake in the input: args are (file, key, value, accepted)."""

class Interrupted(Exception):
    """The run was asked to stop."""

class Run:
    """A workload on a machine, checked. Raises SpecError."""

    def __init__(
        self,
        catalog: Path,
        machine: str,
        workload: str,
        *,
        machine_text: str | None = None,
        workload_text: str | None = None,
        set: list[tuple[str, str]] = ...,
        seed: int = 1,
        duration: str | None = None,
        io_log: Path | None = None,
        power_loss: str | None = None,
    ) -> None: ...
    def execute(
        self,
    ) -> tuple[str, dict[str, list[Any]], dict[str, list[Any]], dict[str, list[Any]], list[str], int]:
        """Record as JSON; series, caches over time and SMART attributes over time by column; names of the streams, I/Os
        simulated.

        Once; releases the GIL.

        Raises Interrupted after `stop`, OSError if the I/O log cannot be written, SpecError if the run was over
        before power was to be cut.
        """

    def progress(self) -> tuple[float, int]:
        """Share done (0 to 1) and I/Os completed; from any thread."""

    def stop(self) -> None:
        """Asks `execute` to stop; from any thread."""

DriveValue = tuple[str, str, tuple[str, str] | None, str, str, bool, str]

def drive(catalog: Path, name: str) -> tuple[str, str, str, list[DriveValue]]:
    """Kind, title, model and values (key, value, range, source, confidence, estimate, note) of a drive."""

def catalog_names(catalog: Path, folder: str) -> list[str]:
    """Names of the catalog entries in a folder."""
