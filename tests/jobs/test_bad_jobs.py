"""Job files with mistakes: one line that names file, line, key, value and what is accepted; never a traceback."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from job_files import Refused

from hotband.base.errors import UserError
from hotband.data.jobs.job_file import converted

DIRECT = "[global]\nfilename=/dev/sdx\nruntime=5\ntime_based\n"
SD = "sd=sd1,lun=/dev/sdb\n"
WD = "wd=wd1,sd=sd1\n"
RD = "rd=rd1,wd=wd1,iorate=max,elapsed=9\n"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[a]\nbogus=1\n", "a.fio:2: bogus = '1': fio has no such option; "),
        (f"{DIRECT}[a]\niodpth=1\n", "a.fio:6: iodpth = '1': fio has no such option; did you mean \"iodepth\"? "),
        (f"{DIRECT}[a]\nrw=randraed\n", "a.fio:6: rw = 'randraed': did you mean \"randread\"? expected one of "),
        (f"{DIRECT}[a]\nbs=4q\n", "a.fio:6: bs = '4q': expected a size, such as 4k"),
        (
            f"{DIRECT}[a]\nblocksize=5g\n",
            "a.fio:6: blocksize = '5g': 5368709120 bytes is not an I/O size: expected 1 byte to 4 GiB",
        ),
        (f"{DIRECT}[a]\nbs=${{FIO_BLOCK}}\n", "a.fio:6: bs = '${FIO_BLOCK}': the variable FIO_BLOCK is not set: "),
        (f"{DIRECT}[a]\niodepth=0\n", "a.fio:6: iodepth = '0': expected a whole number from 1"),
        (f"{DIRECT}[a]\nioengine=net\n", "a.fio:6: ioengine = 'net': is not a block I/O engine; "),
        (f"{DIRECT}[a]\nbssplit=4k/70:8k/50\n", "a.fio:6: bssplit = '4k/70:8k/50': the shares add up to 120: "),
        (f"{DIRECT}[a]\noffset=12.5%\n", "a.fio:6: offset = '12.5%': expected a whole percentage from 0% to 100%"),
        (f"{DIRECT}[a]\nrwmixread=130\n", "a.fio:6: rwmixread = '130': expected a whole number from 0 to 100"),
        (
            f"{DIRECT}[a]\nread_iolog=x.log\n",
            "a.fio:6: read_iolog = 'x.log': a job that replays a trace is not a workload; ",
        ),
        (
            f"{DIRECT}[a]\nthinktime=99999999d\n",
            "a.fio:6: thinktime = '99999999d': expected a time of at most ten years",
        ),
        (
            f"{DIRECT}[a]\nioengine=libaio\niodepth=16k\nrate_iops=9g\n",
            "a.fio:8: rate_iops = '9g': is 9.66368e+09 I/Os per second: expected 0.001 to 1e+09",
        ),
        (f"{DIRECT}[a]\nruntime=soon\n", "a.fio:6: runtime = 'soon': expected a time"),
        (
            f"{DIRECT}[a]\nrw=randread\nrandom_distribution=zipf:9\n",
            "a.fio:7: random_distribution = 'zipf:9': expected a number",
        ),
        (f"{DIRECT}[a]\nfilename=/dev/a::/dev/b\n", "a.fio:6: filename = '/dev/a::/dev/b': a name is empty: "),
        (f"{DIRECT}[a]\ninclude none.fio\n", "a.fio:6: include = 'none.fio': cannot be read: No such file"),
        (f"{DIRECT}[a]\ninclude a.fio\n", "a.fio:6: include = 'a.fio': includes itself: a.fio -> a.fio; "),
        (f"{DIRECT}[a]\nsize=1.5g\n", "a.fio:6: size = '1.5g': expected a size, such as 4k, 64k or 1g; "),
        (
            f"{DIRECT}[a]\nrw=${{RW}}\nbs=${{BS}}\n",
            "a.fio:6: rw = '${RW}': the variables RW, BS are not set: expected them in the environment, or ",
        ),
        ("[global]\n; nothing\n", "a.fio: has no job: expected a section"),
        ("bs=4k\n[a]\nsize=1m\n", "a.fio:1 = 'bs=4k': is before the first section: "),
        (f"{DIRECT}[a\nrw=read\n", "a.fio:5 = '[a': the section's name is cut off: "),
    ],
)
def test_fio(refused: Refused, text: str, error: str) -> None:
    assert refused(text).startswith(error)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("rate=1m\nrate_iops=9", "rate = '1m': not together with rate_iops=9: expected one of both, as in fio"),
        ("rate=1m,2m\nrate_min=1m,3m", "rate_min = '1m,3m': exceeds rate=1m,2m: "),
        ("rate_iops=100\nrate_iops_min=,200", "rate_iops_min = ',200': exceeds rate_iops=100: "),
        ("zonemode=strided", "zonemode = 'strided': needs zonesize=, as in fio"),
        ("zonemode=none\nzonesize=1m", "zonesize = '1m': not together with zonemode=none: "),
        ("size=1g\nio_size=200%", "io_size = '200%': expected at most 100%, as in fio"),
        ("bs=8k\nsize=4k", "size = '4k': holds no I/O of 8 KiB: "),
        (
            "rw=randread\nrandom_distribution=zoned:60/10:30/20",
            "random_distribution = 'zoned:60/10:30/20': the ",
        ),
        (
            "rw=randread\nrandom_distribution=zoned_abs:60/1g:30/2g",
            "random_distribution = 'zoned_abs:60/1g:30/2g': ",
        ),
        (
            "rw=randread\nrandom_distribution=normal:150",
            "random_distribution = 'normal:150': expected a ",
        ),
        ("wait_for=a", "wait_for = 'a': expected the name of an earlier job"),
        ("stonewall\n[b]\nwait_for=c", "wait_for = 'c': expected one of a"),
        ("runtime=1.5m", "runtime = '1.5m': expected a time, such as 30, 30s, 5m or 100ms; fio 3.33 reads 1.5m as 1"),
        (
            "thinktime=0.5s",
            "thinktime = '0.5s': expected a time, such as 30",
        ),
    ],
)
def test_what_fio_refuses_or_misreads(refused: Refused, options: str, error: str) -> None:
    """Each was tried with fio 3.33."""
    assert refused(f"{DIRECT}[a]\n{options}\n").partition(": ")[2].startswith(error)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            f"{SD}wd=wd1,sd=sd1,rdpt=5\n{RD}",
            "a.parm:2: rdpt = '5': vdbench has no such parameter of wd; did you mean \"rdpct\"? ",
        ),
        (f"{SD}wd=wd1,sd=sd9\n{RD}", "a.parm:2: sd = 'sd9': sd9 is not defined; did you mean \"sd1\"? "),
        (f"{SD}{WD}rd=rd1,wd=wd2,iorate=max\n", "a.parm:3: wd = 'wd2': wd2 is not defined; "),
        (f"{SD}{SD}{WD}{RD}", "a.parm:2: sd = 'sd1': is defined twice; expected another name of this sd="),
        (f"{SD}{WD}{WD}{RD}", "a.parm:3: wd = 'wd1': is defined twice; "),
        (f"rg=g,devices=(8)\n{SD}{WD}{RD}", "a.parm:1: rg = 'g': replays of a trace are not supported; "),
        (f"{SD}{WD}rd=rd1,wd=wd1,iorate=fast\n", "a.parm:3: iorate = 'fast': "),
        (
            f"{SD}wd=wd1,sd=sd1,xfersize=(4k,10,8k,20)\n{RD}",
            "a.parm:2: xfersize = '(4k,10,8k,20)': the percentages add up to 30",
        ),
        (f"{SD}wd=wd1,sd=sd1,xfersize=(4k,10\n", "a.parm:2 = 'wd=wd1,sd=sd1,xfersize=(4k,10': is cut off: "),
        (f"{SD}wd=wd1,sd=sd1,rdpct=$read\n{RD}", "a.parm:2: rdpct = '$read': the variable $read is not set: "),
        (
            f"{SD}wd=wd1,sd=sd1,skew=60\nwd=wd2,sd=sd1,skew=60\nrd=rd1,wd=wd*,iorate=max\n",
            "a.parm:3: skew = '60': the skews",
        ),
        (
            f"{SD}wd=wd1,sd=sd1,range=(60,40)\n{RD}",
            "a.parm:2: range = '(60,40)': expected (FROM,TO) with FROM below TO",
        ),
        ("fsd=fsd1,anchor=/tmp\nsd=x\n", "a.parm:1: fsd = 'fsd1': file system workloads are not supported; "),
        (f"{SD}{WD}rd=rd1,wd=wd1,sd=(),iorate=max\n", "a.parm:3: sd = '()': expected at least one name"),
        (f"{SD}{RD}", "a.parm: wd: missing: expected at least one wd="),
        ("sd=sd1\nwd=wd1,sd=sd1\n" + RD, "a.parm:1: lun: missing in sd=sd1: "),
        (f"include=gone\n{SD}", "a.parm:1: include = 'gone': cannot be read: "),
        (f"include=a.parm\n{SD}", "a.parm:1: include = 'a.parm': includes itself: "),
        (
            f"{SD}{WD}rd=rd1,wd=wd1,iorate=max,forthreads=(1-900)\n",
            "a.parm:3: forthreads = '(1-900)': expected a whole number",
        ),
    ],
)
def test_vdbench(refused: Refused, text: str, error: str) -> None:
    assert refused(text, "a.parm").startswith(error)


HEAD = "Version 1.1.0\n'TEST SETUP ===\n'END test setup\n'ACCESS SPECIFICATIONS ===\n"
ROW = (
    "'Access specification name,default assignment\n\ta,ALL\n'size,% of size,% reads,% random,delay,burst,align,reply\n"
)
END = "'END access specifications\n"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (f"{HEAD}{ROW}\t4096,100,100\n{END}", "a.icf:8: size = '4096,100,100': expected size, % of size, "),
        (f"{HEAD}{ROW}\t4000,100,100,0,0,1,0,0\n{END}", "a.icf:8: size = '4000,100,100,0,0,1,0,0': size is 4000: "),
        (f"{HEAD}{ROW}\t4096,100,170,0,0,1,0,0\n{END}", "a.icf:8: size = '4096,100,170,0,0,1,0,0': % reads is 170: "),
        (f"{HEAD}{ROW}\t4096,100,100,0,0,1,0,0\n", "a.icf: is cut off: expected 'END access specifications"),
        (f"{HEAD}{ROW}\t4096,0,100,0,0,1,0,0\n{END}", "a.icf:8: size = '4096,0,100,0,0,1,0,0': % of size is 0 in all"),
        (f"{HEAD}{END}", "a.icf: ACCESS SPECIFICATIONS: missing: "),
    ],
)
def test_iometer(refused: Refused, text: str, error: str) -> None:
    assert refused(text, "a.icf").startswith(error)


def test_an_access_specification_that_is_not_there(refused: Refused) -> None:
    workers = "'MANAGER LIST ===\n'Worker\n\tw\n'Worker type\n\tDISK\n"
    workers += "'Assigned access specs\n\tb\n'Target\n\tC:\n'END manager list\n"
    said = refused(f"{HEAD}{ROW}\t4096,100,100,0,0,1,0,0\n{END}{workers}", "a.icf")
    assert said.startswith(
        "a.icf:16: assigned access specs = 'b': no access specification has this name; expected one of \"a\""
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("<Profile><TimeSpans>", "a.xml: not XML: no element found"),
        ("<Profile><TimeSpans></TimeSpans></Profile>", "a.xml: Profile: has no TimeSpan in a Profile; "),
        (
            "<Profile><TimeSpans><TimeSpan><Targets>\n<Target>\n<Path>x</Path>\n<BlockSize>4k</BlockSize>"
            "</Target></Targets></TimeSpan></TimeSpans></Profile>",
            "a.xml:4: BlockSize = '4k': expected a whole number",
        ),
        ('<!DOCTYPE a [<!ENTITY b "c">]><Profile/>', "a.xml: "),
    ],
)
def test_diskspd(refused: Refused, text: str, error: str) -> None:
    assert refused(text, "a.xml").startswith(error)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "a.fio: the file is empty; expected a job file of fio"),
        (b"\n" * 3_000_000, "a.fio: the file is empty; "),
        (b"<!--" * 500_000, "a.fio:1: the line has 2,000,000 characters; "),
        (b"hello\n", "a.fio: is not a job file that Hotband recognises; "),
        (bytes(range(256)) * 16, "a.fio: is not text"),
        (
            b"[a]\nsize=1m\ndescription=" + b"x" * 3_000_000,
            "a.fio:3: the line has 3,000,012 characters; expected at most 65,536",
        ),
        (b"[a]\nsize=1m\ndescription=" + b"x" * 10_000_000, "a.fio: is larger than 4 MiB; "),
        (
            b'{"fio version": "fio-3.33", "jobs": []}',
            "a.fio: is a result of fio, not a job file: hotband import fio a.fio",
        ),
    ],
)
def test_what_is_no_job_file(refused: Refused, data: bytes, error: str) -> None:
    assert refused(data).startswith(error)


def test_a_folder_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path, error in ((tmp_path, "is a folder"), (tmp_path / "none.fio", "No such file")):
        with pytest.raises(UserError, match=error):
            converted(path)


GOOD = {
    "a.fio": "[global]\nioengine=libaio\nbs=4k,8k\n[a]\nfilename=/dev/sda:/dev/sdb\nrw=randrw:4\n"
    "size=1g\nbssplit=4k/50:8k/\n"
    "random_distribution=zoned:50/5:50/95\nrate_iops=10,20\nthinktime=5\n[b]\nstonewall\nsize=1m\nflow=3\n",
    "a.parm": "sd=sd1,lun=/dev/sdb,size=1g\nsd=sd2,lun=/x,threads=4\n"
    "wd=wd1,sd=sd*,xfersize=(4k,50,8k,50),seekpct=20,range=(1,9)\n"
    "rd=rd1,wd=wd1,iorate=(10,20),elapsed=9,interval=1,forrdpct=(0,50)\n",
    "a.icf": f"{HEAD}{ROW}\t4096,50,100,30,5,2,0,0\n\t8192,50,0,0,0,1,512,0\n{END}"
    "'MANAGER LIST ===\n'Worker\n\tw\n'Worker type\n"
    "\tDISK\n'Number of outstanding IOs\n\t4\n"
    "'Disk maximum size,starting sector\n\t100,7\n'Target\n\tC:\n'END manager list\n",
    "a.xml": "<Profile><TimeSpans><TimeSpan><Duration>3</Duration>"
    "<Targets><Target><Path>x</Path><BlockSize>4096</BlockSize>"
    "<Random>512</Random><RandomRatio>30</RandomRatio><ThreadsPerFile>3</ThreadsPerFile></Target></Targets></TimeSpan></TimeSpans></Profile>",
}


@pytest.mark.parametrize("name", GOOD)
def test_rubbish_in_a_good_file_is_told_or_converted(tmp_path: Path, name: str) -> None:
    """Cut at every place, and with characters changed: a UserError or a workload that is one."""
    from hotband import _core

    draw, text, path = random.Random(7), GOOD[name], tmp_path / name
    cut = [text[:n] for n in range(0, len(text), 3)]
    changed = []
    for _ in range(150):
        at = draw.randrange(len(text))
        changed.append(text[:at] + draw.choice("\0=,:/()%[]<>'\"09k-\n$#;x é") + text[at + draw.randrange(3) :])
    for one in [text, *cut, *changed]:
        path.write_text(one)
        try:
            toml, _ = converted(path)
        except UserError as error:
            if "\n" in str(error):
                raise AssertionError(f"more than a line: {error}") from error
        else:
            try:
                _core.workload(toml, name)
            except _core.SpecError as error:
                raise AssertionError(f"{error.args}\n{one}") from error
