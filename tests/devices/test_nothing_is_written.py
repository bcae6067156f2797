"""No command line without the right --erase opens a block device for writing, or lets a tool do so."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from spied import Spy, command_line

from hotband.faces.cli import app

SPY = Spy()
MIB = 1 << 20
JOB = "[global]\nioengine=libaio\ndirect=1\nruntime=1\n[w]\nfilename=/dev/x\nrw=randwrite\nbs=4k\niodepth=2\n"
NEVER = {"serve", "serve --mount"}
"""Commands that go on until they are interrupted: the options that name what they write are tried by themselves."""


def commands() -> dict[str, Any]:
    """All commands of the command line, by their words."""
    found: dict[str, Any] = {}

    def walk(command: Any, words: tuple[str, ...]) -> None:
        below = getattr(command, "commands", {})
        for name, one in below.items():
            walk(one, (*words, name))
        if not below:
            found[" ".join(words)] = command

    walk(typer.main.get_command(app), ())
    return {name: one for name, one in found.items() if name not in NEVER}


COMMANDS = commands()
TARGETS = {"--on", "--erase", "path", "machine"}


@pytest.fixture(scope="module", params=["a file that looks like one", "a loop device"])
def victim(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A block device with data, and the file below it."""
    folder = tmp_path_factory.mktemp("victim")
    file = folder / "disk.img"
    file.write_bytes(random.Random(1).randbytes(MIB))
    if request.param != "a loop device":
        yield str(file), file
        return
    if os.geteuid() != 0 or shutil.which("losetup") is None:
        pytest.skip("a loop device needs root and losetup")
    made = subprocess.run(["losetup", "--find", "--show", str(file)], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"no loop device can be made here: {made.stderr.strip()}")
    try:
        yield made.stdout.strip(), file
    finally:
        subprocess.run(["losetup", "--detach", made.stdout.strip()], check=True)


