"""Does the first page answer its questions, does the picker filter, and do files and folders go where they belong?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dropped_files import FLEET, result_text
from served_page import Served
from test_ui_browser import DROP
from watched_page import Watched

from forms import few
from hotband.data.catalog import CATALOG_DIR
from hotband.data.catalog.products import catalog_drives

FORMS = ("run", "sweep", "find", "advise", "fleet", "expect", "compare", "review", "calibrate")


@pytest.fixture(scope="module")
def served(serving: Callable[[Path], Served], tmp_path_factory: pytest.TempPathFactory) -> Served:
    """A server of its own: names of files and results are those of these tests alone."""
    return serving(tmp_path_factory.mktemp("home"))


@pytest.fixture
def page(tab: Watched, served: Served) -> Iterator[Any]:
    """The first page; nothing may be in its console."""
    tab.open(served.address)
    yield tab.page
    assert tab.said == []


def shown(page: Any, view: str) -> None:
    page.wait_for_selector(f"body[data-view='{view}'] h1")


def test_the_home_has_five_questions_and_five_tabs(page: Any) -> None:
    questions = page.locator(".question:not(.others) h2").all_text_contents()
    assert questions == [
        "Predict one machine", "Compare machines", "How many drives?", "What to buy?", "Is my result good?",
    ]  # fmt: skip
    assert page.locator("#tabs a").all_text_contents() == ["Ask", "Check", "Catalog", "Studies", "Results"]
    assert all(page.locator(".question").nth(place).get_by_role("button").count() for place in range(5))


def test_every_form_is_reached_from_the_tabs(page: Any) -> None:
    reached = []
    for tab in ("Ask", "Check"):
        page.locator("#tabs").get_by_role("link", name=tab).click()
        page.wait_for_selector(f"#tabs a[aria-current=page]:text-is('{tab}')")
        reached += page.eval_on_selector_all("#forms a", "links => links.map(link => link.hash.slice(1))")
    assert [name for name in reached if name != "home"] == list(FORMS)
    for name in FORMS:
        page.locator(f"main, #forms, #tabs a[href='#{name}']").first.wait_for()
        page.evaluate(f"location.hash = '{name}'")
        shown(page, name)
        assert page.locator(f"#forms a[href='#{name}']").get_attribute("aria-current") == "page"


@pytest.mark.parametrize(
    ("example", "view", "answer"),
    [
        ("Random reads on a Micron 7450 PRO", "run", "IOPS"),
        ("10K against 15K disks, queue depth 1 to 256", "sweep", "ent-15k has the most IOPS at every queue depth"),
        ("IOPS of a 10K disk at p99 < 20 ms", "find", "ent-10k: "),
        ("A made-up fio result of a 10K disk", "expect", "On ent-10k: "),
    ],
)
def test_an_example_is_filled_in_and_run(page: Any, example: str, view: str, answer: str) -> None:
    page.get_by_role("button", name=example).focus()
    page.keyboard.press("Enter")
    shown(page, view)
    page.wait_for_selector(".out .job[data-state=done] .lead p")
    assert answer in page.locator(".out .lead").text_content()


def test_two_machines_are_run_side_by_side(page: Any) -> None:
    page.get_by_role("button", name="Two NVMe drives, random reads").click()
    shown(page, "run")
    page.wait_for_selector(".out .job[data-state=done] .lead p")
    assert "7450-pro-3840 has the most IOPS" in page.locator(".out .lead").text_content()
    assert page.locator(".out figcaption").all_text_contents() == ["Latency by percentile (ms)"]
    assert page.locator(".out .legend li").all_text_contents() == ["7450-pro-3840, reads", "pm9a3-3840, reads"]
    assert {"90 %", "99 %", "99.9 %"} <= set(page.locator(".out .chart .tick").all_text_contents())
    command = page.locator(".out .ways code").text_content()
    assert command == "hotband sweep randread --on 7450-pro-3840 --on pm9a3-3840 --set qd=32 --duration '1 s'"


def test_a_drive_is_picked_with_filters_and_the_keyboard(page: Any) -> None:
    page.evaluate("location.hash = 'run'")
    shown(page, "run")
    page.get_by_role("button", name="Choose ...").focus()
    page.keyboard.press("Enter")
    dialog = page.locator("dialog[open]")
    dialog.wait_for()
    dialog.get_by_label("Interface").select_option("NVMe")
    dialog.get_by_label("Class").select_option("enterprise")
    dialog.get_by_label("Media").select_option("TLC")
    dialog.get_by_label("Smallest size").fill("3 TB")
    dialog.get_by_label("Largest size").fill("4")
    fits = [
        drive.name
        for drive in catalog_drives()
        if drive.interface.startswith("NVMe") and drive.market == "enterprise" and drive.nand == "TLC"
        and 3e12 <= drive.capacity_bytes <= 4e12
    ]  # fmt: skip
    assert dialog.locator("tbody .link").all_text_contents() == sorted(fits)
    assert dialog.locator("[role=status]").text_content() == f"{len(fits)} of {len(catalog_drives())} drives"
    dialog.get_by_label("Search drives").fill("micron 7450")
    assert dialog.locator("tbody .link").all_text_contents() == ["7450-pro-3840"]
    dialog.locator("tbody .link").focus()
    page.keyboard.press("Enter")
    dialog.wait_for(state="detached")
    assert page.locator(".machine .drive").input_value() == "7450-pro-3840"
    assert page.evaluate("document.activeElement.className") == "drive"


def test_the_catalog_is_sorted_and_compares_what_is_ticked(page: Any) -> None:
    page.locator("#tabs").get_by_role("link", name="Catalog").click()
    shown(page, "catalog")
    page.locator(".drives th button:text-is('size')").click()
    largest = max(catalog_drives(), key=lambda drive: drive.capacity_bytes)
    assert page.locator(".drives tbody .link").first.text_content() == largest.name
    assert page.locator(".drives th[aria-sort=descending]").count() == 1
    for name in ("ent-10k", "ent-15k"):
        page.get_by_label(f"Compare {name}", exact=True).check()
    page.get_by_role("button", name="Compare 2").click()
    shown(page, "run")
    drives = page.locator(".machine .drive")
    assert [drives.nth(place).input_value() for place in range(2)] == ["ent-10k", "ent-15k"]


@pytest.mark.parametrize(
    ("name", "text", "view"),
    few([
        ("mine.toml", (CATALOG_DIR / "drives" / "ent-15k.toml").read_text(), "run"),
        ("job.fio", "[j]\nrw=randread\nbs=4k\nfilename=/dev/x\nruntime=2\n", "run"),
        ("halls.toml", FLEET, "fleet"),
        ("prices.csv", "drive,price,currency\nent-10k,300,EUR\n", "advise"),
        ("result.json", result_text().decode(), "expect"),
    ]),
)  # fmt: skip
def test_a_dropped_file_opens_the_form_that_it_is_for(page: Any, name: str, text: str, view: str) -> None:
    page.evaluate(DROP, [name, text])
    shown(page, view)
    page.locator(".view .took").wait_for()
    assert page.locator(".view .took strong").text_content() == name


def test_several_files_are_listed_by_name_and_refused_in_words(page: Any) -> None:
    files = [
        {"name": "qd2.json", "mimeType": "", "buffer": result_text()},
        {"name": "photo.jpg", "mimeType": "", "buffer": bytes(range(256)) * 4},
        {"name": "qd10.json", "mimeType": "", "buffer": result_text()},
    ]
    page.locator("main input[type=file]").first.set_input_files(files)
    shown(page, "expect")
    page.locator(".view .mistake:visible").wait_for()
    assert page.locator(".view .took strong").all_text_contents() == ["qd2.json", "qd10.json"]
    refused = page.locator(".view .dropped .mistake").text_content()
    assert refused == (
        "photo.jpg is not a file type Hotband recognises. Accepted: drives, machines, workloads and fleets (.toml), "
        "job files, traces, price tables, and results of fio, vdbench, DiskSpd, Iometer, HdrHistogram or Hotband"
    )
    inputs = page.get_by_label("Results", exact=True)
    assert [inputs.nth(place).input_value() for place in range(2)] == ["dropped/qd2.json", "dropped/qd10.json"]


def test_a_folder_of_two_drives_becomes_a_comparison(page: Any, tmp_path: Path) -> None:
    for name in ("driveA", "driveB"):
        (tmp_path / "lab" / name).mkdir(parents=True)
        (tmp_path / "lab" / name / "random read.json").write_bytes(result_text())
    (tmp_path / "lab" / ".hidden").write_text("nothing")
    page.locator("main input[type=file]").nth(1).set_input_files(tmp_path / "lab")
    shown(page, "compare")
    page.wait_for_selector(".command:not(.open) code:has-text('driveB')")
    command = page.locator(".view .command code").first.text_content()
    assert command == "hotband compare 'lab/driveA/random read.json' 'lab/driveB/random read.json'"
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_selector(".out .job[data-state=done] .lead p")
    title = page.locator(".out .job h2").text_content()
    assert title == "lab/driveA/random read.json against lab/driveB/random read.json"


DIRECTORY = """([folder, name, text]) => {
  const file = { isFile: true, name, fullPath: `/${folder}/${name}`, file: (take) => take(new File([text], name)) };
  let batches = [[file], []];
  const entry = { isDirectory: true, name: folder, fullPath: `/${folder}`,
    createReader: () => ({ readEntries: (take) => take(batches.shift()) }) };
  const items = [{ kind: "file", webkitGetAsEntry: () => entry, getAsFile: () => null }];
  const event = new Event("drop", { bubbles: true, cancelable: true });
  event.dataTransfer = { types: ["Files"], items };
  document.body.dispatchEvent(event);
}"""


def test_a_dropped_folder_is_walked(page: Any) -> None:
    page.evaluate(DIRECTORY, ["disks", "a.json", result_text().decode()])
    shown(page, "expect")
    page.locator(".view .took").wait_for()
    assert page.locator(".view .took strong").text_content() == "disks/a.json"


def test_labels_are_there_again_after_a_restart(serving: Callable[[Path], Served], tmp_path: Path) -> None:
    from hotband.faces.ui.portable import Labels, label_of

    first = serving(tmp_path / "store")
    first.drop("lab/my drive.toml", (CATALOG_DIR / "drives" / "ent-15k.toml").read_bytes())
    assert Labels(first.store / "labels.json").label("my-drive.toml") == "lab/my drive.toml"
    assert label_of("../../etc/\u202e\npasswd") == "etc/passwd"
    assert label_of("C:\\lab\\x.json") == "C:/lab/x.json"
