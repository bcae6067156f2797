"""Is a file or a device that somebody uses refused by every name it has, not only by the one it is used by?"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from trees import Tree

from hotband.base.errors import UserError
from hotband.execution.devices.safety import identity_of, permission, refusals

KIB, MIB = 1 << 10, 1 << 20
needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("losetup") is None, reason="loop devices and mounts need root and losetup"
)


def ran(*words: object) -> str:
    """Run a tool, or skip the test where it cannot do its work on this machine."""
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip(f"{words[0]} is not installed")
    if done.returncode != 0:
        pytest.skip(f"{words[0]} does not work here: {done.stderr.strip()}")
    return done.stdout.strip()


@contextmanager
def looped(file: Path) -> Iterator[str]:
    """A loop device on a file."""
    path = ran("losetup", "--find", "--show", file)
    try:
        yield path
    finally:
        subprocess.run(["losetup", "--detach", path], check=True)


@contextmanager
def mounted(file: Path) -> Iterator[None]:
    """A file whose file system is mounted."""
    ran("mkfs.ext4", "-q", file)
    place = file.parent / "mounted"
    place.mkdir()
    with looped(file) as path:
        ran("mount", path, place)
        try:
            yield
        finally:
            subprocess.run(["umount", str(place)], check=True)


@contextmanager
def below_a_loop_device(file: Path) -> Iterator[None]:
    """A file that a loop device lies on."""
    with looped(file):
        yield


@contextmanager
def swapped(file: Path) -> Iterator[None]:
    """A file that the kernel swaps to."""
    file.chmod(0o600)
    # swapon takes no file with holes.
    file.write_bytes(bytes(file.stat().st_size))
    ran("mkswap", file)
    ran("swapon", file)
    try:
        yield
    finally:
        subprocess.run(["swapoff", str(file)], check=True)


@contextmanager
def written(file: Path) -> Iterator[None]:
    """A file or device that another process has open for writing, as a virtual machine has."""
    with file.open("r+b") as writing:
        other = subprocess.Popen(["sleep", "60"], stdin=writing)
    try:
        yield
    finally:
        other.kill()
        other.wait()


MAPS = "import mmap, sys; file = open(sys.argv[1], 'r+b'); held = mmap.mmap(file.fileno(), 0); file.close()"


@contextmanager
def mapped(file: Path) -> Iterator[None]:
    """A file that another process has in memory for writing, and open no more."""
    words = [sys.executable, "-c", f"{MAPS}; print(flush=True); sys.stdin.read()", str(file)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            yield
        finally:
            other.kill()


@contextmanager
def hard_link(file: Path) -> Iterator[Path]:
    """A second name of a file."""
    link = file.parent / "link.img"
    link.hardlink_to(file)
    yield link


@contextmanager
def bound_folder(file: Path) -> Iterator[Path]:
    """The file through a bind mount of its folder, whose first name leads elsewhere."""
    place = file.parent.parent / "bound"
    place.mkdir()
    ran("mount", "--bind", file.parent, place)
    try:
        yield place / file.name
    finally:
        subprocess.run(["umount", str(place)], check=True)


@contextmanager
def bound_file(file: Path) -> Iterator[Path]:
    """The file through a bind mount of itself."""
    place = file.parent / "bound.img"
    place.touch()
    ran("mount", "--bind", file, place)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@contextmanager
def loop_over_a_link(file: Path) -> Iterator[Path]:
    """A loop device over a second name of a file."""
    with hard_link(file) as link, looped(link) as path:
        yield Path(path)


USES = {
    "mounted": (mounted, "backs the loop device loop"),
    "below a loop device": (below_a_loop_device, "backs the loop device loop"),
    "swap": (swapped, "is active swap"),
    "open for writing": (written, "is open for writing by sleep ("),
    "mapped for writing": (mapped, "is mapped by "),
}
NAMES = {
    "a hard link": hard_link,
    "a bind mount of its folder": bound_folder,
    "a bind mount of the file": bound_file,
    "a loop device over a hard link": loop_over_a_link,
}
Using = Callable[[Path], "ExitStack"]


@needs_root
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("use", USES)
def test_a_file_in_use_is_refused_by_its_other_name(tmp_path: Path, use: str, name: str) -> None:
    file = tmp_path / "folder" / "disk.img"
    file.parent.mkdir()
    file.write_bytes(bytes(MIB))
    uses, reason = USES[use]
    with uses(file), NAMES[name](file) as path:
        typed = identity_of(path)
        with pytest.raises(UserError, match="is not written") as refused:
            permission(path, writes=True, erase=typed)
        assert reason in str(refused.value)
        # Reading changes nothing.
        assert not permission(path, writes=False, erase=None).may_write
    file.touch()


@needs_root
def test_a_device_that_is_written_by_another_node_is_refused(tmp_path: Path) -> None:
    file, node = tmp_path / "disk.img", tmp_path / "node"
    file.write_bytes(bytes(MIB))
    with looped(file) as path:
        os.mknod(node, 0o600 | os.stat(path).st_mode & 0o170000, os.stat(path).st_rdev)
        with written(node):
            assert any("is open for writing by sleep (" in reason for reason in refusals(path))
        with written(Path(path)):
            assert any("is open for writing by sleep (" in reason for reason in refusals(node))


@needs_root
def test_a_loop_device_over_the_link_of_a_file_that_was_deleted_is_told_by_the_file_itself(tmp_path: Path) -> None:
    """The kernel's name of the file is no name any more; what the loop device lies on is still known."""
    file, link = tmp_path / "disk.img", tmp_path / "link.img"
    file.write_bytes(bytes(MIB))
    with looped(file):
        link.hardlink_to(file)
        file.unlink()
        assert any("backs the loop device" in reason for reason in refusals(link))


