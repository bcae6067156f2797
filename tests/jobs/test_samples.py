"""Job files of other people: each converts and is a workload, or says why not. Skipped where they are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from hotband import _core
from hotband.base.errors import UserError
from hotband.data.jobs.job_file import converted

JOBS = [
    "fio/iometer-file-access-server.fio",
    "fio/jesd219.fio",
    "fio/latency-profile.fio",
    "fio/sample_mixed.fio",
    "fio/steadystate.fio",
    "vdbench/exch_parmfile.html",
    "vdbench/ibm_fs_poc_baseline_hotband.cfg",
    "vdbench/pure_oracle_ramp.vdb",
    "vdbench/pure_vdi_ramp.vdb",
    "iometer/multispec.icf",
    "iometer/oldformat_specs.icf",
    "iometer/worker_rich.icf",
    "diskspd/Results_DiskSpd.xml",
]


@pytest.mark.parametrize("name", JOBS)
def test_a_job_file_is_a_workload(samples: Path, name: str) -> None:
    text, report = converted(samples / name)
    _core.workload(text, name)
    assert report.losses


def test_variables_of_a_template(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template = samples / "fio" / "virtualclient_oltp-c.fio.jobfile"
    with pytest.raises(UserError, match=r"the variables directio, ioengine, .* and 9 more are not set"):
        converted(template)
    values = {
        "directio": "1",
        "ioengine": "libaio",
        "groupreporting": "1",
        "durationsec": "5",
        "randomiofilepath": "/dev/sdb",
    }
    values |= {"sequentialiofilepath": "/dev/sdc", "randomiofilesize": "4G", "sequentialiofilesize": "1G"}
    for job in ("randomread", "randomwrite", "sequentialread", "sequentialwrite"):
        values |= {f"{job}blocksize": "8K", f"{job}iodepth": "4", f"{job}numjobs": "2", f"{job}iops": "100"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    _core.workload(converted(template)[0], "template")


@pytest.mark.parametrize("folder", ["fio", "vdbench", "iometer", "diskspd"])
def test_everything_else_says_why_not(samples: Path, folder: str) -> None:
    for path in sorted((samples / folder).iterdir()):
        if f"{folder}/{path.name}" not in JOBS and not path.name.endswith(".jobfile"):
            with pytest.raises(UserError, match=r"is a (result|report) of|is not a job file that Hotband recognises"):
                converted(path)
