"""`hb.run`: what may be named, what comes back, and that settings and seeds arrive."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hotband as hb
from command_line import run_hotband
from hotband.data.record.record import Record

DISK = "exos-15e900-512n"
LOAD = {
    "title": "two outstanding",
    "source": "a test",
    "confidence": "high",
    "load": {"closed": {"threads": 1, "depth": 2}},
    "streams": [{"read_pct": 100, "random_pct": 100, "size": "4 KiB"}],
    "phases": [{"name": "measure", "duration": "2 s", "measure": True}],
}
MACHINE = '[drives.d]\nproduct = "exos-15e900-512n"\ncount = 2\n[layouts.data]\nraid1 = { members = "d*" }\n'


def test_a_setting_arrives_as_on_the_command_line(disk: Record) -> None:
    """A number is the text that --set takes."""
    assert disk.settings == {"qd": "8"}
    assert disk.document["concurrency"] == 8


def test_the_same_arguments_give_the_same_record(disk: Record) -> None:
    """Bit for bit; another seed does not."""
    again = hb.run("iometer-database", on="exos-15e900-512e", qd=8, duration="5 s")
    other = hb.run("iometer-database", on="exos-15e900-512e", qd=8, duration="5 s", seed=2)
    assert again == disk
    assert other != disk


def test_true_and_false_are_on_and_off() -> None:
    """A switch of a drive may be a bool."""
    switched = [hb.run("fio-randwrite", on="ent-10k", wce=on, duration="1 s").settings["wce"] for on in (True, False)]
    assert switched == ["on", "off"]


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        ({"bs": 8192}, {"bs": "8 KiB"}),
        ({"bs": np.float64(8192)}, {"bs": "8 KiB"}),
        ({"think": 0.0025}, {"think": "2.5 ms"}),
        ({"rpm": 7200}, {"rpm": "7200 rpm"}),
        ({"sustained_outer": 250e6}, {"sustained_outer": "250 MB/s"}),
        ({"power_active": 7.2}, {"power_active": "7.2 W"}),
        ({"duration": 1}, {"duration": "1 s"}),
        ({"duration": 0.5}, {"duration": "500 ms"}),
    ],
)
def test_a_plain_number_is_in_the_base_unit(numbers: dict[str, Any], texts: dict[str, Any]) -> None:
    runs = [hb.run("fio-randread", on=DISK, **{"duration": "1 s", **given}) for given in (numbers, texts)]
    assert runs[0].document["summary"] == runs[1].document["summary"]


def test_a_number_is_the_time_of_each_run_of_a_sequence() -> None:
    assert [run.document["spec"]["duration"] for run in hb.sequence(["fio-randread"], on=DISK, duration=0.5)] == [
        "0.5 s"
    ]


def test_plain_numbers_are_axes_of_a_sweep() -> None:
    swept = hb.sweep("fio-randread", on=DISK, bs=[4096, 65536], duration=0.5)
    assert swept.frame["bs_bytes"].to_list() == [4096, 65536]


def test_units_in_words_are_read() -> None:
    """Also those that the engine does not know, and with a comma between the values of an axis on the command line."""
    texts = [hb.run("fio-randread", on=DISK, duration=duration).iops for duration in ("1 s", "1 second", "1 sec")]
    assert len(set(texts)) == 1
    arguments = ["--on", DISK, "--set", "think=1 ms,2 milliseconds", "--duration", "1 sec", "--json"]
    swept = run_hotband("sweep", "fio-randread", *arguments)
    assert [run["think"] for run in json.loads(swept.stdout)["runs"]] == ["1 ms", "2 ms"]


def test_units_in_words_are_times_of_events_and_failures() -> None:
    mirror: dict[str, Any] = {"on": "raid1:2xent-10k", "duration": "0.5 s"}
    event, failure = "at 0.1 seconds: fail d1", "d1@100 milliseconds"
    for timed in ({"fail": failure}, {"events": [event]}):
        assert hb.run("fio-randread", **mirror, **timed).iops > 0
    assert len(hb.sweep("fio-randread", **mirror, qd=[1, 2], events=event).frame) == 2
    assert len(hb.sequence(["fio-randread"] * 2, **mirror, events=event)) == 2


def test_a_workload_may_be_a_dict_toml_text_or_a_file(tmp_path: Path) -> None:
    """All three are the same run."""
    import tomlkit

    text = tomlkit.dumps(LOAD)
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    found = [hb.run(one, on=DISK).iops for one in (LOAD, text, file, str(file))]
    assert len(set(found)) == 1
    assert found[0]


def test_text_is_named_by_its_title() -> None:
    """A record of a dict is told from another."""
    assert hb.run(LOAD, on=DISK).name == f"two outstanding on {DISK}"


def test_a_machine_may_be_text_or_a_short_form() -> None:
    """A mirror as text is the mirror as a short form."""
    assert hb.run(LOAD, on=MACHINE).iops == hb.run(LOAD, on=f"raid1:2x{DISK}").iops


def test_a_file_beside_the_program_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Path without a folder is a file, not a name of the catalog."""
    monkeypatch.chdir(tmp_path)
    Path("pair").write_text(MACHINE, encoding="utf-8")
    assert hb.run(LOAD, on=Path("pair")).target == "pair"


