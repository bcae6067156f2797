"""What keeps a device from being written: each case of a machine of files refused with its reason, and what is not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from trees import MIB, Tree

from hotband.base.errors import UserError
from hotband.execution.devices.contents import MARK
from hotband.execution.devices.safety import Permission, identity_of, permission, refusals

SERIAL = "S3Z8NB0K"
Case = Callable[[Tree], str]


def free(tree: Tree, **changed: object) -> str:
    """A disk that nothing keeps from being written."""
    return tree.disk("sdb", "8:16", serial=SERIAL, **changed)  # type: ignore[arg-type]


def with_bytes(offset: int, data: bytes) -> Case:
    def case(tree: Tree) -> str:
        path = free(tree)
        tree.write(path, offset if offset >= 0 else 8 * MIB + offset, data)
        return path

    return case


def ext(tree: Tree) -> str:
    path = free(tree)
    tree.write(path, 1024 + 0x38, b"\x53\xef")
    tree.write(path, 1024 + 0x18, b"\x02\0\0\0")
    return path


def dos(tree: Tree) -> str:
    path = free(tree)
    tree.write(path, 446, b"\x80" + bytes(3) + b"\x83" + bytes(11))
    tree.write(path, 510, b"\x55\xaa")
    return path


def mounted(tree: Tree) -> str:
    path = free(tree)
    tree.mount(path, "/data", "8:16", "ext4")
    return path


def mounted_by_name(tree: Tree) -> str:
    """btrfs's numbers are of no device: its source tells."""
    path = free(tree)
    tree.link("/dev/disk/by-id/ata-X", "../../sdb")
    tree.mount("/dev/disk/by-id/ata-X", "/data", "0:44", "btrfs")
    return path


def mounted_elsewhere(tree: Tree) -> str:
    path = free(tree)
    tree.mount(path, "/var/lib/volume", "8:16", "xfs", process="4711")
    return path


def log_of_another(tree: Tree) -> str:
    """The log of an XFS lies on a device of its own."""
    path = free(tree)
    tree.mount("/dev/sdz", "/data", "65:1", "xfs", options="rw,logdev=/dev/sdb")
    return path


def bcachefs_of_two(tree: Tree) -> str:
    path = free(tree)
    tree.mount("/dev/sdz:/dev/sdb", "/data", "0:51", "bcachefs")
    return path


def btrfs_member(tree: Tree) -> str:
    path = free(tree)
    tree.put("/sys/fs/btrfs/1d2c/devices/sdb", "")
    return path


def partition_mounted(tree: Tree) -> str:
    path = free(tree)
    tree.partition("sdb", 1, "8:17", 2048, 4096)
    tree.mount("/dev/sdb1", "/home", "8:17", "ext4")
    return path


def disk_of_partition_mounted(tree: Tree) -> str:
    free(tree)
    tree.mount("/dev/sdb", "/data", "8:16", "ext4")
    return tree.partition("sdb", 1, "8:17", 2048, 4096)


def overlapping(tree: Tree) -> str:
    free(tree)
    tree.partition("sdb", 1, "8:17", 2048, 4096)
    tree.mount("/dev/sdb1", "/home", "8:17", "ext4")
    return tree.partition("sdb", 2, "8:18", 4096, 4096)


def root_disk(tree: Tree) -> str:
    return "/dev/sda"


def root_below_lvm(tree: Tree) -> str:
    path = free(tree)
    tree.mapped("dm-0", "253:0", "vg-root", "LVM-abc", "sdb")
    tree.put("/proc/self/mountinfo", "")
    tree.mount("/dev/mapper/vg-root", "/", "253:0", "ext4")
    return path


def root_below_encrypted_raid(tree: Tree) -> str:
    """/ on a volume on an encrypted device on a RAID of partitions: the whole disk is asked for."""
    path = free(tree)
    tree.partition("sdb", 2, "8:18", 2048, 4096)
    tree.disk("md0", "9:0")
    tree.hold("md0", "sdb2")
    tree.mapped("dm-0", "253:0", "crypt", "CRYPT-LUKS2-1", "md0")
    tree.mapped("dm-1", "253:1", "vg-root", "LVM-1", "dm-0")
    tree.put("/proc/self/mountinfo", "")
    tree.mount("/dev/mapper/vg-root", "/", "253:1", "ext4")
    return path


