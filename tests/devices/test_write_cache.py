"""Is a drive's write cache turned, looked at, and put back as it was, also after a kill?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from trees import Tree

from hotband.base.child import Output
from hotband.base.errors import UserError
from hotband.execution.devices.device import ID_CTRL
from hotband.execution.devices.host import Host
from hotband.execution.devices.safety import Permission, permission
from hotband.execution.targets.write_cache import cache_turned

FILE = "/sys/block/sdb/device/scsi_disk/2:0:0:0/cache_type"


def scsi(tree: Tree, cache: str = "write back") -> Permission:
    """A disk whose driver has a switch."""
    path = tree.disk("sdb", "8:16", serial="A1B2C3")
    tree.put(FILE, cache)
    return permission(path, tree.host, writes=True, erase="A1B2C3")


def test_it_is_off_within_and_on_again_afterwards(tree: Tree) -> None:
    granted = scsi(tree)
    with cache_turned(granted, False) as said:
        assert tree.host.text(FILE) == "write through"
    assert said == "off (sysfs cache_type); on before and afterwards"
    assert tree.host.text(FILE) == "write back"
    with pytest.raises(KeyboardInterrupt), cache_turned(granted, False):
        raise KeyboardInterrupt
    assert tree.host.text(FILE) == "write back"


def test_after_a_kill_it_is_put_back_as_it_was_before_the_first(tree: Tree, tmp_path: Path) -> None:
    granted, kept = scsi(tree, "write through"), tmp_path / "write-cache.json"
    kept.write_text(json.dumps({"device": "A1B2C3", "write_cache": "on"}))
    with cache_turned(granted, False, kept):
        assert json.loads(kept.read_text())["write_cache"] == "on"
    assert tree.host.text(FILE) == "write back"
    assert not kept.exists()
    # What was kept of another drive counts for nothing.
    kept.write_text(json.dumps({"device": "other", "write_cache": "off"}))
    with cache_turned(granted, False, kept):
        pass
    assert tree.host.text(FILE) == "write back"


class Nvme(Host):
    """A tree whose NVMe drive takes the feature, or says so and keeps it as it is."""

    value, keeps, asked = 1, False, ()

    def run(self, *arguments: str, longest_s: float = 60.0) -> Output | None:
        if arguments[1:2] == ("get-feature",):
            return Output(0, f"get-feature:0x06 (Volatile Write Cache), Current value:0x{type(self).value:08x}\n")
        if arguments[1:2] == ("set-feature",):
            type(self).asked = arguments[3:]
            type(self).value = type(self).value if type(self).keeps else int(arguments[-1].partition("=")[2])
            return Output(0, "set-feature:0x06\n")
        return super().run(*arguments, longest_s=longest_s)


@pytest.fixture
def nvme(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> tuple[Tree, Nvme, str]:
    monkeypatch.setattr(Nvme, "value", 1)
    monkeypatch.setattr(Nvme, "keeps", False)
    return tree, Nvme(tree.root), tree.disk("nvme0n1", "259:0", serial="S64FNE0R")


def test_an_nvme_drive_is_told_by_its_feature(nvme: tuple[Tree, Nvme, str]) -> None:
    tree, host, path = nvme
    tree.recorded(" ".join([*ID_CTRL, path]), json.dumps({"vwc": 7, "nn": 1}))
    with cache_turned(permission(path, host, writes=True, erase="S64FNE0R"), False):
        assert (host.value, host.asked) == (0, ("--feature-id=6", "--value=0"))
    assert host.value == 1


def test_one_that_does_not_do_as_it_says_is_found_out(nvme: tuple[Tree, Nvme, str]) -> None:
    tree, host, path = nvme
    tree.recorded(" ".join([*ID_CTRL, path]), json.dumps({"vwc": 1, "nn": 1}))
    Nvme.keeps = True
    granted = permission(path, host, writes=True, erase="S64FNE0R")
    with pytest.raises(UserError, match="reports that its write cache is not off"), cache_turned(granted, False):
        pass


def test_a_drive_without_a_volatile_cache_has_it_off_already(nvme: tuple[Tree, Nvme, str]) -> None:
    tree, host, path = nvme
    tree.recorded(" ".join([*ID_CTRL, path]), json.dumps({"vwc": 0, "nn": 1}))
    granted = permission(path, host, writes=True, erase="S64FNE0R")
    with cache_turned(granted, False) as said:
        assert said.startswith("off (no volatile cache)")
    with pytest.raises(UserError, match="has no volatile write cache to turn on"), cache_turned(granted, True):
        pass


def test_what_is_not_a_whole_drive_of_ours_is_left_alone(tree: Tree, tmp_path: Path) -> None:
    scsi(tree)
    reading = permission("/dev/sdb", tree.host, writes=False, erase=None)
    with pytest.raises(UserError, match="is read-only"), cache_turned(reading, False):
        pass
    part = tree.partition("sdb", 1, "8:17", 2048, 4096)
    granted = permission(part, tree.host, writes=True, erase="A1B2C3-part1")
    with pytest.raises(UserError, match="is a partition"), cache_turned(granted, False):
        pass
    with (
        pytest.raises(UserError, match="is not a drive"),
        cache_turned(permission(tmp_path / "new", writes=True, erase=None), False),
    ):
        pass
    assert tree.host.text(FILE) == "write back"
