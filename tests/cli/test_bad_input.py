"""Is every mistake one clear line on stderr and exit code 2, with nothing on stdout?"""

from __future__ import annotations

from pathlib import Path

import pytest

MACHINE = '[drives.d]\nproduct = "exos-15e900-512n"\ncount = 4\n\n'
STREAM = '[load]\nclosed = { threads = 1 }\n[[streams]]\nread_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\n'
PHASE = '[[phases]]\nduration = "1 s"\nmeasure = true\n'

ARGUMENTS = [
    (
        "unknown drive",
        ["run", "fio-randread", "--on", "exos-15e900-512m"],
        "did you mean exos-15e900-512e or exos-15e900-512n? expected one of 87 names",
    ),
    ("unknown workload", ["run", "fio-randred", "--on", "ent-15k"], 'did you mean "fio-randread"'),
    ("unknown study", ["study", "run", "content-hhd"], 'did you mean "content-hdd"'),
    ("unknown drive to describe", ["drives", "savio-10k1"], 'did you mean "savvio-10k1"'),
    ("unknown workload to describe", ["workloads", "iometer-websever"], 'did you mean "iometer-webserver"'),
    (
        "unknown layout",
        ["run", "fio-read", "--on", "raid7:4xent-15k"],
        "did you mean raid0, raid1 or raid5? expected one of 16 names",
    ),
    ("no count", ["run", "fio-read", "--on", "raid5:ent-15k"], "LAYOUT:COUNTxDRIVE"),
    ("no members", ["run", "fio-read", "--on", "raid5:0xent-15k"], "LAYOUT:COUNTxDRIVE"),
    ("RAID 5 of two", ["run", "fio-read", "--on", "raid5:2xent-15k"], "at least 3 drives"),
    ("RAID 10 of five", ["run", "fio-read", "--on", "raid10:5xent-15k"], "even number"),
    ("RAID 1 of one", ["run", "fio-read", "--on", "raid1:1xent-15k"], "at least 2 drives"),
    ("chunk", ["run", "fio-read", "--on", "raid0:2xent-15k:1000B"], "multiple of 4 KiB"),
    ("set without value", ["run", "fio-read", "--on", "ent-15k", "--set", "qd"], "KEY=VALUE"),
    ("set twice", ["run", "fio-read", "--on", "ent-15k", "--set", "qd=4", "--set", "qd=8"], "twice"),
    ("unknown set key", ["run", "fio-read", "--on", "ent-15k", "--set", "qdd=4"], 'did you mean "qd"'),
    ("queue depth 0", ["run", "fio-read", "--on", "ent-15k", "--set", "qd=0"], "whole number from 1"),
    ("zero threads", ["run", "fio-read", "--on", "ent-15k", "--set", "threads=0"], "whole number from 1"),
    ("size without unit", ["run", "fio-read", "--on", "ent-15k", "--set", "bs=4096"], "a size"),
    ("negative size", ["run", "fio-read", "--on", "ent-15k", "--set", "bs=-4k"], "a size"),
    ("reads over 100", ["run", "fio-read", "--on", "ent-15k", "--set", "read_pct=120"], "0 to 100"),
    ("span beyond", ["run", "fio-read", "--on", "ent-15k", "--set", "span=10 TB"], "beyond the target"),
    ("empty span", ["run", "fio-read", "--on", "ent-15k", "--set", "span=0 %"], "a share"),
    ("drive value", ["run", "fio-read", "--on", "ent-15k", "--set", "wce=volatile"], "off, on"),
    (
        "misaligned",
        ["run", "iometer-fileserver", "--on", "exos-15e900-512e", "--set", "sector_format=4Kn"],
        "misaligned",
    ),
    ("duration", ["run", "fio-read", "--on", "ent-15k", "--duration", "60"], "a time"),
    ("endless duration", ["run", "fio-read", "--on", "ent-15k", "--duration", "5000 h"], "10000000 intervals"),
    ("no duration", ["run", "fio-read", "--on", "ent-15k", "--duration", "0 s"], "above zero"),
    ("negative power loss", ["run", "fio-read", "--on", "ent-15k", "--power-loss", "-1 s"], "a time with its unit"),
    ("power loss without unit", ["run", "fio-read", "--on", "ent-15k", "--power-loss", "30"], "a time with its unit"),
    ("power loss at once", ["run", "fio-read", "--on", "ent-15k", "--power-loss", "0 s"], "above zero"),
    (
        "power loss beyond the run",
        ["run", "fio-read", "--on", "ent-15k", "--duration", "10 s", "--power-loss", "10.1 s"],
        "--power-loss = '10.1 s': expected a time above zero and of at most the measured 10 s",
    ),
    (
        "protected cache that is not there",
        ["run", "fio-read", "--on", "savvio-10k1", "--set", "awc=on"],
        "--set: awc = 'on': savvio-10k1 has no protected write cache",
    ),
    (
        "flash that is not there",
        ["run", "fio-read", "--on", "savvio-10k1", "--set", "turboboost=off"],
        "--set: turboboost = 'off': savvio-10k1 has no flash read cache",
    ),
    (
        "no Fast Format",
        ["run", "fio-read", "--on", "exos-15e900-512n", "--set", "sector_format=4Kn"],
        "--set: sector_format = '4Kn': exos-15e900-512n is 512n",
    ),
    (
        "Fast Format back to 512n",
        ["run", "fio-read", "--on", "exos-15e900-512e", "--set", "sector_format=512n"],
        "can be formatted to 512e or 4Kn",
    ),
    (
        "protected cache of nothing",
        ["run", "fio-read", "--on", "exos-15e900-512n", "--set", "awc_size=0 B"],
        "--set: awc_size = '0 B': expected at least one sector",
    ),
    (
        "flash of nothing",
        ["run", "fio-read", "--on", "exos-15e900-512e", "--set", "flash_size=0 B"],
        "--set: flash_size = '0 B': expected at least one sector",
    ),
    (
        "write cache of nothing",
        ["run", "fio-read", "--on", "ent-15k", "--set", "write_cache_size=0 B"],
        "--set: write_cache_size = '0 B': expected at least one sector",
    ),
    (
        "no clients",
        ["run", "boot-storm", "--on", "exos-15e900-512n", "--set", "clients=0"],
        "--set: clients = '0': expected a whole number from 1",
    ),
    (
        "clients without a script",
        ["run", "fio-read", "--on", "ent-15k", "--set", "clients=2"],
        "--set: clients = '2': this workload does not have exactly one script",
    ),
    (
        "clients where steps say them",
        ["run", "web-server", "--on", "raid0:2xexos-15e900-512n", "--set", "clients=2"],
        "--set: clients = '2': expected",
    ),
    (
        "images beyond the target",
        ["run", "boot-storm", "--on", "exos-15e900-512n"],
        "boot-storm: streams[0].per_client = '40000000000 B': 60 clients",
    ),
    (
        "power loss beyond a boot storm",
        ["run", "boot-storm", "--on", "exos-15e900-512n", "--set", "clients=2", "--power-loss", "31 min"],
        "of at most the measured 1800 s",
    ),
    (
        "data beyond 1",
        ["run", "fio-randwrite", "--on", "ent-15k", "--set", "data=1.2"],
        "--set: data = '1.2': expected a share from 0 to 1",
    ),
    ("data that is no number", ["run", "fio-randwrite", "--on", "ent-15k", "--set", "data=x"], "NAME.json"),
    (
        "data without its ends",
        ["run", "fio-randwrite", "--on", "ent-15k", "--set", "data={ mean = 0.4 }"],
        "--set: data = '{ mean = 0.4 }': expected",
    ),
    (
        "no such file of data",
        ["run", "fio-randwrite", "--on", "ent-15k", "--set", "data=none.json"],
        "none.json: the file cannot be read",
    ),
    ("a folder of data", ["run", "fio-randwrite", "--on", "ent-15k", "--set", "data=/tmp"], "/tmp: the file cannot be"),
    (
        "unknown state",
        ["run", "fio-randwrite", "--on", "ent-15k", "--set", "state=fib"],
        "--set: state = 'fib': did you mean \"fob\"? expected one of fob, preconditioned, trimmed",
    ),
    (
        "trimmed behind parity",
        ["run", "fio-randwrite", "--on", "raid6:4xent-15k", "--set", "state=trimmed"],
        "is on a layout that does not pass trims",
    ),
    ("no such machine file", ["run", "fio-read", "--on", "no/such.toml"], "cannot be read"),
    ("no such workload file", ["run", "no/such.toml", "--on", "ent-15k"], "cannot be read"),
    ("out is no folder", ["run", "fio-read", "--on", "ent-15k", "--out", "/dev/null/x"], "cannot be written"),
    (
        "log is no folder",
        ["run", "fio-read", "--on", "ent-15k", "--io-log", "/dev/null/x.parquet"],
        "cannot be written",
    ),
    ("log is a folder", ["run", "fio-read", "--on", "ent-15k", "--io-log", "/tmp"], "is a folder"),
    ("study out", ["study", "run", "content-hdd", "--out", "/dev/null/x"], "cannot be written"),
    ("no such fio file", ["import", "fio", "nothing.json"], "nothing.json"),
    ("no such record", ["report", "nothing", "-o", "r.html"], "nothing"),
]