def root_below_btrfs(tree: Tree) -> str:
    path = free(tree)
    tree.disk("sdc", "8:32", serial="OTHER001")
    for member in ("sdb", "sdc"):
        tree.put(f"/sys/fs/btrfs/1d2c/devices/{member}", "")
    tree.put("/proc/self/mountinfo", "")
    tree.mount("/dev/sdc", "/", "0:30", "btrfs")
    return path


def swap(tree: Tree) -> str:
    path = free(tree)
    tree.put("/proc/swaps", f"Filename Type Size Used Priority\n{path} partition 8 0 -2\n")
    return path


def swap_on_volume(tree: Tree) -> str:
    path = free(tree)
    tree.mapped("dm-3", "253:3", "vg-swap", "LVM-x", "sdb")
    tree.put("/proc/swaps", "Filename Type Size Used Priority\n/dev/dm-3 partition 8 0 -2\n")
    return path


def lvm_in_use(tree: Tree) -> str:
    path = free(tree)
    tree.mapped("dm-0", "253:0", "vg-data", "LVM-abc", "sdb")
    return path


def encrypted_in_use(tree: Tree) -> str:
    path = free(tree)
    tree.mapped("dm-0", "253:0", "secret", "CRYPT-LUKS2-1", "sdb")
    return path


def multipath(tree: Tree) -> str:
    path = free(tree)
    tree.mapped("dm-0", "253:0", "mpatha", "mpath-3600", "sdb")
    return path


def raid_in_use(tree: Tree) -> str:
    path = free(tree)
    tree.disk("md127", "9:127")
    tree.hold("md127", "sdb")
    return path


def raid_on_partition(tree: Tree) -> str:
    path = raid_in_use(tree)
    tree.partition("sdb", 1, "8:17", 2048, 4096)
    return "/dev/sdb1" if path else path


def bcache(tree: Tree) -> str:
    path = free(tree)
    tree.disk("bcache0", "252:0")
    tree.hold("bcache0", "sdb")
    return path


def with_partitions(tree: Tree) -> str:
    path = free(tree)
    tree.partition("sdb", 1, "8:17", 2048, 4096)
    return path


def read_only(tree: Tree) -> str:
    path = free(tree)
    tree.put("/sys/block/sdb/ro", "1")
    return path


def zoned(tree: Tree) -> str:
    path = free(tree)
    tree.put("/sys/block/sdb/queue/zoned", "host-managed")
    return path


def busy(tree: Tree) -> str:
    path = free(tree)
    tree.put("/busy", f"{path}\n")
    return path


def no_medium(tree: Tree) -> str:
    path = free(tree)
    tree.put("/sys/block/sdb/size", "0")
    return path


def optical(tree: Tree) -> str:
    return tree.disk("sr0", "11:0", serial="DVD1")


def hidden(tree: Tree) -> str:
    path = free(tree)
    tree.put("/sys/block/sdb/hidden", "1")
    return path


def virtual_machine(tree: Tree) -> str:
    """A virtual machine that was given the raw disk; it claims nothing."""
    path = free(tree)
    tree.opened(99, "qemu-system-x86", path, "02140002")
    return path


def nvme_target(tree: Tree) -> str:
    path = free(tree)
    tree.put("/sys/kernel/config/nvmet/subsystems/nqn.a/namespaces/1/device_path", path)
    tree.put("/sys/kernel/config/nvmet/subsystems/nqn.a/namespaces/1/enable", "1")
    return path


def scsi_target(tree: Tree) -> str:
    path = free(tree)
    tree.put("/sys/kernel/config/target/core/iblock_0/lun/udev_path", path)
    return path


def second_path(tree: Tree) -> str:
    """Two paths to one drive that nobody made one of: the other may be mounted anywhere."""
    path = free(tree)
    tree.disk("sdc", "8:32", serial=SERIAL)
    tree.mount("/dev/sdc", "/data", "8:32", "ext4")
    tree.link("/dev/disk/by-id/scsi-1", "../../sdb")
    return path


def second_path_by_its_identifier(tree: Tree) -> str:
    path = second_path(tree)
    for name in ("sdb", "sdc"):
        tree.put(f"/sys/block/{name}/device/wwid", "naa.5000c500a1b2c3d4")
    return path


