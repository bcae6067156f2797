"""Hardware to review, through fio: what fio cannot say is left out, and nothing is simulated at another scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hotband.base.errors import UserError
from hotband.data.catalog.named import REAL, STATE
from hotband.data.documents.run import RunSpec
from hotband.execution.targets.asked import asked_of, expect_real
from hotband.execution.targets.own_file import USUAL_BYTES
from hotband.execution.targets.place import place_of
from hotband.questions.review.target import OF_WORKLOAD, Target


def hardware_target(
    machine: str, pairs: Sequence[tuple[str, str]], seed: int, quick: bool, size_bytes: int = 0
) -> Target:
    """Hardware made ready; `size_bytes` is that of a file that is made in a folder. Raises UserError for a place that
    is none, and for values that only models have."""
    for key, value in pairs:
        if key not in OF_WORKLOAD:
            raise UserError(
                "question.settings", key, value, f"is of models: expected {' or '.join(OF_WORKLOAD)} for hardware"
            )
    device = place_of(machine)
    return Target(
        name=machine,
        title=machine.removeprefix(REAL),
        text="",
        set=tuple(pairs),
        run_set=tuple(pair for pair in pairs if pair[0] == STATE),
        capacity_bytes=(size_bytes or USUAL_BYTES) if device.is_ours else device.size_bytes,
        block_bytes=device.block_bytes,
        drives=(),
        wears=False,
        scale=1,
        seed=seed,
        quick=quick,
        is_hardware=True,
    )


def sayable(specs: Mapping[str, RunSpec], capacity_bytes: int) -> dict[str, str]:
    """Why runs cannot be asked of hardware of that size, by their names; nothing for those that can."""
    left_out = {}
    for name, spec in specs.items():
        try:
            request = asked_of(spec)
            expect_real(request)
            if request.end_bytes > capacity_bytes:
                left_out[name] = f"it reaches to {request.end_bytes:,} bytes, and there are {capacity_bytes:,}"
        except UserError as error:
            left_out[name] = error.accepted
    return left_out
