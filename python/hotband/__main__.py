"""What runs first of the command `hotband`, and of `python -m hotband`: streams that were closed go nowhere, and an
interruption is one line from here on, though loading the commands takes a quarter of a second."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

from hotband.base.foreign import has_every_character
from hotband.execution.runs.signals import exit_code, notice_endings


class LastWords(io.FileIO):
    """Stream of errors and progress. A full device or a closed pipe does not lose the results."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def whole_streams() -> None:
    """Opens what the caller has closed of the three streams, so that files that are opened later do not take their
    place, and has stderr take whatever is written to it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), "utf-8")
    if sys.stdout is None:
        sys.stdout = text(io.FileIO(1, "w", closefd=False), "utf-8")
    encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
    sys.stderr = text(LastWords(2, "w", closefd=False), encoding)
    if isinstance(sys.stdout, io.TextIOWrapper) and not has_every_character(sys.stdout.encoding):
        sys.stdout.reconfigure(errors="plainer")


def text(raw: io.FileIO, encoding: str) -> io.TextIOWrapper:
    """A stream of text that keeps nothing back."""
    bytes_ = io.BufferedWriter(raw)
    return io.TextIOWrapper(bytes_, encoding, errors="backslashreplace", line_buffering=True, write_through=True)


def main() -> None:
    """Runs the command."""
    notice_endings()
    try:
        whole_streams()
        # A width of nothing, which some systems set, would leave nothing of tables.
        for name in ("COLUMNS", "LINES"):
            if os.environ.get(name, "").strip("0 ") == "":
                os.environ.pop(name, None)
        from hotband.faces.cli import main as command

        command()
    except SystemExit:
        # An interrupt within text that was executed (a library makes classes so) has Python end itself by the signal,
        # though it was caught; text that is executed after it takes that back.
        exec("")
        raise
    except KeyboardInterrupt:
        sys.stderr.write("hotband: interrupted\n")
        sys.stderr.flush()
        # What was being loaded has nothing to end.
        os._exit(exit_code())


if __name__ == "__main__":
    main()
