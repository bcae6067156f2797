"""Are two values of one text that exclude each other refused, with both named?"""

from __future__ import annotations

from pathlib import Path

import pytest

import hotband as hb
from hotband.base.errors import UserError

STREAM = 'read_pct = 50\nrandom_pct = 100\nsize = "4 KiB"\n'
SEQUENTIAL = STREAM.replace("100", "0")
PHASE = '[[phases]]\nduration = "1 s"\nmeasure = true\n'
SECOND = '[[streams]]\nname = "b"\nread_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\n'
MIRROR, SSD = "raid1:2xent-10k", "7450-pro-3840"


def _event(at: str, what: str) -> str:
    return f'[[events]]\nat = "{at}"\n{what}\n'


def _set(part: str, value: str) -> str:
    return f'part = "{part}"\nset = {{ wce = "{value}" }}'


STREAMS = {
    'range = ["50 %", "10 %"]': "range: ends where it begins, or before",
    'range = ["50 %", "10 GB"]': "range: ends where it begins, or before",
    'range = ["10 GB", "10 GB"]': "range: ends where it begins, or before",
    'range = ["0 B", "2 KiB"]': "range: does not hold one I/O of 4096 B",
    'range = ["0 B", "9 TB"]': "range: ends beyond the target of",
    'range = ["0 B", "1 MiB"]\nalign = "2 MiB"': "align: is larger than the range, 1 MiB",
    'range = ["0 B", "1 MiB"]\noffsets = { stride = "2 MiB" }': "stride: is larger than the range, 1 MiB",
    'sizes = { "4 KiB" = 1 }': "size: expected either size",
    'offsets = { hotspot = { data = "100 %", ios = "50 %" } }': "data: expected a share above 0 % and below 100 %",
    "data = { mean = 0.4, low = 0.5, high = 1.0 }": "mean: expected a mean from low to high",
    "data = { low = 0.8, high = 0.3 }": "high: expected a share above low",
    'start = "10 %"': "start: this stream has no sequential I/Os: random_pct is 100",
    'per_client = "1 GB"': "per_client: no script uses this stream",
    "trim_pct = 3\nread_pct = 100": "trim_pct: trims are a share of the I/Os that are not reads",
    "trim_first = true\nread_pct = 100": "trim_first: a trim goes before each write, and this stream has no writes",
    "flush_every = 1\nread_pct = 100": 'flush_every: applies to writes, and the stream "a" has none',
    "fua = true\nread_pct = 100": 'fua: applies to writes, and the stream "a" has none',
    "fua = true\nread_pct = 0\ntrim_pct = 100": 'fua: applies to writes, and the stream "a" has none',
    "trim_first = true\nread_pct = 50\ntrim_pct = 3": "trim_first: cannot be combined with trim_pct",
}
"""Lines of a stream, with the key and the words of the refusal."""
SEQUENTIAL_ONLY = [
    'offsets = { stride = "64 KiB" }',
    "offsets = { zipf = { exponent = 1.0 } }",
    'offsets = { near = { ios = "30 %", within = "1 MiB" } }',
]
PHASES = {
    'ios = 10\nuntil = "1 s"': "ios: until sets when the phase ends",
    'duration = "2 s"\nuntil = ["1 s"]': "duration: until sets when the phase ends",
    'until = ["1 s", "2 s"]': "until: sets the amount twice",
    'duration = "1 s"\nstreams = ["a", "a"]': "streams: is named twice",
    'duration = "1 s"\nstreams = ["c"]': "streams: expected one of a",
    'duration = "1 s"\nround = "60 s"': "round: only a phase with until_steady",
    'until_steady = true\nround = "60 s"\ntrack = "iops"\nduration = "1 s"': "duration: a phase with until_steady",
}
WHOLE = {
    _event("60 s", 'fail = "d1"'): "fail: expected a time of at most the measured 1 s",
    '[power_loss]\nat = "60 s"\n': "at: expected a time above zero and of at most the measured 1 s",
    '[power_loss]\nat = "0.5 s"\n' + _event("0.6 s", "power-off = true"): "at: power goes off once",
    _event("0.5 s", 'fail = "d1"') * 2: "fail: d1 fails twice",
    _event("0.5 s", 'fail = "d1"') + _event("0.6 s", _set("d1", "off")): "wce: comes after the drive failed, at 500 ms",
    _event("0.5 s", _set("d0", "off")) + _event("0.5 s", _set("d0", "on")): "wce: another event sets wce to on",
    _event("0.5 s", "power-off = true") + _event("0.6 s", _set("d0", "on")): "wce: comes after power goes off",
    '[uncertainty]\nthink = ["8 ms", "2 ms"]\n': "think: its first end is above its second",
    '[precondition]\nstate = "fob"\nrandom = 1.0\n': "state: sets sequential, random, workload and trim",
    SECOND + PHASE.replace("measure", 'streams = ["a"]\nmeasure'): "name: runs in no phase",
}
MACHINES = {
    'raid5 = { members = "d0,d1" }': "members: raid5 needs at least 3 drives",
    'raid10 = { members = "d0..d2" }': "members: raid10 needs an even number",
    'raid50 = { members = "d*", groups = 4 }': "groups: raid50 needs equal groups",
    'raid0 = { members = "d0..d2,d1..d3" }': "members: is named twice",
    'raid0 = { members = "d3..d0" }': "members: selects nothing",
    'raid0 = { members = "d*", from = "1500 GB", size = "900 GB" }': "size: the range is empty or ends beyond",
    'erasure = { members = "d*", k = 4, m = 2 }': "k: expected k + m of at most 4, not 6",
    'replicated = { members = "d*", replicas = 5, image = "1 GB" }': "replicas: expected at most 4",
    'replicated = { members = "d*", hosts = 9, image = "1 GB" }': "hosts: expected a whole number from 1 to 4",
    'replicated = { members = "d*", image = "10 TB" }': (
        "image: expected a smaller image: daemon 0 of 4 would be too full"
    ),
    'replicated = { members = "d*", image = "1 MB" }': "object: expected at most the image, 1 MB",
    'replicated = { members = "d*", image = "1 GB", weights = [1, 1] }': "weights: expected a list of 4 numbers",
    'replicated = { members = "d*", image = "1 GB", classes = ["a", "a", "a", "b"], class = "c" }': "class: expected",
    'raid0 = { members = "d0,d1" }\n[layouts.e]\nraid0 = { members = "d1,d2" }': "raid0: uses the same part",
    'raid0 = { members = "d*" }\n[host]\ncores = 4\npath = "spdk"\nsubmit = "1 us"\ncomplete = "1 us"': (
        "path: sets the times that submit and complete set too"
    ),
    'raid0 = { members = "d*" }\n[links.s]\nlanes = 1\nrate = "1 GB/s"\ncarries = "d*"\n'
    '[links.t]\nlanes = 1\nrate = "1 GB/s"\ncarries = "d0"': "carries: a drive is behind one link only",
    'raid0 = { members = "d*" }\n[volumes]\na = { on = "data", from = "7000 GB", size = "900 GB" }': (
        "a: the volume is empty or ends beyond its layout"
    ),
    'raid5 = { members = "d*" }\n'
    '[layouts.c]\ncontroller = { members = "data", dirty_low = "80 %", dirty_high = "20 %" }': (
        "dirty_low: expected less than dirty_high"
    ),
    'raid5 = { members = "d*" }\n[layouts.c]\nmd = { members = "data", journal = "write-back" }': (
        "members: expected 2 members"
    ),
}
DRIVES = [
    ("ent-10k", {"sustained_inner": "300 MB/s", "sustained_outer": "100 MB/s"}, "sustained_inner: expected above zero"),
    ("ent-10k", {"seek_read_track": "9 ms"}, "seek_read_average: impossible: the shortest seek, seek_read_track"),
    ("ent-10k", {"seek_read_average": "30 ms"}, "seek_read_average: impossible: the longest seek, seek_read_full"),
    ("ent-10k", {"head_skew": "20 ms"}, "head_skew: expected at most a revolution (6 ms)"),
    ("ent-10k", {"look_ahead": "64 MB"}, "look_ahead: expected at most a segment of the cache, 3906 KiB"),
    ("ent-10k", {"cache_size": "0 B"}, "cache_size: expected at least 4 KiB a segment (cache_segments)"),
    ("ent-10k", {"power_idle": "50 W"}, "power_idle: expected at most power_active (7.6 W)"),
    ("ent-10k", {"recovered_error_bits": "1e18"}, "recovered_error_bits: expected at most unrecoverable_error_bits"),
    (
        "ent-10k",
        {"seek_curve": "1: 2 ms, 100: 3 ms", "seek_curve_cylinders": "50"},
        "seek_curve_cylinders: expected more",
    ),
    (SSD, {"gc_free_low": "20", "gc_free_high": "10"}, "gc_free_high: expected more than gc_free_low, 20"),
    (SSD, {"block": "1000 KiB"}, "block: expected a multiple of flash_page, 16 KiB"),
    (SSD, {"dies": "8", "channels": "64"}, "channels: expected at most the 8 dies"),
    (SSD, {"power_idle": "500 W"}, "power_idle: expected at most power_read (13 W)"),
    (SSD, {"namespaces": "3 TB, 3 TB"}, "namespaces: too large: 6000000000000 B together"),
    (SSD, {"stall_time": "2 s", "stall_interval": "1 s"}, "stall_time: expected at most 1 s"),
    ("990-pro-1tb", {"buffer_release": "2 s"}, "buffer_release: expected at most 1 s"),
    ("990-pro-1tb", {"write_spread": "200 %"}, "write_spread: expected a share"),
]


