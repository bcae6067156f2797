"""Inputs of kinds of which the repository has few: job files of other tools, tables, requests, arguments."""

from __future__ import annotations

import json
import shlex
from typing import Any

FIO_JOB = """[global]
ioengine=libaio
direct=1
filename=/dev/sdx
norandommap
runtime=5
time_based
[mixed]
rw=randrw
rwmixread=70
bssplit=4k/60:8k/40
iodepth=8
numjobs=2
random_distribution=zipf:1.1
[log]
stonewall
rw=write
bs=64k
rate_iops=200
fsync=32
size=10g
offset=1g
"""
VDBENCH_JOB = """compratio=2
sd=default,openflags=directio
sd=sd1,lun=/dev/sdb,size=100g,threads=3
sd=sd2,lun=/dev/sdc,hitarea=1m
wd=wd1,sd=sd*,xfersize=(4k,60,8k,40),rdpct=70,seekpct=20,range=(10,60)
wd=wd2,sd=sd1,xfersize=64k,rdpct=0,seekpct=seq,skew=30
rd=rd1,wd=wd1,iorate=max,elapsed=9,interval=1,warmup=2,forthreads=(1-8,d)
rd=rd2,wd=wd*,iorate=(100,200),elapsed=5
"""
DISKSPD_JOB = """<Profile><Progress>0</Progress><ResultFormat>xml</ResultFormat><TimeSpans><TimeSpan>
<Duration>10</Duration><Warmup>5</Warmup><Cooldown>0</Cooldown><ThreadCount>0</ThreadCount>
<RandSeed>0</RandSeed><MeasureLatency>true</MeasureLatency>
<Targets><Target><Path>#1</Path><BlockSize>8192</BlockSize><DisableOSCache>true</DisableOSCache>
<WriteThrough>true</WriteThrough><Random>4096</Random><WriteRatio>30</WriteRatio><RequestCount>8</RequestCount>
<ThreadsPerFile>2</ThreadsPerFile><BaseFileOffset>0</BaseFileOffset><MaxFileSize>0</MaxFileSize>
<ThinkTime>0</ThinkTime><BurstSize>0</BurstSize></Target></Targets></TimeSpan></TimeSpans></Profile>
"""
ICF = """Version 1.1.0
'TEST SETUP ====
'Run Time
'\thours      minutes    seconds
\t0          1          30
'Ramp Up Time (s)
\t5
'END test setup
'ACCESS SPECIFICATIONS ====
'Access specification name,default assignment
\tmix,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t8192,60,67,30,0,1,4096,0
\t4096,40,100,100,2,4,0,0
'END access specifications
'MANAGER LIST ====
'Manager ID, manager name
\t1,HOST
'Worker
\tWorker 1
'Worker type
\tDISK
'Number of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed seed value
\t16,DISABLED,1,DISABLED,0
'Disk maximum size,starting sector,Data pattern
\t0,0,0
'Assigned access specs
\tmix
'End assigned access specs
'Target
\tE:
'Target type
\tDISK
'End target
'End worker
'END manager list
"""
JOBS = {"by-hand.fio": FIO_JOB, "by-hand.parm": VDBENCH_JOB, "by-hand.xml": DISKSPD_JOB, "by-hand.icf": ICF}
PRICES = """drive,price,currency,watts
exos-x18-18tb,280..310,EUR,7 W
ent-10k,150,EUR,8 W
s4500-960,120,EUR,3 W
"""
LIVES = "model,serial,entered_days,left_days,failed\n" + "".join(
    f"m{n % 2},s{n},{n},{400 + 17 * n},{int(n % 3 == 0)}\n" for n in range(30)
)
FLEETS = {
    "plain": """years = 2
repetitions = 4
[[group]]
name = "a"
machines = 5
machine = "raid5:4xent-10k"
afr = ["2 %", "5 %"]
rebuild_time = "10 h"
replacement = "4 h"
spares = { on_site = 1, delivery = "14 d", order = 1 }
""",
    "priced": """name = "f"
years = 3
repetitions = 3
[power]
pue = [1.2, 1.5]
price = "0.2 EUR/kWh"
[prices]
machine = "4000 EUR"
[prices.drives]
mg06sca-10tb = ["180 EUR", "260 EUR"]
s4500-960 = "150 EUR"
[[group]]
name = "b"
machines = 6
growth = "20 %/year"
machine = "raid6:6xmg06sca-10tb"
weibull = { shape = [1.1, 1.3], scale = ["60 years", "80 years"] }
batches = { drives = 12, variance = 0.5 }
rebuild_rate = "200 MB/s"
machine_power = "120 W"
drive_power = "6 W"
[[group]]
name = "c"
from = 6
machines = 2
machine = "raid10:4xs4500-960"
afr = "1 %"
rebuild_time = "1 h"
writes = ["400 GB/day", "900 GB/day"]
replace_at = "90 %"
drive_power = "2.5 W"
""",
}
MACHINES = {
    "nested": """[drives.d]
product = "ent-15k"
count = 8
set = { wce = "off" }
[links.sas]
lanes = 2
rate = "1.2 GB/s"
carries = "d*"
[layouts.a]
raid5 = { members = "d0..d3", chunk = "64 KiB" }
[layouts.b]
raid1 = { members = "d4..d5" }
[layouts.c]
concat = { members = ["a", "b"] }
[volumes]
v = { on = "c", from = "1 GB", size = "100 GB" }
w = { on = "d6" }
[[events]]
at = "1 ms"
fail = "d3"
""",
    "raidz": """[drives.d]
product = "s4500-960"
count = 6
set = { scale = 64 }
[layouts.z]
raid6 = { members = "d*", chunk = "128 KiB" }
[volumes]
v = { on = "z" }
""",
}
COMMANDS = """run fio-randread --on ent-10k --set qd=8 --set bs=8KiB --duration "1 ms" --json
run fio-randread --on raid5:4xent-15k --fail "d1@1 ms" --spares 1 --rebuild-rate "10 MB/s" --duration "5 ms"
run iometer-4k-rand-50-50 --on s4500-960 --set scale=64 --set read_pct=20 --event "at 1 ms: power-off" --duration "3 ms"
run vdbench-8k-random --on raid1:2xexos-15e900-512n --seed 7 --event "at 1 ms: set d0.wce=off" --duration "4 ms"
keys fio-randread --on raid10:4xent-15k --json
events --json
sweep fio-randread --on ent-10k --set qd=1..8 --set bs=4KiB..16KiB --repeat 2 --duration "1 ms" --json
find "IOPS at p99 < 10 ms" -w fio-randread --on ent-15k --within 20 --ios 1000
find "drives for 500 IOPS" -w fio-randread --on raid0:{n}xent-10k --ios 1000
reliability raid6:8xmg06sca-10tb --afr "2 %" --rebuild-time "12 h" --years 5 --error-rate 1e15 --arrays 1000
query "select workload, iops from runs where qd >= 1 order by iops desc limit 3" --from {store} --json
store list {store} --where "qd >= 1" --json
review ent-15k --quick --only access --json
drives ent-10k --json
device {file} --json
advise fio-randread --slo "p99 < 60 ms" --capacity "5 TB" --protect "one failure" --candidates drives=ent-10k,counts=8
trace show {trace} --format csv --columns "time=1:ns,offset=4,size=5,op=3" --skip-bad 3 --for "1 s"
trace convert {trace} {out} --to fio-v3 --from "1 ms" --direction read
why fio-randread --on ent-15k --json
compare {record} vs {other} --anyway --seed 3
steady {record} --track latency --json
audit {record} --on ent-15k --cache "16 MiB" --json
calibrate {trace} --like ent-10k --set read_ahead=always --seed 4 --json
pts s4500-960 --test iops --quick --set scale=512 --seed 2 --json
quick ent-15k --for "1 min" --expect ent-10k --json
expect {record} --on ent-15k --draws 8 --duration "1 ms" --json
plot latency {record} {other} --out {out}
entropy {file} --chunk 4096 --sample "1 MB" --json
"""