FILES = [
    ("not TOML", "[drives.d\n", STREAM + PHASE, "line 1"),
    (
        "bare time",
        MACHINE + '[layouts.a]\nraid0 = { members = "d*" }\n',
        STREAM + "[[phases]]\nduration = 1.0\nmeasure = true\n",
        "phases[0].duration",
    ),
    (
        "zero threads",
        MACHINE + '[layouts.a]\nraid0 = { members = "d*" }\n',
        STREAM.replace("= 1 }", "= 0 }") + PHASE,
        "threads",
    ),
    (
        "unknown key",
        MACHINE + '[layout.a]\nraid0 = { members = "d*" }\n',
        STREAM + PHASE,
        'did you mean "layouts"',
    ),
    (
        "unknown member",
        MACHINE + '[layouts.a]\nraid0 = { members = "d0, e1" }\n',
        STREAM + PHASE,
        "layouts.a.raid0.members",
    ),
    ("member twice", MACHINE + '[layouts.a]\nraid0 = { members = "d0, d0" }\n', STREAM + PHASE, "twice"),
    (
        "volume beyond",
        MACHINE + '[volumes]\nv = { on = "d0", size = "901 GB" }\n',
        STREAM + PHASE,
        "volumes.v",
    ),
    ("which target", MACHINE, STREAM + PHASE, "volumes"),
    (
        "range",
        MACHINE + '[volumes]\nv = { on = "d0" }\n',
        STREAM + 'range = ["0 GB", "2 TB"]\n' + PHASE,
        "beyond the target",
    ),
    (
        "range order",
        MACHINE + '[volumes]\nv = { on = "d0" }\n',
        STREAM + 'range = ["50 %", "10 %"]\n' + PHASE,
        "ends where it begins, or before",
    ),
    (
        "no volume",
        MACHINE + '[volumes]\nv = { on = "d0" }\n',
        STREAM + 'volume = "w"\n' + PHASE,
        "streams[0].volume",
    ),
    ("no phase", MACHINE + '[volumes]\nv = { on = "d0" }\n', STREAM, "exactly one phase"),
    ("loop not said", MACHINE + '[volumes]\nv = { on = "d0" }\n', STREAM.split("\n", 2)[2] + PHASE, "closed"),
    (
        "overlap",
        MACHINE
        + '[layouts.a]\nraid0 = { members = "d0, d1" }\n[layouts.b]\nraid0 = { members = "d1, d2" }\n'
        + '[volumes]\nv = { on = "a" }\n',
        STREAM + PHASE,
        "same part",
    ),
    (
        "trims behind parity",
        MACHINE + '[layouts.a]\nraid5 = { members = "d*" }\n',
        STREAM.replace("100\nrandom", "50\ntrim_pct = 5\nrandom") + PHASE,
        "streams[0].trim_pct = '5': \"a\" is on a layout that does not pass trims to its drives; expected none",
    ),
    (
        "trims of reads",
        MACHINE + '[layouts.a]\nraid0 = { members = "d*" }\n',
        STREAM + "trim_pct = 5\n" + PHASE,
        "streams[0].trim_pct = '5'",
    ),
    (
        "data that is a text",
        MACHINE + '[layouts.a]\nraid0 = { members = "d*" }\n',
        STREAM + 'data = "x"\n' + PHASE,
        "streams[0].data = 'x': expected a share from 0 to 1",
    ),
    (
        "data of negative weights",
        MACHINE + '[layouts.a]\nraid0 = { members = "d*" }\n',
        "data = { histogram = [1, -1] }\n" + STREAM + PHASE,
        "data.histogram",
    ),
    (
        "unknown state in a file",
        MACHINE + '[layouts.a]\nraid0 = { members = "d*" }\n',
        STREAM + PHASE + '[precondition]\nstate = "new"\n',
        "precondition.state = 'new': expected one of fob, preconditioned, trimmed",
    ),
    (
        "an untimed phase with a duration",
        MACHINE + '[layouts.a]\nraid0 = { members = "d*" }\n',
        STREAM + '[[phases]]\nuntimed = true\nduration = "1 s"\n' + PHASE,
        "phases[0].duration: a phase with untimed = true takes no time",
    ),
    (
        "an untimed phase that writes nothing",
        MACHINE + '[layouts.a]\nraid0 = { members = "d*" }\n',
        STREAM + "[[phases]]\nuntimed = true\nios = 5\n" + PHASE,
        "phases[0].streams",
    ),
    (
        "SMART too often",
        MACHINE + '[layouts.a]\nraid0 = { members = "d*" }\n',
        'smart_interval = "1 us"\n' + STREAM + PHASE,
        "smart_interval",
    ),
]


