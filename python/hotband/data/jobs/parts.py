"""Position on the target of a job's files and devices: our machine has one address space, a job names many files."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

from hotband.data.jobs.form import bytes_text, number_text
from hotband.data.jobs.source import Option


@dataclass(frozen=True)
class Amount:
    """Bytes, or a share of a file and further bytes."""

    value: float
    is_share: bool = False
    further: float = 0.0

    def __str__(self) -> str:
        if not self.is_share:
            return bytes_text(int(self.value))
        share = f"{number_text(100 * self.value)} %"
        return f"{bytes_text(int(self.further))} + {share}" if self.further else share

    def __add__(self, other: Amount) -> Amount:
        share = sum(each.value for each in (self, other) if each.is_share)
        whole = sum(each.further if each.is_share else each.value for each in (self, other))
        return Amount(share, True, whole) if share or not whole else Amount(whole)


@dataclass
class Files:
    """The files and devices that a job names, each with the bytes of it that are used, where that is known.

    They lie one after the other in the order in which they are met: by their sizes where all are known, else in equal
    parts of the target. A single file begins where the target begins.
    """

    sizes: dict[str, int | None] = field(default_factory=dict)
    _begins: dict[str, tuple[int, int]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def meet(self, name: str, size: int | None) -> None:
        """A file is used up to `size`; None if that is not known, as of a whole device: what others use of it does
        not say where it ends."""
        known = self.sizes.get(name, 0)
        self.sizes[name] = None if known is None or size is None else max(known, size)
        self._begins.clear()

    def _begin(self, name: str) -> tuple[int, int]:
        """Return the number of files before `name`, and their bytes if all sizes are known."""
        if not self._begins:
            start = 0
            for number, (each, size) in enumerate(self.sizes.items()):
                self._begins[each] = number, start
                start += size or 0
        return self._begins[name]

    def hides(self, offset: Amount | None, size: Amount | None) -> bool:
        """Return whether a part in bytes has no position, because the size of one of several files is not known."""
        several = len(self.sizes) > 1 and None in self.sizes.values()
        return several and any(amount and (not amount.is_share or amount.further) for amount in (offset, size))

    def part(self, name: str, offset: Amount | None, size: Amount | None, option: Option | None) -> list[str] | None:
        """Return a part of a file as a range on the target; None for the whole target. An error names `option`."""
        if len(self.sizes) > 1 and None in self.sizes.values():
            if option is not None and self.hides(offset, size):
                option.refuse("the size of another file of the job is not known: expected a size for each, or for none")
            return self._equal_part(name, offset, size)
        whole = self.sizes[name]
        if whole is not None:
            _, start = self._begin(name)
            at = 0 if offset is None else _bytes(offset, whole)
            length = whole - at if size is None else min(_bytes(size, whole), whole - at)
            return [bytes_text(start + at), bytes_text(start + at + length)]
        low = offset or Amount(0.0, True)
        high = Amount(1.0, True) if size is None else low + size
        high = Amount(1.0, True) if high.is_share and high.value >= 1.0 else high
        # A share beside bytes is one of nothing.
        low = Amount(low.value, high.is_share) if not low.value and not low.further else low
        return None if high == Amount(1.0, True) and not low.value else [str(low), str(high)]

    def _equal_part(self, name: str, offset: Amount | None, size: Amount | None) -> list[str]:
        (number, _), each = self._begin(name), 1.0 / len(self.sizes)
        low = offset.value if offset else 0.0
        width = size.value if size else 1.0 - low
        ends = (number + low, number + min(1.0, low + width))
        return [str(Amount(end * each, True)) for end in ends]


def _bytes(amount: Amount, whole: int) -> int:
    return ceil(amount.value * whole + amount.further) if amount.is_share else int(amount.value)
