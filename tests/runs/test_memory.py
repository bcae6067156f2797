"""Memory that there is, and runs that need more."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

import hotband as hb
from hotband import _core
from hotband.base import memory
from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.execution.runs.run import prepare

MEMINFO = "MemTotal:       24000000 kB\nMemFree:          300000 kB\nMemAvailable:   20000000 kB\nSwapTotal: 0 kB\n"
V2 = {"memory.max": "8000000000\n", "memory.current": "5000000000\n", "memory.stat": "anon 1\ninactive_file 1000\n"}


def test_what_the_system_has_left_is_its_own_estimate() -> None:
    assert memory.left_on_system(MEMINFO) == 20_000_000 * 1024


@pytest.mark.parametrize("text", ["", "MemAvailable:", "MemAvailable: much kB", "\x00", "MemTotal: 1 kB"])
def test_a_system_that_does_not_say_is_not_guessed_at(text: str) -> None:
    assert memory.left_on_system(text) is None


def test_groups_of_both_versions_are_found() -> None:
    text = "12:cpu,cpuacct:/a\n5:memory:/docker/b\n0::/user.slice/c\nnonsense\n"
    assert memory.groups_of(text) == [(1, PurePosixPath("/docker/b")), (2, PurePosixPath("/user.slice/c"))]


def test_a_limit_leaves_what_is_not_used_and_what_is_given_back_first() -> None:
    assert memory.left_in_group(2, V2) == 3_000_001_000
    v1 = {"memory.limit_in_bytes": "100", "memory.usage_in_bytes": "70", "memory.stat": "total_inactive_file 5"}
    assert memory.left_in_group(1, v1) == 35
    assert memory.left_in_group(2, V2 | {"memory.current": "9000000000"}) == 0


@pytest.mark.parametrize("files", [{}, V2 | {"memory.max": "max\n"}, V2 | {"memory.current": ""}])
def test_a_group_without_limit_leaves_everything(files: dict[str, str]) -> None:
    assert memory.left_in_group(2, files) is None


def test_the_limit_of_a_group_above_holds(tmp_path: Path) -> None:
    for name, text in {"proc/meminfo": MEMINFO, "proc/self/cgroup": "0::/outer/inner\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    outer = tmp_path / "sys/fs/cgroup/outer"
    (outer / "inner").mkdir(parents=True)
    assert memory.available(tmp_path) == 20_000_000 * 1024
    for name, text in V2.items():
        (outer / name).write_text(text)
    assert memory.available(tmp_path) == 3_000_001_000


def test_as_many_runs_begin_as_fit_and_always_one() -> None:
    assert memory.jobs_that_fit([1, 5, 3], 8, 4) == 2
    assert memory.jobs_that_fit([1, 5, 3], 4, 4) == 1
    assert memory.jobs_that_fit([1, 5, 3], None, 4) == 4


def drives(*settings: tuple[str, str]) -> RunSpec:
    return RunSpec("run", "raid0:100xs4500-960", "fio-randwrite", set=settings)


def test_a_machine_that_does_not_fit_is_refused_with_the_number_and_the_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 20_000_000_000)
    with pytest.raises(UserError) as refused:
        prepare(drives(("state", "preconditioned")))
    text = str(refused.value)
    assert all(part in text for part in ("raid0:100xs4500-960", "20 GB are available", "question.settings scale=64")), (
        text
    )
    needs = float(text.split("needs ")[1].split(" GB")[0])
    # 234 M pages a drive: four bytes each in the map, and at least as many in the logs of full blocks.
    assert 2 * 93.7 <= needs <= 2.6 * 93.7, text


def test_the_way_out_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 20_000_000_000)
    needs = prepare(drives(("state", "preconditioned"), ("scale", "64"))).run.memory()
    assert needs is not None
    assert needs < 4_000_000_000


def test_what_the_system_refuses_is_no_panic(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(memory, "available", lambda: None)
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 6_000_000_000, before[1]))
    try:
        with pytest.raises(UserError, match="the system refuses it"):
            prepare(drives())
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_a_machine_that_does_not_fit_is_told_by_whatever_asks_for_it(monkeypatch, hotband) -> None:
    def refused(*_: object, **__: object) -> None:
        raise _core.OutOfMemory(5_000_000_000, None)

    for name in ("set_keys", "layouts_of", "machine_offer"):
        monkeypatch.setattr(_core, name, refused)
    asked = (["keys", "fio-randread", "--on", "ent-10k"], ["reliability", "raid1:2xent-10k"], ["review", "ent-10k"])
    for arguments in asked:
        done = hotband(*arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "needs 5 GB of memory" in done.stderr


def test_a_load_that_outruns_the_machine_ends_with_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 64 << 20)
    path = tmp_path / "w.toml"
    path.write_text(
        '[load]\nopen = { rate_iops = 1e7, arrival = "poisson" }\n'
        '[[streams]]\nread_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\n[[phases]]\nduration = "60 s"\nmeasure = true\n'
    )
    with pytest.raises(UserError, match=r"does not keep up: 65\d\d\d I/Os wait after 6\.\d+ ms"):
        hb.run(str(path), on="ent-15k", progress=False)


def test_a_limit_of_address_space_leaves_what_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = 4096 * (1 << 20) // memory.resource.getpagesize()
    monkeypatch.setattr(memory.resource, "getrlimit", lambda _: (6 << 30, 6 << 30))
    assert memory.left_of_process(f"{pages} 1 2") == 2 << 30
    monkeypatch.setattr(memory.resource, "getrlimit", lambda _: (memory.resource.RLIM_INFINITY, 0))
    assert memory.left_of_process(f"{pages} 1 2") is None