BAND = (
    '[[streams]]\nname = "{}"\nread_pct = 50\nrandom_pct = 100\nsize = "8 KiB"\n'
    "offsets = {{ hotband = {{}} }}\nrange = [{}]\n"
)
LOOP = "[load]\nclosed = { threads = 2 }\n"
FILES_OF = (
    '[[streams]]\nname = "files"\nread_pct = 100\nsize = "64 KiB"\nfiles = { count = 100, smallest = "15 KB", '
    'largest = "4 MB", mean = "1.67 MB", hot = "18 %", hot_requests = "80 %", layout = "mixed" }\n'
    '[[scripts]]\nname = "pages"\nclients = 101\nrepeat = true\n'
    '[[scripts.steps]]\nname = "fetch"\nstream = "files"\nfiles = 1\n'
)
BOOT = (
    '[[streams]]\nname = "image"\nread_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\nper_client = "{region}"\n'
    '[[scripts]]\nname = "boot"\nclients = 3\nrepeat = false\n'
    '[[scripts.steps]]\nname = "loader"\nstream = "image"\nios = 10\nafter = ["{loader_after}"]\n'
    '[[scripts.steps]]\nname = "kernel"\nstream = "image"\nios = 10\nafter = ["loader"]\n'
)
ONE_DRIVE = [
    (
        "hot band beyond the target",
        LOOP + BAND.format("hot", '"800 GB", "950 GB"') + PHASE,
        "w.toml: streams[0].range = '950000000000 B': ends beyond the target of 900185481216 B",
    ),
    (
        "hot band that is no share",
        LOOP + BAND.format("hot", '"80 %", "110 %"') + PHASE,
        "w.toml: streams[0].range",
    ),
    (
        "hot bands that overlap",
        LOOP + BAND.format("one", '"10 %", "18 %"') + BAND.format("two", '"17 %", "25 %"') + PHASE,
        'overlaps the hot band of stream "one"',
    ),
    (
        "more users than files",
        FILES_OF + PHASE,
        "w.toml: streams[0].files.count = '100': more users than files: 101 clients, 100 files",
    ),
    (
        "boot steps in a circle",
        BOOT.format(region="1 GB", loader_after="kernel") + PHASE,
        "w.toml: scripts[0].steps[0].after: a cycle: the steps loader -> kernel -> loader",
    ),
    (
        "boot step that waits for none",
        BOOT.format(region="1 GB", loader_after="kernl") + PHASE,
        'did you mean "kernel"',
    ),
    (
        "regions beyond the target",
        BOOT.format(region="400 GB", loader_after="kernel").replace('after = ["kernel"]\n', "") + PHASE,
        "w.toml: streams[0].per_client = '400000000000 B': 3 clients with 400000000000 B each do not fit",
    ),
    (
        "warm while measured",
        STREAM + '[[phases]]\nduration = "1 s"\nmeasure = true\nuntil_warm = true\n',
        "w.toml: phases[0].until_warm",
    ),
]


