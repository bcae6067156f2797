"""Files that hold something known, and the mark of those that Hotband made.

A file is known by its first bytes, as file(1) and libmagic know it: databases, disk images, archives, programs,
pictures, documents and keys. File systems, swap and members of arrays are `signatures`. Short magic numbers have a
guard, since data that fio wrote is random.

Left out: plain text and data without a magic number, which the typed path protects.
"""

from __future__ import annotations

import errno
import os
import pwd
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from hotband.base.errors import reason_of
from hotband.execution.devices.host import Host
from hotband.execution.devices.signatures import Signature, signatures, words_of

MARK = "user.hotband.made"
"""Extended attribute of a file that Hotband made; its content may be overwritten without consent."""
# A tar's mark lies at 257, the header of InnoDB ends at 42.
FRONT_BYTES = 512
OWN_FILE = "hotband-measured.data"
"""Name of the file that Hotband makes in a folder. One left by a killed run is reused."""
# Folders (hier(7)) that no file of a user's lies in: kernel, devices, configuration, programs.
SYSTEM = (
    *("/proc/", "/sys/", "/dev/", "/boot/", "/etc/", "/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/"),
    *("/nix/", "/gnu/store/", "/snap/"),
)
# State of services: a drive may be mounted there, and Hotband's own file be made on it.
STATE = ("/var/", "/run/")
# Memory, temporary files, and where desktops mount removable drives.
NO_SYSTEM = ("/dev/shm/", "/var/tmp/", "/run/media/")

