"""A device that tests measure as if it were real: a model behind an executor, whose state stays between calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hotband.data.record.finished import Finished
from hotband.execution.experiment import Point, Tick
from hotband.execution.experiment.executor import Done
from hotband.questions.suites.device import ModelDevice
from hotband.questions.suites.target import SuiteTarget, target_of


@dataclass
class FakeDevice:
    """Runs every point on one model, after all that it ran before; `asked` are their ids in order. `stops_before` is
    the number of a point before which the user stops it."""

    model: SuiteTarget
    device: ModelDevice = field(default_factory=ModelDevice)
    asked: list[str] = field(default_factory=list)
    stops_before: int = 0

    def execute(self, points: Sequence[Point], done: Done, tick: Tick) -> None:
        """See `Executor`."""
        for point in points:
            if len(self.asked) + 1 == self.stops_before:
                raise KeyboardInterrupt
            self.asked.append(point.id)
            after = self.device.line[-1].id if self.device.line else ""
            text = self.model.text
            spec = replace(point.spec, machine=self.model.name, machine_text=text, set=self.model.set, after=after)
            self.device.expect([spec])

            def told(_: Point, finished: Finished, point: Point = point) -> None:
                done(point, replace(finished, spec=point.spec))

            self.device.execute([Point(spec)], told, tick)

    def cancel(self) -> None:
        """See `Executor`."""


def fake(
    machine: str = "s4500-960", values: tuple[tuple[str, str], ...] = (("scale", "512"),)
) -> tuple[SuiteTarget, FakeDevice]:
    """A target that calls itself real, and who runs it."""
    model = target_of(machine, values)
    return replace(model, name="real:fake", text=None, set=(), scale=1, bytes=model.bytes), FakeDevice(model)
