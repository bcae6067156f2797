"""The first screen: the commands in groups, frequent ones first. This module loads no module of a command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hotband.base.version import __version__

ONE_LINE = "predict, measure and check storage before you buy it"
GROUPS: Mapping[str, Mapping[str, str]] = {
    "Ask": {
        "run": "one workload on one machine",
        "sweep": "many settings or machines: curves and a table",
        "find": "how many drives, how many IOPS, which queue depth",
        "advise": "what to buy",
    },
    "Check": {
        "compare": "is B faster than A?",
        "audit": "what do these results prove?",
        "report": "one web page from results (fio, vdbench, Hotband ...)",
    },
    "Look up": {
        "drives": "drives of the catalog, and your own from its data sheet",
        "workloads": "workloads of the catalog, and conversion of job files",
        "layouts": "RAID levels, mirrors and pools, and what they survive",
        "keys": "what --set takes for a workload on a machine",
        "studies": "published evaluations that ship with Hotband",
        "corpus": "what others measured on drives, with sources",
    },
    "More": {
        "expect": "is my result as good as the model expects?",
        "fleet": "years of many machines: failures, rebuilds, cost",
        "import": "results of other tools as records",
        "measure": "tests of a drive you have, its identity and SMART data",
        "program": "a real program on an emulated machine",
        "reliability": "how likely an array loses data",
        "review": "all standard tests of a machine on one page",
        "serve": "an emulated machine as a block device",
        "store": "many results in one store, queried in SQL",
        "study": "run a published evaluation and show its errors",
        "trace": "show, fit, compare and convert traces of I/Os",
        "ui": "everything in the browser",
    },
}
"""Commands in the help, by group, with their purposes."""
WITH_PURPOSE = ("Ask", "Check")
"""Groups whose commands have a line each on the first screen."""
LISTED = frozenset(name for names in GROUPS.values() for name in names)
"""Names of all commands that help shows."""
START = "hotband run fio-randread --on exos-15e900-512n --set qd=32"


def screen() -> str:
    """Return the first screen, at most 24 lines of 80 columns."""
    lines = [f"Hotband {__version__}   {ONE_LINE}", ""]
    for group, commands in GROUPS.items():
        lines += with_purpose(group, commands) if group in WITH_PURPOSE else names_alone(group, commands)
    ends = ("hotband help", "every command in one line"), ("hotband COMMAND --help", "its options, with examples")
    return "\n".join([*lines, "", *(f"{words:<23} {purpose}" for words, purpose in ends), "", f"Start:  {START}", ""])


def with_purpose(group: str, commands: Mapping[str, str]) -> list[str]:
    """Return one line per command, the group's name before the first."""
    return [f"{'' if at else group:<11}{name:<11}{purpose}" for at, (name, purpose) in enumerate(commands.items())]


def names_alone(group: str, commands: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of a group, as many per line as fit into 80 columns."""
    line = f"{group:<11}"
    for name in commands:
        if len(line) + len(name) > 80:
            yield line.rstrip()
            line = " " * 11
        line += f"{name}  "
    yield line.rstrip()


def all_commands() -> str:
    """Return every command with its purpose, one line each, by group."""
    lines = []
    for group, commands in GROUPS.items():
        lines += [group, *(f"  {name:<13}{purpose}" for name, purpose in commands.items())]
    return "\n".join(lines)