@needs_root
def test_a_folder_of_the_system_is_one_through_a_bind_mount_too(tmp_path: Path) -> None:
    place = tmp_path / "bound"
    place.mkdir()
    ran("mount", "--bind", "/etc", place)
    try:
        assert "is in a system folder (/etc/passwd)" in refusals(place / "passwd")
    finally:
        subprocess.run(["umount", str(place)], check=True)


def takes_leases(file: Path) -> bool:
    with file.open("rb") as reading:
        try:
            fcntl.fcntl(reading, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError:
            return False
    return True


def test_a_writer_that_nobody_can_see_is_told_by_the_file_system(tmp_path: Path, monkeypatch) -> None:
    """A process of another user, or a server in the kernel: no table names it."""
    from hotband.execution.devices import refusals as reasons

    file = tmp_path / "disk.img"
    file.write_bytes(bytes(MIB))
    monkeypatch.setattr(reasons, "all_opened", lambda _: [])
    with written(file):
        said = refusals(file)
    if not takes_leases(file):
        pytest.skip("the file system of this folder takes no leases")
    assert said == ["is open for writing elsewhere (its file system refuses a lease)"]
    assert refusals(file) == []


@needs_root
def test_a_writer_through_an_overlay_is_told_by_the_file_system(tmp_path: Path) -> None:
    """As in a container: the file has another device number there."""
    lower, upper, work, place = (tmp_path / name for name in ("lower", "upper", "work", "place"))
    for folder in (lower, upper, work, place):
        folder.mkdir()
    (upper / "disk.img").write_bytes(bytes(MIB))
    ran("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={lower},upperdir={upper},workdir={work}", place)
    try:
        with written(place / "disk.img"):
            assert refusals(upper / "disk.img") == ["is open for writing elsewhere (its file system refuses a lease)"]
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_file_that_only_this_process_writes_is_not_refused(tmp_path: Path) -> None:
    file = tmp_path / "disk.img"
    file.write_bytes(bytes(MIB))
    with file.open("r+b"):
        assert refusals(file) == []


def test_a_file_of_two_names_is_not_written(tmp_path: Path) -> None:
    """The other name may be a dot file of a home."""
    file, link = tmp_path / "disk.img", tmp_path / "link.img"
    file.write_bytes(bytes(MIB))
    link.hardlink_to(file)
    with pytest.raises(UserError, match=r"is not written: has 2 names \(hard links\); expected a file with one name"):
        permission(file, writes=True, erase=str(file))
    link.unlink()
    assert permission(file, writes=True, erase=str(file)).may_write


# --- recorded machines: what the kernel of this one may not have -----------------------------------------------------


def linked(tree: Tree) -> Path:
    """An image of a tree and its hard link."""
    image = tree.put("/images/a.img", b"precious")
    os.link(image, image.parent / "b.img")
    return image


def of_raid(tree: Tree) -> None:
    """Its loop device is a member of a running RAID."""
    tree.loop("loop1", "7:1", "/images/a.img")
    tree.disk("md127", "9:127")
    tree.hold("md127", "loop1")


def of_device_mapper(tree: Tree) -> None:
    """Its loop device is part of a logical volume, which is mounted."""
    tree.loop("loop1", "7:1", "/images/a.img")
    tree.mapped("dm-0", "253:0", "vg-data", "LVM-abc", "loop1")
    tree.mount("/dev/mapper/vg-data", "/data", "253:0", "ext4")


def of_a_mount_without_a_device(tree: Tree) -> None:
    """EROFS mounts a file as it is (Documentation/filesystems/erofs.rst), and so does FUSE."""
    tree.mount("/images/a.img", "/data", "0:51", "erofs")


def of_nvme_target(tree: Tree) -> None:
    tree.put("/sys/kernel/config/nvmet/subsystems/nqn.a/namespaces/1/device_path", "/images/a.img")
    tree.put("/sys/kernel/config/nvmet/subsystems/nqn.a/namespaces/1/enable", "1")


def of_scsi_target(tree: Tree) -> None:
    tree.put("/sys/kernel/config/target/core/fileio_0/lun/udev_path", "/images/a.img")


def of_swap(tree: Tree) -> None:
    tree.put("/proc/swaps", "Filename Type Size Used Priority\n/images/a.img file 8 0 -2\n")


def of_virtual_machine(tree: Tree) -> None:
    tree.opened(99, "qemu-system-x86", "/images/a.img", "0100002")


def of_database(tree: Tree) -> None:
    tree.put("/proc/99/comm", "database")
    tree.put("/proc/99/maps", "7f00-7f10 rw-s 00000000 08:01 77                         /images/a.img\n")


RECORDED = {
    "a RAID": (of_raid, "backs the loop device loop1"),
    "the device mapper": (of_device_mapper, "backs the loop device loop1"),
    "a mount without a device": (of_a_mount_without_a_device, "is mounted on /data"),
    "an NVMe target": (of_nvme_target, "is exported to other hosts by the NVMe target nqn.a"),
    "a SCSI target": (of_scsi_target, "is exported to other hosts by the SCSI target fileio_0/lun"),
    "swap": (of_swap, "is active swap"),
    "a virtual machine": (of_virtual_machine, "is open for writing by qemu-system-x86 (99)"),
    "a mapping": (of_database, "is mapped by database (99)"),
}


@pytest.mark.parametrize("above", [False, True], ids=["the link", "a loop device over the link"])
@pytest.mark.parametrize("use", RECORDED)
def test_the_hard_link_of_an_image_in_use_is_refused(tree: Tree, use: str, above: bool) -> None:
    linked(tree)
    uses, reason = RECORDED[use]
    uses(tree)
    path = tree.loop("loop0", "7:0", "/images/b.img") if above else "/images/b.img"
    assert any(reason in one for one in refusals(path, tree.host)), refusals(path, tree.host)
    with pytest.raises(UserError, match="is not written"):
        permission(path, tree.host, writes=True, erase=identity_of(path, tree.host))


@pytest.mark.parametrize("name", ["/dev/disk/by-id/ata-X", "/dev/mapper/../sdb"])
@pytest.mark.parametrize("holder", ["md127", "dm-0"])
def test_a_member_is_refused_by_every_name_of_its_device(tree: Tree, holder: str, name: str) -> None:
    tree.disk("sdb", "8:16", serial="S3Z8NB0K")
    tree.link("/dev/disk/by-id/ata-X", "../../sdb")
    tree.mapped("dm-0", "253:0", "vg-data", "LVM-abc", "sdb") if holder == "dm-0" else tree.disk("md127", "9:127")
    tree.hold(holder, "sdb")
    words = "the LVM volume vg-data" if holder == "dm-0" else "the RAID md127"
    assert f"it is in use by {words}" in refusals(name, tree.host)
