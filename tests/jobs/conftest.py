"""What tests of job files share: a file in an empty folder, converted; the samples, no part of the repository."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hotband.base.errors import UserError
from hotband.data.jobs.job_file import converted

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from job_files import Convert, Job, Refused, job_of  # noqa: E402


@pytest.fixture
def convert(tmp_path: Path) -> Convert:
    """Converts a text as a file of the given name."""

    def called(text: str, name: str = "a.fio") -> Job:
        path = tmp_path / name
        path.write_text(text)
        return job_of(path)

    return called


@pytest.fixture
def refused(tmp_path: Path) -> Refused:
    """The error of a text as a file of the given name, without its folder."""

    def called(text: str | bytes, name: str = "a.fio") -> str:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        with pytest.raises(UserError) as error:
            converted(path)
        said = str(error.value)
        assert "\n" not in said
        return said.replace(f"{tmp_path}/", "")

    return called


@pytest.fixture(scope="session")
def samples() -> Path:
    folder = Path(os.environ.get("HOTBAND_SAMPLES", HERE.parents[1].parent / "shared" / "samples"))
    if not folder.is_dir():
        pytest.skip("the samples are not on this machine")
    return folder
