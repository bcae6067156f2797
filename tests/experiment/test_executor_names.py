"""Is an executor that cannot be had, or cannot do what is asked, refused in one line that says why?"""

from __future__ import annotations

import importlib.util
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.execution.experiment import (
    Experiment,
    Local,
    chosen,
    cores,
    executor_of,
    grid,
    points_of,
    ray_cluster,
    using,
)
from hotband.execution.experiment.parcel import Packing

SWEEP = ("sweep", "fio-randread", "--on", "ent-10k", "--duration", "10 ms")


@pytest.fixture
def with_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where Ray is installed; nothing connects."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())


def test_nothing_and_local_are_the_cores_of_this_computer() -> None:
    for text in (None, "local"):
        executor = executor_of(text, 3)
        assert isinstance(executor, Local)
        assert executor.jobs == 3


def test_an_executor_is_chosen_for_what_is_within() -> None:
    class Own(Local):
        asked = 0

        def execute(self, points: Any, done: Any, tick: Any) -> None:
            self.asked += len(points)
            super().execute(points, done, tick)

    own, points = Own(7), grid(["ent-10k"], ["fio-randread"], {"qd": [1, 2]}, duration="10 ms")
    with using(own):
        assert chosen() is own
        assert cores(1) == 7
        Experiment(points).run(jobs=1)
    assert own.asked == 2
    assert chosen() is None
    Experiment(points).run()
    assert own.asked == 2


@pytest.mark.parametrize("text", ["mars", "ray:", "ray://", "local://x", "RAY", ""])
def test_other_names_are_refused(text: str, hotband: Callable[..., Any]) -> None:
    done = hotband(*SWEEP, "--executor", text)
    assert done.returncode == 2
    assert done.stderr.startswith("hotband: error: --executor")
    assert done.stderr.count("\n") == 1
    assert 'expected "local", "ray" or "ray://HOST:PORT"' in done.stderr


@pytest.mark.parametrize("text", ["ray://host:port", "ray://host:99999", "ray://a b:1", "ray://:6379"])
def test_addresses_that_are_none_are_refused(text: str, with_ray: None) -> None:
    with pytest.raises(UserError, match="expected HOST:PORT") as refused:
        executor_of(text)
    assert refused.value.where == "question.executor"


def test_a_wrong_variable_is_named(with_ray: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "host:x")
    with pytest.raises(UserError, match="RAY_ADDRESS = 'host:x'"):
        executor_of("ray")


def test_an_address_where_nothing_listens_is_told(with_ray: None, hotband: Callable[..., Any]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        done = hotband(*SWEEP, "--executor", f"ray://127.0.0.1:{port}")
    assert done.returncode == 2
    assert "cannot be reached (Connection refused)" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_address_where_something_else_answers_is_told(with_ray: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)

        def answer() -> None:
            with server.accept()[0] as asked:
                asked.sendall(b"HTTP/1.1 400 Bad Request\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        with pytest.raises(UserError, match="something else answers"):
            executor_of(f"ray://127.0.0.1:{server.getsockname()[1]}")
        thread.join()


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, hotband: Callable[..., Any]) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = hotband(*SWEEP, "--executor", "ray")
    assert done.returncode == 2
    assert "pip install 'hotband[ray]'" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        SWEEP,
        ("review", "ent-10k", "--against", "real:/srv"),
        ("find", "IOPS at p99 < 1 ms", "-w", "fio-randread", "--on", "ent-10k"),
    ],
)
def test_hardware_is_run_where_it_is(command: tuple[str, ...], with_ray: None, hotband: Callable[..., Any]) -> None:
    more = () if "--against" in command else ("--on", "real:/srv")
    done = hotband(*command, *more, "--executor", "ray")
    assert done.returncode == 2
    assert "runs models only, and real:/srv is on this computer" in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_cannot_travel_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    (tmp_path / "x.toml").write_text('variant_of = "ent-10k"\ntitle = "x"\n[values]\n')
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    base = RunSpec("a", "ent-10k", "fio-randread")
    for spec, why in (
        (RunSpec("a", "ent-10k", "../t.parquet"), "is a trace, which is replayed on the host that stores it"),
        (RunSpec("a", "ent-10k", "fio-randread", io_log=Path("log.parquet")), "is written by the run"),
        (RunSpec("a", "raid1:2x../x.toml", "fio-randread"), "is outside the current folder"),
    ):
        with pytest.raises(UserError, match=why):
            Packing().line([spec])
    assert not Packing().line([base]).files


def test_what_a_killed_program_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    # No process has this number (proc_sys_kernel(5): at most 4194304).
    for name in ("hotband-ray-4999999-x", "hotband-ray-1-x", "hotband-ray-other", "another"):
        (tmp_path / name).mkdir()
    ray_cluster._remove_stale()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["another", "hotband-ray-1-x", "hotband-ray-other"]


def test_points_of_one_name_are_not_packed_twice() -> None:
    packing = Packing()
    lines = [
        packing.line([point.spec])
        for point in points_of([RunSpec(f"{n}", "ent-10k", "fio-randread", seed=n) for n in range(2)])
    ]
    assert lines[0].alike() == lines[1].alike()
