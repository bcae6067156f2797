"""Hardware options of the user. Runs in virtual time have them too, without loading fio's modules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.quantities import size_bytes
from hotband.data.catalog.named import NEAREST, NONE
from hotband.data.documents.run import RunSpec
from hotband.execution.runs.run import prepare

if TYPE_CHECKING:
    from hotband.execution.targets.on_device import Predict, Setup


@dataclass(frozen=True)
class RealOptions:
    """Options of targets on the wall clock as text: what may be erased, the size of a file made in a folder and whether
    it is kept, hosts separated by commas, the product for the prediction, a command that prints watts, and the purge
    before a state (`hotband.execution.targets.purge.PURGES`). `predict` makes the prediction. `anyway` serves an
    emulated machine that is faster than this host can serve."""

    erase: str | None = None
    size: str | None = None
    keep: bool = False
    hosts: str | None = None
    expect: str | None = None
    power: str | None = None
    purge_by: str | None = None
    predict: Predict | None = None
    anyway: bool = False

    def setup(self) -> Setup:
        """Return the settings of the measurement. Raises UserError for an invalid size or host, or a product that is
        not in the catalog."""
        from hotband.execution.targets.hosts import hosts_of
        from hotband.execution.targets.on_device import Setup

        size = None if self.size is None else size_bytes(self.size)
        if self.size is not None and not size:
            raise UserError("question.size", "", self.size, 'expected a size with its unit, such as "8 GiB"')
        if self.expect is not None:
            expect_product(self.expect)
        hosts = () if self.hosts is None else hosts_of(self.hosts)
        made = Setup(hosts, round(size or 0), self.keep, power_command=self.power, product=self.expect)
        return replace(made, purge_by=self.purge_by, predict=self.predict)


def expect_product(name: str) -> None:
    """Raise UserError if `--expect` names an unknown machine."""
    if name not in (NONE, NEAREST):
        try:
            prepare(RunSpec("expected", name, "fio-randread", in_use=True))
        except UserError as error:
            where = "question.expect" if error.where == "question.on" else error.where
            raise UserError(where, error.key, error.value, error.accepted) from None
