"""Traces from Python: converted, shown, compared, fitted."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import listed, plain, public, short
from hotband.base.errors import UserError
from hotband.data.inputs import specify
from hotband.inference.traces import compare, convert
from hotband.inference.traces.fit import fit
from hotband.inference.traces.properties import SAMPLE
from hotband.views.traces import show

if TYPE_CHECKING:
    from hotband.data.inputs.specify import Spec
    from hotband.inference.traces.compare import TracesCompared
    from hotband.inference.traces.convert import TraceConverted
    from hotband.inference.traces.fit.fit import TraceFit
    from hotband.views.traces.show import TraceShown

KEYS = {"question.device NAME": 'device="NAME"', "question.from": "from_", "question.for": "for_"}
"""Fields that take some of a trace, as Python writes them: two are words that it does not leave free."""


@public
def convert_trace(
    source: str | PathLike[str], output: str | PathLike[str], *, to: str | None = None, **keys: object
) -> TraceConverted:
    """Writes a trace in the format `to`, or the one that the ending of `output` says, and tells what that cannot say of
    it. `keys` are those of `[trace]` that read it and take some of it (docs/guides/traces.md): `format`, `columns`,
    `skip_bad`, `device`, `host`, `process`, `direction`, `range`; `from_` and `for_` are times ("1 h"). Raises
    UserError for a mistake, such as the first line that is wrong; OSError."""
    return convert.convert_trace(Path(source), Path(output), to, _of_trace(keys))


@public
def show_trace(
    source: str | PathLike[str], *, block: str = "4 KiB", sample: int | None = None, **keys: object
) -> TraceShown:
    """What a trace is like: `.properties` (typed; sizes in bytes, times in ns, shares of one), `.answer` in sentences,
    `.frame` (the miss-ratio curve of an LRU cache), `.write_html(path)`, `.to_json()`. What is counted by block of size
    `block` follows at most `sample` blocks (262,144): all of them where there are no more. `keys` are those of
    `[trace]`, as of `convert_trace`. Raises UserError for a mistake, such as the first line that is wrong; OSError."""
    asked = _of_trace(keys)
    return show.show_trace(Path(source), asked, show.block_of(block), SAMPLE if sample is None else sample)


@public
def compare_traces(
    a: str | PathLike[str],
    b: str | PathLike[str],
    *,
    of_b: Mapping[str, object] | None = None,
    **keys: object,
) -> TracesCompared:
    """Compares two traces or I/O logs with latencies, `a` as what was measured: `.demerit_pct`, `.mean_error_pct`,
    `.rms_ns` (None where they do not hold the same I/Os in the same order: `.same_ios`), `.frame` by class of I/O,
    `.write_html("page.html")` with both distributions. `keys` as in `convert_trace` hold for both; `of_b` has those
    that are other for `b`, such as {"format": "csv", "columns": {...}}. Raises UserError for a mistake, such as a
    trace without latencies; OSError."""
    return compare.compare_traces(Path(a), Path(b), _of_trace(keys), _of_trace(of_b or {}))


@public
def fit_trace(
    source: str | PathLike[str],
    output: str | PathLike[str] | None = None,
    *,
    on: Spec | None = None,
    issue: str | None = None,
    seed: int = 1,
    **keys: object,
) -> TraceFit:
    """A workload with the properties of a trace (docs/guides/traces.md): `TraceFit.workload` is its text, written to
    `output` where that is given, `rows` are the properties of both with their errors, `kept` and `lost` name them.
    With a machine (`on`) both run on it (`replayed`): I/Os of the trace are asked for as `issue` says, "recorded" or
    "after-completion", the workload with this `seed`. `keys` are those of `convert_trace`. Raises UserError for a
    mistake, such as a trace of several devices; OSError."""
    machine = None if on is None else specify.named(on, "on")
    written = None if output is None else Path(output)
    try:
        return fit.fit_trace(Path(source), written, _of_trace(keys), machine, issue, seed)
    except UserError as error:
        accepted = error.accepted
        for option, key in KEYS.items():
            accepted = accepted.replace(option, key)
        raise UserError(error.where, error.key, error.value, accepted) from None


def _of_trace(keys: Mapping[str, object]) -> dict[str, object]:
    """Arguments as keys of `[trace]`: `from_` is no word that Python leaves free. Raises UserError for a value that
    TOML has not."""
    import tomlkit

    found: dict[str, object] = {}
    for key, value in keys.items():
        name, several = key.rstrip("_"), listed(value)
        found[name] = plain(value) if several is None else several
        try:
            tomlkit.item(found[name])
        except (tomlkit.exceptions.TOMLKitError, TypeError, ValueError):
            raise UserError(
                name, "", short(value), "expected text, a number, a bool, or a list or dict of them"
            ) from None
    return found