# What it is, its magic number and the offset of that, from file(1)'s magic files (magic/Magdir) unless said otherwise.
_MAGIC: list[tuple[str, bytes, int]] = [
    ("an SQLite database", b"SQLite format 3\0", 0),
    ("a Berkeley DB database", b"\x62\x31\x05\x00", 12),
    ("a Berkeley DB database", b"\x61\x15\x06\x00", 12),
    # LMDB (mdb.c: MDB_MAGIC) and Bolt (bbolt, internal/common/types.go: Magic), each after a page header of 16 bytes.
    ("an LMDB database", b"\xde\xc0\xef\xbe", 16),
    ("a Bolt database", b"\xed\xda\x0c\xed", 16),
    # WiredTiger, src/include/block.h: WT_BLOCK_MAGIC.
    ("a WiredTiger database", b"\x41\xd8\x01\x00", 0),
    ("an MS Access database", b"\x00\x01\x00\x00Standard ", 0),
    ("a MyISAM index", b"\xfe\xfe\x07", 0),
    ("a GDBM database", b"\xcf\x9a\x57\x13", 0),
    ("a Redis database", b"REDIS00", 0),
    ("an HDF5 file", b"\x89HDF\r\n\x1a\n", 0),
    ("a Parquet file", b"PAR1", 0),
    ("an Arrow file", b"ARROW1\0\0", 0),
    ("an ORC file", b"ORC\x08", 0),
    ("a systemd journal", b"LPKSHHRH", 0),
    ("a VirtualBox image", b"\x7f\x10\xda\xbe", 64),
    ("a Parallels image", b"WithoutFreeSpace", 0),
    ("a Parallels image", b"WithouFreSpacExt", 0),
    ("a Windows image", b"MSWIM\0\0\0", 0),
    ("a forensic image", b"EVF\t\r\n\xff\0", 0),
    ("an Android image", b"\x3a\xff\x26\xed", 0),
    ("a saved virtual machine", b"QEVM\0\0\0\x03", 0),
    ("a saved virtual machine", b"LibvirtQemudSave", 0),
    ("a gzip archive", b"\x1f\x8b\x08", 0),
    ("an xz archive", b"\xfd7zXZ\0", 0),
    ("a Zstandard archive", b"\x28\xb5\x2f\xfd", 0),
    ("an LZ4 archive", b"\x04\x22\x4d\x18", 0),
    ("an lzip archive", b"LZIP\x01", 0),
    ("an lzop archive", b"\x89LZO\0\r\n\x1a\n", 0),
    ("a ZIP archive", b"PK\x03\x04", 0),
    ("a ZIP archive", b"PK\x05\x06", 0),
    ("a 7-Zip archive", b"7z\xbc\xaf\x27\x1c", 0),
    ("a RAR archive", b"Rar!\x1a\x07", 0),
    ("a tar archive", b"ustar", 257),
    ("a cpio archive", b"07070", 0),
    ("an ar archive", b"!<arch>\n", 0),
    ("a cabinet archive", b"MSCF\0\0\0\0", 0),
    ("an xar archive", b"xar!", 0),
    ("an RPM package", b"\xed\xab\xee\xdb", 0),
    ("a Git pack", b"PACK\0\0\0", 0),
    ("a Git index", b"DIRC\0\0\0", 0),
    ("an ELF program", b"\x7fELF", 0),
    ("a Mach-O program", b"\xcf\xfa\xed\xfe", 0),
    ("a Mach-O program", b"\xce\xfa\xed\xfe", 0),
    ("a Java class or Mach-O program", b"\xca\xfe\xba\xbe", 0),
    ("a WebAssembly program", b"\0asm", 0),
    ("a script", b"#!/", 0),
    ("a PNG picture", b"\x89PNG\r\n\x1a\n", 0),
    ("a JPEG picture", b"\xff\xd8\xff", 0),
    ("a GIF picture", b"GIF8", 0),
    ("a TIFF picture", b"II*\0", 0),
    ("a TIFF picture", b"MM\0*", 0),
    ("a Photoshop picture", b"8BPS", 0),
    ("a media file", b"RIFF", 0),
    ("a media file", b"ftyp", 4),
    ("a media file", b"OggS", 0),
    ("a media file", b"fLaC", 0),
    ("a media file", b"ID3", 0),
    ("a media file", b"\x1a\x45\xdf\xa3", 0),
    ("a PDF document", b"%PDF-", 0),
    ("an Office document", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0),
    ("a key or certificate", b"-----BEGIN ", 0),
    ("an encrypted file", b"age-encryption.org/", 0),
    ("a KeePass database", b"\x03\xd9\xa2\x9a", 0),
]
# The same from the end of the file.
_END: list[tuple[str, bytes, int]] = [
    # RocksDB, table/block_based/block_based_table_builder.cc, and LevelDB, table/format.h: kTableMagicNumber.
    ("a RocksDB table", b"\xf7\xcf\xf4\x85\xb7\x41\xe2\x88", 8),
    ("a LevelDB table", b"\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8),
    # A VHD of fixed size has its cookie in a footer of 512 bytes only; an Apple disk image likewise.
    ("a VHD image", b"conectix", 512),
    ("an Apple disk image", b"koly", 512),
]


def _innodb(front: bytes) -> bool:
    """The first page of an InnoDB table space: page 0 of type FSP_HDR (8), its space's number twice (fil0types.h)."""
    return front[4:8] == bytes(4) and front[24:26] == b"\x00\x08" and front[34:38] == front[38:42] and len(front) > 42


def _postgres(front: bytes) -> bool:
    """A page of PostgreSQL: 8 KiB, layout 4, and free space within the page (bufpage.h: PageHeaderData)."""
    lower, upper, special = (int.from_bytes(front[at : at + 2], "little") for at in (12, 14, 16))
    return front[18:20] == b"\x04\x20" and 24 <= lower <= upper <= special <= 8192


def _bzip2(front: bytes) -> bool:
    return front[:3] == b"BZh" and front[3:4] in b"123456789" and front[4:10] == b"1AY&SY"


def _dos(front: bytes) -> bool:
    """A program of DOS or Windows: the header of the latter begins within the first KiB, at a multiple of 8."""
    at = int.from_bytes(front[60:64], "little")
    return front[:2] == b"MZ" and 0 < at < 1024 and at % 8 == 0


def _bitmap(front: bytes) -> bool:
    return front[:2] == b"BM" and front[6:10] == bytes(4) and front[15:18] == bytes(3)


_GUARDED: list[tuple[str, Callable[[bytes], bool]]] = [
    ("an InnoDB table space", _innodb),
    ("a PostgreSQL table", _postgres),
    ("a bzip2 archive", _bzip2),
    ("a Windows program", _dos),
    ("a BMP picture", _bitmap),
]


def known_content(path: str, host: Host) -> Iterator[str]:
    """Yield known contents of a file, as reasons not to write it."""
    try:
        size = host.size(path) or 0
        front = host.read(path, 0, FRONT_BYTES)
        back = host.read(path, max(0, size - FRONT_BYTES), FRONT_BYTES)
        signed: list[Signature] = signatures(path, host) if size else []
    except OSError as error:
        yield f"cannot be read, so its contents are unknown: {reason_of(error)}"
        return
    names = [name for name, magic, at in _MAGIC if front[at : at + len(magic)] == magic]
    names += [name for name, magic, at in _END if size >= at and back[len(back) - at :].startswith(magic)]
    names += [name for name, holds in _GUARDED if holds(front)]
    yield from (f"is {name}" for name in dict.fromkeys(names))
    yield from (words_of(signature) for signature in signed)


def folder_of_system(path: str, is_ours: bool) -> bool:
    """Return whether a file is in a system folder. Folders of `STATE` do not count for a file that Hotband made."""
    return path.startswith(SYSTEM if is_ours else SYSTEM + STATE) and not path.startswith(NO_SYSTEM)


def is_hidden_in_home(path: str) -> bool:
    """Return whether a file is a dot file of a home, or lies below a folder that is."""
    parts = Path(path).parts
    for home in _homes():
        if parts[: len(home)] == home and any(part.startswith(".") for part in parts[len(home) :]):
            return True
    return parts[:2] == ("/", "home") and any(part.startswith(".") for part in parts[3:])


@cache
def _homes() -> set[tuple[str, ...]]:
    """Return the homes of all users that the system lists, and ours."""
    homes = {entry.pw_dir for entry in pwd.getpwall()} | {"/root", os.path.expanduser("~")}
    return {Path(home).parts for home in homes if os.path.isabs(home) and home != "/"}


def mark(descriptor: int) -> None:
    """Mark an open file as made by Hotband. A file system without extended attributes leaves it unmarked."""
    with suppress(OSError):
        os.setxattr(descriptor, MARK, b"1")


def is_made_here(path: str, name: str) -> bool:
    """Return whether Hotband made a file, which is read at `path` and called `name`: it has the mark, or where its file
    system has no extended attributes, the name."""
    try:
        os.getxattr(path, MARK)
    except OSError as error:
        return error.errno in (errno.ENOTSUP, errno.ENOSYS) and os.path.basename(name) == OWN_FILE
    except ValueError:
        return False
    return True
