"""The emulated parts of a study, as `emulate.toml` in its folder states them, checked key by key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.quantities import SIZE_EXPECTED, size_bytes
from hotband.base.text.regular import text_in
from hotband.base.text.tomltable import TomlTable
from hotband.execution.programs import PROGRAMS, find_program
from hotband.execution.programs.program import Program
from hotband.questions.study.definition import Config, Settings, Study
from hotband.questions.study.file import folders

EMULATE_FILE = "emulate.toml"
SCALE_EXPECTED = "expected a share of the study above 0 and up to 1, such as 1/1000, 0.001 or 0.1 %"


@dataclass(frozen=True)
class Side:
    """One of the two machines of a part: the study's configuration that it represents, its name in tables, the text of
    the machine's file (`scale.machine_text` fills it in), its product, and the values of the drives."""

    config: Config
    name: str
    machine: str
    product: str
    set: Settings


@dataclass(frozen=True)
class Part:
    """A real program on two machines that differ in one respect.

    At scale 1 the program works on `data` bytes on `drives` drives. `fill` maps settings to the bytes of data that one
    count of the setting adds (one byte of a size setting), `per_drive` maps settings to a count per drive. `cut` names
    values of the drives (sizes and times) that shrink with the data per drive. `load` is the load of the study;
    `predicted` is the measure whose ratio the model gives, `published` the published one (None: not for both machines).
    """

    id: str
    title: str
    program: Program
    figure: str
    settings: Settings
    data: float
    drives: int
    fewest: int
    fill: tuple[tuple[str, float], ...]
    per_drive: tuple[tuple[str, int], ...]
    cut: tuple[str, ...]
    scale: Fraction
    load: str
    predicted: str
    published: str | None
    note: str
    a: Side
    b: Side

    @property
    def sides(self) -> dict[str, Side]:
        """The two sides, by the names of their folders."""
        return {"a": self.a, "b": self.b}


def scale_of(text: str) -> Fraction | None:
    """Read a share above 0 and up to 1, such as "1/1000", "0.001" or "0.1 %"; None for other texts."""
    match = re.fullmatch(r"\s*([0-9]{1,12}(?:\.[0-9]{1,12})?|[0-9]{1,12}/0*[1-9][0-9]{0,11})\s*(%?)\s*", text)
    if match is None:
        return None
    share = Fraction(match[1]) / (100 if match[2] else 1)
    return share if 0 < share <= 1 else None


def read_parts(study: Study) -> list[Part]:
    """Read the parts of a study. Raises UserError for a study without parts, and for the first mistake in them."""
    path = study.folder / EMULATE_FILE
    if not path.is_file():
        have = ", ".join(with_parts())
        raise UserError(
            "question.study", "", study.name, f"has no emulated part ({EMULATE_FILE}); expected one of {have}"
        )
    table = TomlTable.read(path, "plan of an emulation")
    parts: list[Part] = []
    for entry in table.parts("parts"):
        part = _part(study, entry)
        if any(part.id == other.id for other in parts):
            entry.refuse("id", "is given twice")
        parts.append(part)
    table.finish()
    if not parts:
        table.refuse("parts", "is missing; expected tables [[parts]]", "")
    return parts


def with_parts() -> list[str]:
    """Return the names of the catalog's studies with emulated parts."""
    return sorted(name for name, folder in folders().items() if (folder / EMULATE_FILE).is_file())


def _part(study: Study, table: TomlTable) -> Part:
    measures = [measure.id for measure in study.measures]
    load = table.choice("load", [candidate.id for candidate in study.loads])
    program = find_program(table.choice("program", PROGRAMS))
    settings, fill, per_drive = table.settings("settings"), table.part("fill"), table.part("per_drive")
    for names in (table.part("settings"), fill, per_drive):
        for key in names.table:
            names.expect_one_of(key, key, list(program.settings))
    scale = scale_of(table.text("scale"))
    if scale is None:
        table.refuse("scale", SCALE_EXPECTED)
    drives = table.whole("drives", least=1)
    part = table.made(
        Part,
        program=program,
        settings=settings,
        data=_size(table, "data"),
        fewest=table.whole("fewest", 1, least=1),
        drives=drives,
        fill=tuple((key, _size(fill, key)) for key in fill.table),
        per_drive=tuple((key, per_drive.whole(key, least=1)) for key in per_drive.table),
        scale=scale,
        load=load,
        predicted=table.choice("predicted", measures),
        published=table.choice("published", measures) if table.has("published") else None,
        note=table.text("note", ""),
        a=_side(study, table.part("a"), load),
        b=_side(study, table.part("b"), load),
    )
    if part.fewest > drives:
        table.refuse("fewest", f"expected at most the {drives} drives of the study")
    return part


def _side(study: Study, table: TomlTable, load: str) -> Side:
    """Read one machine. Its configuration must run the load."""
    runs = {config.id: config for config, run_load in study.pairs() if run_load.id == load}
    config = runs[table.choice("config", list(runs))]
    name = table.text("machine")
    if Path(name).name != name or not (study.folder / name).is_file():
        table.refuse("machine", "no such file; expected one of the study's folder")
    machine = text_in(study.folder / name, "machine")
    product = table.text("product", config.product)
    return table.made(Side, config=config, machine=machine, product=product, set=table.settings("set"))


def _size(table: TomlTable, key: str) -> float:
    size = size_bytes(table.text(key))
    if size is None:
        table.refuse(key, f"expected {SIZE_EXPECTED}")
    return size
