"""Hotband: a storage evaluation lab. Run workloads on machines, sweep settings, run studies, read records.

```python
import hotband as hb

r = hb.run("fio-randread", on="exos-15e900-512n", qd=32, duration="5 s")
r.iops, r.read.p99, r.series
```

A workload is a catalog name, a path, TOML text or a dict; a machine is a catalog drive, a short form such as
`raid5:8xent-10k`, a path, TOML text or a dict. Sizes and times are text with their unit ("4 KiB", "5 s"); plain counts
are numbers. A mistake raises `UserError` with `file`, `key`, `value` and `accepted`. No function prints anything or
ends the program (docs/guides/python.md).

Each public name is loaded when it is first used; `__init__.pyi` has their types (`scripts/public_stub.py` writes it).
The command line is `hotband.faces.cli`, the engine `hotband._core`.
"""

import warnings
from importlib import import_module
from typing import Any

from hotband.base import views as _views
from hotband.base.version import __version__ as __version__
from hotband.faces.questions import by_function
from hotband.faces.renamed import FUNCTIONS

_MODULES = {
    "hotband.base.errors": ("UserError",),
    "hotband.data.catalog.entries": ("Product",),
    "hotband.data.jobs.converted": ("Converted",),
    "hotband.data.record.record": ("Record",),
    "hotband.data.record.steadiness": ("Steadiness",),
    "hotband.data.results.records": ("load_all",),
    "hotband.data.store.results_store": ("ResultsStore",),
    "hotband.execution.experiment.executor": ("Progress",),
    "hotband.execution.programs.result": ("ProgramResult",),
    "hotband.faces.api.calibrate": ("calibration_plan",),
    "hotband.faces.api.catalog": ("drive", "osd", "workload"),
    "hotband.faces.api.devices": ("device_list",),
    "hotband.faces.api.measure": ("measure",),
    "hotband.faces.api.programs": ("programs",),
    "hotband.faces.api.record": ("load",),
    "hotband.faces.api.run": ("sequence",),
    "hotband.faces.api.serve": ("BothWays", "emulate"),
    "hotband.faces.api.store": ("store",),
    "hotband.faces.api.studies": ("study",),
    "hotband.inference.audit.result": ("AuditResult",),
    "hotband.inference.interval.explained": ("Why",),
    "hotband.inference.reliability.result": ("Reliability",),
    "hotband.inference.traces.compare": ("TracesCompared",),
    "hotband.inference.traces.convert": ("TraceConverted",),
    "hotband.inference.traces.fit.fit": ("TraceFit",),
    "hotband.inference.traces.show": ("TraceShown",),
    "hotband.questions.compare": ("Compared",),
    "hotband.questions.entropy": ("Entropy",),
    "hotband.questions.fleet.result": ("Fleet",),
    "hotband.questions.study.accounted": ("Accuracy",),
    "hotband.questions.suites.looked": ("QuickResult",),
    "hotband.questions.suites.tested": ("PtsResult",),
    "hotband.questions.sweeps.sweep": ("Sweep",),
}
"""The public names, by the module that defines them."""
_WHERE = {
    **{name: module for module, names in _MODULES.items() for name in names},
    **dict.fromkeys(by_function(), "hotband.faces.asked.function"),
}

__all__ = sorted([*_WHERE, "__version__"])

_views.registered_in("hotband.views.registered")


def __getattr__(name: str) -> Any:
    """Load a public name from its module. An old name is the new one, with a DeprecationWarning."""
    if name in FUNCTIONS:
        warnings.warn(f"hotband.{name} is hotband.{FUNCTIONS[name]} now", DeprecationWarning, stacklevel=2)
        name = FUNCTIONS[name]
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
