"""Are names in folders, records, jobs, workloads and studies data to every command, whatever stands in them?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from foreign_names import ESCAPES, HTML, MARKUP, NAMES, ORDERS
from in_process import command_line

from forms import few

TESTS = Path(__file__).parents[1]
HOSTILE = [name for name in NAMES if name]


def fine(*arguments: str, codes: tuple[int, ...] = (0, 1)) -> str:
    """What a command prints, which is text alone."""
    code, out, said = command_line(*arguments)
    assert code in codes, said
    assert not any(order in out + said for order in ORDERS)
    (out + said).encode()
    return out


@pytest.fixture
def named(catalog_records: dict[str, Path], tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A record in which everything has a hostile name, in a folder of that name where it can have it."""
    name: str = request.param
    folder = tmp_path / f"r{''.join(one for one in name if one not in '/' and ord(one) < 0xD800)}"
    shutil.copytree(catalog_records["fio-randread"], folder)
    record: dict[str, Any] = json.loads((folder / "record.json").read_text())
    record["name"] = name
    record["notes"] = [name]
    record["target"]["machine"] = name
    for one in (*record["streams"], *record["parts"]):
        one.update({key: name for key in ("name", "id", "kind") if key in one})
    (folder / "record.json").write_text(json.dumps(record))
    return folder


@pytest.mark.parametrize("named", few(HOSTILE), indirect=True)
def test_records_and_their_folders(named: Path, tmp_path: Path) -> None:
    record, page = str(named), tmp_path / "r.html"
    fine("audit", "--steady", record)
    fine("audit", record)
    fine("audit", record, "--json")
    again = tmp_path / "again" / named.name
    shutil.copytree(named, again)
    fine("compare", record, str(again))
    fine("report", record, "-o", str(page), "--audit", "--title", HTML)
    assert HTML not in page.read_text()
    for end in ("html", "svg", "png"):
        fine("report", "--latency", record, "--out", str(tmp_path / f"c.{end}"), "--title", named.name)
    assert HTML not in (tmp_path / "c.html").read_text()


@pytest.mark.parametrize("name", HOSTILE)
def test_jobs_of_fio(name: str, tmp_path: Path) -> None:
    sample = json.loads((TESTS / "fio/samples/fio-2.1-usec.json").read_text())
    for job in sample["jobs"]:
        job["jobname"] = name
    file = tmp_path / "a.json"
    file.write_text(json.dumps(sample))
    fine("import", "fio", str(file), "--out", str(tmp_path / "out"))
    fine("import", "fio", str(file), "--json")
    (record,) = (tmp_path / "out").glob("*/record.json")
    fine("audit", "--steady", str(record))


@pytest.mark.parametrize("name", [MARKUP, ESCAPES, HTML])
def test_workloads_machines_and_studies(name: str, tmp_path: Path) -> None:
    text = json.dumps(name)
    workload = tmp_path / "w.toml"
    workload.write_text(
        f"title = {text}\nsource = {text}\nconfidence = 'high'\n[load]\nclosed = {{ threads = 1, depth = 1 }}\n"
        f"[[streams]]\nname = {text}\nread_pct = 100\nrandom_pct = 100\nsize = '4 KiB'\n"
        "[[phases]]\nname = 'measure'\nduration = '0.1 s'\nmeasure = true\n"
    )
    fine("run", str(workload), "--on", "ent-15k", codes=(0, 2))
    fine("run", name, "--on", name, codes=(2,))
    fine("study", "run", name, codes=(2,))
    folder = tmp_path / "study"
    shutil.copytree(TESTS / "study/tiny", folder)
    study = (folder / "study.toml").read_text()
    for label in ("15K", "10K"):
        study = study.replace(f'label = "{label}"', f"label = {json.dumps(name + label)}")
    (folder / "study.toml").write_text(study.replace("title = ", f"title = {text} #"))
    fine("studies", str(folder))


def test_a_names_markup_is_shown(catalog_records: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "[/]"
    shutil.copytree(catalog_records["fio-randread"], folder)
    record = json.loads((folder / "record.json").read_text())
    record["name"] = "[bold]a[/bold] \x1b[31m"
    (folder / "record.json").write_text(json.dumps(record))
    assert "[bold]a[/bold] \\x1b[31m" in fine("audit", "--steady", str(folder))
