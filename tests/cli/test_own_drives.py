"""Does a drive that the user describes in a file of his own do what one of the catalog does?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.point import keys_of

VARIANT = """variant_of = "mg06sca-10tb"
title = "A disk of mine"

[values]
capacity = "16 TB"
sustained_outer = "261 MB/s"
"""
MACHINE = """[drives.d]
product = "./x16.toml"
count = 4

[layouts.data]
raid5 = { members = "d0..d3", chunk = "64 KiB" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a drive's file and a machine that names it, one folder down."""
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "x16.toml").write_text(VARIANT, encoding="utf-8")
    (tmp_path / "lab" / "machine.toml").write_text(MACHINE, encoding="utf-8")
    return tmp_path


def test_the_file_is_shown_with_what_it_leaves_unsaid(folder: Path, hotband) -> None:
    shown = hotband("drives", "lab/x16.toml")
    assert shown.returncode == 0, shown.stderr
    assert "A disk of mine" in shown.stdout
    assert "capacity: a value without source" in " ".join(shown.stdout.split())
    values = {
        value["key"]: value["value"]
        for value in json.loads(hotband("drives", "lab/x16.toml", "--json").stdout)["values"]
    }
    assert (values["capacity"], values["rpm"]) == ("16 TB", "7200 rpm")


@pytest.mark.parametrize("machine", ["lab/x16.toml", "./lab/x16.toml", "lab/machine.toml", "raid5:4xlab/x16.toml"])
def test_it_runs_alone_in_a_machine_and_in_a_short_form(folder: Path, hotband, machine: str) -> None:
    done = hotband("run", "fio-randread", "--on", machine, "--duration", "1 s", "--out", "out")
    assert done.returncode == 0, done.stderr
    record = json.loads((folder / "out" / "record.json").read_text(encoding="utf-8"))
    (text,) = record["spec"]["drives"].values()
    assert "A disk of mine" in text
    assert "rpm" in text
    assert "lab/x16.toml: 2 values without source or range: capacity, sustained_outer" in record["notes"]
    for reads in (["audit", "out"], ["report", "out", "-o", "out.html"]):
        assert hotband(*reads).returncode == 0


def test_a_kept_run_is_another_one_once_the_file_has_changed(folder: Path) -> None:
    spec = RunSpec(id="r", workload="fio-randread", machine=str(folder / "lab" / "machine.toml"))
    before = keys_of([[spec]])
    assert keys_of([[spec]]) == before
    (folder / "lab" / "x16.toml").write_text(VARIANT.replace("261", "262"), encoding="utf-8")
    assert keys_of([[spec]]) != before


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (('"261 MB/s"', '"261"'), "x16.toml:6: values.sustained_outer = '261': expected a rate with its unit"),
        (
            ('"261 MB/s"', '"2610 MB/s"'),
            "x16.toml:6: values.sustained_outer = '2.61 GB/s': expected at most 1.108 GB/s",
        ),
        (('"261 MB/s"', '"50 MB/s"'), "values.sustained_inner"),
        (('capacity = "16 TB"', "capacity = 16"), "x16.toml:5: values.capacity = '16': expected a"),
        (("sustained_outer", "sustained_outr"), 'did you mean "sustained_outer"'),
        (("[values]", 'seek_read_average = "1 s"\n[values]'), "x16.toml:4: seek_read_average"),
        (
            ("[values]", '[values]\nseek_read_average = "30 ms"'),
            "x16.toml:5: values.seek_read_average = '30 ms': impossible: the longest seek",
        ),
        (("mg06sca-10tb", "mg06sca-11tb"), "x16.toml:1: variant_of = 'mg06sca-11tb': did you mean \"mg06sca-10tb\""),
        (("mg06sca-10tb", "./x16.toml"), "leads back to itself"),
        (("[values]", "[values"), "line 4: not valid TOML"),
    ],
)
def test_a_mistake_names_file_line_key_and_what_is_accepted(
    folder: Path, hotband, change: tuple[str, str], error: str
) -> None:
    (folder / "lab" / "x16.toml").write_text(VARIANT.replace(*change), encoding="utf-8")
    for command in (["drives", "lab/x16.toml"], ["run", "fio-randread", "--on", "lab/machine.toml"]):
        done = hotband(*command)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert error in done.stderr


def test_a_file_that_is_not_there_is_named_where_it_is_asked_for(folder: Path, hotband) -> None:
    (folder / "lab" / "x16.toml").unlink()
    assert "NAME = 'none.toml': the drive's file cannot be read: No such file" in hotband("drives", "none.toml").stderr
    done = hotband("run", "fio-randread", "--on", "lab/machine.toml")
    assert done.returncode == 2
    assert "lab/machine.toml: drives.d.product = './x16.toml': the drive's file cannot be read" in done.stderr


@pytest.mark.parametrize(
    ("base", "value", "said"),
    [
        (
            "pm893-3840",
            'link_rate = "2 GB/s"',
            "values.link_rate = '2 GB/s': rate above the port's: expected at most 600",
        ),
        (
            "pm6-r-3840",
            'link_rate = "9 GB/s"',
            "values.link_rate = '9 GB/s': rate above the port's: expected at most 4.8",
        ),
        (
            "pm9a3-3840",
            'link_rate = "20 GB/s"',
            "values.link_rate = '20 GB/s': rate above the port's: expected at most 7.5",
        ),
        ("pm9a3-3840", 'read_time = "2 s"', "values.read_time = '2 s': expected at most 1 s"),
    ],
)
def test_a_solid_state_drives_bad_value_is_named_at_its_line_once(
    tmp_path: Path, hotband, base: str, value: str, said: str
) -> None:
    (tmp_path / "own.toml").write_text(f'variant_of = "{base}"\n[values]\n{value}\n', encoding="utf-8")
    done = hotband("drives", "own.toml")
    assert done.returncode == 2
    assert f"own.toml:3: {said}" in done.stderr


def test_more_dies_than_the_capacity_holds_are_refused(tmp_path: Path, hotband) -> None:
    (tmp_path / "small.toml").write_text(
        'variant_of = "s4500-960"\n[values]\ncapacity = "16 GB"\ndies = 128\n', encoding="utf-8"
    )
    done = hotband("drives", "small.toml")
    assert done.returncode == 2
    assert "small.toml:4: values.dies = '128': more dies than capacity holds" in done.stderr


def test_a_misspelt_value_is_named_and_not_called_missing(tmp_path: Path, hotband) -> None:
    done = hotband(
        "drives",
        "new",
        "x",
        "--kind",
        "hdd",
        *["--capacity", "16TB", "--rpm", "7200", "--interface", "sata"],
        "--bandwidth",
        "261 MB/s",
    )
    assert done.returncode == 0, done.stderr
    path = tmp_path / "x.toml"
    text = path.read_text(encoding="utf-8").replace("values.seek_read_average", "values.seek_read_averge")
    path.write_text(text, encoding="utf-8")
    line = text[: text.index("[values.seek_read_averge")].count("\n") + 1
    for command in (["drives", "./x.toml"], ["run", "fio-randread", "--on", "./x.toml"]):
        done = hotband(*command)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        mistake = f'x.toml:{line}: values.seek_read_averge: unknown key; did you mean "seek_read_average"?'
        assert mistake in done.stderr


def test_what_is_no_text_is_refused_with_what_is_taken(hotband) -> None:
    done = hotband("run", "fio-randread", "--on", "p5520-3840", "--set", "namespaces=2")
    assert done.returncode == 2
    assert '--set: namespaces = \'2\': expected "all", or sizes such as "1.9 TB, 1.9 TB"' in done.stderr
