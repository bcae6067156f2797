"""Are the figures of docs/guides/measure.md those that its commands print?"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from forms import thinned

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guides" / "measure.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `out/(data\S*)` \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \|$", GUIDE, re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the example writes."""
    out = tmp_path_factory.mktemp("guide")
    script = ROOT / "docs" / "examples" / "entropy.py"
    subprocess.run([sys.executable, str(script), str(out / "data")], check=True)
    return out


def test_the_guide_has_figures() -> None:
    assert len(ROWS) == 4


@pytest.mark.parametrize(("name", "archive", "small", "large"), thinned(2, ROWS))
def test_the_example_has_the_entropy_that_the_guide_says(
    hotband, folder: Path, name: str, archive: str, small: str, large: str
) -> None:
    call = ("--sample", "all", "--compressor", "deflate", "--chunk", "4k,64k", "--json")
    report = json.loads(hotband("measure", "entropy", str(folder / name), *call).stdout)
    means = [f"{100 * of['mean']:.1f}" for of in report["chunks"]]
    assert [f"{100 * report['archive']['deflate']['entropy']:.1f}", *means] == [archive, small, large]


def test_a_workload_takes_the_report_as_its_data(hotband, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text(hotband("measure", "entropy", str(folder / "data"), "--json").stdout)
    done = hotband("run", "fio-randwrite", "--on", "ent-15k", "--duration", "2 s", "--set", "data=data.json", "--json")
    assert done.returncode == 0, done.stderr
    (data,) = json.loads(done.stdout)["data"]
    assert data["mean"] == pytest.approx(0.456, abs=0.0005)
