"""Does `hb.entropy` give what `hotband measure entropy` prints?"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import hotband as hb


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file that compresses and one that does not."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "zeros").write_bytes(bytes(1 << 20))
    (tmp_path / "data" / "noise").write_bytes(random.Random(1).randbytes(1 << 20))
    return tmp_path / "data"


def test_it_is_what_the_command_prints(hotband, data: Path) -> None:
    done = hotband(
        "measure", "entropy", str(data), "--compressor", "deflate", "--chunk", "4 KiB", "--sample", "all", "--json"
    )
    found = hb.entropy(data, compressor="deflate", chunk="4 KiB", sample="all")
    assert found.to_dict() == json.loads(done.stdout)
    assert found.complete
    assert found.archive["deflate"] == pytest.approx(0.5, abs=0.01)
    row = found.frame.row(0, named=True)
    assert (row["chunk_bytes"], row["compressor"], row["incompressible"]) == (4096, "deflate", 0.5)


@pytest.mark.parametrize(
    ("options", "file", "value"),
    [
        ({"paths": []}, "paths", "[]"),
        ({"paths": 3}, "paths", "3"),
        ({"seed": -1}, "seed", "-1"),
        ({"jobs": 0}, "jobs", "0"),
        ({"compressor": "rar"}, "compressor", "rar"),
        ({"chunk": "5"}, "chunk", "5"),
        ({"sample": "much"}, "sample", "much"),
    ],
)
def test_a_mistake_names_the_argument(options: dict[str, object], file: str, value: str, data: Path) -> None:
    with pytest.raises(hb.UserError) as caught:
        hb.entropy(**{"paths": data, **options})
    assert (caught.value.file, caught.value.value) == (file, value)
    assert "--" not in str(caught.value)
