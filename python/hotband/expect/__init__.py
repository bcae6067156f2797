"""Results of other tools beside predictions: good or bad? (docs/guides/expect.md).

The package can be called: `hotband.expect("run.json", on=...)` is `hotband.expect.api.expect`; `hotband.packages` says
why.
"""

from __future__ import annotations

from hotband.packages import make_callable

make_callable(__name__, "hotband.expect.api", "expect")
