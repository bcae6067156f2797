"""Are magic numbers read as the tools write them, and gone where wipefs has been?"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hotband.execution.devices.host import SBIN, Host
from hotband.execution.devices.signatures import by_magic

MIB = 1 << 20
# Smallest that all of them take (XFS: 300 MiB).
SIZE = 300 * MIB
TOOLS = {
    "ext4": ["mkfs.ext4", "-q", "-F"],
    "xfs": ["mkfs.xfs", "-q"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
    "vfat": ["mkfs.vfat", "-F32"],
    "exfat": ["mkfs.exfat"],
    "ntfs": ["mkfs.ntfs", "-Q", "-q", "-F"],
    "f2fs": ["mkfs.f2fs", "-q"],
    "nilfs2": ["mkfs.nilfs2", "-q", "-f"],
    "swap": ["mkswap"],
    "crypto_LUKS": ["cryptsetup", "luksFormat", "-q", "--pbkdf=pbkdf2", "--pbkdf-force-iterations=1000"],
    "gpt": ["sfdisk", "-q"],
    "dos": ["sfdisk", "-q"],
}


@pytest.mark.parametrize("name", TOOLS)
def test_what_a_tool_writes_is_seen_until_wipefs_takes_it_away(name: str, tmp_path: Path) -> None:
    tool = shutil.which(TOOLS[name][0], path=":".join(SBIN) + ":/usr/bin:/bin")
    wipefs = shutil.which("wipefs", path=":".join(SBIN))
    if tool is None or wipefs is None:
        pytest.skip(f"{TOOLS[name][0]} or wipefs is not installed")
    file = tmp_path / "disk.img"
    with file.open("wb") as made:
        made.truncate(SIZE)
    # What some ask for on their standard input: a passphrase, a table.
    said = {"crypto_LUKS": b"pass", "gpt": b"label: gpt\n2048,20480\n", "dos": b"label: dos\n2048,20480\n"}.get(
        name, b""
    )
    more = ["-"] if name == "crypto_LUKS" else []
    subprocess.run([tool, *TOOLS[name][1:], str(file), *more], input=said, check=True, capture_output=True)
    assert [one.name for one in by_magic(str(file), Host())] == [name]
    subprocess.run([wipefs, "--all", "--quiet", str(file)], check=True)
    assert by_magic(str(file), Host()) == []
