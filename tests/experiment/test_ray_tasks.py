"""Are runs sent, lost and sent again as they should, with a cluster that does as it is told?"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from hotband.base.errors import UserError
from hotband.execution.experiment import grid, on_ray
from hotband.execution.experiment.on_ray import AHEAD, TRIES, TRIES_OF_MEMORY, OnRay
from hotband.execution.experiment.parcel import Line, Reply, Told
from hotband.execution.experiment.ray_cluster import Connection
from hotband.execution.experiment.ray_task import run_lines


class Lost(Exception):
    """A worker died."""


class Memory(Lost):
    """A worker was ended because memory was short."""


class TaskError(Exception):
    """A task raised something."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Ray:
    """As much of Ray as is used: a task is done when it is asked for. `work` makes the answer."""

    exceptions = SimpleNamespace(RayError=Lost, RayTaskError=TaskError, OutOfMemoryError=Memory)

    def __init__(self, work: Callable[[list[Line]], bytes], memory: float = 1e12) -> None:
        self.work, self.most = work, memory
        self.sent: list[list[Line]] = []
        self.asked: list[int] = []
        self.waiting: list[int] = []

    def remote(self, **_: object) -> Callable[[object], Any]:
        return lambda function: self

    def options(self, *, memory: int) -> Any:
        self.asked.append(memory)

        def remote(asked_by: str, lines: list[Line], read: object) -> int:
            self.sent.append(lines)
            self.waiting.append(len(self.sent) - 1)
            return len(self.sent) - 1

        return SimpleNamespace(remote=remote)

    def wait(self, tasks: list[int], **_: object) -> tuple[list[int], list[int]]:
        return tasks[:1], tasks[1:]

    def get(self, task: int) -> bytes:
        return self.work(self.sent[task])

    def cancel(self, task: int, force: bool) -> None:
        self.waiting.remove(task)

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"memory": self.most}}]


@pytest.fixture
def through(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Ray, dict[str, Any]]]:
    """Sends runs through such a Ray: by id what was brought back."""

    def run(work: Callable[[list[Line]], bytes], runs: int = 400, **keys: Any) -> tuple[Ray, dict[str, Any]]:
        ray, found = Ray(work, **keys), dict[str, Any]()
        monkeypatch.setattr(on_ray, "expect_ray", lambda: None)
        monkeypatch.setattr(on_ray, "connect", lambda address, jobs: Connection(ray, None))  # type: ignore[arg-type]
        points = grid(["ent-10k"], ["fio-randread"], seeds=range(runs), duration="1 ms")

        def took(point: Any, read: Any) -> None:
            assert point.id not in found, "a run is told twice"
            found[point.id] = read

        OnRay().read(points, lambda finished: None, took, lambda _: None)
        assert len(found) == runs
        return ray, found

    return run


def told(lines: list[Line], seconds: float = 0.01) -> bytes:
    """An answer for each of the lines: its seed."""
    return Reply(tuple(Told((line.specs[0].seed,), seconds=seconds) for line in lines)).packed()


def test_short_runs_go_together_half_a_second_each_time(through: Any) -> None:
    ray, found = through(lambda lines: told(lines, 1 / 64))
    assert sorted(found.values()) == list(range(400))
    sizes = [len(lines) for lines in ray.sent]
    assert sizes[: AHEAD * 2] == [1] * AHEAD * 2, "the pace is not known yet"
    assert max(sizes) == 32
    assert sizes[-1] == 1, "the last of them are spread over the cores"


def test_long_runs_go_alone(through: Any) -> None:
    ray, _ = through(lambda lines: told(lines, 0.4), 20)
    assert {len(lines) for lines in ray.sent} == {1}


def test_a_task_that_is_lost_is_run_again_a_line_each(through: Any) -> None:
    lost: list[list[Line]] = []

    def work(lines: list[Line]) -> bytes:
        if len(lines) > 1 and not lost:
            lost.append(lines)
            raise Lost
        return told(lines)

    ray, found = through(work)
    assert sorted(found.values()) == list(range(400))
    again = [lines for lines in ray.sent if any(line in lost[0] for line in lines) and lines is not lost[0]]
    assert {len(lines) for lines in again} == {1}


@pytest.mark.parametrize(("death", "times"), [(Lost, TRIES), (Memory, TRIES_OF_MEMORY)])
def test_a_run_that_ends_its_worker_each_time_is_named(through: Any, death: type[Lost], times: int) -> None:
    tried: list[int] = []

    def work(lines: list[Line]) -> bytes:
        if any(line.specs[0].seed == 7 for line in lines):
            tried.append(7)
            raise death
        return told(lines)

    with pytest.raises(OSError, match=f"died {times} times") as failed:
        through(work)
    assert "seed=7" in failed.value.filename
    assert len(tried) == times


def test_another_hotband_is_refused_with_both(through: Any) -> None:
    with pytest.raises(UserError) as refused:
        through(lambda lines: run_lines("0.0.1+abc, catalog 123", lines, None))
    assert refused.value.where == "question.executor"
    assert "0.0.1" not in str(refused.value)
    assert str(refused.value).count("catalog") == 2


def test_a_worker_without_hotband_is_told(through: Any) -> None:
    def work(lines: list[Line]) -> bytes:
        raise TaskError(ModuleNotFoundError("No module named 'hotband'"))

    with pytest.raises(UserError, match="pip install hotband on every node"):
        through(work)


def test_a_fault_of_ours_is_raised_as_it_is(through: Any) -> None:
    def work(lines: list[Line]) -> bytes:
        raise TaskError(ZeroDivisionError("ours"))

    with pytest.raises(ZeroDivisionError, match="ours"):
        through(work)


def test_a_run_that_no_node_has_memory_for_does_not_wait(through: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_ray, "LEAST_MEMORY", 1)
    with pytest.raises(UserError, match="largest node offers a task"):
        through(told, memory=10.0)