@pytest.fixture(scope="module")
def links(victim: tuple[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of links to the victim under every name that a command takes, and a job that writes."""
    folder = tmp_path_factory.mktemp("links")
    for name in ("x.csv", "x.parquet", "x.html", "x.toml", "x.fio", "x.json", "record.json", "x"):
        (folder / name).symlink_to(victim[0])
    (folder / "job.ini.fio").write_text(JOB)
    return folder


def values(param: Any, name: str, victim: str, links: Path) -> st.SearchStrategy[str]:
    """What is tried for a parameter of a command: the victim, by all its names, above all."""
    option = max(param.opts, key=len) if param.param_type_name == "option" else str(param.metavar or param.name).upper()
    option = option.strip("[].")
    places = [victim, *(str(links / one) for one in ("x.csv", "x.parquet", "x.html", "x.toml", "x.json", "x"))]
    machines = [f"real:{victim}", victim, f"real:{links / 'x'}", f"emulated:{victim}"]
    if option.startswith("MACHINE") or option == "--on":
        return st.sampled_from([*machines, "ent-15k"] if name == "run" else machines)
    if option in ("WORKLOAD", "--then", "--workload"):
        return st.sampled_from(["fio-randwrite", "fio-randread", str(links / "job.ini.fio"), victim])
    if option == "--set":
        return st.sampled_from(["state=purged", "state=filled", "state=preconditioned", "qd=2", f"filename={victim}"])
    if option == "--duration":
        return st.just("0.02 s")
    kind = str(param.type_descriptor.annotation)
    if "Path" in kind:
        return st.sampled_from(places)
    if "int" in kind or "float" in kind:
        return st.just("1")
    return st.sampled_from([*places, *machines, "0 s"])


@st.composite
def command_lines(draw: st.DrawFn, victim: str, links: Path) -> list[str]:
    """A command with its arguments and some of its options, `--erase` never right."""
    # Those that take a target are tried as often as all others together.
    takes = sorted(
        name for name, one in COMMANDS.items() if TARGETS & {max(param.opts, key=len) for param in one.params}
    )
    name = draw(st.sampled_from(takes) | st.sampled_from(sorted(COMMANDS)))
    words: list[str] = name.split()
    for param in COMMANDS[name].params:
        kind = str(param.type_descriptor.annotation)
        if param.param_type_name == "argument":
            words.append(draw(values(param, name, victim, links)))
            continue
        option = max(param.opts, key=len)
        if option == "--erase":
            words += draw(st.sampled_from([[], [option, "yes"], [option, "0"], [option, os.path.basename(victim)]]))
        elif "bool" in kind:
            words += [option] if draw(st.booleans()) else []
        elif option in ("--duration", "--on") or draw(st.booleans()):
            words += [option, draw(values(param, name, victim, links))]
    return words


@settings(max_examples=50, derandomize=True)
@given(data=st.data())
def test_no_command_line_without_erase_writes_a_block_device(
    data: st.DataObject, victim: tuple[str, Path], links: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, file = victim
    words = data.draw(command_lines(path, links))
    monkeypatch.chdir(tmp_path)
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    with SPY.watching(path, pretends=path == str(file)):
        command_line(*words)
    assert SPY.found == [], (words, SPY.found)
    assert hashlib.sha256(file.read_bytes()).hexdigest() == before, words


@pytest.mark.parametrize("command", ["serve", "serve --mount"])
@pytest.mark.parametrize("option", ["--store", "--io-log", "--record"])
def test_what_serves_writes_no_block_device(
    command: str, option: str, victim: tuple[str, Path], links: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, file = victim
    monkeypatch.chdir(tmp_path)
    name = str(links / "x.parquet") if option == "--io-log" else path
    before = file.read_bytes()
    with SPY.watching(path, pretends=path == str(file)):
        place = ["--mount", str(tmp_path)] if command == "serve --mount" else []
        said = command_line("serve", "ent-15k", *place, option, name, "--duration", "0.1 s", "--anyway")
    assert SPY.found == []
    assert file.read_bytes() == before
    assert f"{option} = " in said


OUTPUTS = {
    "run": ("run", "fio-randread", "--on", "ent-15k", "--duration", "0.02 s", "--io-log", "x.csv"),
    "workloads convert": ("workloads", "convert", "fio-randread", "-o", "x.toml"),
    "report": ("report", "kept", "-o", "x.html"),
    "plot": ("report", "--latency", "kept", "--out", "x.html"),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_no_output_goes_to_a_block_device(
    name: str, victim: tuple[str, Path], links: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of files that lead to one: as pipes do, they would have been written as they are."""
    path, file = victim
    monkeypatch.chdir(links)
    kept = str(tmp_path / "kept")
    command_line("run", "fio-randread", "--on", "ent-15k", "--duration", "0.02 s", "--out", kept)
    words = [kept if word == "kept" else word for word in OUTPUTS[name]]
    before = file.read_bytes()
    with SPY.watching(path, pretends=path == str(file)):
        said = command_line(*words)
    assert "is a block device; expected a file" in said
    assert (SPY.found, file.read_bytes()) == ([], before)


def test_every_command_is_tried_with_the_device() -> None:
    """Else a command that comes later would be left out without being seen."""
    assert {"run", "sweep", "review", "measure device", "workloads convert", "report"} <= COMMANDS.keys()
    assert len(COMMANDS) > 30


def test_the_spy_sees_what_writes(victim: tuple[str, Path]) -> None:
    path, file = victim
    with SPY.watching(path, pretends=path == str(file)):
        os.close(os.open(path, os.O_RDWR))
        os.close(os.open(path, os.O_RDONLY))
        with Path(path).open("r+b"):
            pass
        subprocess.run(["true", path], check=False)
    assert [one.split(" ")[0] for one in SPY.found] == ["opened", "opened", "ran"]


# Commands that measure hardware, `{}` being the target, and whether the first that they do to it is to write.
HARDWARE = {
    "run": (["fio-randwrite", "--on", "{}", "--yes", "--duration", "0.1 s", "--expect", "s4500-960"], True),
    "sweep": (["fio-randwrite", "--on", "{}", "--yes", "--duration", "0.1 s", "--set", "qd=1,2"], False),
    "pts": (["{}", "--quick", "--test", "iops", "--yes"], True),
}


@pytest.mark.parametrize("name", HARDWARE)
def test_a_device_is_written_with_its_erase_alone(
    name: str, victim: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same command line, once without and once with what has to be typed: the spy sees the second."""
    path, file = victim
    if path == str(file):
        pytest.skip("what is no device is not permitted whatever is typed")
    monkeypatch.chdir(tmp_path)
    # A suite needs 256 MiB.
    os.truncate(file, 300 * MIB)
    subprocess.run(["losetup", "--set-capacity", path], check=True)
    words, writes_first = HARDWARE[name]
    words = [name, *(word.format(f"real:{path}") for word in words)]
    with SPY.watching(path, pretends=False):
        said = command_line(*words)
        assert (SPY.found, SPY.jobs) == ([], []), said
        assert f"expected --erase {file}" in said
        said = command_line(*words, "--erase", str(file))
        assert bool(SPY.found) == writes_first, said
        assert SPY.found or SPY.jobs, said


def test_a_device_is_read_without_any_word(victim: tuple[str, Path]) -> None:
    path, file = victim
    if path == str(file):
        pytest.skip("what is no device cannot be read as one")
    with SPY.watching(path, pretends=False):
        said = command_line("run", "fio-randread", "--on", f"real:{path}", "--duration", "0.1 s")
    assert SPY.found == [], said
    assert len(SPY.jobs) == 1, said
    assert "rw=randread" in SPY.jobs[0]
