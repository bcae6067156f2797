"""Studies: published evaluations, predicted. The package can be called: `hotband.study("content-hdd")` is `api.study`
(`hotband.packages` says why)."""

from __future__ import annotations

from hotband.packages import make_callable

make_callable(__name__, "hotband.api", "study")
