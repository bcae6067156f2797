"""Events of a run's machine as text: `at 60 s: fail d3`, `at 30 s: power-off`.

The engine reads these texts; here they are only checked early, so that errors name their option.
"""

from __future__ import annotations

from collections.abc import Sequence

import hotband._core as _core
from hotband.base.errors import UserError


def check_events(events: Sequence[str], where: str = "question.events") -> None:
    """Check that all texts are events. Raises UserError for the first that is not."""
    try:
        _core.check_events(list(events))
    except _core.SpecError as error:
        _, key, value, accepted = error.args
        raise UserError(where, key, value, accepted) from None
