"""The figures of an array as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hotband.tables import counted, decimal_size

if TYPE_CHECKING:
    from rich.table import Table


def plain(value: float) -> str:
    """A number with four digits, with separators up to a million, as a power of ten beyond."""
    if value == 0:
        return "0"
    return f"{value:,.4g}" if not 1e4 <= abs(value) < 1e7 else f"{value:,.0f}"


def summary_lines(data: dict[str, Any]) -> list[str]:
    """What was assessed, and from what."""
    layout, given = data["layout"], data["given"]
    sources = given["sources"]
    usable, pair = decimal_size(layout["usable_bytes"]), " a pair" if layout["kind"] == "raid10" else ""
    lives = f"lives with {layout['failures_tolerated']} failed{pair}"
    drives = counted(layout["drives"], "drive")
    title = f"{data['machine']}: {layout['kind']} of {drives}, {usable} usable, {lives}"
    afr = 100.0 * 8760.0 / given["mtbf_hours"]
    lines = [title, f"  MTBF {plain(given['mtbf_hours'])} h ({afr:.2g} % a year; {sources['mtbf']})"]
    if layout["failures_tolerated"]:
        lines.append(f"  rebuild {plain(given['rebuild_hours'])} h ({sources['rebuild']})")
        bits = given["bits_per_error"]
        if bits is None:
            lines.append(f"  no sector errors ({sources['unrecoverable_error_bits']})")
        else:
            chance = f"{given['rebuild_error_chance'] * 100:.3g} % of the rebuilds without redundancy meet one"
            lines.append(f"  one sector error in {bits:.3g} bits: {chance} ({sources['unrecoverable_error_bits']})")
        if given["replacement_hours"]:
            lines.append(
                f"  {given['spares']} spares, a new drive {plain(given['replacement_hours'])} h after a failure"
            )
    if given["shape"] != 1.0 or given["rebuild_distribution"] != "exponential":
        lines.append(f"  lives Weibull of shape {given['shape']:g}, rebuilds {given['rebuild_distribution']}")
    return lines


def figures_table(data: dict[str, Any]) -> Table:
    """Simulated beside the closed form."""
    from rich.table import Table

    table = Table()
    for name in ("", "simulated", "95 % interval", "closed form", "difference"):
        table.add_column(name, justify="left" if not name else "right")
    mttdl, mission = data["mttdl"], data["mission"]
    if mttdl["simulated"] is not None:
        closed = mttdl["closed_form"]["value"]
        table.add_row("MTTDL, years", *cells(mttdl["simulated"], closed, mttdl["difference_pct"]))
        for name, share in shown_causes(data, mttdl["simulated"]["causes"]):
            table.add_row(f"  by {name}", percent(share), "", percent(mttdl["closed_form"]["causes"][name]), "")
    years = f"{mission['years']:g} years"
    loss = mission["loss"]
    table.add_row(f"loss within {years}", *cells(loss, mission["closed_form"], mission["difference_pct"]))
    for name, share in shown_causes(data, loss["causes"]):
        table.add_row(f"  by {name}", percent(share), "", "", "")
    lost = mission["closed_form_bytes_lost_per_tb"]
    table.add_row(f"bytes lost per TB in {years}", *cells(mission["bytes_lost_per_tb"], lost, None))
    return table


def shown_causes(data: dict[str, Any], causes: dict[str, float]) -> list[tuple[str, float]]:
    """Shares of the causes, where there can be more than one."""
    return list(causes.items()) if data["given"]["rebuild_error_chance"] > 0 else []


def cells(estimate: dict[str, Any], closed: float | None, difference: float | None) -> tuple[str, str, str, str]:
    """An estimate, its interval, the closed form and the difference."""
    interval = f"{plain(estimate['low'])} to {plain(estimate['high'])}"
    shown = "–" if difference is None else f"{difference:+.2f} %"
    return plain(estimate["value"]), interval, "–" if closed is None else plain(closed), shown


def percent(share: float) -> str:
    """A share."""
    return f"{100 * share:.3g} %"


def notes(data: dict[str, Any]) -> list[str]:
    """The textbook's value, and how it was simulated."""
    mttdl, textbook = data["mttdl"], data["mttdl"]["textbook"]
    lines = []
    if mttdl["reason"]:
        lines.append(f"No MTTDL: {mttdl['reason']}")
    parts = [f"{plain(textbook['failure_years'])} years by drives alone"]
    if textbook["sector_years"] is not None:
        parts.append(f"{plain(textbook['sector_years'])} by sector errors")
    lines.append(
        f"Textbook: {textbook['formula']}: {', '.join(parts)}; {plain(textbook['years'])} ({textbook['source']})"
    )
    if mttdl["simulated"] is not None:
        lines.append(f"Simulated: {mttdl['count']:,} of {mttdl['method']} ({plain(mttdl['array_years'])} array-years)")
    lines.append(f"  and {data['mission']['count']:,} arrays drive by drive over the mission, hazards raised")
    return lines
