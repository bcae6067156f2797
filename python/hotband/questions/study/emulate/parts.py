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
    """One of the two machines of a part: the study's configuration that it stands for, its name in tables, the text of
    the machine's file (`scale.machine_text` fills it in), its product, and the values of the drives."""

    config: Config
    name: str
    machine: str
    product: str
    set: Settings


@dataclass(frozen=True)
class Part:
    """A real program on two machines that differ in one thing.

    At scale 1 the program works on `data` bytes on `drives` drives; a setting of `fill` stands for so many bytes of it
    for each of its counts (of a size: for each byte), one of `per_drive` for so many a drive. `cut` names values of the
    drives (sizes and times) that shrink with the data that a drive holds. `load` is the study's own load for it;
    `predicted` is the measure whose ratio the model gives, `published` the one that is published (None: neither is of
    both machines).
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
        """Both, by the names that their folders have."""
        return {"a": self.a, "b": self.b}


def scale_of(text: str) -> Fraction | None:
    """A share above 0 and up to 1, such as "1/1000", "0.001" or "0.1 %"; None where the text is none."""
    found = re.fullmatch(r"\s*([0-9]{1,12}(?:\.[0-9]{1,12})?|[0-9]{1,12}/0*[1-9][0-9]{0,11})\s*(%?)\s*", text)
    if found is None:
        return None
    share = Fraction(found[1]) / (100 if found[2] else 1)
    return share if 0 < share <= 1 else None


def read_parts(study: Study) -> list[Part]:
    """The parts of a study. Raises UserError for a study that has none, and for the first mistake in them."""
    path = study.folder / EMULATE_FILE
    if not path.is_file():
        have = ", ".join(with_parts())
        raise UserError(
            "question.study", "", study.name, f"has no emulated part ({EMULATE_FILE}); expected one of {have}"
        )
    table = TomlTable.read(path, "plan of an emulation")
    parts: list[Part] = []
    for one in table.parts("parts"):
        part = _part(study, one)
        if any(part.id == other.id for other in parts):
            one.refuse("id", "is given twice")
        parts.append(part)
    table.finish()
    if not parts:
        table.refuse("parts", "is missing; expected tables [[parts]]", "")
    return parts


def with_parts() -> list[str]:
    """Names of the catalog's studies that have emulated parts."""
    return sorted(name for name, folder in folders().items() if (folder / EMULATE_FILE).is_file())


def _part(study: Study, table: TomlTable) -> Part:
    measures = [measure.id for measure in study.measures]
    load = table.choice("load", [one.id for one in study.loads])
    program = find_program(table.choice("program", PROGRAMS))
    settings, fill, per_drive = table.settings("settings"), table.part("fill"), table.part("per_drive")
    for one in (table.part("settings"), fill, per_drive):
        for key in one.table:
            one.expect_one_of(key, key, list(program.settings))
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
    """One machine. Its configuration must run the load."""
    runs = {config.id: config for config, one in study.pairs() if one.id == load}
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
