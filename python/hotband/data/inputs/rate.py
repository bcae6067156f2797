"""The rate of an open loop, and the setting that it becomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from hotband.base.errors import UserError
from hotband.data.inputs.loads import LOOP_KEYS
from hotband.data.inputs.values import Values, values_of

FIELD, KEY = "question.rate", "rate_iops"
EXPECTED = "expected I/Os a second, such as 60000"
LEAST, MOST = 0.001, 1e9
"""The rates that the engine takes (`Workload::set`)."""


def setting_of(rate: str | None, settings: Iterable[tuple[str, object]]) -> tuple[tuple[str, str], ...]:
    """Return the setting that a rate becomes; none without a rate. Raises UserError for several rates, and for settings
    of the loop that it replaces."""
    if rate is None:
        return ()
    if "," in rate or ".." in rate:
        accepted = f"several rates are for sweep; {EXPECTED}, without a comma"
        raise UserError(FIELD, "", rate, accepted)
    return ((KEY, str(rates_of(rate, settings).listed[0])),)


def rates_of(rate: str, settings: Iterable[tuple[str, object]]) -> Values:
    """Return the values of a text of rates: `1000,2000` or `1000..64000`. Raises UserError as `setting_of` does."""
    for key, value in settings:
        if key in LOOP_KEYS:
            accepted = f"cannot be combined with {FIELD}, which decides when I/Os are issued: leave it out"
            raise UserError("question.settings", key, _shown(value), accepted)
    try:
        found = values_of(KEY, rate)
    except UserError as error:
        raise UserError(FIELD, "", rate, error.accepted) from None
    for value in found.listed:
        if isinstance(value, bool | str) or not LEAST <= value <= MOST:
            raise UserError(FIELD, "", str(value), EXPECTED)
    return found


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


@contextmanager
def mistakes_of_rate(rate: str | None) -> Iterator[None]:
    """Report a workload that accepts no rate as a mistake of the rate, not of a setting."""
    try:
        yield
    except UserError as error:
        if rate is None or error.key != KEY:
            raise
        raise UserError(FIELD, "", rate, error.accepted) from None
