"""Is the wheel of `make wheel` complete, and for every Python from 3.11 on?"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make wheel` does, of the extension that `make setup` has compiled."""
    maturin = Path(sys.executable).with_name("maturin")
    if not maturin.exists():
        pytest.skip("maturin is not installed beside this Python: run make setup")
    folder = tmp_path_factory.mktemp("wheel")
    command = [maturin, "build", "--release", "--locked", "--quiet", "--out", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_it_is_for_every_python_and_most_linuxes(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name
    assert "manylinux" in wheel.name or sys.platform != "linux"


def test_it_holds_the_catalog_the_types_and_what_pages_are_made_of(wheel: Path) -> None:
    files = set(zipfile.ZipFile(wheel).namelist())
    data = {
        str(path.relative_to(ROOT / "python"))
        for path in (ROOT / "python" / "hotband").rglob("*")
        if path.is_file() and path.suffix not in (".so", ".pyc")
    }
    assert sorted(data - files) == []
    assert any(name.startswith("hotband/_core") and name.endswith(".so") for name in files)


@pytest.fixture(scope="module")
def hotband(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Gives what a line of `LINES`, or `help`, prints where the wheel is installed, in an empty folder."""
    site = tmp_path_factory.mktemp("site")
    folder = tmp_path_factory.mktemp("elsewhere")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    install += ["--target", site, wheel]
    subprocess.run(install, cwd=folder, check=True, capture_output=True)

    environment = os.environ | {"PYTHONPATH": str(site)}

    def in_folder(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{shlex.join(command)}\n{done.stderr}"
        return done.stdout

    lines = [f"run {SHORT_RUN} --seed {seed} --out {record}" for seed, record in enumerate(("first", "second"))]
    lines += ["help", *LINES.values()]
    in_folder("-m", "hotband", "drives", "ent-10k")
    answers = json.loads(in_folder("-c", ALL_LINES, json.dumps([shlex.split(line) for line in lines])))

    def answer(line: str) -> str:
        code, printed, said = answers[lines.index(line)]
        assert code == 0, f"hotband {line}\n{said}"
        return str(printed)

    return answer


ALL_LINES = """
import json, sys
from typer.testing import CliRunner
from hotband.faces.cli import app

done = [CliRunner().invoke(app, line, prog_name="hotband") for line in json.loads(sys.argv[1])]
print(json.dumps([(each.exit_code, each.stdout, each.stderr) for each in done]))
"""
"""All lines in one process: a process for each takes longer to begin than to answer."""
SHORT_RUN = 'fio-randread --on ent-10k --duration "1 s"'
LINES = {
    "sweep": "sweep fio-randread --on ent-10k --set qd=1,4 --duration '1 s' -o out/sweep.html",
    "find": "find 'IOPS at p99 < 50 ms' -w fio-randread --on ent-10k --duration '1 s'",
    "advise": "advise --help",
    "compare": "compare first second",
    "audit": "audit first",
    "report": "report first second -o report.html",
    "corpus": "corpus list hdd",
    "drives": "drives ent-10k",
    "workloads": "workloads fio-randread",
    "layouts": "layouts",
    "keys": "keys fio-randread --on ent-10k",
    "studies": "studies",
    "expect": "expect --help",
    "fleet": "fleet --help",
    "import": "import --help",
    "measure": "measure device --help",
    "program": "program --help",
    "reliability": "reliability raid5:4xent-10k",
    "review": "review --help",
    "serve": "serve --help",
    "store": "store add kept first second",
    "study": "study --help",
    "trace": "trace --help",
    "ui": "ui --help",
}
"""A line for each command: an answer where that takes about a second, its help where it takes longer."""


def test_every_command_has_its_line(hotband: Callable[[str], str]) -> None:
    commands = re.findall(r"^  (\S+)  ", hotband("help"), re.M)
    assert sorted(commands) == sorted([*LINES, "run"])


@pytest.mark.parametrize("name", LINES)
def test_a_command_runs_where_nothing_of_the_repository_is(name: str, hotband: Callable[[str], str]) -> None:
    assert hotband(LINES[name]).strip()
