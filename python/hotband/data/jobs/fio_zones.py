"""Zones of `random_distribution=zoned:` and `zoned_abs:`, each with its share of the I/Os."""

from __future__ import annotations

from hotband.data.jobs.fio_lists import Chosen
from hotband.data.jobs.fio_values import count, decimal, size_bytes, splits
from hotband.data.jobs.parts import Amount
from hotband.data.jobs.source import Option

GRAIN = 4096
Part = tuple[Amount | None, Amount | None]
"""First byte and bytes of a range."""


def zone_list(base: int, chosen: Chosen, offset: Amount | None, region: Amount | None) -> list[tuple[float, Part]]:
    """Zones as (share of the I/Os, their part): those of `zoned` are shares of the region, of `zoned_abs` bytes."""
    name, arguments, option = chosen
    text = ":".join(arguments)
    zones: list[tuple[float, Part]] = []
    first = offset or Amount(0.0, region is None or region.is_share)
    if name == "zoned_abs":
        at = 0.0
        for part in arguments:
            share, _, length = part.partition("/")
            size = float(size_bytes(length, base, option))
            zones.append((decimal(share, option), (Amount(first.value + at), Amount(size))))
            at += size
        return _whole(zones, option)
    # `bssplit`'s form the other way round: the share of the I/Os first.
    turned = [(decimal(share, option), part) for share, part in splits(_turned(text, option), option)]
    whole = region or Amount(1.0 - (first.value if first.is_share else 0.0), True)
    at = 0.0
    for width, ios in turned:
        low, high = _edge(whole, at), _edge(whole, min(100.0, at + width))
        zones.append((ios, (first + Amount(low, whole.is_share), Amount(high - low, whole.is_share))))
        at += width
    if at > 100 + 1e-9:
        option.refuse(f"the zones add up to {at:g} % of the range: expected at most 100")
    return _whole(zones, option)


def _whole(zones: list[tuple[float, Part]], option: Option) -> list[tuple[float, Part]]:
    """Return the zones that have I/Os. Raises UserError if their shares of the I/Os are not 100 %, as fio does."""
    shares = sum(share for share, _ in zones)
    if abs(shares - 100) > 1e-9:
        option.refuse(f"the shares of the I/Os add up to {shares:g}: expected 100, as in fio")
    return [zone for zone in zones if zone[0]]


def listed_blocks(chosen: Chosen, size: int, offset: Amount | None) -> Part:
    """Return the part from the first to the last block of `random_distribution=sequence:2,0,1`."""
    _, numbers, option = chosen
    blocks = [count(Option(option.key, number, option.location), 0, 2**40) for number in numbers]
    first = (offset or Amount(0.0)) + Amount(min(blocks) * size)
    return first, Amount((max(blocks) + 1 - min(blocks)) * size)


def hot_part(chosen: Chosen) -> tuple[float, float] | None:
    """Return the hot part's shares of the range and of the I/Os if two zones cover the whole range."""
    name, arguments, option = chosen
    if name != "zoned" or len(arguments) != 2:
        return None
    turned = [(decimal(share, option), part) for share, part in splits(_turned(":".join(arguments), option), option)]
    whole = sum(width for width, _ in turned), sum(ios for _, ios in turned)
    hot, ios = turned[0]
    return (hot / 100, ios / 100) if whole == (100, 100) and 0 < hot < 100 else None


def _turned(text: str, option: Option) -> str:
    """Turn `60/10:40/90` into `10/60:90/40`: zones, each with its share of the I/Os."""
    parts = [part.partition("/") for part in text.split(":")]
    if not text or not all(share and slash for share, slash, _ in parts):
        option.refuse("expected SHARE/ZONE with one colon between two, such as zoned:60/10:30/20:10/70")
    widths = [decimal(zone, option) if zone else 0.0 for _, _, zone in parts]
    blank = sum(not zone for _, _, zone in parts)
    each = max(0.0, 100 - sum(widths)) / blank if blank else 0.0
    return ":".join(f"{width or each}/{share}" for (share, _, _), width in zip(parts, widths, strict=True))


def _edge(whole: Amount, percent: float) -> float:
    """Return a position in the region; positions in bytes are multiples of 4 KiB."""
    position = whole.value * percent / 100
    return position if whole.is_share else position if percent >= 100 else position // GRAIN * GRAIN
