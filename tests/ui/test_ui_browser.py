"""Does the page do in a real browser what it is for? Debian's chromium through Playwright; skipped where either is
missing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from dropped_files import FLEET, result_text
from served_page import Served
from watched_page import Watched

from hotband.data.catalog import CATALOG_DIR

VIEWS = (
    "home", "run", "sweep", "find", "advise", "fleet", "expect", "calibrate", "review", "compare", "catalog", "study",
    "results",
)  # fmt: skip
BAD_NAME = "<img src=x onerror=alert(1)>.toml"


@pytest.fixture
def opened(browser: Any, served: Served, tab: Watched) -> Iterator[Callable[..., Watched]]:
    """Open pages: the tab of the file, or one in a context of its own or in the context given. No page may have
    anything in its console."""
    contexts, pages = [], [tab]

    def one(**options: Any) -> Watched:
        watched = tab
        if options:
            context = options.pop("context", None) or browser.new_context(**options)
            contexts.append(context)
            watched = Watched(context.new_page())
            pages.append(watched)
        watched.open(served.address)
        return watched

    yield one
    for context in contexts:
        context.close()
    assert [said for page in pages for said in page.said] == []


def test_it_loads_asks_nobody_else_and_shows_no_token(
    opened: Callable[..., Watched], served: Served, record_property: Callable[[str, object], None]
) -> None:
    watched = opened()
    paint = watched.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    record_property("first_contentful_paint_ms", round(paint))
    assert watched.page.locator("h1").text_content() == "What do you want to know about your storage?"
    assert all(url.startswith(f"http://127.0.0.1:{served.port}/") for url in watched.asked)
    assert "token" not in watched.page.url
    watched.page.reload()
    watched.page.wait_for_selector("body[data-ready]")


def test_a_run_shows_its_answer_first_and_its_command(opened: Callable[..., Watched], served: Served) -> None:
    watched = opened()
    name = watched.run("ent-10k", "5 s")
    watched.ended()
    import hotband as hb

    record = hb.load(served.store / "jobs" / name)
    assert f"{record.iops:.0f} IOPS" in str(watched.page.locator(".out .lead").text_content())
    assert watched.page.locator(".out .cards dd").count() == 4
    assert watched.page.locator(".out .chart path.line").count() == 4
    command = watched.page.locator(".out .ways code").text_content()
    assert command == "hotband run fio-randread --on ent-10k --duration '5 s'"
    with watched.page.context.expect_page() as report:
        watched.page.get_by_role("link", name="Report", exact=True).click()
    report.value.wait_for_selector("body[data-drawn]")
    assert "ent-10k" in report.value.title()


def test_a_live_chart_grows_and_a_run_is_stopped(opened: Callable[..., Watched], served: Served) -> None:
    watched = opened()
    name = watched.run("raid10:8xexos-15e900-512n", "900000 s")
    watched.page.wait_for_function("() => Number(document.querySelector('.out .job').dataset.points) > 20")
    path = watched.page.locator(".out .chart path.line").first.get_attribute("d")
    watched.page.wait_for_function(
        "path => document.querySelector('.out .chart path.line').getAttribute('d') !== path", arg=path
    )
    assert "1 running" in watched.page.locator("#under-way").text_content()
    watched.page.get_by_role("button", name="Stop").click()
    watched.ended("stopped")
    assert served.ended(name)["state"] == "stopped"
    watched.page.wait_for_function("() => !document.querySelector('#under-way').textContent")


def test_a_mistake_stands_beside_its_field_until_it_is_changed(opened: Callable[..., Watched]) -> None:
    watched = opened()
    watched.go("run")
    drive = watched.page.locator(".machine .drive")
    drive.fill("ent-1ok")
    drive.press("Enter")
    mistake = watched.page.locator("[data-field=on] .mistake:not([hidden])")
    mistake.wait_for()
    assert "did you mean" in mistake.text_content()
    assert drive.get_attribute("aria-invalid") == "true"
    assert drive.get_attribute("aria-describedby") == mistake.get_attribute("id")
    assert watched.page.evaluate("document.activeElement.className") == "drive"
    drive.press("Backspace")
    assert watched.page.locator(".mistake:not([hidden])").count() == 0


DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  for (const type of ["dragenter", "dragover", "drop"]) {
    document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data }));
  }
}"""


def test_a_drive_that_is_dropped_is_run(opened: Callable[..., Watched]) -> None:
    watched = opened()
    text = (CATALOG_DIR / "drives" / "ent-15k.toml").read_text()
    watched.page.evaluate(DROP, ["my drive.toml", text])
    watched.page.locator(".took").wait_for()
    assert watched.page.locator(".took strong").text_content() == "my drive.toml"
    assert watched.page.evaluate("location.hash") == "#run", "the guess for a drive dropped on the first page"
    watched.page.get_by_label("Measured time").fill("2 s")
    assert watched.page.locator(".machine .drive").input_value() == "dropped/my-drive.toml"
    watched.page.get_by_role("button", name="Run", exact=True).click()
    watched.ended()
    command = str(watched.page.locator(".out .ways code").text_content())
    assert command == "hotband run fio-randread --on 'my drive.toml' --duration '2 s'"


