"""Real programs as workloads (docs/guides/serve.md): each prepares, runs for a bounded time on the volumes of a
machine, stops all that it started, and leaves figures. One file and one line here a program."""

from __future__ import annotations

from importlib import import_module

from hotband.base.text.nearest import unknown_name
from hotband.execution.programs.program import FILE_SYSTEM, Program

PROGRAMS = ("pgbench", "oltp", "web", "ycsb", "sysbench", "db_bench", "jetstress", "specsfs", "ceph", "boot-storm")
"""Names; the file of each is `NAME.py`, a hyphen in it an underscore."""


def find_program(name: str) -> Program:
    """A program by its name. Raises UserError for one that is none."""
    if name not in PROGRAMS:
        raise unknown_name("question.name", name, PROGRAMS)
    return _load(name)


def stand_in(workload: str) -> str:
    """Return the command that runs a program in place of a catalog workload that fio cannot run; empty if none does."""
    for program in all_programs():
        if (settings := program.stands_for.get(workload)) is not None:
            return f"hotband program {program.name}{f' --set {settings}' if settings else ''}"
    return ""


def all_programs() -> list[Program]:
    """All of them."""
    return [_load(name) for name in PROGRAMS]


def _load(name: str) -> Program:
    from dataclasses import replace

    program: Program = import_module(f"hotband.execution.programs.{name.replace('-', '_')}").PROGRAM
    return replace(program, settings={**program.settings, "fs": FILE_SYSTEM})
