"""Do replays of traces write new data everywhere, and notice what a target refuses or does not finish?"""

from __future__ import annotations

from pathlib import Path

import pytest

from hotband.base.errors import UserError
from hotband.execution.devices.held import held
from hotband.execution.devices.safety import permission

MIB = 1 << 20


def test_a_file_that_got_a_second_name_after_the_permission_is_not_held(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(MIB))
    permitted = permission(disk, writes=True, erase=str(disk))
    (tmp_path / "link").hardlink_to(disk)
    with pytest.raises(UserError, match=r"has 2 names \(hard links\); expected a file with one name"), held(permitted):
        pass
    (tmp_path / "link").unlink()
    with held(permitted):
        pass
