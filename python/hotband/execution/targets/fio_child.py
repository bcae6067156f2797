"""fio as a child process: it gets a job, is watched while it runs, and leaves its results as files."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.child import Child, run_child, start_child
from hotband.base.errors import UserError
from hotband.base.text.write import write_file
from hotband.execution.runs.signals import whole

if TYPE_CHECKING:
    from hotband.execution.devices.held import Held

# The first version whose engine for NBD takes a URI, and whose JSON has what the importer reads (Debian 12 has it).
OLDEST = (3, 33)
HOW_TO_GET = "expected fio 3.33 or newer (apt install fio, dnf install fio, or https://github.com/axboe/fio)"
# Seconds that fio has to end by itself once it was asked to: with what is noticed late (LOOK_EVERY_S), and killing it,
# it is gone within two.
TO_END_S = 1.5
LOOK_EVERY_S = 0.2
# Until fio has opened what it was given: it takes some hundredths of a second to start.
OPEN_EVERY_S = 0.01
# fio's line of status, eta.c: "Jobs: 1 (f=1): [r(1)][60.0%][r=183MiB/s][r=46.8k IOPS][eta 00m:02s]".
_PERCENT = re.compile(r"\[(\d+(?:\.\d+)?)%\]")
_IOPS = re.compile(r"\[((?:[rwt]=\d+(?:\.\d+)?[kMG]?,?)+) IOPS\]")
_RATE = re.compile(r"=(\d+(?:\.\d+)?)([kMG]?)")
_THOUSANDS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
_TAIL_BYTES = 4096
RESULT = "fio.json"
"""The file of a result."""
SAID = "fio.txt"
"""The file of fio's output."""


@dataclass(frozen=True)
class Status:
    """Progress of fio: seconds since it began, its reported share done (None before the first report), and I/Os per
    second."""

    seconds: float
    share: float | None = None
    iops: float | None = None

    def share_of(self, seconds: float | None) -> float:
        """Return the share done, by time too if the run takes `seconds`; all of it only once fio says so."""
        return max(self.share or 0.0, min(self.seconds / seconds, 0.99) if seconds else 0.0)

    @property
    def ios(self) -> float:
        """Return the I/Os so far."""
        return (self.iops or 0.0) * self.seconds


Look = Callable[[Status], None]
"""Receives the status of a run; whatever it raises ends the run."""


def find_fio() -> str:
    """Return the path of fio. Raises UserError if it is missing or too old."""
    path = shutil.which("fio")
    if path is None:
        raise UserError("fio", "", "", f"is not installed: {HOW_TO_GET}")
    version = version_of(path)
    if not is_new_enough(version):
        raise UserError("fio", "", path, f"is {version or 'no fio'}: {HOW_TO_GET}")
    return path


def version_of(path: str) -> str:
    """Return a fio's own version string, such as fio-3.33."""
    return _says(path, Path(path).stat().st_mtime_ns, "--version").strip()


@lru_cache(maxsize=8)
def _says(path: str, _changed: int, option: str) -> str:
    """Return the output of fio; cached per file, since every run needs its version."""
    return run_child([path, option]).text


def is_new_enough(version: str) -> bool:
    """Return whether a version as fio says it ("fio-3.33") is one that is read here."""
    match = re.match(r"fio-(\d+)\.(\d+)", version)
    return match is not None and (int(match[1]), int(match[2])) >= OLDEST


def has_engine(name: str) -> bool:
    """Return whether this fio was built with an I/O engine."""
    path = find_fio()
    return name in _says(path, Path(path).stat().st_mtime_ns, "--enghelp").split()


def run_fio(
    job: str,
    folder: Path,
    look: Look | None = None,
    clients: Sequence[str] = (),
    form: str = "json+",
    *,
    only_reads: bool = False,
    held: Held | None = None,
) -> Path:
    """Run a job file's text in `folder`; return the file of its result (JSON+, or another `form`), next to its logs.

    `look` receives the progress a few times per second, and whatever it raises ends fio within two seconds. `clients`
    are servers of fio that run the job instead of this computer. With `only_reads` fio refuses to write. fio gets what
    is `held`, whose name the job has, and is killed where it has something else open. Raises UserError with fio's own
    words where it fails.
    """
    result, output = folder / RESULT, folder / SAID
    file = folder / "job.fio"
    write_file(file, job)
    write_file(output, "")
    jobs = [part for client in clients for part in (f"--client={client}", file.name)] or [file.name]
    arguments = [find_fio(), f"--output-format={form}", f"--output={result.name}", "--eta=always"]
    arguments += [*(["--readonly"] if only_reads else []), *jobs]
    descriptors = () if held is None or held.descriptor is None else (held.descriptor,)
    child: Child | None = None
    try:
        # An interruption while it starts waits until it is known here, and can be ended.
        with whole(), output.open("r+b") as words:
            # fio itself ends with us, also where we are killed: else it would go on writing.
            child = start_child(arguments, output=words, folder=folder, tied=True, descriptors=descriptors)
        _watch(child, folder, look, held)
    finally:
        if child is not None:
            child.end(TO_END_S)
    if child.code != 0:
        raise UserError("fio", "", file.name, f"failed: {_last_words(output, child.code)}")
    return result


def _watch(child: Child, folder: Path, look: Look | None, held: Held | None) -> None:
    """Wait for the end of fio, and compare its open files with those `held`: every hundredth of a second until it has
    opened it, then at every call of `look`. Raises UserError, and whatever `look` raises."""
    begin = time.monotonic()
    next_look = begin + LOOK_EVERY_S
    compares = held is not None and held.descriptor is not None
    has_opened = not compares or _compared(child, folder, held)
    while True:
        if child.ended_within(min(next_look - time.monotonic(), LOOK_EVERY_S if has_opened else OPEN_EVERY_S)):
            return
        is_due = time.monotonic() >= next_look
        if compares and (is_due or not has_opened):
            has_opened = _compared(child, folder, held) or has_opened
        if is_due:
            next_look = time.monotonic() + LOOK_EVERY_S
            if look is not None:
                look(_status(folder / SAID, time.monotonic() - begin))


def _compared(child: Child, folder: Path, held: Held | None) -> bool:
    """Return whether fio has opened what is held. Raises UserError if it has something else open, and kills it."""
    assert held is not None, "what is compared is held"
    try:
        return held.expect_opened(child.pid, folder)
    except UserError:
        child.kill()
        raise


def _status(output: Path, seconds: float) -> Status:
    """Return the last status line that fio has written."""
    with output.open("rb") as file:
        file.seek(max(0, output.stat().st_size - _TAIL_BYTES))
        lines = re.split(r"[\r\n]", file.read().decode(errors="replace"))
    for line in reversed(lines):
        share, rates = _PERCENT.search(line), _IOPS.search(line)
        if share is not None:
            iops = sum(float(value) * _THOUSANDS[unit] for value, unit in _RATE.findall(rates[1])) if rates else None
            return Status(seconds, min(float(share[1]) / 100.0, 1.0), iops)
    return Status(seconds)


def _last_words(output: Path, code: int) -> str:
    """Return fio's error message: its last line that is not a status."""
    text = output.read_text(errors="replace")
    lines = [line.strip() for line in re.split(r"[\r\n]", text) if line.strip() and not line.startswith("Jobs: ")]
    return lines[-1] if lines else f"exit code {code}"
