"""The command line in this process, and runs of every workload of the catalog that take a moment."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

from forms import sized
from hotband.data.catalog import CATALOG_DIR, entries
from hotband.data.documents.run import RunSpec

Said = tuple[int, str, str]
DISK, SSD, STRIPE = "exos-15e900-512n", "nytro-1351-960", "raid0:4xexos-15e900-512n"
# Where one disk does not do, by the beginning of the workload's name: machine, or file of a machine and its product.
MACHINES = {
    "boot-storm": STRIPE,
    "specsfs-vdi": STRIPE,
    "web-server": STRIPE,
    # A small disk: its databases are made and written twice over before anything is measured.
    "exchange-jetstress": "savvio-10k1",
}
NAMES = [one["name"] for one in entries.workloads()]
WORKLOADS = sized(NAMES[::10], NAMES)
# Records with other sections each: latencies alone, an app, scripts and steps, wear, flushes.
SORTS = ("fio-randread", "ycsb-a", "boot-storm", "worn", "exchange-jetstress", "oltp")
FEW_FILES = (("app.metrics", "10"),)
STUDY_MACHINES = {"oltp": ("exos_15e900/oltp.toml", DISK), "oltp-one-ssd": ("durawrite/oltp.toml", SSD)}


def spec_of(workload: str, out: Path) -> RunSpec:
    """Half a second of a workload on a machine that it fits on."""
    if workload in STUDY_MACHINES:
        file, product = STUDY_MACHINES[workload]
        text = (CATALOG_DIR / "studies" / file).read_text(encoding="utf-8").replace("{product}", product)
        small = (("scale", "64"),) if product == SSD else ()
        return RunSpec(workload, file, workload, small, duration="0.5 s", out=out / workload, machine_text=text)
    few = FEW_FILES if workload.startswith("specsfs-") else ()
    return RunSpec(workload, MACHINES.get(workload, DISK), workload, few, duration="0.5 s", out=out / workload)


def command_line(*arguments: str) -> Said:
    """Runs `hotband ARGUMENTS` in this process."""
    from hotband.faces.cli import main

    before, sys.argv = sys.argv, ["hotband", *arguments]
    out, said = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
        return code, out.getvalue(), said.getvalue()
    finally:
        sys.argv = before
    return 0, out.getvalue(), said.getvalue()
