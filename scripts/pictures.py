"""Makes the pictures of README and guides: `python scripts/pictures.py [NAME...]` writes candidates.png, sweep.png,
ui.png, ui-home.png, ui-home-narrow.png, help.png and demo.png.

It draws the predicted p99 of four candidates for a database; the first sweep of docs/guides/sweeps.md; `hotband ui`
with a run; and the first help and the end of the demo as a terminal shows them, in chromium through Playwright.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import hotband as hb
from hotband.base.text.write import write_file
from hotband.views.report.pictures import drawing, write_pictures

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from hotband.base.views import View

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
WIDTH = 80
"""Columns of the terminal in a picture."""
TERMINAL = (
    '<pre style="display: inline-block; margin: 0; padding: 16px 20px; background: {background}; color: {foreground};'
    " font: 14px/1.35 'DejaVu Sans Mono', monospace\">{code}</pre>"
)
"""The page of a picture of a terminal."""


def main() -> None:
    """Write the pictures, or those that are named."""
    made = {"candidates": of_candidates, "sweep": of_sweep, "page": of_page, "terminal": of_terminal}
    for name in sys.argv[1:] or made:
        made[name]()


@contextmanager
def browsing() -> Iterator[Browser]:
    """Yield a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


def of_terminal() -> None:
    """Picture the first help and the end of the demo."""
    from rich.console import Console
    from rich.text import Text

    commands = {"help": ["--help"], "demo": ["study", "run", "content-hdd"]}
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    with browsing() as browser:
        page = browser.new_page(viewport={"width": 900, "height": 600}, device_scale_factor=2)
        for name, words in commands.items():
            run = [sys.executable, "-m", "hotband", *words]
            done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
            console = Console(record=True, width=WIDTH, file=io.StringIO())
            console.print(Text("$ hotband " + " ".join(words), style="bold"), Text.from_ansi(done.stdout), sep="\n")
            page.set_content(console.export_html(inline_styles=True, code_format=TERMINAL))
            write_file(IMAGES / f"{name}.png", page.locator("pre").screenshot())


def of_page() -> None:
    """Picture the home of `hotband ui`, wide and narrow, and the page after a run of a mix on an array."""
    command = [sys.executable, "-m", "hotband", "ui", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, browsing() as browser:
        assert server.stdout is not None
        page = browser.new_page(viewport={"width": 1400, "height": 780})
        page.goto(server.stdout.readline().strip())
        page.locator("body[data-ready]").wait_for()
        write_file(IMAGES / "ui-home.png", page.screenshot())
        page.set_viewport_size({"width": 420, "height": 900})
        write_file(IMAGES / "ui-home-narrow.png", page.screenshot())
        page.set_viewport_size({"width": 1400, "height": 900})
        page.goto(f"{page.url.partition('#')[0]}#run")
        page.locator("body[data-view=run] h1").wait_for()
        page.get_by_label("Workload", exact=True).fill("iometer-database")
        page.get_by_label("Layout").select_option("raid5")
        page.get_by_role("button", name="Run", exact=True).click()
        page.locator(".job[data-state=done] .result .chart").first.wait_for()
        page.mouse.move(0, 0)
        write_file(IMAGES / "ui.png", page.screenshot())
        server.send_signal(signal.SIGINT)


def of_sweep() -> None:
    """p99 latency of three machines against the queue depth."""
    machines = ["exos-15e900-512n", "ent-10k", "raid10:4xent-15k"]
    swept = hb.sweep("fio-randread", on=machines, qd="1..256", duration="5 s", records=False, progress=False)
    title = "Random reads of 4 KiB: p99 latency against queue depth"
    write(swept.plot("latency_p99_ns"), "sweep", title, " ".join(swept.answers[1:]))


CANDIDATES = {
    "6 x 18 TB disk, RAID 6": "raid6:6xwd-hc550-18tb",
    "8 x 15K disk, RAID 10": "raid10:8xexos-15e900-512n",
    "16 x 15K disk, RAID 10": "raid10:16xexos-15e900-512n",
    "3 x NVMe SSD, RAID 5": "raid5:3x7450-pro-3840",
}
LIMIT_MS = 30
"""The objective of README's picture: p99 in milliseconds."""


def of_candidates() -> None:
    """p99 latency of four candidates for a database against its rate, with the limit that has to hold."""
    import altair as alt

    rates = [*range(250, 1000, 125), *range(1000, 4001, 250)]
    swept = hb.sweep("iometer-database", on=list(CANDIDATES.values()), rate=rates, duration="20 s", records=False)
    names = {machine: name for name, machine in CANDIDATES.items()}
    rows = [
        {"candidate": names[row["target"]], "rate": row["rate_iops"], "p99": row["latency_p99_ns"] / 1e6}
        for row in swept.frame.iter_rows(named=True)
        # A machine that does not keep up has a p99 that grows for as long as it runs.
        if row["iops"] > 0.97 * row["rate_iops"]
    ]
    scale = alt.Scale(type="log", domain=[0.05, 1000], nice=False)
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("rate:Q", title="Requests per second", axis=alt.Axis(values=list(range(0, 4001, 500)))),
            y=alt.Y("p99:Q", title="p99 latency (ms)", scale=scale, axis=alt.Axis(values=[0.1, 1, 10, 100, 1000])),
            color=alt.Color("candidate:N", title=None, sort=list(CANDIDATES)),
        )
    )
    limit = {"p99": LIMIT_MS, "text": f"must stay below {LIMIT_MS} ms", "rate": 700}
    rule = alt.Chart(alt.Data(values=[limit])).mark_rule(strokeDash=[6, 4], color="#b00020", size=2).encode(y="p99:Q")
    label = (
        alt.Chart(alt.Data(values=[limit]))
        .mark_text(align="left", baseline="bottom", dy=-4, color="#b00020", fontSize=13)
        .encode(x="rate:Q", y="p99:Q", text="text:N")
    )
    title = "Which of four candidates keeps a database below 30 ms, and up to which load?"
    subtitle = (
        "Predicted p99 latency of iometer-database (8 KiB, 67 % reads) by rate; a line ends with the last rate reached."
    )
    write(alt.layer(lines, rule, label).properties(width=640, height=300), "candidates", title, subtitle)


def write(view: View, name: str, title: str, subtitle: str) -> None:
    """Writes a chart as docs/images/NAME.png."""
    with tempfile.TemporaryDirectory() as folder:
        pictures = write_pictures(Path(folder), name, drawing(view), title, subtitle)
        [png] = [path for path in pictures if path.suffix == ".png"]
        write_file(IMAGES / f"{name}.png", png.read_bytes())


if __name__ == "__main__":
    main()
