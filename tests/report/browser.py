"""A page in headless Chromium: what it logged, what it threw, and which of its charts have marks.

Left out: it looks at marks, not at how they look.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)
SWITCHES = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-quic", "--no-first-run", "--enable-logging=stderr", "--virtual-time-budget=12000",
    "--dump-dom",
)  # fmt: skip

needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium on PATH (`make browser` installs one): pages were not opened"
)

# Before anything of the page: what is thrown, refused or asked of the network is kept.
LISTEN = """<script>
const heard = [];
addEventListener("error", (event) => heard.push(`error: ${event.message ?? event.target.tagName}`), true);
addEventListener("unhandledrejection", (event) => heard.push(`rejected: ${event.reason}`));
addEventListener("securitypolicyviolation", (event) => heard.push(`refused: ${event.blockedURI}`));
</script>"""
# After it: marks of a chart are shapes with an outline, or texts of rows, that have an extent on the page. A canvas has
# marks where its pixels differ. The last look stays: virtual time ends when nothing is left to be done.
LOOK = """<script>
const inked = (canvas) => {
  const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return pixels.some((pixel) => pixel !== pixels[0]);
};
const marks = (svg) => [...svg.querySelectorAll("[class^='mark-'] > path, [class^='mark-'] > line")].filter((mark) => {
  const box = mark.getBoundingClientRect();
  return mark.closest("[class*='role-mark']") && (box.width > 0 || box.height > 0);
}).length;
const look = () => {
  const charts = [...document.querySelectorAll(".chart, .vega-embed:not(.chart)")].map((place) => {
    const svg = place.querySelector("svg.marks"), canvas = place.querySelector("canvas");
    return svg ? marks(svg) : canvas && inked(canvas) ? 1 : 0;
  });
  const names = performance.getEntriesByType("resource").map((one) => one.name);
  const fetched = names.filter((name) => !name.startsWith("data:"));
  const words = document.body.innerText.split(/\\s+/).filter(Boolean).length;
  const height = document.documentElement.scrollHeight;
  document.documentElement.dataset.seen = JSON.stringify({ charts, heard, fetched, words, height });
};
setInterval(look, 2000);
</script>"""
# What is folded away has no width and is drawn when a reader unfolds it.
UNFOLD = "<script>for (const fold of document.querySelectorAll('details')) fold.open = true;</script>"


@dataclass(frozen=True)
class Opened:
    """A page after its scripts ran: the document, the marks of each chart, what went wrong, and how long the page is
    (words that are seen, px)."""

    document: str
    charts: list[int]
    complaints: list[str]
    words: int
    height: int

    def check(self, charts: int | None = None) -> None:
        """Asserts that nothing was complained of, and that every chart, of which there are so many, is drawn."""
        assert self.complaints == []
        assert self.charts
        assert all(self.charts), f"marks of the charts: {self.charts}"
        assert charts is None or len(self.charts) == charts
        assert 'class="chart-error"' not in self.document


def open_page(page: Path, folder: Path, script: str = "", window: str = "800,600", unfold: bool = True) -> Opened:
    """Opens a copy of the file, in `folder`, with what listens before its scripts, all that is folded unfolded (or as a
    reader meets it), and `script` after them."""
    text = page.read_text(encoding="utf-8")
    assert "<head>" in text
    copy = folder / f"opened-{page.name}"
    last = f"<script>{script}</script>" if script else ""
    after = UNFOLD * unfold + last + LOOK
    copy.write_text(text.replace("<head>", f"<head>{LISTEN}", 1) + after, encoding="utf-8")
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [str(BROWSER), *SWITCHES, profile, f"--window-size={window}", copy.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    seen = re.search(r'<html[^>]* data-seen="([^"]*)"', done.stdout)
    assert seen, "the page's scripts did not come to their end"
    found = json.loads(html.unescape(seen.group(1)))
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    fetched = [f"fetched: {name}" for name in found["fetched"]]
    complaints = console + found["heard"] + fetched
    return Opened(done.stdout, found["charts"], complaints, found["words"], found["height"])
