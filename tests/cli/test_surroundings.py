"""Does a command do its work, or say in one line why not, whatever it is started from and written to?"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hotband as hb
from forms import few, sized
from hotband.base.errors import UserError
from hotband.base.foreign import data_in, json_in

DISK = "exos-15e900-512n"
HOTBAND = f"{sys.executable} -m hotband"
SHORT = f"run fio-randread --on {DISK} --duration '0.2 s'"
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A line of the shell."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    return subprocess.run(["bash", "-c", line], cwd=folder, env=environ, capture_output=True, timeout=120)


NO_TEXT = [
    "run $'\\xff.toml' --on {disk}",
    "run fio-randread --on $'\\xff'",
    "run fio-randread --on {disk} --set qd=$'\\xff'",
    "run fio-randread --on {disk} --duration $'\\xff'",
    "sweep $'\\xff' --on {disk}",
    "keys $'\\xff' {disk}",
    "drives $'\\xff'",
    "report $'\\xff'",
    "trace show $'\\xff'",
    "audit $'\\xff'",
    "store query $'select \\'\\xff\\'' --from .",
]


@pytest.mark.parametrize("line", few(NO_TEXT))
def test_bytes_that_are_no_text_are_one_line(line: str, tmp_path: Path) -> None:
    done = shell(f"{HOTBAND} {line.format(disk=DISK)}", tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count(b"\n") == 1
    assert done.stderr.startswith(b"hotband: error: ")


def test_a_record_in_a_folder_whose_name_is_no_text_is_not_called_broken(tmp_path: Path) -> None:
    assert shell(f"{HOTBAND} {SHORT} --out rec", tmp_path).returncode == 0
    odd = os.fsencode(tmp_path) + b"/\xff"
    shutil.copytree(os.fsencode(tmp_path) + b"/rec", odd)
    done = shell(f"{HOTBAND} report $'\\xff' -o x.html", tmp_path)
    assert b"not a complete record" not in done.stderr
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 2)


@pytest.mark.parametrize("command", few(["version", SHORT, f"{SHORT} --json", "--help", "drives"]))
def test_closed_output_ends_in_order(command: str, tmp_path: Path) -> None:
    done = shell(f"{HOTBAND} {command} >&-", tmp_path)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize(
    "command", sized([f"{SHORT} --json", "audit -"], [f"{SHORT} --out rec", f"{SHORT} --json", "audit -"])
)
def test_closed_input_is_an_empty_one(command: str, tmp_path: Path) -> None:
    done = shell(f"{HOTBAND} {command} <&-", tmp_path)
    assert b"Traceback" not in done.stderr
    empty = shell(f"{HOTBAND} {command} </dev/null", tmp_path)
    assert (done.returncode, done.stderr) == (empty.returncode, empty.stderr)


@pytest.mark.parametrize("where", ["2>&-", pytest.param("2>/dev/full", marks=FULL), "2>&1 >&3 | true"])
def test_what_takes_no_progress_takes_no_results_either_away(where: str, tmp_path: Path) -> None:
    done = shell(f"exec 3>&1; set -o pipefail; {HOTBAND} {SHORT} --out rec --json {where}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert (tmp_path / "rec/record.json").is_file()


@FULL
def test_a_mistake_has_its_exit_code_where_nobody_can_be_told(tmp_path: Path) -> None:
    for where in sized(("2>/dev/full",), ("2>&-", "2>/dev/full")):
        done = shell(f"{HOTBAND} drives nosuch {where}", tmp_path)
        assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize("width", sized(["00", ""], ["0", "00", ""]))
def test_no_width_is_not_a_width(width: str, tmp_path: Path) -> None:
    done = shell(f"{HOTBAND} drives", tmp_path, COLUMNS=width)
    assert done.returncode == 0
    assert DISK.encode() in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_output_is_plainer_where_its_encoding_lacks_characters(encoding: str, tmp_path: Path) -> None:
    line = f"{HOTBAND} run fio-randread --on s4500-960 --duration '1 s'"
    done = shell(line, tmp_path, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode(encoding)
    assert ("us" if encoding == "ascii" else "µs") in shown
    assert "#" in shown or "█" in shown
    assert "\\" not in shown


CAFE = """title = "Café µ\U0001f600"
source = "±"
[load]
closed = { threads = 1, depth = 4 }
[[streams]]
read_pct = 100
random_pct = 100
size = "4 KiB"
[[phases]]
name = "é"
duration = "0.1 s"
measure = true
"""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_data_are_the_same_in_every_encoding(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "café µ×.toml").write_text(CAFE, encoding="utf-8")
    line = f"{HOTBAND} run 'café µ×.toml' --on {DISK}"
    done, expected = (shell(f"{line} --json", tmp_path, PYTHONIOENCODING=code) for code in (encoding, "utf-8"))
    assert (done.returncode, expected.returncode) == (0, 0), done.stderr
    spec, shown = (json.loads(each.stdout)["spec"] for each in (done, expected))
    assert "Café µ\U0001f600" in json.dumps(shown, ensure_ascii=False)
    assert spec == shown
    done, expected = (shell(f"{line} --format csv", tmp_path, PYTHONIOENCODING=code) for code in (encoding, "utf-8"))
    names = {"ascii": r"caf\u00e9 \u00b5\u00d7.toml", "latin-1": "café µ×.toml", "cp437": r"café µ\u00d7.toml"}
    assert names[encoding] in done.stdout.decode(encoding)
    assert done.stdout.decode(encoding).replace(names[encoding], names["latin-1"]) == expected.stdout.decode()


@pytest.mark.parametrize(
    ("text", "plain", "escaped"),
    [
        ("90 µs ± 3 × −1…", "90 us +/- 3 x -1...", r"90 \u00b5s \u00b1 3 \u00d7 \u22121\u2026"),
        ("█▌─│▲▼", "##--^v", r"\u2588\u258c\u2500\u2502\u25b2\u25bc"),
        ("é😀", r"\u00e9\ud83d\ude00", r"\u00e9\ud83d\ude00"),
    ],
)
def test_text_has_plainer_forms_and_data_has_escapes(text: str, plain: str, escaped: str) -> None:
    assert text.encode("ascii", "plainer").decode() == plain
    assert data_in(text, "ascii") == escaped
    assert json.loads(json_in(json.dumps(text, ensure_ascii=False), "latin-1")) == text


@pytest.mark.parametrize("command", sized(["run --help", SHORT], ["version", "run --help", SHORT]))
def test_a_reader_that_leaves_is_no_fault(command: str, tmp_path: Path) -> None:
    done = shell(f"{HOTBAND} {command} | true; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert (done.returncode, done.stderr.count(b"Traceback")) == (0, 0), done.stderr


@pytest.mark.parametrize("after", few([0.12, 0.18, 0.25, 0.4, 0.7]))
def test_an_interrupt_while_commands_are_loaded_is_one_line(after: float, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hotband", "run", "fio-randread", "--on", DISK, "--duration", "2000 h"]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    # Before that, the interpreter itself is loaded, which says what it wants.
    if b"<frozen" not in stderr and b"runpy" not in stderr:
        assert (process.returncode, b"Traceback" in stderr) == (130, False), stderr


def test_names_of_files_may_have_equals_signs_and_line_ends(tmp_path: Path) -> None:
    text = (Path(hb.__file__).parent / "data/catalog/workloads/fio-randread.toml").read_text(encoding="utf-8")
    for name in ("qd=32.toml", "two\nlines.toml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert hb.run(str(tmp_path / name), on=DISK, duration="0.1 s", progress=False).iops
    done = shell(f"{HOTBAND} sweep ./qd=32.toml --on {DISK} --duration '0.1 s' --set qd=1,2", tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_sweep_can_be_pickled() -> None:
    found = hb.sweep("fio-randread", on=DISK, duration="0.1 s", qd=[1, 2], progress=False)
    again = pickle.loads(pickle.dumps(found))
    assert again.frame.equals(found.frame)
    assert again.resume() is again


def test_what_a_search_found_can_be_pickled() -> None:
    """With the record of its run, whose tables are the engine's."""
    found = hb.find("IOPS at p99 < 100 ms", workload="fio-randread", on=DISK, duration="0.1 s", progress=False)
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == found.to_dict()


def test_numbers_of_numpy_are_seeds() -> None:
    one = hb.run("fio-randread", on=DISK, duration="0.1 s", seed=np.int64(3), progress=False)
    assert one.seed == 3
    assert len(hb.sweep("fio-randread", on=DISK, duration="0.1 s", seed=np.arange(2)[1], repeat=np.int32(2))) == 2


@pytest.mark.parametrize(
    ("argument", "given"),
    [("out", b"x"), ("out", 5), ("out", "\0"), ("on", "\udcff"), ("duration", "\udcff"), ("qd", "\udcff")],
)
def test_what_is_no_text_or_path_is_told(argument: str, given: Any) -> None:
    with pytest.raises(UserError):
        hb.sweep("fio-randread", **{"on": DISK, "duration": "0.1 s", "progress": False, argument: given})
