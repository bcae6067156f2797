"""Do the commands of the guide run as they stand there?"""

from __future__ import annotations

import json
import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "measure.md"


def test_the_commands_run(hotband, tmp_path: Path) -> None:
    block = re.findall(r"^## See what is plugged in$.*?```sh\n(.*?)```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)[0]
    lines = [line.split("#")[0].split() for line in block.splitlines()]
    assert [line[:3] for line in lines] == [["hotband", "measure", "device"]] * 3
    (tmp_path / "disk.img").write_bytes(b"x" * 4096)
    for words in lines:
        done = hotband(*words[1:])
        if words[3:] and words[3].startswith("/dev/"):
            # Whether this machine has one.
            assert done.returncode in (0, 2)
            continue
        assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["erase"] == str(tmp_path / "disk.img")
    assert found["context"]["device"]["kind"] == "file"
    assert {"counters", "refused", "purge", "remarks"} <= found.keys()


def test_no_such_device_is_one_line(hotband) -> None:
    done = hotband("measure", "device", "/dev/hotband-none")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "hotband: error: /dev/hotband-none: does not exist: expected a block device or a file\n"
