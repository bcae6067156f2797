"""Content of a device by its signatures: file systems, RAID, LVM, Ceph, encryption, swap, partition tables.

libblkid's tools (blkid, wipefs) and udev (lsblk) are used if present. Magic numbers are read here as well, so that a
missing tool never makes a device look free. Names are libblkid's.

Left out: data without a signature (a raw database, a volume of a virtual machine) cannot be recognised; the
typed serial protects it.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from hotband.execution.devices.device import LSBLK, asked_json, first_of
from hotband.execution.devices.host import Host

What = Literal["file system", "member of", "partition table", "encryption", "swap"]

KIB, MIB = 1 << 10, 1 << 20
# Far enough for all that lies at the front (ZFS's second label to 512 KiB, VMFS at 1 and 2 MiB, LUKS2's second header
# up to 4 MiB) and at the end (ZFS's last two labels, md 0.90 and 1.0, GPT's copy).
FRONT, BACK = 4 * MIB + KIB, MIB


@dataclass(frozen=True)
class Signature:
    """One signature: its name, what it belongs to, and the tool that found it."""

    name: str
    what: What
    seen_by: str


# Name, what, magic, offsets from the front. Offsets and magics as in util-linux's libblkid/src/superblocks and
# libblkid/src/partitions, a file a name, unless said otherwise.
_FRONT: list[tuple[str, What, bytes, tuple[int, ...]]] = [
    ("xfs", "file system", b"XFSB", (0,)),
    ("btrfs", "file system", b"_BHRfS_M", (64 * KIB + 64,)),
    ("f2fs", "file system", b"\x10\x20\xf5\xf2", (KIB,)),
    ("ntfs", "file system", b"NTFS    ", (3,)),
    ("exfat", "file system", b"EXFAT   ", (3,)),
    ("vfat", "file system", b"FAT32   ", (82,)),
    ("vfat", "file system", b"FAT1", (54,)),
    ("vfat", "file system", b"MSDOS", (54, 82)),
    ("jfs", "file system", b"JFS1", (32 * KIB,)),
    ("reiserfs", "file system", b"ReIsEr", (8 * KIB + 52, 64 * KIB + 52)),
    ("nilfs2", "file system", b"\x34\x34", (KIB + 6,)),
    ("iso9660", "file system", b"CD001", (32 * KIB + 1,)),
    ("udf", "file system", b"BEA01", (32 * KIB + 1,)),
    ("squashfs", "file system", b"hsqs", (0,)),
    ("erofs", "file system", b"\xe2\xe1\xf5\xe0", (KIB,)),
    ("gfs2", "file system", b"\x01\x16\x19\x70", (64 * KIB,)),
    ("ocfs2", "file system", b"OCFSV2", (KIB, 2 * KIB, 4 * KIB, 8 * KIB)),
    ("hfsplus", "file system", b"H+\x00\x04", (KIB,)),
    ("hfsplus", "file system", b"HX\x00\x05", (KIB,)),
    ("apfs", "file system", b"NXSB", (32,)),
    ("ufs", "file system", b"\x19\x54\x01\x19", (8 * KIB + 1372, 64 * KIB + 1372)),
    ("ufs", "file system", b"\x54\x19\x01\x00", (8 * KIB + 1372,)),
    ("ufs", "file system", b"\x19\x01\x54\x19", (8 * KIB + 1372, 64 * KIB + 1372)),
    ("zonefs", "file system", b"SFOZ", (0,)),
    ("VMFS", "file system", b"\x5e\xf1\xab\x2f", (2 * MIB,)),
    ("VMFS_volume_member", "member of", b"\x0d\xd0\x01\xc0", (MIB,)),
    # The first four bytes are the same of bcache and of bcachefs before 1.0, whose second half differs.
    ("bcachefs", "file system", b"\xc6\x85\x73\xf6\x66\xce\x90\xa9", (4120,)),
    ("bcache", "member of", b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81", (4120,)),
    ("linux_raid_member", "member of", b"\xfc\x4e\x2b\xa9", (0, 4 * KIB)),
    # Of the label in one of the first four sectors; wipefs takes this part of it away.
    ("LVM2_member", "member of", b"LVM2 001", (24, 536, 1048, 1560)),
    ("LVM1_member", "member of", b"HM\x01\x00", (0,)),
    ("LVM1_member", "member of", b"HM\x02\x00", (0,)),
    ("ceph_bluestore", "member of", b"bluestore block device", (0,)),
    ("stratis", "member of", b"!Stra0tis\x86\xff\x02^\x41rh", (516, 4612)),
    ("oracleasm", "member of", b"ORCLDISK", (32,)),
    ("vdo", "member of", b"dmvdo001", (0,)),
    ("DM_integrity", "member of", b"integrt\0", (0,)),
    ("DM_verity_hash", "member of", b"verity\0\0", (0,)),
    ("DM_snapshot_cow", "member of", b"SnAp", (0,)),
    ("crypto_LUKS", "encryption", b"LUKS\xba\xbe", (0,)),
    # LUKS2's second header (cryptsetup, lib/luks2/luks2.h: LUKS2_HDR2_OFFSETS).
    ("crypto_LUKS", "encryption", b"SKUL\xba\xbe", tuple(KIB << n for n in range(4, 13))),
    ("BitLocker", "encryption", b"-FVE-FS-", (3,)),
    # At the end of the first page, whose size depends on the machine: 4 to 64 KiB.
    ("swap", "swap", b"SWAPSPACE2", tuple((KIB << n) - 10 for n in range(2, 7))),
    ("swap", "swap", b"SWAP-SPACE", tuple((KIB << n) - 10 for n in range(2, 7))),
    ("swsuspend", "swap", b"S1SUSPEND", tuple((KIB << n) - 10 for n in range(2, 7))),
    ("swsuspend", "swap", b"S2SUSPEND", tuple((KIB << n) - 10 for n in range(2, 7))),
    ("swsuspend", "swap", b"LINHIB0001", tuple((KIB << n) - 10 for n in range(2, 7))),
    ("gpt", "partition table", b"EFI PART", (512, 4096)),
    ("mac", "partition table", b"PM\0\0", (512,)),
    ("sun", "partition table", b"\xda\xbe", (508,)),
    ("sgi", "partition table", b"\x0b\xe5\xa9\x41", (0,)),
    ("bsd", "partition table", b"\x57\x45\x56\x82", (512, 64)),
]
# The same from the end: offsets are of the magic before the end of the device, once that is cut to a multiple.
_BACK: list[tuple[str, What, bytes, int, int]] = [
    ("linux_raid_member", "member of", b"\xfc\x4e\x2b\xa9", 64 * KIB, 64 * KIB),  # 0.90
    ("linux_raid_member", "member of", b"\xa9\x2b\x4e\xfc", 64 * KIB, 64 * KIB),  # 0.90, big endian
    ("linux_raid_member", "member of", b"\xfc\x4e\x2b\xa9", 8 * KIB, 4 * KIB),  # 1.0
    ("isw_raid_member", "member of", b"Intel Raid ISM Cfg Sig. ", 2 * 512, 512),
    ("nvidia_raid_member", "member of", b"NVIDIA", 2 * 512, 512),
    ("ddf_raid_member", "member of", b"\xde\x11\xde\x11", 512, 512),
    ("ddf_raid_member", "member of", b"\x11\xde\x11\xde", 512, 512),
    # DRBD's block of metadata is the last 4 KiB; its magic lies at 60 (drbd_int.h: struct meta_data_on_disk).
    ("drbd", "member of", b"\x83\x74\x02\x6b", 4 * KIB - 60, 4 * KIB),
    ("drbd", "member of", b"\x83\x74\x02\x6c", 4 * KIB - 60, 4 * KIB),
    ("drbd", "member of", b"\x83\x74\x02\x6d", 4 * KIB - 60, 4 * KIB),
    ("gpt", "partition table", b"EFI PART", 512, 512),
    ("gpt", "partition table", b"EFI PART", 4096, 4096),
]


def signatures(path: str, host: Host) -> list[Signature]:
    """All signatures found on a device, each name once. Raises OSError if the device cannot be read: its contents are
    then unknown."""
    by_name: dict[str, list[Signature]] = {}
    for signature in (*by_magic(path, host), *by_blkid(path, host), *by_wipefs(path, host), *by_lsblk(path, host)):
        by_name.setdefault(signature.name, []).append(signature)
    return [
        Signature(name, ones[0].what, ", ".join(dict.fromkeys(signature.seen_by for signature in ones)))
        for name, ones in by_name.items()
    ]


def by_magic(path: str, host: Host) -> list[Signature]:
    """By our own reading. Raises OSError."""
    size = host.size(path) or 0
    front = host.read(path, 0, min(FRONT, size))
    begin = max(0, (size - BACK) // 4096 * 4096)
    back = host.read(path, begin, size - begin)
    if len(front) < min(FRONT, size) or len(back) < size - begin:
        raise OSError(errno.EIO, "it ends before its size", path)
    names = _in_front(front)
    for name, what, magic, before, multiple in _BACK:
        position = size // multiple * multiple - before - begin
        if position >= 0 and back[position : position + len(magic)] == magic:
            names[name] = what
    labels = back[max(0, size // (256 * KIB) * 256 * KIB - 512 * KIB - begin) :]
    names.update({name: what for name, what, holds in _SPECIAL if holds(front, labels)})
    # A boot sector of a file system, and GPT's first sector, have the mark of a partition table of DOS, too.
    if names.keys() & {"vfat", "ntfs", "exfat", "BitLocker", "gpt"}:
        names.pop("dos", None)
    return [Signature(name, what, "its magic number") for name, what in names.items()]


def _in_front(front: bytes) -> dict[str, What]:
    names: dict[str, What] = {}
    for name, what, magic, offsets in _FRONT:
        is_there = any(front[offset : offset + len(magic)] == magic for offset in offsets)
        if is_there and _GUARDS.get(name, _always)(front):
            names[name] = what
    return names


def _always(_: bytes) -> bool:
    return True


def _ext(front: bytes, _: bytes) -> bool:
    """ext2 to ext4: two bytes alone would be seen in one of 65,536 devices of random data; revision and block size
    are small numbers (Documentation/filesystems/ext4/super.rst: 0x38, 0x4C, 0x18)."""
    block = front[KIB : 2 * KIB]
    if len(block) < KIB or block[0x38:0x3A] != b"\x53\xef":
        return False
    return int.from_bytes(block[0x4C:0x50], "little") <= 1 and int.from_bytes(block[0x18:0x1C], "little") <= 6


def _dos(front: bytes, _: bytes) -> bool:
    """A partition table of DOS: its mark, four boot flags that are 00h or 80h, a partition at least."""
    entries = [front[at : at + 16] for at in range(446, 510, 16)]
    if front[510:512] != b"\x55\xaa":
        return False
    return all(entry[0] in (0, 0x80) for entry in entries) and any(entry[4] for entry in entries)


def _zfs(front: bytes, back: bytes) -> bool:
    """ZFS: an uberblock (magic 00bab10ch, either way round) in one of the four labels, each 256 KiB with uberblocks
    from 128 KiB on, at multiples of 1 KiB (OpenZFS, module/zfs/vdev_label.c)."""
    magics = (b"\x0c\xb1\xba\x00\x00\x00\x00\x00", b"\x00\x00\x00\x00\x00\xba\xb1\x0c")
    for label in (front[: 256 * KIB], front[256 * KIB : 512 * KIB], back[: 256 * KIB], back[256 * KIB : 512 * KIB]):
        if any(label[at : at + 8] in magics for at in range(128 * KIB, len(label), KIB)):
            return True
    return False


def _nilfs(front: bytes) -> bool:
    """NILFS2: two bytes are few; its revision is 2 and the size of its block is 280 (nilfs2_ondisk.h)."""
    return front[KIB : KIB + 4] == b"\x02\x00\x00\x00"


def _sun(front: bytes) -> bool:
    """A Sun label sums up to nothing, by exclusive or of its 16-bit words."""
    total = 0
    for at in range(0, 512, 2):
        total ^= int.from_bytes(front[at : at + 2])
    return total == 0


def _mac(front: bytes) -> bool:
    """An Apple partition map has a driver descriptor before it."""
    return front[:2] == b"ER"


_GUARDS: dict[str, Callable[[bytes], bool]] = {"nilfs2": _nilfs, "sun": _sun, "mac": _mac}
_SPECIAL: list[tuple[str, What, Callable[[bytes, bytes], bool]]] = [
    ("ext4", "file system", _ext),
    ("dos", "partition table", _dos),
    ("zfs_member", "member of", _zfs),
]


def words_of(signature: Signature) -> str:
    """A signature in words."""
    words = {
        "file system": f"contains a file system ({signature.name})",
        "member of": f"is part of an array, pool or volume group ({signature.name})",
        "partition table": f"has a partition table ({signature.name})",
        "encryption": f"is encrypted ({signature.name})",
        "swap": f"contains swap ({signature.name})",
    }
    return f"{words[signature.what]}, seen by {signature.seen_by}"


def what_is(name: str, usage: str = "") -> What:
    """Return the owner of a libblkid name; by its usage if that is known."""
    usages: dict[str, What] = {"filesystem": "file system", "raid": "member of", "crypto": "encryption"}
    if usage in usages:
        return usages[usage]
    if name.startswith("swap") or name == "swsuspend":
        return "swap"
    if name in ("dos", "gpt", "mac", "sun", "bsd", "sgi", "minix", "atari", "PMBR"):
        return "partition table"
    return "member of" if name.lower().endswith("_member") else "file system"


def by_blkid(path: str, host: Host) -> Iterator[Signature]:
    """Yield signatures by libblkid's probing of the device itself (`-p`: not by its cache)."""
    output = host.run("blkid", "-p", "-o", "export", path)
    if output is None:
        return
    fields = dict(line.partition("=")[::2] for line in output.text.splitlines())
    # blkid(8): 8 is "ambivalent low-level probing result", several signatures.
    if output.code == 8:
        yield Signature("several signatures", "file system", "blkid")
    if fields.get("TYPE"):
        yield Signature(fields["TYPE"], what_is(fields["TYPE"], fields.get("USAGE", "")), "blkid")
    if fields.get("PTTYPE"):
        yield Signature(fields["PTTYPE"], "partition table", "blkid")