def nvme_reserved(tree: Tree) -> str:
    path = tree.disk("nvme0n1", "259:0", serial=SERIAL)
    tree.recorded(f"nvme resv-report -o json {path}", '{"gen": 3, "rtype": 1, "regctl": 1}')
    return path


def scsi_reserved(tree: Tree) -> str:
    path = free(tree)
    said = "  PR generation=0x4, Reservation follows:\n    Key=0x123\n    scope: LU_SCOPE,  type: Write Exclusive\n"
    tree.recorded(f"sg_persist --readonly --in --read-reservation {path}", said)
    return path


def firmware_flash(tree: Tree) -> str:
    return tree.disk("mtdblock0", "31:0", serial="X12345")


def boot_area(tree: Tree) -> str:
    return tree.disk("mmcblk0boot0", "179:8", serial="0xabcdef12")


def no_serial(tree: Tree) -> str:
    return tree.disk("sdb", "8:16")


def loop_on_root(tree: Tree) -> str:
    return tree.loop("loop0", "7:0", "/dev/sda")


def loop_of_two(tree: Tree) -> str:
    tree.put("/images/a.img", b"")
    tree.loop("loop1", "7:1", "/images/a.img")
    return tree.loop("loop0", "7:0", "/images/a.img")


def loop_on_running_machine(tree: Tree) -> str:
    tree.put("/images/a.img", b"")
    tree.opened(99, "qemu-system-x86", str(tree.root / "images/a.img"), "0100002")
    # In a tree links lead out of it; those of proc are compared as they are.
    (tree.root / "proc/99/fd/5").unlink()
    tree.link("/proc/99/fd/5", "/images/a.img")
    return tree.loop("loop0", "7:0", "/images/a.img")


def loop_on_swap(tree: Tree) -> str:
    tree.put("/swapfile", b"")
    tree.put("/proc/swaps", "Filename Type Size Used Priority\n/swapfile file 8 0 -2\n")
    return tree.loop("loop0", "7:0", "/swapfile")


def loop_deleted(tree: Tree) -> str:
    return tree.loop("loop0", "7:0", "/images/a.img (deleted)")


def seen_by_blkid(tree: Tree) -> str:
    path = free(tree)
    tree.recorded(f"blkid -p -o export {path}", f"DEVNAME={path}\nVERSION=1\nTYPE=promise_fasttrack_raid_member\n")
    return path


def ambivalent(tree: Tree) -> str:
    path = free(tree)
    tree.recorded(f"blkid -p -o export {path}", "", 8)
    return path


def seen_by_wipefs(tree: Tree) -> str:
    path = free(tree)
    told = {"signatures": [{"device": "sdb", "offset": "0x0", "type": "zfs_member", "uuid": None, "label": None}]}
    tree.recorded(f"wipefs --no-act --json {path}", json.dumps(told))
    return path


def seen_by_udev(tree: Tree) -> str:
    path = free(tree)
    told = {"blockdevices": [{"name": "sdb", "serial": SERIAL, "fstype": "ceph_bluestore", "pttype": None}]}
    tree.recorded(f"lsblk -J -b -d -o NAME,SERIAL,MODEL,REV,TRAN,FSTYPE,PTTYPE,PARTTYPE {path}", json.dumps(told))
    return path