def one_line(done) -> str:
    """The error of a refused call."""
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("hotband: error: ")
    return lines[0]


@pytest.mark.parametrize(("arguments", "expected"), [pytest.param(a, e, id=i) for i, a, e in ARGUMENTS])
def test_a_wrong_argument_is_named(hotband, arguments: list[str], expected: str) -> None:
    assert expected in one_line(hotband(*arguments))


@pytest.mark.parametrize(("machine", "workload", "expected"), [pytest.param(m, w, e, id=i) for i, m, w, e in FILES])
def test_a_wrong_file_is_named_with_its_key(
    hotband, tmp_path: Path, machine: str, workload: str, expected: str
) -> None:
    (tmp_path / "m.toml").write_text(machine)
    (tmp_path / "w.toml").write_text(workload)
    error = one_line(hotband("run", "w.toml", "--on", "m.toml"))
    assert "m.toml" in error or "w.toml" in error
    assert expected in error


@pytest.mark.parametrize(("workload", "expected"), [pytest.param(w, e, id=i) for i, w, e in ONE_DRIVE])
def test_a_wrong_workload_is_named_with_its_key(hotband, tmp_path: Path, workload: str, expected: str) -> None:
    (tmp_path / "w.toml").write_text(workload)
    assert expected in one_line(hotband("run", "w.toml", "--on", "exos-15e900-512n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[layouts.a]\nraid0 = { members = "d*", force_writes = "yes" }\n', "layouts.a.raid0.force_writes"),
        ('[layouts.a]\nraid0 = { members = "d*", forces = true }\n', "layouts.a.raid0"),
    ],
)
def test_a_wrong_switch_of_a_controller_is_named(hotband, tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "m.toml").write_text(MACHINE + text)
    assert expected in one_line(hotband("run", "fio-read", "--on", "m.toml"))


