"""Hardware to review, through fio: workloads that fio cannot express are left out, and nothing is scaled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hotband.base.errors import UserError
from hotband.data.catalog.named import REAL, STATE
from hotband.data.documents.run import RunSpec
from hotband.execution.targets.fio_client import fio_run_of
from hotband.execution.targets.fio_run import expect_real
from hotband.execution.targets.own_file import USUAL_BYTES
from hotband.execution.targets.real_target import real_target_of
from hotband.questions.review.target import OF_WORKLOAD, Target


def hardware_target(
    machine: str, pairs: Sequence[tuple[str, str]], seed: int, quick: bool, size_bytes: int = 0
) -> Target:
    """Prepare hardware; `size_bytes` is the size of a test file in a folder. Raises UserError for an invalid path, and
    for values that only models have."""
    for key, value in pairs:
        if key not in OF_WORKLOAD:
            raise UserError(
                "question.settings", key, value, f"applies to models: expected {' or '.join(OF_WORKLOAD)} for hardware"
            )
    device = real_target_of(machine)
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
    """Return why runs cannot be made on hardware of that size, by name; possible runs are absent."""
    left_out = {}
    for name, spec in specs.items():
        try:
            request = fio_run_of(spec)
            expect_real(request)
            if request.end_bytes > capacity_bytes:
                left_out[name] = f"it needs {request.end_bytes:,} bytes, but there are {capacity_bytes:,}"
        except UserError as error:
            left_out[name] = error.accepted
    return left_out
