"""Hotband: a storage evaluation lab. `import hotband as hb`: what is public is in `hotband.api`, loaded when used.

The command line is `hotband.cli`, the engine `hotband._core`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hotband.api import (
        Accuracy,
        AuditResult,
        BothWays,
        Compared,
        Converted,
        Fleet,
        Product,
        ProgramResult,
        Progress,
        PtsResult,
        QuickResult,
        Record,
        Reliability,
        ResultsStore,
        Sweep,
        TraceFit,
        TraceShown,
        Why,
        accuracy,
        advise,
        audit,
        blind_errors,
        calibrate,
        compare,
        convert,
        device,
        device_list,
        drive,
        drives,
        emulate,
        expect,
        find,
        fit_trace,
        fleet,
        keys,
        layouts,
        load,
        load_all,
        osds,
        program,
        programs,
        pts,
        quick,
        reliability,
        report,
        review,
        run,
        sequence,
        serve,
        show_trace,
        store,
        studies,
        study,
        sweep,
        why,
        workload,
        workloads,
    )
    from hotband.errors import UserError

__version__ = "0.1.0"
__all__ = [
    "Accuracy",
    "AuditResult",
    "BothWays",
    "Compared",
    "Converted",
    "Fleet",
    "Product",
    "ProgramResult",
    "Progress",
    "PtsResult",
    "QuickResult",
    "Record",
    "Reliability",
    "ResultsStore",
    "Sweep",
    "TraceConverted",
    "TraceFit",
    "TraceShown",
    "TracesCompared",
    "UserError",
    "Why",
    "__version__",
    "accuracy",
    "advise",
    "audit",
    "blind_errors",
    "calibrate",
    "compare",
    "compare_traces",
    "convert",
    "convert_trace",
    "device",
    "device_list",
    "drive",
    "drives",
    "emulate",
    "expect",
    "find",
    "fit_trace",
    "fleet",
    "keys",
    "layouts",
    "load",
    "load_all",
    "osds",
    "program",
    "programs",
    "pts",
    "quick",
    "reliability",
    "report",
    "review",
    "run",
    "sequence",
    "serve",
    "show_trace",
    "store",
    "studies",
    "study",
    "sweep",
    "why",
    "workload",
    "workloads",
]

PACKAGES = (
    "advise",
    "audit",
    "calibrate",
    "expect",
    "find",
    "fleet",
    "programs",
    "reliability",
    "report",
    "review",
    "serve",
    "store",
    "study",
)
"""Public functions that are packages of the same name."""


def __getattr__(name: str) -> Any:
    """What is public, from `hotband.api`; some are also packages, which can be called."""
    if name in __all__:
        return import_module(f"hotband.{name}") if name in PACKAGES else getattr(import_module("hotband.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
