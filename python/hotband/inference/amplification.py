"""Write amplification in theory: uniform random writes, a page-mapped drive that collects the emptiest block.

With a = physical over logical capacity (1 + over-provisioning), WA = a / (a + W(-a e^-a)), W the principal branch of
Lambert's function (Xiang and Kurkoski, "An improved analytic expression for write amplification in NAND flash",
arXiv 1110.4245). Data of entropy e takes e pages, so a becomes a / e, and flash bytes per host byte e * WA(a / e).

Left out: hot and cold data, sequential writes, TRIM, blocks of finite size (brute force with 256 pages per
block is within 1.5 % of it), and what keeps a real drive above this floor: compression in chunks, packing, metadata.
"""

from __future__ import annotations

import math

STEPS = 60
"""Newton's method from below converges in well under this many steps over all over-provisionings from 0.1 % up."""
SMALL = 1e-14


def lambert(x: float) -> float:
    """The principal branch of Lambert's W between -1/e and 0, where w e^w = x and -1 <= w <= 0."""
    if not -1 / math.e <= x <= 0:
        raise ValueError(f"W is asked for at {x}; expected -1/e to 0")
    # The series about the branch point, which is exact there and close enough elsewhere to begin with.
    root = math.sqrt(max(0.0, 2 * (1 + math.e * x)))
    w = -1 + root - root * root / 3
    for _ in range(STEPS):
        power = math.exp(w)
        slope = power * (w + 1)
        if slope < SMALL:
            break
        step = (w * power - x) / slope
        w -= step
        if abs(step) < SMALL:
            break
    return w


def uniform(over_provisioning: float) -> float:
    """Write amplification of uniform random writes; `over_provisioning` is spare over logical capacity, above 0."""
    if over_provisioning <= 0:
        raise ValueError(f"over-provisioning of {over_provisioning}; expected a share above 0")
    a = 1 + over_provisioning
    return a / (a + lambert(-a * math.exp(-a)))


def compressed(over_provisioning: float, entropy: float) -> float:
    """Flash bytes per host byte of uniform random writes whose data compresses to the share `entropy`."""
    if not 0 < entropy <= 1:
        raise ValueError(f"entropy of {entropy}; expected a share above 0, at most 1")
    return entropy * uniform((1 + over_provisioning) / entropy - 1)
