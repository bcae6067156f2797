"""Purging, filling and preconditioning: what is done where, and that it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from trees import Tree

from hotband.base.errors import UserError
from hotband.execution.devices.device import ID_CTRL, ID_NS
from hotband.execution.devices.held import Held, held
from hotband.execution.devices.safety import Permission, permission
from hotband.execution.targets import purge as purging
from hotband.execution.targets.states import Data, Rounds, StateKept, Step, prepare, ways_to_purge

RECORDED = Path(__file__).parent / "recorded"
MIB = 1 << 20
FREE = "\tMaster password revision code = 65534\n\t\tsupported\n\tnot\tenabled\n\tnot\tlocked\n\tnot\tfrozen\n"


Holds = Callable[[Permission], Held]


@pytest.fixture
def holds() -> Iterator[Holds]:
    """Holds what is permitted until the test is over."""
    with ExitStack() as stack:
        yield lambda permission: stack.enter_context(held(permission))


def nvme(tree: Tree, discards: bool = True, **changed: object) -> str:
    """An NVMe drive by what its controller says."""
    path = tree.disk("nvme0n1", "259:0", serial="S64FNE0R")
    tree.put("/sys/block/nvme0n1/queue/discard_max_bytes", "2199023255040" if discards else "0")
    control = {**json.loads((RECORDED / "nvme-id-ctrl.json").read_text()), **changed}
    name = {**json.loads((RECORDED / "nvme-id-ns.json").read_text()), **changed}
    tree.recorded(" ".join([*ID_CTRL, path]), json.dumps(control))
    tree.recorded(" ".join([*ID_NS, path]), json.dumps(name))
    return path


def sata(tree: Tree, security: str, discards: bool = False) -> str:
    path = tree.disk("sdb", "8:16", serial="A1B2C3")
    # Sysfs's folders are links to places on the bus.
    place = tree.root / "sys/devices/pci0000:00/ata1/host0/block"
    place.mkdir(parents=True)
    (tree.root / "sys/block/sdb").rename(place / "sdb")
    tree.link("/sys/block/sdb", "../devices/pci0000:00/ata1/host0/block/sdb")
    tree.put("/sys/block/sdb/queue/discard_max_bytes", "2147450880" if discards else "0")
    tree.recorded(f"hdparm -I {path}", f"Security: \n{security}")
    return path


def test_an_nvme_drive_that_is_alone_is_formatted(holds: Holds, tree: Tree) -> None:
    path = nvme(tree)
    assert ways_to_purge(path, "block", tree.host) == ["format", "discard", "sanitize"]
    tree.recorded(f"nvme format {path} --lbaf=0 --ses=2 --force", "Success formatting namespace:1\n")
    holding = holds(permission(path, tree.host, writes=True, erase="S64FNE0R"))
    kept = prepare(holding, "purged", size_bytes=8 * MIB)
    assert (kept.state, kept.by, kept.written_bytes) == ("purged", ("NVMe format (crypto erase)",), 0)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        # A format or sanitize that goes to all namespaces, where there may be others.
        ({"nn": 16, "fna": 5}, ["discard"]),
        ({"nn": 16, "fna": 4}, ["format", "discard"]),
        # Protection information or metadata would be lost.
        ({"dps": 1}, ["discard", "sanitize"]),
        ({"lbafs": [{"ms": 8, "ds": 9}]}, ["discard", "sanitize"]),
        ({"oacs": 0, "sanicap": 0}, ["discard"]),
        ({"oacs": 0, "sanicap": 0, "discards": False}, []),
    ],
)
def test_what_would_reach_further_than_the_namespace_is_not_done(
    tree: Tree, changed: dict[str, object], expected: list[str]
) -> None:
    path = nvme(tree, **changed)  # type: ignore[arg-type]
    assert ways_to_purge(path, "block", tree.host) == expected


def test_a_partition_is_never_formatted(tree: Tree) -> None:
    nvme(tree)
    part = tree.partition("nvme0n1", 1, "259:1", 2048, 4096)
    assert ways_to_purge(part, "block", tree.host) == ["discard"]


@pytest.mark.parametrize(
    ("security", "expected"),
    [
        (FREE, ["secure-erase"]),
        (FREE.replace("not\tfrozen", "\tfrozen"), []),
        (FREE.replace("not\tenabled", "\tenabled"), []),
        (FREE.replace("not\tlocked", "\tlocked"), []),
        (FREE.replace("\t\tsupported", "\tnot\tsupported"), []),
    ],
)
def test_a_frozen_or_locked_drive_is_not_erased(tree: Tree, security: str, expected: list[str]) -> None:
    assert ways_to_purge(sata(tree, security), "block", tree.host) == expected


def test_an_erase_that_cannot_be_interrupted_is_done_only_where_it_is_named(holds: Holds, tree: Tree) -> None:
    path = sata(tree, FREE)
    holding = holds(permission(path, tree.host, writes=True, erase="A1B2C3"))
    with pytest.raises(UserError, match="must be named: secure-erase"):
        prepare(holding, "purged", size_bytes=8 * MIB)
    tree.recorded(f"hdparm --user-master u --security-set-pass hotband {path}", "")
    tree.recorded(f"hdparm --user-master u --security-erase hotband {path}", "")
    kept = prepare(holding, "purged", size_bytes=8 * MIB, purge_by="secure-erase")
    assert kept.by == ("ATA security erase",)


def test_an_erase_that_fails_says_the_password(holds: Holds, tree: Tree) -> None:
    path = sata(tree, FREE)
    tree.recorded(f"hdparm --user-master u --security-set-pass hotband {path}", "")
    holding = holds(permission(path, tree.host, writes=True, erase="A1B2C3"))
    with pytest.raises(UserError, match="its password is 'hotband'"):
        prepare(holding, "purged", size_bytes=8 * MIB, purge_by="secure-erase")


def test_a_disk_that_rotates_has_no_purged_state(holds: Holds, tree: Tree) -> None:
    path = sata(tree, FREE)
    tree.put("/sys/block/sdb/queue/rotational", "1")
    assert ways_to_purge(path, "block", tree.host) == []
    holding = holds(permission(path, tree.host, writes=True, erase="A1B2C3"))
    with pytest.raises(UserError, match="cannot be purged"):
        prepare(holding, "purged", size_bytes=8 * MIB)


@pytest.mark.parametrize("state", ["purged", "filled", "preconditioned"])
def test_permission_to_read_prepares_nothing(holds: Holds, tmp_path: Path, state: str) -> None:
    file = tmp_path / "a.img"
    file.write_bytes(b"precious")
    holding = holds(permission(file, writes=False, erase=None))
    with pytest.raises(UserError, match="is read-only"):
        prepare(holding, state, size_bytes=8 * MIB)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="is read-only"), purging.opened(holding):
        pass
    assert file.read_bytes() == b"precious"


def test_a_file_that_took_the_name_is_not_opened(tmp_path: Path) -> None:
    file = tmp_path / "a.img"
    file.write_bytes(b"mine")
    granted = permission(file, writes=True, erase=str(file))
    file.rename(tmp_path / "b.img")
    file.write_bytes(b"of another")
    with pytest.raises(UserError, match="is no longer the permitted device or file"), held(granted):
        pass


def test_what_is_held_is_written_whatever_took_its_name(tmp_path: Path) -> None:
    file = tmp_path / "a.img"
    file.write_bytes(b"\xff" * 4096)
    with held(permission(file, writes=True, erase=str(file))) as holding:
        file.rename(tmp_path / "b.img")
        file.write_bytes(b"of another")
        assert prepare(holding, "purged", size_bytes=MIB).by == ("discard (a hole in the file)",)
        with pytest.raises(UserError, match="is no longer the permitted device or file"):
            holding.expect_named()
    assert file.read_bytes() == b"of another"
    assert (tmp_path / "b.img").read_bytes() == bytes(4096)


def test_a_file_is_held_against_a_second_run(tmp_path: Path) -> None:
    file = tmp_path / "a.img"
    file.write_bytes(b"mine")
    granted = permission(file, writes=True, erase=str(file))
    with held(granted), pytest.raises(UserError, match="locked by another process"), held(granted):
        pass
    with held(granted):
        pass


needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


@needs_fio
def test_a_file_is_filled_with_data_that_compresses_as_asked(holds: Holds, tmp_path: Path) -> None:
    file = tmp_path / "a.img"
    steps: list[Step] = []
    holding = holds(permission(file, writes=True, erase=None))
    kept = prepare(holding, "filled", size_bytes=4 * MIB, data=Data(compressed_pct=50), progress=steps.append)
    assert kept.written_bytes == 2 * 4 * MIB
    assert kept.compressed_pct == pytest.approx(50, abs=2)
    assert file.stat().st_size == 4 * MIB
    assert steps[0].what == "purging"
    assert {step.what for step in steps} >= {"filling (1 of 2)"}


@needs_fio
def test_data_that_reads_back_otherwise_is_told(holds: Holds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drive that keeps nothing, or less than it says that it has."""
    from hotband.execution.devices.host import Host

    holding = holds(permission(tmp_path / "a.img", writes=True, erase=None))
    monkeypatch.setattr(Host, "read", lambda _self, _path, _at, count: bytes(count))
    with pytest.raises(UserError, match="reads back zeros in 64 of 64 written places"):
        prepare(holding, "filled", size_bytes=MIB)
    monkeypatch.setattr(Host, "read", lambda _self, _path, _at, count: b"ab" * (count // 2))
    with pytest.raises(UserError, match=r"of which 99\.5 % compress away, not the 0 %"):
        prepare(holding, "filled", size_bytes=MIB)


@needs_fio
def test_preconditioning_ends_by_the_rule(holds: Holds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hotband.execution.targets import states

    holding = holds(permission(tmp_path / "a.img", writes=True, erase=None))
    rates = iter([900.0, 500.0, 101.0, 100.0, 99.0, 100.0, 100.0, 1.0])
    told = states._done
    monkeypatch.setattr(states, "_done", lambda *words: states._Done(next(rates), told(*words).written_bytes))
    # Both fills take a rate, too.
    kept = prepare(holding, "preconditioned", size_bytes=MIB, rounds=Rounds(0.1, 25))
    assert kept.steady is not None
    assert (kept.steady["rounds"], kept.steady["reached"]) == ([101.0, 100.0, 99.0, 100.0, 100.0], True)
    assert kept.written_bytes > 2 * MIB


@needs_fio
def test_an_interruption_ends_it(holds: Holds, tmp_path: Path) -> None:
    holding = holds(permission(tmp_path / "a.img", writes=True, erase=None))
    with pytest.raises(KeyboardInterrupt):
        prepare(
            holding, "preconditioned", size_bytes=MIB, rounds=Rounds(600), stop=lambda: len(asked) > 3, progress=note
        )


asked: list[Step] = []


def note(step: Step) -> None:
    asked.append(step)


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A loop device, and its file."""
    if os.geteuid() != 0 or shutil.which("losetup") is None:
        pytest.skip("a loop device needs root and losetup")
    file = tmp_path / "disk.img"
    file.write_bytes(b"\xff" * 4 * MIB)
    made = subprocess.run(["losetup", "--find", "--show", str(file)], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"no loop device can be made here: {made.stderr.strip()}")
    try:
        yield made.stdout.strip(), file
    finally:
        subprocess.run(["losetup", "--detach", made.stdout.strip()], check=True)


@needs_fio
def test_a_real_device_is_held_purged_and_filled(loop: tuple[str, Path]) -> None:
    path, file = loop
    with pytest.raises(UserError, match=str(file)):
        permission(path, writes=True, erase=None)
    granted = permission(path, writes=True, erase=str(file))
    with held(granted) as holding:
        with pytest.raises(OSError, match="busy"):
            os.open(path, os.O_RDONLY | os.O_EXCL)
        assert prepare(holding, "purged", size_bytes=4 * MIB).by == ("discard",)
        assert file.stat().st_blocks == 0
        kept = prepare(holding, "filled", size_bytes=4 * MIB)
    assert isinstance(kept, StateKept)
    assert kept.compressed_pct == pytest.approx(0, abs=2)
    assert file.stat().st_blocks * 512 >= 4 * MIB


def test_a_real_device_with_a_file_system_is_refused_mounted_or_not(loop: tuple[str, Path], tmp_path: Path) -> None:
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("mkfs.ext4 is not installed")
    path, file = loop
    subprocess.run(["mkfs.ext4", "-q", path], check=True)
    with pytest.raises(UserError, match=r"contains a file system \(ext4\), seen by its magic number"):
        permission(path, writes=True, erase=str(file))
    place = tmp_path / "mnt"
    place.mkdir()
    if subprocess.run(["mount", path, str(place)], check=False, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        with pytest.raises(UserError, match=f"it is mounted on {place}") as refused:
            permission(path, writes=True, erase=str(file))
        assert "held exclusively by another process" in str(refused.value)
    finally:
        subprocess.run(["umount", str(place)], check=True)
    subprocess.run(["wipefs", "--all", "--quiet", path], check=True)
    assert permission(path, writes=True, erase=str(file)).may_write


def test_a_device_that_got_into_use_since_it_was_permitted_is_not_held(loop: tuple[str, Path]) -> None:
    path, file = loop
    granted = permission(path, writes=True, erase=str(file))
    with open(path, "r+b") as device:
        device.seek(536)
        device.write(b"LVM2 001")
    with pytest.raises(UserError, match=r"is now in use.*LVM2_member"), held(granted):
        pass


def test_a_real_device_that_another_process_writes_is_refused(loop: tuple[str, Path]) -> None:
    """As a virtual machine does with a raw disk."""
    path, file = loop
    with open(path, "r+b") as writing, subprocess.Popen(["sleep", "60"], stdin=writing) as other:
        try:
            with pytest.raises(UserError, match=rf"open for writing by sleep \({other.pid}\)"):
                permission(path, writes=True, erase=str(file))
        finally:
            other.kill()
