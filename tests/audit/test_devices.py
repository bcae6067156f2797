"""Are the rules of device and host silent where there is nothing, and do they find what models really do?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from made_up import SSD, changed, result
from planted_in_devices import RISING, beside, reads, with_processor, writes

from hotband.data.documents.run import RunSpec
from hotband.data.record.files import REAL, TEXT, WHOLE, ReadTable, save_record
from hotband.data.record.load import loaded_run
from hotband.execution.experiment.experiment import execute
from hotband.inference.audit import Audited, findings, load_results
from hotband.inference.audit.finding import GROUPS
from hotband.inference.audit.load import audited_record

DEVICE_RULES = {rule for rule, group in GROUPS.items() if group == 10}


def of_devices(results: Sequence[Audited]) -> set[str]:
    """The rules of group 10 that speak."""
    return {one.rule for one in findings(results, None)} & DEVICE_RULES


SILENT: dict[str, Audited] = {
    "even writes": writes([10_000]),
    "noisy writes": writes([10_000], 0.08),
    "writes that drift down": writes([10_000 - 40 * n for n in range(100)]),
    "writes that step down a little": writes([10_000, 8_200]),
    "writes that step up": writes([10_000, 40_000]),
    "writes that saw": writes([20_000, 10_000] * 20),
    "a hot device at an even rate": reads([10_000], RISING),
    "a fall of a cool device": reads([10_000, 6_000], [35, 36, 37, 38, 38]),
    "a fall long before it is hot": reads([10_000, 6_000, 6_000, 6_000], RISING),
    "a fall of a device that was hot all the time": reads([10_000, 6_000], [74, 75, 75, 75, 75]),
    "a rise of a hot device": reads([6_000, 10_000], RISING),
    "throttling before the run": reads([10_000], [60, 70, 70]),
    "a quiet host": beside([("journald", 4e5)], cpu_others=0.05, cpu_stolen=0.001),
    "a job with time left": with_processor(60.0),
    "a job that polls": changed(with_processor(99.9), "spec", to={"global": {"hipri": "1"}, "jobs": {}}),
    "a result that does not say": result("a", SSD),
}


@pytest.mark.parametrize("name", SILENT)
def test_nothing_is_said_where_there_is_nothing(name: str) -> None:
    assert of_devices([SILENT[name]]) == set()


def model(machine: str, *pairs: tuple[str, str], duration: str = "1 s") -> Audited:
    """A run of writes at a depth of 32 on a model, in samples of 5 ms."""
    text = (
        'title = "writes"\nsource = "test"\ninterval = "5 ms"\n[load]\nclosed = { threads = 1, depth = 32 }\n'
        '[[streams]]\nname = "w"\nread_pct = 0\nrandom_pct = 0\nsize = "128 KiB"\n[[phases]]\nname = "m"\n'
        f'duration = "{duration}"\nmeasure = true\n'
    )
    (done,) = execute([RunSpec("m", machine, "w", pairs, workload_text=text)])
    return audited_record(done.record, loaded_run(done).series)


def test_the_pseudo_slc_cache_of_a_model_is_found_when_it_is_used_up() -> None:
    # 114 GB of the 980 PRO at 4 GB/s and more, then 1.5 (docs/models/ssd.md): a 256th of it.
    run = model("980-pro-1tb", ("scale", "256"), duration="0.5 s")
    own = next(one for one in findings([run], None) if one.rule == "cache-exhausted")
    assert float(own.numbers["written_bytes"]) == pytest.approx(114e9 / 256, rel=0.2)
    assert float(own.numbers["after_bytes_per_s"]) == pytest.approx(1.5e9, rel=0.1)


def test_a_drive_without_such_a_cache_is_not_said_to_have_one() -> None:
    assert of_devices([model("s4500-960", ("scale", "64"), ("state", "preconditioned"))]) == set()


def test_health_is_read_of_a_records_folder(tmp_path: Path) -> None:
    (done,) = execute([RunSpec("m", "s4500-960", "fio-randread", (("scale", "64"),), duration="1 s")])
    columns = {"time_ns": [0, 10**9], "drive": ["d0", "d0"], "temperature_c": [40.0, 41.0], "throttled_s": [0, 3]}
    kinds = {"time_ns": WHOLE, "drive": TEXT, "temperature_c": REAL, "throttled_s": WHOLE}
    record = {**done.record, "series": {**(done.record["series"] or {}), "health_file": "health.parquet"}}
    save_record(tmp_path, json.dumps(record), {**done.tables, "health": ReadTable(columns, kinds)})
    (own,) = load_results([tmp_path])
    assert of_devices([own]) == {"thermal-throttling"}
