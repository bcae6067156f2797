"""One run of a program on a machine or a folder, and what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from hotband.base.child import Told
from hotband.base.errors import UserError
from hotband.base.foreign import json_text
from hotband.base.text.regular import file_text
from hotband.base.text.write import make_folder, write_file
from hotband.data.catalog.named import EMULATED
from hotband.data.documents.program import ProgramDoc
from hotband.data.record.files import RECORD_FILE
from hotband.execution.programs import find_program
from hotband.execution.programs.devices import Devices, devices_on, keys_of
from hotband.execution.programs.needs import expect_needs
from hotband.execution.programs.settings import apart, as_texts, values_of
from hotband.execution.programs.work import Work
from hotband.execution.serve.ending import Ending

PROGRAM_FILE = "program.json"
"""What `--out` gets where no record is left beside it."""


def run_program(name: str, on: str, asked: Mapping[str, str], out: Path | None, tell: Told) -> ProgramDoc:
    """Runs a program; `tell` gets lines of progress.

    Raises UserError for a mistake, before anything is started wherever that is possible, and `ProgramFailed` (an
    OSError) where a program fails. Nothing stays behind: processes, mounts and files are gone in every case.
    """
    found, on = find_program(name), on.removeprefix(EMULATED)
    asked, of_machine = apart(found, asked, keys_of(on))
    values = values_of(found, asked)
    expect_needs(found)
    if out is not None:
        make_folder(out)
    texts = {**as_texts(found, asked), **of_machine}
    ending = Ending()
    with ending.taken(), devices_on(on, out, tuple(of_machine.items())) as devices:
        # The first request ends the program; its processes, mounts and files are gone before another ends Hotband.
        ending.served()
        expect_settings_for(devices, asked)
        with Work(found.name, devices, values, tell, texts) as work:
            outcome = found.run(work)
            notes = [*outcome.notes, *work.notes]
    done: ProgramDoc = {
        "name": found.name,
        "version": outcome.version,
        "settings": texts,
        "figures": outcome.figures,
        "notes": [*notes, *devices.notes],
        "text": outcome.text,
    }
    if out is not None:
        keep(done, on, out, devices.served)
    return done


def expect_settings_for(devices: Devices, asked: Mapping[str, str]) -> None:
    """Raises UserError if a file system is asked for in a folder, which has one."""
    if "fs" in asked and not devices.served:
        raise UserError(
            "question.settings", "fs", asked["fs"], "a folder has its file system; expected this with a machine"
        )


def keep(done: ProgramDoc, on: str, out: Path, served: bool) -> None:
    """Puts the section into the record of the machine that was served, or else into a file of its own."""
    record = out / RECORD_FILE
    if served and record.is_file():
        document = json.loads(file_text(record))
        write_file(record, json_text({**document, "program": done}) + "\n")
    else:
        write_file(out / PROGRAM_FILE, json_text({"target": on, "program": done}) + "\n")
