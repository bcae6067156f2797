"""Do several hosts ask together, are their results one, and are their versions and clocks looked at?"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import hotband as hb
from hotband.execution.targets import hosts
from hotband.execution.targets.hosts import HostClock, clocks

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[Path]]:
    """Two servers of fio on sockets."""
    sockets = [tmp_path / "one.sock", tmp_path / "two.sock"]
    started = []
    try:
        for path in sockets:
            command = ["fio", f"--server=sock:{path}"]
            started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        for _ in range(100):
            if all(path.exists() for path in sockets):
                break
            time.sleep(0.05)
        yield sockets
    finally:
        for one in started:
            one.terminate()
            one.wait()


def test_two_hosts_leave_one_record_with_all_their_ios(servers: list[Path], tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(bytes(4 << 20))
    on = f"real:{data}"
    text = 'interval = "250 ms"\n[load]\nclosed = { threads = 2, depth = 1 }\n[[streams]]\nread_pct = 100\n'
    text += 'random_pct = 100\nsize = "4 KiB"\n[[phases]]\nmeasure = true\nduration = "1 s"\n'
    record = hb.run(text, on=on, hosts=",".join(map(str, servers)), expect="none", out=tmp_path / "out").document
    assert sorted(one["name"] for one in record["streams"]) == ["main@one.sock", "main@two.sock"]
    reads = [one["read"] for one in record["streams"]]
    assert all(one["count"] > 0 for one in reads)
    assert record["summary"]["read"]["count"] == sum(one["count"] for one in reads)
    # A percentile of all is that of all I/Os, not the mean of the hosts' own.
    merged = sorted(value for one in reads for value, count in one["histogram"]["buckets"] for _ in range(count))
    assert record["summary"]["read"]["latency_p99_ns"] == merged[math.ceil(0.99 * len(merged)) - 1]
    assert [note for note in record["notes"] if note.startswith("one.sock: fio-3.")]
    assert [(one["host"], one["context"]) for one in record["hosts"]] == [("one.sock", None), ("two.sock", None)]
    assert "context" not in record
    assert any(
        "and temperature of one.sock, two.sock are unknown: fio reports none" in note for note in record["notes"]
    )
    frame = hb.load(tmp_path / "out").series
    assert set(frame["stream"]) == {"main@one.sock", "main@two.sock"}
    assert json.loads((tmp_path / "out/record.json").read_text())["concurrency"] == 4


def test_a_clock_is_told_within_what_is_known_of_it(servers: list[Path]) -> None:
    [found] = clocks([f"sock:{servers[0]}"])
    assert found.low_s < 0 < found.high_s
    assert not found.is_out_of_step
    assert HostClock("a", "fio-3.33", 1.0, 1.4).is_out_of_step
    assert "its clock is -2.80 s from ours (within 0.20 s)" in HostClock("a", "fio-3.33", -3.0, -2.6).line()


def test_another_version_is_refused(servers: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "version_of", lambda _: "fio-3.40")
    with pytest.raises(hb.UserError, match=r"has fio-3\.\d+, and this computer fio-3\.40: expected the same"):
        clocks([f"sock:{servers[0]}"])


def test_what_only_one_host_can_see_is_refused(tmp_path: Path) -> None:
    with pytest.raises(hb.UserError, match="several hosts cannot share a folder"):
        hb.run("fio-randread", on=f"real:{tmp_path}", hosts="a,b")
