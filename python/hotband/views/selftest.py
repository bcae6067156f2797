"""The checks of a self-test on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted
from hotband.base.text.table import column
from hotband.views.text.screen import DETAILS, Screen, screen_table, with_sign
from hotband.views.text.screen import Verdict as Colour

if TYPE_CHECKING:
    from hotband.questions.selftest import Selftest, SelftestQuestion

COLOURS: dict[str, Colour] = {"passes": "yes", "fails": "no", "not known": "likely"}


def terminal(result: Selftest, _: SelftestQuestion) -> Screen:
    """Return the sentence, a line per check, and in the details what each expects."""
    failed, unknown = result.with_verdict("fails"), result.with_verdict("not known")
    if failed:
        names = ", ".join(check.name for check in failed)
        answer = f"{len(failed)} of {counted(len(result.checks), 'check')} fail on {result.path}: {names}."
    else:
        answer = f"All {len(result.checks) - len(unknown)} checks that could be made pass on {result.path}."
    table = screen_table([column("check"), column("verdict"), column("result")])
    for check in result.checks:
        table.add(check.name, with_sign(check.verdict, COLOURS[check.verdict]), check.value)
    remarks = [f"{check.name}: {check.value}; expected {check.expected}" for check in failed]
    if unknown:
        remarks.append(f"not checked here: {', '.join(check.name for check in unknown)}; {DETAILS} says why")
    return Screen(
        answer=answer,
        verdict="no" if failed else "likely" if unknown else "yes",
        body=[table],
        remarks=remarks,
        details=[
            f"{check.name}: {check.value or 'nothing found'}; expected {check.expected}" for check in result.checks
        ],
    )