def by_wipefs(path: str, host: Host) -> Iterator[Signature]:
    """Yield signatures that wipefs would wipe; it runs without acting."""
    entries = asked_json(host, [], "wipefs", "--no-act", "--json", path).get("signatures")
    for row in entries if isinstance(entries, list) else []:
        name = row.get("type") if isinstance(row, dict) else None
        if isinstance(name, str) and name != "PMBR":
            yield Signature(name, what_is(name), "wipefs")


def by_lsblk(path: str, host: Host) -> Iterator[Signature]:
    """Yield signatures that udev detected when the device appeared."""
    row = first_of(asked_json(host, [], *LSBLK, path).get("blockdevices"))
    for key in ("fstype", "pttype"):
        name = row.get(key)
        # Of a partition udev also knows the table that it is from.
        if isinstance(name, str) and name and not (key == "pttype" and row.get("parttype")):
            yield Signature(name, what_is(name), "lsblk")


def image_format(path: str, host: Host) -> str | None:
    """Return the format of an image of a virtual machine; None for a raw file."""
    try:
        head = host.read(path, 0, 512)
    except OSError:
        return None
    formats = {b"QFI\xfb": "qcow2", b"KDMV": "vmdk", b"vhdxfile": "vhdx", b"conectix": "vhd", b"QED\0": "qed"}
    format_ = next((name for magic, name in formats.items() if head.startswith(magic)), None)
    return format_ or ("vdi" if head[64:68] == b"\x7f\x10\xda\xbe" else None)
