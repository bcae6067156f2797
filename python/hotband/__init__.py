"""Hotband: a storage evaluation lab. `import hotband as hb`: what is public is in `hotband.faces.api.public`, loaded
when used.

The command line is `hotband.faces.cli`, the engine `hotband._core`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hotband.base import views as _views
from hotband.base.version import __version__

if TYPE_CHECKING:
    from hotband.base.errors import UserError
    from hotband.faces.api.public import (
        Accuracy,
        AuditResult,
        BothWays,
        Compared,
        Converted,
        Entropy,
        Fleet,
        Product,
        ProgramResult,
        Progress,
        PtsResult,
        QuickResult,
        Record,
        Reliability,
        ResultsStore,
        Steadiness,
        Sweep,
        TraceFit,
        TraceShown,
        Why,
        accuracy,
        advise,
        audit,
        blind_errors,
        calibrate,
        calibration_plan,
        compare,
        convert,
        device,
        device_list,
        drive,
        drives,
        emulate,
        entropy,
        events,
        expect,
        find,
        fit_trace,
        fleet,
        keys,
        layouts,
        load,
        load_all,
        new_drive,
        osd,
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
        steady,
        store,
        studies,
        study,
        sweep,
        why,
        workload,
        workloads,
    )

__all__ = [
    "Accuracy",
    "AuditResult",
    "BothWays",
    "Compared",
    "Converted",
    "Entropy",
    "Fleet",
    "Product",
    "ProgramResult",
    "Progress",
    "PtsResult",
    "QuickResult",
    "Record",
    "Reliability",
    "ResultsStore",
    "Steadiness",
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
    "calibration_plan",
    "compare",
    "compare_traces",
    "convert",
    "convert_trace",
    "device",
    "device_list",
    "drive",
    "drives",
    "emulate",
    "entropy",
    "events",
    "expect",
    "find",
    "fit_trace",
    "fleet",
    "keys",
    "layouts",
    "load",
    "load_all",
    "new_drive",
    "osd",
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
    "steady",
    "store",
    "studies",
    "study",
    "sweep",
    "why",
    "workload",
    "workloads",
]

_views.registered_in("hotband.views.registered")


def __getattr__(name: str) -> Any:
    """What is public, from `hotband.faces.api.public`."""
    if name in __all__:
        return getattr(import_module("hotband.faces.api.public"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
