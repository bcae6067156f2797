"""fio as a child process: found, given a job, watched, ended with its parent; its result is a file."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from hotband.errors import UserError
from hotband.text.write import write_file

# The first version whose engine for NBD takes a URI, and whose JSON has what the importer reads (Debian 12 has it).
OLDEST = (3, 33)
# Seconds that fio has to end by itself once it was asked to.
TO_END_S = 2.0
LOOK_EVERY_S = 0.2


def find_fio() -> str:
    """The path of fio. Raises UserError where it is not there, or too old."""
    path = shutil.which("fio")
    if path is None:
        raise UserError("fio", "", "", "is not installed: expected fio 3.33 or newer (apt install fio)")
    told = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    found = re.match(r"fio-(\d+)\.(\d+)", told)
    if found is None or (int(found[1]), int(found[2])) < OLDEST:
        raise UserError("fio", "", path, f"is {told or 'no fio'}: expected fio 3.33 or newer")
    return path


def run_fio(job: str, folder: Path, look: Callable[[], None] | None = None) -> Path:
    """Runs a job file's text in `folder`; the file of its result (JSON+). `look` is called now and then, and whatever
    it raises ends fio. Raises UserError with fio's own words where it fails."""
    path, result, said = find_fio(), folder / "fio.json", folder / "fio.txt"
    file = folder / "job.fio"
    write_file(file, job)
    arguments = [path, "--output-format=json+", f"--output={result.name}", "--eta=never", file.name]
    write_file(said, "")
    with said.open("r+b") as words:
        # A group of its own: an interrupt of the terminal goes to us alone, and we end fio.
        child = subprocess.Popen(arguments, cwd=folder, stdout=words, stderr=words, start_new_session=True)
    try:
        while child.poll() is None:
            time.sleep(LOOK_EVERY_S)
            if look is not None:
                look()
    finally:
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(TO_END_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
    if child.returncode != 0:
        words_said = said.read_text(errors="replace").strip().splitlines()
        last = words_said[-1] if words_said else f"exit code {child.returncode}"
        raise UserError("fio", "", file.name, f"failed: {last}")
    return result
