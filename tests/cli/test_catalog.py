"""Does the catalog show what it holds, each value with its source?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hotband as hb
from hotband import _core
from hotband.data.catalog import CATALOG_DIR

DRIVES = {
    "exos-15e900-512n", "exos-15e900-512e", "exos-10e2400-512n", "exos-10e2400-512e", "savvio-10k1", "cheetah-10k7",
    "cheetah-15k4", "ent-15k", "ent-10k", "ent-cap-2tb", "mg06sca-10tb", "st14000nm0001",
}  # fmt: skip
NOT_VERIFIED = "Data sheet (not verified)."
WORKLOADS = {
    "fio-randread", "fio-randwrite", "fio-read", "fio-write", "iometer-fileserver", "iometer-webserver",
    "iometer-database", "iometer-workstation",
    "snia-emerald-hot-band", "snia-emerald-hot-band-4kn",
}  # fmt: skip


@pytest.mark.parametrize(("folder", "names"), [("drives", DRIVES), ("workloads", WORKLOADS)])
def test_every_name_that_scripts_rely_on_is_there(hotband, folder: str, names: set[str]) -> None:
    listed = json.loads(hotband(folder, "--json").stdout)
    assert {entry["name"] for entry in listed} >= names


@pytest.mark.parametrize("command", [["workloads"], ["studies"], ["drives", "--kind", "osd"]], ids=" ".join)
def test_a_list_has_a_line_for_each_entry(hotband, command: list[str]) -> None:
    entries = json.loads(hotband(*command, "--json").stdout)
    first, *lines = hotband(*command).stdout.splitlines()
    assert first.endswith(f": {len(entries)} (hotband {' '.join(command)} NAME: details)")
    assert [line.split()[0] for line in lines] == [entry["name"] for entry in entries]
    assert all(entry["title"] in line for entry, line in zip(entries, lines, strict=True))


@pytest.mark.parametrize("name", sorted(DRIVES))
def test_every_value_of_a_drive_has_a_source_and_estimates_have_a_range(hotband, name: str) -> None:
    drive = json.loads(hotband("drives", name, "--json").stdout)
    assert len(drive["values"]) >= 25
    for value in drive["values"]:
        assert value["source"].strip()
        assert value["confidence"]
        assert value["range"] or not value["estimate"]


@pytest.mark.parametrize("name", sorted(WORKLOADS))
def test_every_workload_runs_and_names_its_source(hotband, name: str) -> None:
    workload = json.loads(hotband("workloads", name, "--json").stdout)
    assert workload["source"] != "not stated"
    assert hotband("run", name, "--on", "exos-15e900-512n", "--duration", "1 s").returncode == 0


def test_studies_are_listed_with_their_published_figures(hotband) -> None:
    assert {"content-hdd", "exos-15e900"} <= {
        study["name"] for study in json.loads(hotband("studies", "--json").stdout)
    }
    assert "597.11" in hotband("studies", "content-hdd").stdout


@pytest.fixture(scope="module")
def solid_state() -> dict[str, dict[str, dict[str, str]]]:
    """The values of the solid-state drives of the catalog, by drive and key."""
    files = [path.stem for path in (Path(CATALOG_DIR) / "drives").glob("*.toml")]
    drives = {name: _core.drive(CATALOG_DIR, name) for name in files}
    return {
        name: {value["key"]: value for value in drive["values"]}
        for name, drive in drives.items()
        if drive["kind"] == "ssd"
    }


def test_a_protected_drive_writes_out_on_a_flush_only_where_a_test_of_the_product_shows_it(solid_state) -> None:
    written_out = {
        name
        for name, values in solid_state.items()
        if values["plp"]["value"] == "on" and values["flush"]["value"] == "write-out"
    }
    assert written_out == {"nytro-1351-960", "nytro-1351-960-plain", "nytro-1351-3840"}
    assert all("independent test" in solid_state[name]["flush"]["source"] for name in written_out)


def test_drives_on_sata_get_a_flush_for_a_forced_write_and_no_others_do() -> None:
    for path in (Path(CATALOG_DIR) / "drives").glob("*.toml"):
        values = {value["key"]: value["value"] for value in _core.drive(CATALOG_DIR, path.stem)["values"]}
        is_sata = str(values["queue_tags"]) == "32"
        assert values.get("forced_writes", "fua") == ("flush" if is_sata else "fua"), path.stem


@pytest.mark.parametrize("sync", ["fsync=1", "sync=1"])
def test_a_drive_with_capacitors_outruns_a_consumer_drive_at_durable_writes(tmp_path: Path, sync: str) -> None:
    job = tmp_path / "journal.fio"
    job.write_text(f"[j]\nrw=write\nbs=4k\ndirect=1\n{sync}\nruntime=50ms\ntime_based\nsize=100m\n")
    durable = {
        name: hb.run(str(job), on=name, progress=False, scale=256, state="fob").iops
        for name in ("pm893-3840", "980-pro-1tb")
    }
    assert durable["pm893-3840"] > 5 * durable["980-pro-1tb"]


def test_what_nobody_read_says_so_in_one_way_and_each_product_names_its_data_sheet() -> None:
    for path in sorted((Path(CATALOG_DIR) / "drives").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        assert "recalled" not in text, path.stem
        assert "re-read" not in text, path.stem
        values = {value["key"]: value for value in _core.drive(CATALOG_DIR, path.stem)["values"]}
        sheet = values["reference.data_sheet"]
        assert len(sheet["source"]) > 10, path.stem
        for value in values.values():
            assert (
                value["source"] == NOT_VERIFIED
                or not value["source"].startswith("Data sheet (not verified)")
                or (value["source"].startswith("Data sheet (not verified): ") and value["source"].endswith("."))
            ), (path.stem, value["key"])