def test_numbers_of_numpy_are_numbers() -> None:
    """A loop over an array needs no conversion."""
    import numpy as np

    assert hb.run(LOAD, on=DISK, qd=np.int64(4)).settings == {"qd": "4"}


def test_power_loss_and_failures_are_arguments() -> None:
    """They leave their sections."""
    lost = hb.run("fio-randwrite", on="ent-10k", wce=True, power_loss="1 s", duration="2 s")
    failed = hb.run("fio-randread", on="raid1:2xent-10k", fail="d1@1 s", spares=1, duration="2 s")
    assert lost.power_loss is not None
    assert lost.power_loss["at_ns"] == 1_000_000_000
    assert failed.repair is not None
    assert [one["drive"] for one in failed.repair["failures"]] == ["d1"]


def test_a_sequence_goes_on_where_the_run_before_ended() -> None:
    """Its records say which runs were before."""
    first, second = hb.sequence(["fio-randwrite", "fio-randread"], on="ent-10k", duration="1 s")
    assert "sequence" in first.document
    assert second.document["sequence"]["place"] == 2


def test_out_leaves_the_record_of_the_command_line(tmp_path: Path) -> None:
    """A folder that `hotband report` reads."""
    record = hb.run(LOAD, on=DISK, out=tmp_path / "out", io_log=tmp_path / "every.parquet")
    assert hb.load(tmp_path / "out") == record
    assert (tmp_path / "every.parquet").is_file()


def test_out_of_another_run_is_refused_as_on_the_command_line(tmp_path: Path) -> None:
    """A loop with a constant folder loses no result."""
    machines = [{"drives": {"d": {"product": product}}} for product in (DISK, "ent-10k")]
    run = partial(hb.run, LOAD, on=machines[0], out=tmp_path / "out", duration="0.1 s")
    first = run()
    assert run() == first
    for other in ({"qd": 8}, {"seed": 2}, {"on": machines[1]}, {"workload": "fio-randread"}):
        call = run if "workload" not in other else partial(hb.run, **run.keywords)
        with pytest.raises(hb.UserError, match="contains the record of another run") as mistake:
            call(**other)
        assert "fresh" in str(mistake.value)
    assert hb.load(tmp_path / "out") == first
    assert run(qd=8, fresh=True) == hb.load(tmp_path / "out")


def test_threads_share_the_engine(disk: Record) -> None:
    """Runs from many threads are each what they are alone."""
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda qd: hb.run("fio-randread", on=DISK, qd=qd, duration="1 s").iops, [1, 4] * 8))
    assert found == found[:2] * 8
    assert found[0] != found[1]


def test_importing_hotband_imports_nothing_heavy() -> None:
    """Neither frames, charts, the command line nor the engine, until they are used."""
    heavy = (
        "polars",
        "pyarrow",
        "altair",
        "rich",
        "typer",
        "numpy",
        "scipy",
        "hotband.faces.api.run",
        "hotband._core",
    )
    code = f"import hotband, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    """And `hb.study` can be called, although a package has its name."""
    import hotband.questions.study.file

    assert all(getattr(hb, name) is not None for name in hb.__all__)
    assert "run" in hb.__all__
    assert hb.study("content-hdd").name == "content-hdd"
    assert hotband.questions.study.file.names() == hb.studies()["name"].to_list()


def test_a_run_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Not even to stderr: it is no terminal."""
    hb.run(LOAD, on=DISK)
    assert capfd.readouterr() == ("", "")


def test_a_bar_is_shown_where_it_is_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    """On stderr, with the title as it is: brackets are no markup."""
    hb.run(LOAD | {"title": "[bold]mine[/]"}, on=DISK, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "[bold]mine[/] on" in err
