"""Does the catalog show what it holds, each value with its source?"""

from __future__ import annotations

import json

import pytest

DRIVES = {
    "exos-15e900-512n", "exos-15e900-512e", "exos-10e2400-512n", "exos-10e2400-512e", "savvio-10k1", "cheetah-10k7",
    "cheetah-15k4", "ent-15k", "ent-10k", "ent-cap-2tb", "mg06sca-10tb", "st14000nm0001",
}  # fmt: skip
WORKLOADS = {
    "fio-randread", "fio-randwrite", "fio-read", "fio-write", "iometer-fileserver", "iometer-webserver",
    "iometer-database", "iometer-workstation",
    "snia-emerald-hot-band", "snia-emerald-hot-band-4kn",
}  # fmt: skip


@pytest.mark.parametrize(("folder", "names"), [("drives", DRIVES), ("workloads", WORKLOADS)])
def test_every_name_that_scripts_rely_on_is_there(hotband, folder: str, names: set[str]) -> None:
    listed = json.loads(hotband(folder, "--json").stdout)
    assert {entry["name"] for entry in listed} >= names


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