def _refused(words: str, workload: str, on: str, **values: object) -> None:
    key, _, accepted = words.partition(": ")
    with pytest.raises(UserError) as error:
        hb.run(workload, on=on, progress=False, **values)  # type: ignore[arg-type]
    assert error.value.key.endswith(key)
    assert accepted in error.value.accepted


def _workload(folder: Path, stream: str = STREAM, phases: str = PHASE, rest: str = "") -> str:
    path = folder / "w.toml"
    phases = "" if "[[phases]]" in rest else phases
    path.write_text(f'title = "t"\n[load]\nclosed = {{ threads = 1 }}\n[[streams]]\nname = "a"\n{stream}{rest}{phases}')
    return str(path)


@pytest.mark.parametrize("lines", STREAMS)
def test_values_of_a_stream(lines: str, tmp_path: Path) -> None:
    stream = STREAM.replace("read_pct = 50\n", "") if "read_pct" in lines else STREAM
    _refused(STREAMS[lines], _workload(tmp_path, f"{stream}{lines}\n"), "ent-10k")


@pytest.mark.parametrize("line", SEQUENTIAL_ONLY)
def test_offsets_of_a_stream_that_is_sequential(line: str, tmp_path: Path) -> None:
    words = "offsets: this stream has no random I/Os: random_pct is 0"
    _refused(words, _workload(tmp_path, f"{SEQUENTIAL}{line}\n"), "ent-10k")