def arguments(line: str) -> list[str]:
    """A command of the list as arguments."""
    return shlex.split(line)


TOKEN = "a-token-of-the-probe"


def request(method: str, path: str, data: Any = None, body: bytes | None = None) -> bytes:
    """A request to the page's server, as bytes; `{port}` stands for its port."""
    content = b"" if data is None and body is None else body if body is not None else json.dumps(data).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{{port}}\r\nx-hotband-token: {TOKEN}\r\n"
        f"Connection: close\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


RUN_FORM = {"workload": "fio-randread", "on": ["ent-15k"], "duration": "1 ms", "settings": [["qd", "4"]], "seed": "3"}
FORMS: tuple[dict[str, Any], ...] = (
    {"kind": "run", "form": {**RUN_FORM, "events": ["at 1 ms: fail d0"], "interval": None}},
    {"kind": "run", "form": {**RUN_FORM, "on": ["raid1:2xent-15k"], "interval": "50"}},
    {"kind": "sweep", "form": {**RUN_FORM, "settings": [["qd", "1..4"]], "repeat": "2"}},
    {"kind": "find", "form": {**RUN_FORM, "question": "IOPS at p99 < 10 ms", "within": "20", "ios": "1000"}},
    {"kind": "review", "form": {"on": ["ent-15k"], "only": ["access"], "quick": True, "seed": "1"}},
    {"kind": "study", "form": {"study": "content-hdd", "only": ["8k-random-75r"], "seed": "1"}},
    {"kind": "compare", "form": {"results": ["result-1", "result-2"], "anyway": True}},
    {
        "kind": "advise",
        "form": {"workload": ["fio-randread"], "slo": "p99 < 20 ms", "capacity": "5 TB", "protect": "one failure"},
    },
    {"kind": "fleet", "form": {"fleet": "dropped/fleet.toml", "repetitions": "3", "seed": "1"}},
    {"kind": "expect", "form": {"result": ["dropped/a.json"], "on": ["ent-15k"], "draws": "8", "duration": "1 ms"}},
    {"kind": "calibrate", "form": {"result": ["dropped/a.json"], "like": "ent-10k", "seed": "1"}},
)
