"""Is every bad input refused in one line that names the file and what is wrong, and nothing else raised?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fio_documents as build
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forms import sized
from hotband.base.errors import UserError
from hotband.data.importers.fio.documents import read_fio

WHOLE = build.text(build.job(read=build.reads({1000: 3, 5000: 1}), write=build.reads(None)))
SMALL = json.dumps(build.document(build.job(read=build.reads({1000: 4})))).encode()


def refusal(data: bytes) -> str:
    with pytest.raises(UserError) as caught:
        read_fio(data, "x.json")
    line = str(caught.value)
    assert line.startswith("x.json: ")
    assert len(line.splitlines()) == 1
    assert len(line) < 400
    return line


def changed(**fields: Any) -> bytes:
    return build.text(build.job(read=build.reads({1000: 4}) | fields))


def test_empty() -> None:
    assert "is empty" in refusal(b"")
    assert "is empty" in refusal(b" \n")


def test_truncated_names_line_and_byte() -> None:
    cut = WHOLE[: WHOLE.index(b'"elapsed"')]
    line = refusal(cut)
    assert "cut short" in line
    assert f"line {cut.rstrip().count(bytes([10])) + 1}, byte {len(cut.rstrip())}" in line


def test_whole_then_half_a_document() -> None:
    assert "cut short" in refusal(WHOLE + WHOLE[:100])


ROUND = "2024-05-01T10:00:00.12Z "


@pytest.mark.parametrize(
    ("data", "results"),
    [
        (b"[" + SMALL + b",\n " + SMALL + b"]", 2),
        (b'{"tool": "x", "rounds": [{"fio": ' + SMALL + b"}]}", 1),
        (b"\n".join(ROUND.encode() + line for line in WHOLE.split(b"\n")), 1),
        (b"\n".join(b"2024-05-01T10:00:00+01:00 stdout F " + line for line in WHOLE.split(b"\n")), 1),
        (b"\n".join(b"fio-1  | " + line for line in WHOLE.split(b"\n")), 1),
    ],
)
def test_results_in_documents_and_logs_of_other_programs(data: bytes, results: int) -> None:
    assert [run["summary"]["count"] > 0 for run in read_fio(data, "x.json")] == [True] * results


def test_an_array_of_others_is_refused() -> None:
    with pytest.raises(UserError, match="not a JSON object"):
        read_fio(b'[{"a": 1}]', "x.json")


def test_numbers_that_fio_could_not_compute_are_zero_with_a_note() -> None:
    broken = WHOLE.replace(b'"stddev": 0.0', b'"stddev": -nan')
    (run,) = read_fio(broken, "x.json")
    notes = run["notes"]
    assert any(note.startswith("numbers that fio could not compute (nan, inf) count as 0: ") for note in notes)


def test_not_utf8_names_the_byte() -> None:
    assert "not UTF-8 at byte 3" in refusal(b'{"\n\xff')


def test_text_output_of_fio() -> None:
    assert "no JSON object" in refusal(b"a: (g=0): rw=read, bs=4096B, ioengine=psync\n")


def test_a_job_file() -> None:
    assert "job file" in refusal(b"[global]\nrw=read\n")


@pytest.mark.parametrize(("document", "key"), [({"a": 1}, "fio version"), ({"fio version": "fio-3.1"}, "jobs")])
def test_other_json_names_the_missing_key(document: dict[str, Any], key: str) -> None:
    assert f"the key '{key}'" in refusal(json.dumps(document).encode())


def test_no_jobs() -> None:
    assert "at least one job" in refusal(build.text())


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_a_number_that_is_none(number: bytes) -> None:
    refusal(WHOLE.replace(b'"mean": 2000.0', b'"mean": ' + number, 1))


def test_a_number_of_5000_digits() -> None:
    assert "too large" in refusal(WHOLE.replace(b'"total_ios": 4', b'"total_ios": ' + b"9" * 5000, 1))


@pytest.mark.parametrize("value", [-1, "4", True, None, [], {}, 1.5, 2**64])
def test_a_count_of_the_wrong_kind_names_its_key(value: object) -> None:
    assert "jobs[0].read.total_ios" in refusal(changed(total_ios=value))


@pytest.mark.parametrize("value", [-0.5, "2", False, None, [1]])
def test_a_rate_of_the_wrong_kind_names_its_key(value: object) -> None:
    assert "jobs[0].read.iops" in refusal(changed(iops=value))


@pytest.mark.parametrize("bins", [{"a": 1}, {"-5": 1}, {"1000": -1}, {"1000": "x"}, [1], {"²": 1}])
def test_bins_of_the_wrong_kind_name_their_key(bins: object) -> None:
    clat = build.latency(2000.0, 1000, 4000, 4, bins=bins)
    assert "jobs[0].read.clat_ns.bins" in refusal(changed(clat_ns=clat))


@pytest.mark.parametrize("percentile", [{"x": 1}, {"101.0": 1}, {"nan": 1}, {"50.0": -1}, 7])
def test_percentiles_of_the_wrong_kind_name_their_key(percentile: object) -> None:
    clat = build.latency(2000.0, 1000, 4000, 4, percentile=percentile)
    assert "jobs[0].read.clat_ns.percentile" in refusal(changed(clat_ns=clat))


@pytest.mark.parametrize("jobs", [1, "a", [1], None, [[]]])
def test_jobs_of_the_wrong_kind(jobs: object) -> None:
    assert "jobs" in refusal(json.dumps({"fio version": "fio-3.1", "jobs": jobs}).encode())


def test_a_job_without_sides() -> None:
    assert "jobs[0].read" in refusal(build.text({"jobname": "a"}))


@pytest.mark.parametrize("depth", [500, 5000, 200_000])
def test_deep_nesting(depth: int) -> None:
    refusal(b'{"fio version": "fio-3.1", "jobs": ' + b"[" * depth + b"]" * depth + b"}")


def test_io_in_no_time() -> None:
    line = refusal(build.text(build.job(read=build.reads(None, runtime_ms=0), error=28)))
    assert "no rate (error 28 (ENOSPC))" in line


def test_long_values_are_shortened() -> None:
    assert "…" in refusal(changed(total_ios="\n9" * 5000))


def test_truncation_at_any_byte_is_refused() -> None:
    end = SMALL.rindex(b"}")
    for length in range(end + 1):
        refusal(SMALL[:length])


def test_the_own_samples_of_bad_files_are_refused(own_samples: Path) -> None:
    files = sorted((own_samples / "bad").iterdir())
    assert files
    for path in files:
        refusal(path.read_bytes())


@settings(max_examples=sized(60, 300))
@given(st.data())
def test_mutated_bytes_give_records_or_a_refusal(data: st.DataObject) -> None:
    mutated = bytearray(SMALL)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(mutated) - 1))
        mutated[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        read_fio(bytes(mutated), "x.json")
    except UserError:
        return


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def _paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(path for key, inner in pairs for path in _paths(inner, (*at, key)))]


PATHS = _paths(json.loads(SMALL))[1:]


@settings(max_examples=sized(60, 300))
@given(st.sampled_from(PATHS), JSON)
def test_any_value_at_any_key_gives_records_or_a_refusal(path: tuple[Any, ...], value: Any) -> None:
    document = json.loads(SMALL)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    try:
        [found] = read_fio(json.dumps(document), "x.json")
    except UserError:
        return
    json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