def test_a_file_that_was_dropped_can_be_picked_as_a_drive(opened: Callable[..., Watched]) -> None:
    watched = opened()
    text = (CATALOG_DIR / "drives" / "ent-15k.toml").read_text()
    watched.page.evaluate(DROP, ["picked.toml", text])
    watched.page.locator(".took").wait_for()
    watched.page.get_by_role("button", name="Add a machine").click()
    watched.page.locator(".pick-drive").last.click()
    watched.page.locator("dialog .picked-files button").last.click()
    assert watched.page.locator(".machine .drive").last.input_value().startswith("dropped/picked")


def test_a_chart_of_a_wide_range_has_a_choice_of_scales(opened: Callable[..., Watched]) -> None:
    watched = opened()
    made = """async (top) => {
      const { chart } = await import("/static/chart.js");
      const lines = [{ name: "a", points: [[0, 1], [1, top]] }];
      const { figure } = chart({ title: "Latency (ms)", x: "time", x_log: false, y_log: true, lines });
      document.querySelector("main").replaceChildren(figure);
      const button = figure.querySelector(".scale");
      const before = button.textContent;
      button.click();
      return [button.hidden, before, button.textContent];
    }"""
    assert watched.page.evaluate(made, 1000) == [False, "Linear scale", "Log scale"]
    assert watched.page.evaluate(made, 50)[0] is True


def test_a_job_of_fio_is_chosen_with_the_file_dialog(opened: Callable[..., Watched]) -> None:
    watched = opened()
    job = {"name": "j.fio", "mimeType": "", "buffer": b"[j]\nrw=randread\nbs=4k\nfilename=/dev/x\nruntime=2\n"}
    watched.page.locator("input[type=file]").first.set_input_files(job)
    watched.page.locator(".took").wait_for()
    assert watched.page.get_by_label("Workload", exact=True).input_value() == "dropped/j.fio"


def test_files_go_to_the_field_that_they_are_for(opened: Callable[..., Watched]) -> None:
    watched = opened()
    watched.go("fleet")
    watched.page.evaluate(DROP, ["halls.toml", FLEET])
    watched.page.locator(".view .took").wait_for()
    assert watched.page.get_by_label("Fleet", exact=True).input_value().startswith("dropped/halls")
    watched.page.get_by_role("button", name="Simulate", exact=True).click()
    watched.ended()
    assert "Of 20 drives in 5 machines" in str(watched.page.locator(".out .lead").text_content())
    assert watched.page.locator(".out .chart path.line").count() == 6
    assert str(watched.page.locator(".out .ways code").text_content()).startswith("hotband fleet ")
    watched.go("expect")
    watched.page.evaluate(DROP, ["disk.json", result_text().decode()])
    watched.page.locator(".took:visible").wait_for()
    assert watched.page.get_by_label("Results", exact=True).first.input_value().startswith("dropped/disk")


def test_a_bad_file_is_said_to_be_one_and_its_name_is_text(opened: Callable[..., Watched]) -> None:
    watched = opened()
    watched.page.evaluate(DROP, [BAD_NAME, "[load"])
    mistake = watched.page.locator("[data-field=file] .mistake:not([hidden])")
    mistake.wait_for()
    assert BAD_NAME in mistake.text_content()
    assert "not valid TOML" in mistake.text_content()
    assert watched.page.locator("main img").count() == 0


def test_two_tabs_show_the_same(opened: Callable[..., Watched], browser: Any) -> None:
    context = browser.new_context()
    one, other = opened(context=context), opened(context=context)
    name = one.run("raid10:8xexos-15e900-512n", "900000 s")
    other.go("results")
    row = other.page.locator(f"tr:has-text('{name}')")
    row.wait_for()
    row.get_by_role("link").click()
    other.page.wait_for_function("() => Number(document.querySelector('.job')?.dataset.points) > 5")
    other.page.get_by_role("button", name="Stop").click()
    one.ended("stopped")
    # What one asked, the other asks again, changed.
    other.page.get_by_role("button", name="Change and run again").click()
    assert other.page.locator(".machine .drive").input_value() == "exos-15e900-512n"
    assert other.page.locator(".machine select").input_value() == "raid10"


