"""Is every mistake in a solid-state drive one line with file, key, value and what is accepted, and exit code 2?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hotband as hotband_package

SET = [
    ("scale=0", "scale = '0': expected a whole number from 1 to 4096"),
    ("scale=100000", "scale = '100000': expected a whole number from 1 to 4096"),
    ("over_provisioning=0 %", "over_provisioning = '0 %': expected room for 6 free blocks of 1104 MiB and 1 % more"),
    ("over_provisioning=15", "over_provisioning = '15': expected a share"),
    ("block=16 KiB", "block = '16 KiB': expected at least one pass (program_pass) after scale"),
    ("block=1 TiB", "block = '1 TiB': expected at least one pass (program_pass) after scale, and at most 16 GiB"),
    ("flash_page=5000 B", "flash_page = '5 kB': expected a multiple of 4 KiB up to 1 MiB"),
    ("program_pass=20 KiB", "program_pass = '20 KiB': expected a multiple of 16 KiB up to 64 MiB"),
    ("capacity=1 MB", "capacity = '1 MB': expected at most 256 TB, and from 16 MiB to 16 TB after scale"),
    ("capacity=300 TB", "expected at most 256 TB, and from 16 MiB to 16 TB after scale"),
    ("dies=1", "dies = '1': expected a whole number from 2 to 4096"),
    ("read_time=70", "read_time = '70': expected a time with its unit"),
    ("read_time=2 s", "read_time = '2 s': expected at most 1 s"),
    ("link_rate=1 B/s", "link_rate = '1 B/s': expected from 1 MB/s to 1 TB/s"),
    ("queue_tags=0", "queue_tags = '0': expected a whole number from 1 to 65536"),
    ("write_buffer=1 TiB", "write_buffer = '1 TiB': expected at most 16 GiB"),
    ("plp=yes", "plp = 'yes': expected one of off, on"),
    ("gc_victims=random", "gc_victims = 'random': expected one of greedy, windowed-greedy, cost-benefit"),
    ("gc_separation=some", "gc_separation = 'some': did you mean \"none\"? expected one of none, relocated, hot-cold"),
    ("gc_free_low=2", "gc_free_low = '2': expected a whole number from 3"),
    ("rated_cycles=0", "rated_cycles = '0': expected a whole number from 1"),
    ("mapping_overhead=60 %", "mapping_overhead = '60 %': expected from 0 % to 50 %"),
    ("bad_block_reserve=80 %", "bad_block_reserve = '80 %': expected from 0 % to 50 %"),
    ("compression=maybe", "compression = 'maybe': expected one of off, on"),
    ("compression_granule=8 KiB", "compression_granule = '8 KiB': expected from 1 B to 4 KiB"),
    ("compression_granule=0 B", "compression_granule = '0 B': expected from 1 B to 4 KiB"),
    ("compression_header=2 KiB", "compression_header = '2 KiB': expected at most 1 KiB"),
    ("compression_efficiency=120 %", "compression_efficiency = '120 %': expected a share"),
    ("wce=maybe", "wce = 'maybe': expected one of off, on"),
    ("flush=durabel", "flush = 'durabel': did you mean \"durable\"? expected one of durable, write-out"),
    ("page_time_spread=95 %", "page_time_spread = '95 %': expected from 0 % to 90 %"),
    ("retry_share=60 %", "retry_share = '60 %': expected from 0 % to 50 %"),
    ("retry_again=95 %", "retry_again = '95 %': expected from 0 % to 90 %"),
    ("retry_growth=0", "retry_growth = '0': expected a whole number from 1 to 1000000"),
    ("retry_steps=0", "retry_steps = '0': expected a whole number from 1 to 100"),
    ("soft_decode_time=2 s", "soft_decode_time = '2 s': expected at most 1 s"),
    ("prior_wear=200 %", "prior_wear = '200 %': expected a share"),
    ("data_age=4000 d", "expected at most 3650 d"),
    ("scan_share=60 %", "scan_share = '60 %': expected from 0 % to 50 %"),
    ("stall_interval=5 ms", "stall_interval = '5 ms': expected at least ten times stall_time, 20 ms"),
    ("journal_entries=0", "journal_entries = '0': expected a whole number from 1 to 1000000000"),
    ("read_ahead=5 KiB", "read_ahead = '5 KiB': expected off, 0 B, or a multiple of 4 KiB up to 16 MiB"),
    ("read_ahead_streams=0", "read_ahead_streams = '0': expected a whole number from 1 to 256"),
    ("read_ahead_overhead=2 s", "read_ahead_overhead = '2 s': expected at most 1 s"),
    ("journal_time=2 s", "journal_time = '2 s': expected at most 1 s"),
]


def one_line(done) -> str:
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.mark.parametrize(("setting", "expected"), SET, ids=[setting for setting, _ in SET])
def test_a_wrong_value_of_a_solid_state_drive_is_named(hotband, setting: str, expected: str) -> None:
    error = one_line(hotband("run", "fio-randread", "--on", "s4500-960", "--set", setting))
    assert error.startswith("hotband: error: --set: ")
    assert expected in error


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("compression=on", "--set: compression = 'on': ent-15k has no compression: it is a disk"),
        ("scale=64", "--set = 'scale': did you mean "),
        ("plp=off", "--set = 'plp': expected one of "),
    ],
)
def test_a_disk_has_nothing_of_a_solid_state_drive(hotband, setting: str, expected: str) -> None:
    error = one_line(hotband("run", "fio-randread", "--on", "ent-15k", "--set", setting))
    assert error.startswith(f"hotband: error: {expected}")


def test_a_solid_state_drive_has_no_protected_write_cache_of_a_disk(hotband) -> None:
    error = one_line(hotband("run", "fio-randread", "--on", "s4500-960", "--set", "awc=on"))
    assert error.startswith("hotband: error: --set: awc = 'on': s4500-960 has no protected write cache")


def test_retries_without_all_their_values_are_refused(hotband, tmp_path: Path) -> None:
    text = (Path(hotband_package.__file__).parent / "data/catalog/drives/s4500-960.toml").read_text()
    without = re.sub(r"\[values\.retry_steps\]\n(.+\n)+", "", text)
    (tmp_path / "x.toml").write_text(without)
    assert "values.retry_steps: missing" in one_line(hotband("run", "fio-randread", "--on", "./x.toml"))


def test_pages_too_many_for_the_map_are_refused(hotband) -> None:
    large = ["--set", "capacity=30 TB", "--set", "scale=2", "--set", "flash_page=4 KiB", "--set", "program_pass=96 KiB"]
    error = one_line(hotband("run", "fio-randread", "--on", "s4500-960", *large))
    assert "flash_page = '4 KiB': too small" in error


def test_a_machine_file_is_named_with_its_key(hotband, tmp_path: Path) -> None:
    text = '[drives.d]\nproduct = "nytro-1351-960"\nset = { gc_victims = "first" }\n'
    (tmp_path / "m.toml").write_text(text)
    error = one_line(hotband("run", "fio-randread", "--on", "m.toml"))
    assert "m.toml: drives.d.set.gc_victims = 'first': expected one of greedy" in error
