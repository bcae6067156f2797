"""Sobol's sequence with Owen's scrambling (Owen 1998), point for point that of `scipy.stats.qmc.Sobol`.

`scipy.stats` takes a second of the processor to import. This module reads only its table of direction numbers (Joe and
Kuo, SIAM Journal on Scientific Computing 30, 2008), so all dimensions of that table are available.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.heavy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hotband.base.arrays import Floats

BITS = 30
"""Bits of a coordinate: those of scipy."""


class Sobol:
    """An endless sequence of points in the unit cube, scrambled by a seed."""

    def __init__(self, dimensions: int, seed: int) -> None:
        self.dimensions = dimensions
        (generator,) = np.random.default_rng(seed).spawn(1)
        shape = (dimensions, BITS)
        shift = generator.integers(0, 2, size=shape, dtype=np.uint32)
        mixed = np.tril(generator.integers(0, 2, size=(*shape, BITS), dtype=np.uint32))
        self._steps = _scrambled(direction_numbers(dimensions), mixed)
        self._point = np.asarray(shift @ (1 << np.arange(BITS, dtype=np.uint32)), dtype=np.uint32)
        self._drawn = 0

    def random(self, count: int) -> Floats:
        """Return the next points, one per row."""
        points = np.empty((count, self.dimensions))
        for row in points:
            if self._drawn:
                # Antonov and Saleev (1979): neighbours differ by the direction number of the lowest zero bit.
                number = self._drawn - 1
                self._point = self._point ^ self._steps[:, (~number & (number + 1)).bit_length() - 1]
            row[:] = self._point
            self._drawn += 1
        return points / 2.0**BITS


@cache
def direction_numbers(dimensions: int) -> NDArray[np.uint32]:
    """Return the direction numbers of each dimension. Raises OSError if scipy's table cannot be read."""
    scipy = find_spec("scipy")
    if scipy is None or scipy.origin is None:
        raise FileNotFoundError("scipy")
    with np.load(Path(scipy.origin).parent / "stats" / "_sobol_direction_numbers.npz") as table:
        polynomials, initial = table["poly"][:dimensions], table["vinit"][:dimensions]
    numbers = np.ones((dimensions, BITS), dtype=np.uint32)
    for row, polynomial, begin in zip(numbers[1:], polynomials[1:], initial[1:], strict=True):
        degree = int(polynomial).bit_length() - 1
        row[:degree] = begin[:degree]
        for bit in range(degree, BITS):
            value = int(row[bit - degree])
            for term in range(degree):
                if polynomial >> (degree - 1 - term) & 1:
                    value ^= int(row[bit - term - 1]) << (term + 1)
            row[bit] = value
    return numbers << np.arange(BITS - 1, -1, -1, dtype=np.uint32)


def _scrambled(numbers: NDArray[np.uint32], mixed: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Multiply the bits of each direction number by the lower triangular matrix of its dimension (Matousek 1998)."""
    places = np.arange(BITS - 1, -1, -1, dtype=np.uint32)
    bits = numbers[:, None, :] >> places[None, :, None] & 1
    mixed[:, range(BITS), range(BITS)] = 1
    sums = mixed @ bits & 1
    return np.asarray((sums << places[None, :, None]).sum(axis=1), dtype=np.uint32)
