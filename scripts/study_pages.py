"""Draws the pages of studies again from the runs that are kept, and says how long they are.

`python scripts/study_pages.py KEPT OUT [NAME]...`: KEPT has a folder a study, as `hotband study run NAME --out
KEPT/NAME` or `make accuracy` leaves it; OUT gets NAME.html, NAME.txt (what `hotband study run` prints) and,
where Chromium is on PATH, pictures of the page at 1400 and 420 px. No run is repeated, and none is refused for having
been made by another build of the engine: it is for work on pages.
"""

from __future__ import annotations

import argparse
import contextlib
import html
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from hotband.execution.experiment.store import FINISHED_FILE, load_finished
from hotband.faces.commands.output import show
from hotband.questions.study import file
from hotband.questions.study.runs import chosen, collect, points
from hotband.questions.study.study import conclude, result_of
from hotband.views.report import loaded_run, study_page, write_report
from hotband.views.study.show import print_result

WIDTHS = (1400, 420)
# Pixels of a picture at most: a browser draws no taller one.
MOST_PX = 16000
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# A page in a frame of the width that is asked for: a browser without a screen has no window narrower than 500 px.
FRAME = """<!doctype html><body style="margin:0">
<iframe src="{page}" style="border:0;width:{width}px;height:{height}px"></iframe>
<script>addEventListener("message", (event) => (document.body.dataset.said = JSON.stringify(event.data)));</script>"""
UNFOLD = "<script>document.querySelectorAll('details').forEach((fold) => (fold.open = true));</script>"
TELL = """<script>setInterval(() => parent.postMessage({
  height: document.documentElement.scrollHeight, wide: document.documentElement.scrollWidth,
  words: document.body.innerText.split(/\\s+/).filter(Boolean).length, drawn: document.body.dataset.drawn,
}, "*"), 300);</script>"""


def redraw(kept: Path, out: Path, name: str) -> Path:
    """Writes the page and the terminal's text of a study from its kept runs; the path of the page."""
    study = file.load(name)
    pairs = chosen(study, ())
    finished = []
    for point in points(study, pairs, None, study.seed):
        folder = kept / name / "runs" / point.id
        ios = json.loads((folder / FINISHED_FILE).read_text(encoding="utf-8"))["ios"]
        finished.append(load_finished(point.spec, folder, ios))
    results = collect(study, pairs, finished)
    result = result_of(results, conclude(study, results), study.seed)
    result["command"] = f"hotband study run {name} --out {kept / name}"
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        print_result(result, show)
    (out / f"{name}.txt").write_text(printed.getvalue(), encoding="utf-8")
    (out / f"{name}.json").write_text(json.dumps(result, ensure_ascii=False), encoding="utf-8")
    return write_report(out / f"{name}.html", study_page(result, {one.spec.id: loaded_run(one) for one in finished}))


def look(
    browser: str, page: Path, width: int, height: int, *switches: str, unfold: bool
) -> tuple[dict[str, object], list[str]]:
    """What a page says of itself at a width, and what stands in the browser's console."""
    copy = page.with_suffix(".told.html")
    copy.write_text(page.read_text(encoding="utf-8") + TELL + UNFOLD * unfold, encoding="utf-8")
    frame = page.with_suffix(".frame.html")
    frame.write_text(FRAME.format(page=copy.name, width=width, height=height), encoding="utf-8")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr"]
    command += ["--virtual-time-budget=60000", f"--window-size={max(width, 500)},{height}", *switches, frame.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    copy.unlink()
    frame.unlink()
    said = (line.partition("CONSOLE")[2].partition('"')[2] for line in done.stderr.splitlines() if ":CONSOLE" in line)
    console = list(dict.fromkeys(said))
    found = re.search(r'data-said="([^"]*)"', done.stdout)
    return (json.loads(html.unescape(found.group(1))) if found else {}), console


def main() -> None:
    """Draws, measures, prints a line a page and width."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kept", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", default=file.names())
    parser.add_argument("--unfold", action="store_true", help="look at the pages with everything unfolded")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    browser = next((found for name in NAMES if (found := shutil.which(name))), None)
    for name in asked.names:
        page = redraw(asked.kept, asked.out, name).resolve()
        for width in WIDTHS if browser else ():
            said, console = look(str(browser), page, width, 900, "--dump-dom", unfold=asked.unfold)
            picture = page.with_name(f"{name}-{width}{'-unfolded' * asked.unfold}.png")
            height = min(MOST_PX, int(str(said["height"])))
            look(str(browser), page, width, height, f"--screenshot={picture}", unfold=asked.unfold)
            print(f"{name} at {width} px: {said}", *console, sep="\n", file=sys.stdout, flush=True)


if __name__ == "__main__":
    main()
