"""Does what a server acknowledged outlive it when it is killed, and would a loss be seen?"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "serve_kills.py"
MACHINE = "s4500-960"

pytestmark = [
    pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)"),
    pytest.mark.skipif(os.geteuid() != 0 or not Path("/dev/fuse").exists(), reason="only root can mount FUSE here"),
]


@pytest.fixture(scope="module")
def kills() -> ModuleType:
    spec = importlib.util.spec_from_file_location("serve_kills", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["serve_kills"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("over_base", [pytest.param(False, marks=pytest.mark.long), True])
def test_nothing_acknowledged_is_lost_and_no_sector_is_torn(kills: ModuleType, tmp_path: Path, over_base: bool) -> None:
    base = tmp_path / "base.img" if over_base else None
    if base is not None:
        base.write_bytes(bytes(kills.FIO_BYTES))
    found = kills.kill_often(MACHINE, 2, 1, tmp_path, base)
    assert found.is_whole(), found
    assert found.writes > 0


def test_losses_and_torn_sectors_would_be_seen(kills: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    first, region = kills.FIO_BYTES // kills.SECTOR, kills.REGION // kills.SECTOR
    writers = [kills.Writer(first, 1), kills.Writer(first + region, 2)]
    server, found = kills.Server(MACHINE, tmp_path, None), kills.Found()
    kills.write_until_killed(server, writers, 1.5, 1, tmp_path)
    with (tmp_path / "store.img").open("r+b") as store:
        # What fio and the first thread wrote is gone; of the second every sector is made of two.
        store.write(bytes(kills.FIO_BYTES + kills.REGION))
        at = store.seek((first + region) * kills.SECTOR)
        data = bytearray(store.read(kills.REGION))
        for sector in range(0, len(data), kills.SECTOR):
            data[sector : sector + 16] = bytes(reversed(data[sector : sector + 16]))
        store.seek(at)
        store.write(data)
    server = kills.Server(MACHINE, tmp_path, None)
    kills.check(server, writers, 1, tmp_path, found)
    server.end()
    assert found.torn > 0
    assert found.lost_of_flushed > 0
    # A host that is busy may not have started fio by then.
    assert found.fio_lost > 0 or found.fio_writes == 0