@pytest.mark.parametrize("switch", ["awc", "turboboost"])
def test_a_machine_file_is_named_where_it_sets_what_its_drive_has_not(hotband, tmp_path: Path, switch: str) -> None:
    (tmp_path / "m.toml").write_text(f'[drives.d]\nproduct = "savvio-10k1"\nset = {{ {switch} = "on" }}\n')
    error = one_line(hotband("run", "fio-read", "--on", "m.toml"))
    assert f"m.toml: drives.d.set = '{switch}': expected one of" in error


def test_power_that_is_cut_after_the_last_io_is_named(hotband, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(STREAM + "[[phases]]\nios = 10\nmeasure = true\n")
    done = hotband("run", "w.toml", "--on", "ent-15k", "--power-loss", "60 s")
    assert (done.returncode, done.stdout) == (2, "")
    # Only the run tells how long ten I/Os take: its progress stands before the error.
    error = done.stderr.strip().splitlines()[-1]
    assert error.startswith("hotband: error: --power-loss = '60 s': the measured time ended after ")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"", b"\x00" * 100])
def test_bytes_that_are_no_spec_are_refused(hotband, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.toml").write_bytes(content)
    assert "m.toml" in one_line(hotband("run", "fio-read", "--on", "m.toml"))


def test_a_refused_run_leaves_what_was_there(hotband, tmp_path: Path) -> None:
    out = tmp_path / "kept"
    assert hotband("run", "fio-randread", "--on", "ent-15k", "--duration", "1 s", "--out", str(out)).returncode == 0
    before = (out / "record.json").read_bytes()
    one_line(hotband("run", "fio-randread", "--on", "ent-15k", "--set", "qd=x", "--out", str(out)))
    assert (out / "record.json").read_bytes() == before
