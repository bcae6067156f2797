"""What questions about traces of I/Os have in common."""

from __future__ import annotations

from dataclasses import dataclass

from hotband.base.question import Question, asks
from hotband.data.inputs.kinds import Columns, Filters


@dataclass(frozen=True, kw_only=True)
class TraceQuestion(Question):
    """Base of questions about traces: how a file is read, and what of it is taken (keys of `[trace]`)."""

    format: str | None = asks("Its format, if not recognised.", default=None, metavar="NAME")
    columns: Columns | None = asks(
        "Of any CSV: time=1:us,offset=2:sectors,size=3,op=4.", default=None, metavar="KEY=COLUMN,..."
    )
    skip_bad: int = asks("Leave out up to N wrong lines.", default=0, metavar="N", least=0)
    device: Filters = asks("Of this device. May be repeated.", default=(), metavar="NAME")
    host: Filters = asks("Of this host. May be repeated.", default=(), metavar="NAME")
    process: Filters = asks("Of this process. May be repeated.", default=(), metavar="NAME")
    direction: Filters = asks("read, write, flush or trim. May be repeated.", default=(), metavar="NAME")
    range: Filters = asks('Both ends of the addresses: ["0 GB", "300 GB"].', default=(), only_python=True)
    from_: str | None = asks('Since its first I/O, as "1 h".', default=None, metavar="TIME", called="from")
    for_: str | None = asks("For so long.", default=None, metavar="TIME", called="for")

    def keys(self) -> dict[str, object]:
        """Return the keys of `[trace]`."""
        several = {name: list(getattr(self, name)) for name in ("device", "host", "process", "direction", "range")}
        times = {"from": self.from_, "for": self.for_}
        return {"format": self.format, "columns": self.columns, "skip_bad": self.skip_bad, **several, **times}
