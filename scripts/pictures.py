"""Makes the pictures of README and guides: `python scripts/pictures.py [NAME...]` writes content-hdd.png, sweep.png,
ui.png, ui-home.png, ui-home-narrow.png, help.png and demo.png.

It runs the study content-hdd (seconds) and draws its published IOPS next to the predicted ones, as its report does; the
first sweep of docs/guides/sweeps.md; `hotband ui` with a run; and the first help and the end of the demo as a terminal
shows them, in chromium through Playwright.
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
from hotband.views.draw import published
from hotband.views.report.pictures import drawing, write_pictures
from hotband.views.report.study_figures import published_frame

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
    made = {"study": of_study, "sweep": of_sweep, "page": of_page, "terminal": of_terminal}
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


def of_study() -> None:
    """Published and predicted IOPS of a study."""
    result = hb.study("content-hdd").run(progress=False)
    frame = published_frame(result.to_dict()["figures"], "IOPS")
    title = "Five disk layouts under vdbench: published and predicted IOPS"
    subtitle = (
        "Study content-hdd. Mixes of 8 KB at one shared sequential position are missed by far; its report says why."
    )
    write(published.published_chart(frame, "IOPS"), "content-hdd", title, subtitle)


def write(view: View, name: str, title: str, subtitle: str) -> None:
    """Writes a chart as docs/images/NAME.png."""
    with tempfile.TemporaryDirectory() as folder:
        pictures = write_pictures(Path(folder), name, drawing(view), title, subtitle)
        [png] = [path for path in pictures if path.suffix == ".png"]
        write_file(IMAGES / f"{name}.png", png.read_bytes())


if __name__ == "__main__":
    main()
