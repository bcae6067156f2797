"""Inverse questions: which rate, queue depth, number of drives or value meets a condition (docs/guides/find.md).

The package can be called: `hotband.find("IOPS at p99 < 10 ms", ...)` is `hotband.find.api.find`; `hotband.packages`
says why.
"""

from __future__ import annotations

from hotband.packages import make_callable

make_callable(__name__, "hotband.find.api", "find")