def test_a_size_that_is_written_in_two_ways(tmp_path: Path) -> None:
    stream = STREAM.replace('size = "4 KiB"', 'sizes = { "4 KiB" = 1, "4k" = 3 }')
    _refused("sizes: names 4096 B twice: add up their weights", _workload(tmp_path, stream), "ent-10k")


@pytest.mark.parametrize("lines", PHASES)
def test_values_of_a_phase(lines: str, tmp_path: Path) -> None:
    phases = f"[[phases]]\n{lines}\nmeasure = true\n"
    _refused(PHASES[lines], _workload(tmp_path, phases=phases), "ent-10k")


def test_a_phase_whose_streams_have_no_share(tmp_path: Path) -> None:
    phases = PHASE.replace("measure", 'streams = ["a"]\nmeasure')
    workload = _workload(tmp_path, f"{STREAM}share_pct = 0\n", rest=SECOND + phases)
    _refused("streams: none of these issues I/Os: their share_pct is 0", workload, "ent-10k")


@pytest.mark.parametrize("lines", WHOLE)
def test_values_of_a_workload(lines: str, tmp_path: Path) -> None:
    _refused(WHOLE[lines], _workload(tmp_path, rest=lines), MIRROR if "d1" in lines else "ent-10k")


@pytest.mark.parametrize("lines", MACHINES)
def test_values_of_a_machine(lines: str, tmp_path: Path) -> None:
    count = 10 if "raid50" in lines else 3 if "raid10" in lines or 'd0,d1" }' in lines else 4
    path = tmp_path / "m.toml"
    path.write_text(f'[drives.d]\nproduct = "ent-10k"\ncount = {count}\n[layouts.data]\n{lines}\n')
    _refused(MACHINES[lines], "fio-randread", str(path), duration="1 s")


@pytest.mark.parametrize(("drive", "values", "words"), DRIVES)
def test_values_of_a_drive(drive: str, values: dict[str, str], words: str, tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    changed = ", ".join(f"{key} = {value if value.isdigit() else repr(value)}" for key, value in values.items())
    path.write_text(f'[drives.d]\nproduct = "{drive}"\ncount = 1\nset = {{ {changed} }}\n')
    _refused(words, "fio-randread", str(path), duration="1 s")


def test_smaller_segments_read_ahead_less() -> None:
    values = {"cache_segments": 64}
    assert hb.run("fio-read", on="ent-10k", duration="1 s", set=values, progress=False).iops > 100


@pytest.mark.parametrize("filled", ["workload = 0.001", "workload = 0.0", "random = 1.0"])
def test_a_stream_whose_writes_only_precondition(tmp_path: Path, filled: str) -> None:
    phases = PHASE.replace("measure", 'streams = ["b"]\nmeasure')
    workload = _workload(tmp_path, rest=f"[precondition]\n{filled}\n{SECOND}{phases}")
    if filled == "workload = 0.001":
        assert hb.run(workload, on="s4500-960", duration="10 ms", progress=False).write.count == 0
    else:
        _refused("name: runs in no phase", workload, SSD, duration="10 ms")