def unreadable(tree: Tree) -> str:
    path = free(tree)
    tree.put("/sys/block/sdb/size", str(16 * MIB // 512))
    return path


def swap_partition_signature(tree: Tree) -> str:
    free(tree)
    path = tree.partition("sdb", 1, "8:17", 2048, 8192)
    tree.write(path, 4086, b"SWAPSPACE2")
    return path


ZFS_UBERBLOCK = b"\x0c\xb1\xba\0\0\0\0\0"
REFUSED: dict[str, tuple[Case, str]] = {
    "mounted": (mounted, "it is mounted on /data"),
    "mounted, by another name": (mounted_by_name, "it is mounted on /data"),
    "mounted in another namespace": (mounted_elsewhere, "mounted on /var/lib/volume in the namespace of process 4711"),
    "log of a mounted file system": (log_of_another, "mounted on /data"),
    "second member of a bcachefs": (bcachefs_of_two, "mounted on /data"),
    "member of a mounted btrfs": (btrfs_member, "part of the mounted btrfs 1d2c"),
    "a partition is mounted": (partition_mounted, "its /dev/sdb1 is mounted on /home"),
    "the disk of the partition is mounted": (disk_of_partition_mounted, "its /dev/sdb is mounted on /data"),
    "overlaps a mounted partition": (overlapping, "its /dev/sdb1 is mounted on /home"),
    "the root disk": (root_disk, "its /dev/sda1 is mounted on /: the root device"),
    "root on a logical volume": (root_below_lvm, "below what (dm-0) is mounted on /: the root device"),
    "root on an encrypted RAID": (root_below_encrypted_raid, "below what (dm-1) is mounted on /: the root device"),
    "root on a btrfs of two": (root_below_btrfs, "mounted on /: the root device"),
    "swap": (swap, "is active swap (/dev/sdb)"),
    "swap on a volume of it": (swap_on_volume, "is active swap (/dev/dm-3)"),
    "volume in use": (lvm_in_use, "in use by the LVM volume vg-data"),
    "encrypted volume open": (encrypted_in_use, "in use by the encrypted volume secret"),
    "path of a multipath device": (multipath, "in use by the multipath device mpatha"),
    "member of a running RAID": (raid_in_use, "in use by the RAID md127"),
    "partition of a RAID's member": (raid_on_partition, "its /dev/sdb is in use by the RAID md127"),
    "bcache": (bcache, "in use by the bcache bcache0"),
    "partitions": (with_partitions, "has 1 partition (sdb1)"),
    "read-only": (read_only, "is read-only"),
    "zoned": (zoned, "host-managed"),
    "held": (busy, "held exclusively by another process (O_EXCL)"),
    "no medium": (no_medium, "has no size"),
    "optical": (optical, "optical disks"),
    "hidden": (hidden, "hidden path"),
    "raw disk of a virtual machine": (virtual_machine, "open for writing by qemu-system-x86 (99)"),
    "NVMe target": (nvme_target, "exported to other hosts by the NVMe target nqn.a"),
    "SCSI target": (scsi_target, "exported to other hosts by the SCSI target iblock_0/lun"),
    "second path to one drive": (second_path, "paths to the same drive, as is /dev/sdc"),
    "the same, by its identifier": (second_path_by_its_identifier, "paths to the same drive, as is /dev/sdc"),
    "NVMe reservation": (nvme_reserved, "reserved by a persistent reservation (nvme"),
    "SCSI reservation": (scsi_reserved, "reserved by a persistent reservation (sg_persist)"),
    "flash of the firmware": (firmware_flash, "this machine's firmware"),
    "boot area of an eMMC": (boot_area, "this machine's firmware"),
    "no serial and no name": (no_serial, "nothing distinguishes it from another device"),
    "loop on the root disk": (loop_on_root, "/dev/sda below it its /dev/sda1 is mounted on /"),
    "two loops on one file": (loop_of_two, "backs the loop device loop1"),
    "loop on a running machine's disk": (loop_on_running_machine, "open for writing by qemu-system-x86 (99)"),
    "loop on swap": (loop_on_swap, "(/swapfile) is active swap"),
    "loop on a deleted file": (loop_deleted, "was deleted"),
    "blkid alone sees it": (seen_by_blkid, "(promise_fasttrack_raid_member), seen by blkid"),
    "blkid sees several": (ambivalent, "several signatures"),
    "wipefs alone sees it": (seen_by_wipefs, "(zfs_member), seen by wipefs"),
    "udev alone sees it": (seen_by_udev, "(ceph_bluestore), seen by lsblk"),
    "shorter than it says": (unreadable, "cannot be read, so its contents are unknown"),
    "ext4": (ext, "file system (ext4), seen by its magic number"),
    "xfs": (with_bytes(0, b"XFSB"), "(xfs)"),
    "btrfs": (with_bytes(65600, b"_BHRfS_M"), "(btrfs)"),
    "ntfs": (with_bytes(3, b"NTFS    "), "(ntfs)"),
    "fat": (with_bytes(82, b"FAT32   "), "(vfat)"),
    "exfat": (with_bytes(3, b"EXFAT   "), "(exfat)"),
    "f2fs": (with_bytes(1024, b"\x10\x20\xf5\xf2"), "(f2fs)"),
    "vmfs": (with_bytes(MIB, b"\x0d\xd0\x01\xc0"), "(VMFS_volume_member)"),
    "LVM2": (with_bytes(536, b"LVM2 001"), "part of an array, pool or volume group (LVM2_member)"),
    "md 1.2": (with_bytes(4096, b"\xfc\x4e\x2b\xa9"), "(linux_raid_member)"),
    "md 1.0": (with_bytes(-8192, b"\xfc\x4e\x2b\xa9"), "(linux_raid_member)"),
    "md 0.90": (with_bytes(-65536, b"\xfc\x4e\x2b\xa9"), "(linux_raid_member)"),
    "Intel RAID": (with_bytes(-1024, b"Intel Raid ISM Cfg Sig. "), "(isw_raid_member)"),
    "DDF": (with_bytes(-512, b"\xde\x11\xde\x11"), "(ddf_raid_member)"),
    "DRBD": (with_bytes(-4096 + 60, b"\x83\x74\x02\x6b"), "(drbd)"),
    "ZFS": (with_bytes(128 * 1024, ZFS_UBERBLOCK), "(zfs_member)"),
    "ZFS, its last label": (with_bytes(-128 * 1024, ZFS_UBERBLOCK), "(zfs_member)"),
    "Ceph": (with_bytes(0, b"bluestore block device\n"), "(ceph_bluestore)"),
    "LUKS": (with_bytes(0, b"LUKS\xba\xbe"), "is encrypted (crypto_LUKS)"),
    "LUKS2, its second header": (with_bytes(4 * MIB, b"SKUL\xba\xbe"), "is encrypted (crypto_LUKS)"),
    "BitLocker": (with_bytes(3, b"-FVE-FS-"), "is encrypted (BitLocker)"),
    "swap, not active": (swap_partition_signature, "contains swap (swap)"),
    "Oracle ASM": (with_bytes(32, b"ORCLDISK"), "(oracleasm)"),
    "GPT": (with_bytes(512, b"EFI PART"), "has a partition table (gpt)"),
    "GPT, its copy alone": (with_bytes(-512, b"EFI PART"), "has a partition table (gpt)"),
    "DOS": (dos, "has a partition table (dos)"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_its_reason(tree: Tree, case: str) -> None:
    make, reason = REFUSED[case]
    path = make(tree)
    assert any(reason in one for one in refusals(path, tree.host)), refusals(path, tree.host)
    # What is typed does not help: the reason is said, and reading stays allowed.
    typed = identity_of(path, tree.host) or SERIAL
    with pytest.raises(UserError, match="is not written") as refused:
        permission(path, tree.host, writes=True, erase=typed)
    assert reason in str(refused.value)
    assert not permission(path, tree.host, writes=False, erase=None).may_write


def test_a_free_disk_is_written_when_its_serial_is_typed(tree: Tree) -> None:
    path = free(tree)
    assert refusals(path, tree.host) == []
    granted = permission(path, tree.host, writes=True, erase=SERIAL)
    assert granted.may_write
    assert granted.node is not None
    assert (granted.identity, granted.node.number, granted.node.sequence) == (SERIAL, "8:16", "7")


@pytest.mark.parametrize(
    "typed", [None, "", SERIAL.lower(), SERIAL[:-1], f" {SERIAL}", f"{SERIAL}-part1", "/dev/sdb", "yes"]
)
def test_anything_but_the_serial_is_refused(tree: Tree, typed: str | None) -> None:
    path = free(tree)
    with pytest.raises(UserError, match=SERIAL):
        permission(path, tree.host, writes=True, erase=typed)


def test_a_partition_needs_its_number(tree: Tree) -> None:
    free(tree)
    path = tree.partition("sdb", 2, "8:18", 2048, 4096)
    assert refusals(path, tree.host) == []
    with pytest.raises(UserError, match=f"{SERIAL}-part2"):
        permission(path, tree.host, writes=True, erase=SERIAL)
    assert permission(path, tree.host, writes=True, erase=f"{SERIAL}-part2").may_write


def test_a_free_partition_of_the_root_disk_may_be_written(tree: Tree) -> None:
    path = tree.partition("sda", 3, "8:3", 8192, 4096)
    assert refusals(path, tree.host) == []
    assert permission(path, tree.host, writes=True, erase="ROOT0001-part3").may_write


def test_an_unmounted_volume_may_be_written(tree: Tree) -> None:
    free(tree)
    path = tree.mapped("dm-0", "253:0", "vg-test", "LVM-abc", "sdb")
    assert refusals(path, tree.host) == []
    assert permission("/dev/mapper/vg-test", tree.host, writes=True, erase="vg-test").path == path


def test_a_loop_device_needs_the_path_of_its_file(tree: Tree) -> None:
    tree.put("/images/a.img", b"")
    path = tree.loop("loop0", "7:0", "/images/a.img")
    assert permission(path, tree.host, writes=True, erase="/images/a.img").may_write


def test_a_disk_without_serial_needs_its_name_by_id(tree: Tree) -> None:
    path = no_serial(tree)
    tree.link("/dev/disk/by-id/wwn-0x5000c500", "../../sdb")
    assert identity_of(path, tree.host) == "wwn-0x5000c500"


def test_namespaces_of_one_controller_are_no_paths_to_one_drive(tree: Tree) -> None:
    for number in (1, 2):
        tree.disk(f"nvme0n{number}", f"259:{number}", serial=SERIAL)
        tree.put(f"/sys/block/nvme0n{number}/wwid", f"eui.000{number}")
        tree.link(f"/dev/disk/by-id/nvme-eui.000{number}", f"../../nvme0n{number}")
    assert refusals("/dev/nvme0n1", tree.host) == []
    assert identity_of("/dev/nvme0n1", tree.host) == "nvme-eui.0001"


def test_a_serial_that_two_disks_have_tells_neither(tree: Tree) -> None:
    path = free(tree)
    tree.disk("sdc", "8:32", serial=SERIAL, size=4 * MIB)
    tree.link("/dev/disk/by-id/usb-a-0:0", "../../sdb")
    assert identity_of(path, tree.host) == "usb-a-0:0"
    assert identity_of("/dev/sdc", tree.host) is None


@pytest.mark.parametrize("serial", ["0123456789ABCDEF", "00000000", "None", "  "])
def test_a_serial_that_its_maker_left_in_is_none(tree: Tree, serial: str) -> None:
    path = tree.disk("sdb", "8:16", serial=serial)
    assert identity_of(path, tree.host) is None


def test_every_reason_is_said_at_once(tree: Tree) -> None:
    path = partition_mounted(tree)
    tree.write(path, 512, b"EFI PART")
    said = refusals(path, tree.host)
    for reason in ("mounted on /home", "has 1 partition", "partition table (gpt)"):
        assert any(reason in one for one in said)


def test_data_without_a_signature_is_said_before_it_is_written(tree: Tree) -> None:
    """A raw database that is not running: nothing tells it but that something is there."""
    path = free(tree)
    assert permission(path, tree.host, writes=True, erase=SERIAL).notes == ()
    tree.write(path, 4 * MIB, bytes(range(256)) * (4 * MIB // 256))
    (note,) = permission(path, tree.host, writes=True, erase=SERIAL).notes
    assert "32 of 64 sampled places" in note


def test_random_data_is_no_signature(tree: Tree) -> None:
    import random

    path = free(tree)
    tree.write(path, 0, random.Random(1).randbytes(8 * MIB))
    assert refusals(path, tree.host) == []


def test_a_file_that_we_did_not_make_needs_its_name(tree: Tree) -> None:
    tree.put("/images/vm.img", b"precious")
    tree.link("/images/link", "vm.img")
    for path in ("/images/vm.img", "/images/link"):
        with pytest.raises(UserError, match=r"8 B that Hotband did not write .* question\.erase /images/vm\.img"):
            permission(path, tree.host, writes=True, erase=None)
        with pytest.raises(UserError, match="letter for letter"):
            permission(path, tree.host, writes=True, erase="vm.img")
        assert permission(path, tree.host, writes=True, erase="/images/vm.img").path == "/images/vm.img"
    os.setxattr(tree.host.at("/images/vm.img"), MARK, b"1")
    assert permission("/images/vm.img", tree.host, writes=True, erase=None).may_write


@pytest.mark.parametrize("path", ["/images/new.img", "/images/empty.img"])
def test_a_new_or_empty_file_may_be_written(tree: Tree, path: str) -> None:
    tree.put("/images/empty.img", b"")
    assert permission(path, tree.host, writes=True, erase=None).may_write


@pytest.mark.parametrize("is_ours", [False, True])
def test_a_file_in_use_is_refused_even_if_it_is_ours(tree: Tree, is_ours: bool) -> None:
    tree.put("/images/vm.img", b"precious")
    tree.loop("loop0", "7:0", "/images/vm.img")
    tree.put("/proc/99/comm", "qemu")
    tree.link("/proc/99/fd/5", "/images/vm.img")
    tree.put("/proc/99/fdinfo/5", "flags:\t0100002\n")
    if is_ours:
        os.setxattr(tree.host.at("/images/vm.img"), MARK, b"1")
    with pytest.raises(UserError, match=r"backs the loop device loop0.*open for writing by qemu \(99\)"):
        permission("/images/vm.img", tree.host, writes=True, erase="/images/vm.img")


@pytest.mark.parametrize(
    ("head", "form"), [(b"QFI\xfb", "qcow2"), (b"KDMV", "vmdk"), (b"vhdxfile", "vhdx"), (b"conectix", "vhd")]
)
def test_an_image_that_is_not_raw_is_refused(tree: Tree, head: bytes, form: str) -> None:
    tree.put("/images/vm.img", head + bytes(600))
    with pytest.raises(UserError, match=f"in the format {form}"):
        permission("/images/vm.img", tree.host, writes=True, erase="/images/vm.img")


@pytest.mark.parametrize("access", ["r--s", "rw-p", "rw-s", "r-xp"])
def test_a_file_that_is_mapped_is_refused(tree: Tree, access: str) -> None:
    tree.put("/images/vm.img", b"precious")
    tree.put("/proc/99/comm", "database")
    tree.put("/proc/99/maps", f"7f00-7f10 {access} 00000000 08:01 77                         /images/vm.img\n")
    assert refusals("/images/vm.img", tree.host) == ["is mapped by database (99)"]


def test_a_file_that_others_read_is_refused(tree: Tree) -> None:
    tree.put("/images/vm.img", b"precious")
    tree.put("/proc/99/comm", "cat")
    tree.link("/proc/99/fd/5", "/images/vm.img")
    tree.put("/proc/99/fdinfo/5", "flags:\t0100000\n")
    assert refusals("/images/vm.img", tree.host) == ["is open for reading by cat (99)"]


def test_a_uri_must_be_typed_again(tree: Tree) -> None:
    uri = "nbd+unix:///disk?socket=/run/a"
    with pytest.raises(UserError, match=r"question\.erase"):
        permission(uri, tree.host, writes=True, erase=None)
    assert permission(uri, tree.host, writes=True, erase=uri).may_write
    assert not permission(uri, tree.host, writes=False, erase=None).may_write


@pytest.mark.parametrize(("path", "said"), [("/dev/none", "does not exist"), ("/dev", "is a folder")])
def test_what_is_nothing_to_measure(tree: Tree, path: str, said: str) -> None:
    for writes in (False, True):
        with pytest.raises(UserError, match=said):
            permission(path, tree.host, writes=writes, erase=None)


def test_nobody_else_makes_a_permission() -> None:
    import copy
    import dataclasses
    import pickle

    with pytest.raises(TypeError, match="alone"):
        Permission("/dev/sdb", "block", True)
    reading = permission(__file__, writes=False, erase=None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        reading.may_write = True  # type: ignore[misc]
    with pytest.raises(TypeError):
        pickle.dumps(reading)
    with pytest.raises(TypeError):
        copy.copy(reading)


def test_this_machines_root_disk_is_refused() -> None:
    """Whatever machine tests run on."""
    from hotband.execution.devices.blocks import below_mount, path_of
    from hotband.execution.devices.host import Host
    from hotband.execution.devices.mounts import mount_of

    mount = mount_of("/", Host())
    found = [] if mount is None else below_mount(mount, Host())
    if not found or not Path(path_of(found[0])).exists():
        pytest.skip("the root file system of this machine lies on no block device that can be seen")
    with pytest.raises(UserError, match="the root device"):
        permission(path_of(found[0]), writes=True, erase=identity_of(path_of(found[0])))


def test_a_mapped_image_is_known_by_its_pool_and_name(tree: Tree) -> None:
    path = tree.disk("rbd0", "252:0")
    with pytest.raises(UserError, match="nothing distinguishes it from another"):
        permission(path, tree.host, writes=True, erase="rbd0")
    for key, value in {"pool": "fast", "pool_ns": "", "name": "vm-7"}.items():
        tree.put(f"/sys/bus/rbd/devices/0/{key}", value)
    assert permission(path, tree.host, writes=True, erase="fast/vm-7").may_write