def test_runs_of_the_store_are_found_by_a_condition(opened: Callable[..., Watched], served: Served) -> None:
    served.finish("run", {"workload": "fio-randread", "on": ["ent-10k"], "duration": "1 s", "seed": "711"})
    watched = opened()
    watched.go("results")
    condition = watched.page.get_by_label("Condition", exact=True)
    condition.fill("seed === 711 and")
    condition.press("Enter")
    watched.page.locator(".stored .mistake:not([hidden])").wait_for()
    condition.fill("seed = 711")
    condition.press("Enter")
    watched.page.locator(".stored [role=status]:text-is('1 run.')").wait_for()
    watched.page.locator(".stored td a").click()
    watched.page.locator(".job .cards dd").first.wait_for()
    assert "fio-randread on ent-10k" in watched.page.locator(".job h2").text_content()


def test_the_keyboard_is_enough(opened: Callable[..., Watched]) -> None:
    watched = opened()
    watched.go("run")
    page = watched.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "(() => { const one = document.activeElement; const ring = getComputedStyle(one).outlineStyle;"
            " return [one.getAttribute('aria-label') || one.textContent.trim() || one.type,"
            " ring !== 'none' || getComputedStyle(one.parentElement).outlineStyle !== 'none'"
            " || one.closest('.drop:focus-within') !== null]; })()"
        )
        seen.append(found)
        if found[0] == "Run" and page.evaluate("document.activeElement.type") == "submit":
            break
    assert [name for name, has_ring in seen if not has_ring] == []
    names = [name for name, _ in seen]
    places = [names.index(name) for name in ("Compare machines", "Drive", "Choose ...", "Layout", "Add a setting")]
    assert places == sorted(places)
    assert names[-1] == "Run"
    button = page.get_by_role("button", name="List all settings")
    button.focus()
    page.keyboard.press("Enter")
    page.locator("dialog[open]").wait_for()
    page.keyboard.type("read-ahead")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")  # of a search field the first empties it
    page.locator("dialog").wait_for(state="detached")
    assert page.evaluate("document.activeElement.textContent") == "List all settings"


CONTRAST = """() => {
  const light = (text) => {
    const channels = text.match(/[\\d.]+/g).slice(0, 3).map((one) => one / 255);
    const [r, g, b] = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (one) => {
    const own = getComputedStyle(one).backgroundColor;
    return own === "rgba(0, 0, 0, 0)" && one.parentElement ? ground(one.parentElement) : own;
  };
  const says = (one) => [...one.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
  const shown = (one) => !one.disabled && one.offsetParent && says(one);
  const texts = [...document.querySelectorAll("body *")].filter(shown);
  return texts.map((one) => {
    const [a, b] = [light(getComputedStyle(one).color), light(ground(one))].sort((x, y) => y - x);
    return [one.tagName + "." + one.className, (a + 0.05) / (b + 0.05)];
  });
}"""


def test_every_view_fits_a_phone_and_can_be_read(opened: Callable[..., Watched]) -> None:
    """By day and by night, with one result on the page."""
    watched = opened(viewport={"width": 420, "height": 900})
    watched.run("ent-10k", "2 s")
    watched.ended()
    for view in VIEWS:
        watched.go(view)
        watched.page.wait_for_timeout(50)
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= 420, view
        for scheme in ("light", "dark"):
            watched.page.emulate_media(color_scheme=scheme)
            ratios = watched.page.evaluate(CONTRAST)
            # WCAG 2.2 asks 4.5 of text.
            assert [(name, round(ratio, 2)) for name, ratio in ratios if ratio < 4.5] == [], (view, scheme)


@contextmanager
def process(store: Path, port: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """hotband ui as a user starts it, and its address."""
    command = [sys.executable, "-m", "hotband", "ui", "--no-browser", "--store", str(store), "--port", str(port)]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert started.stdout is not None
        yield started, started.stdout.readline().strip()
    finally:
        if started.poll() is None:
            started.send_signal(signal.SIGINT)
        assert started.wait(30) in (0, -signal.SIGKILL)


def test_a_server_that_is_killed_and_started_again(browser: Any, tmp_path: Path) -> None:
    context = browser.new_context()
    watched = Watched(context.new_page())
    with process(tmp_path / "store", 0) as (first, address):
        port = int(re.search(r":(\d+)/", address)[1])  # type: ignore[index]
        watched.open(address)
        name = watched.run("ent-10k", "2 s")
        watched.ended()
        watched.run("raid10:8xexos-15e900-512n", "900000 s")
        assert watched.said == []
        os.kill(first.pid, signal.SIGKILL)
        watched.page.wait_for_selector("#banner:has-text('does not answer')")
    with process(tmp_path / "store", port) as (_, again):
        watched.page.wait_for_selector("#banner:has-text('was restarted')")
        watched.open(again)
        assert watched.page.locator("#banner").is_hidden()
        watched.go("results")
        states = watched.page.locator("td.state")
        states.first.wait_for()
        assert states.all_text_contents() == ["stopped", "done"]
        watched.page.get_by_role("link", name=name).click()
        watched.page.wait_for_selector(".job .cards dd")
    context.close()
