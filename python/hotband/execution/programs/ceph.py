"""Ceph: a monitor, a manager and object storage daemons (BlueStore) on disks of their own, and fio on an RBD image.

All listen on 127.0.0.1 and keep their state in a temporary folder; authentication is off, since the address is not
published. Left out: hosts (all daemons are on one, so copies lie on different daemons, not hosts), a network
between them, and memory as large as a real daemon's.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hotband.base.child import Child
from hotband.base.errors import UserError
from hotband.base.text import numbers
from hotband.execution.programs import fio_files
from hotband.execution.programs.fio_files import Options
from hotband.execution.programs.needs import path_of
from hotband.execution.programs.processes import ProgramFailed, last_words
from hotband.execution.programs.program import Choice, Count, Need, Outcome, Program, Size
from hotband.execution.programs.web import free_port
from hotband.execution.programs.work import Work

IMAGE = "image"
POOL = "rbd"
GROUPS = 32
"""Placement groups: about 100 a daemon are advised for a pool of its own; three daemons here hold 32 three times."""
CACHE = 128 << 20
"""Memory of a daemon for its store. By itself it takes 1 to 3 GiB, which three on a small host have not."""
UP_S = 180.0
CALL_S = 120.0


def run(work: Work) -> Outcome:
    """Start the cluster, make and fill an image, run fio on it."""
    if work.count("copies") > work.count("daemons"):
        accepted = f"exceed the {work.count('daemons')} daemons; expected at most as many"
        raise UserError("question.settings", "copies", str(work.count("copies")), accepted)
    settings = Cluster(work)
    settings.start_monitor()
    disks = work.disks(work.count("daemons"), work.count("disk"))
    for number, disk in enumerate(disks):
        settings.start_daemon(number, disk)
    settings.wait("daemons up", lambda: settings.status()["osdmap"]["num_up_osds"] == len(disks))
    settings.make_pool()
    shared: Options = {"ioengine": "rbd", "clientname": "admin", "pool": POOL, "rbdname": IMAGE}
    fill = {**shared, "rw": "write", "bs": "4m", "iodepth": 4}
    jobs = work.temporary / "fill.fio"
    jobs.write_text(fio_files.job_file(fill, [("fill", {})]), encoding="utf-8")
    work.tell(f"filling an image of {numbers.size(work.count('image'))}")
    work.call(["fio", jobs], fio_files.LAY_OUT_S, environment=settings.environment)
    options: Options = {**shared, "rw": work.word("mode"), "bs": work.count("block"), "iodepth": work.count("depth")}
    text = fio_files.measure(work, options, [("image", {})], work.count("seconds"), settings.environment)
    _, groups = fio_files.groups_of(text)
    sides = {"read": groups["image"].read, "write": groups["image"].write}
    figures = [side_figure for name, side in sides.items() for side_figure in fio_files.side_figures(name, side)]
    return Outcome(settings.version(), figures, text, settings.notes)


class Cluster:
    """The daemons of one run and their settings."""

    def __init__(self, work: Work) -> None:
        self.work, self.port, self.notes = work, free_port(), list[str]()
        self.place = work.temporary / "ceph"
        self.place.mkdir()
        self.settings = self.place / "ceph.conf"
        self.environment = {"CEPH_CONF": str(self.settings)}
        self.id = str(uuid.uuid4())
        self.daemons: list[Child] = []
        self.settings.write_text(self.configuration(), encoding="utf-8")

    def configuration(self) -> str:
        """ceph.conf."""
        copies = self.work.count("copies")
        return f"""[global]
fsid = {self.id}
mon_host = [v2:127.0.0.1:{self.port}/0]
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
run_dir = {self.place}
admin_socket = {self.place}/$name.asok
log_file = /dev/null
mon_cluster_log_file = /dev/null
crash_dir = {self.place}
mon_data = {self.place}/mon
mgr_data = {self.place}/mgr
osd_data = {self.place}/osd.$id
osd_objectstore = bluestore
osd_pool_default_size = {copies}
osd_pool_default_min_size = {max(1, copies - 1)}
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
osd_memory_target_autotune = false
bluestore_cache_autotune = false
bluestore_cache_size = {CACHE}
mon_allow_pool_size_one = true
mon_data_avail_warn = 1
mon_data_avail_crit = 1
mgr_initial_modules =
rbd_cache = false
"""

    def call(self, *command: str | Path) -> str:
        """Run one of Ceph's commands."""
        return self.work.call([command[0], "-c", self.settings, *command[1:]], CALL_S)

    def ceph(self, *words: str) -> str:
        """Ask the monitor."""
        return self.call("ceph", "--connect-timeout", "30", *words)

    def status(self) -> Any:
        """`ceph status` as data."""
        text = self.ceph("status", "--format", "json")
        return json.loads(text[text.index("{") :])

    def daemon(self, program: str, name: str) -> None:
        """Start a daemon; it stays in the foreground."""
        words: list[str | Path] = [path_of(program), "-c", self.settings, "-i", name, "-f"]
        self.daemons.append(self.work.processes.start(words))

    def start_monitor(self) -> None:
        """A monitor with an empty map, and a manager."""
        self.work.tell("starting a monitor and a manager")
        monmap = self.place / "monmap"
        added = ["--addv", "a", f"[v2:127.0.0.1:{self.port}]"]
        self.work.call(["monmaptool", "--create", "--fsid", self.id, *added, monmap], CALL_S)
        for name in ("mon", "mgr"):
            (self.place / name).mkdir()
        self.call("ceph-mon", "-i", "a", "--mkfs", "--monmap", monmap)
        self.daemon("ceph-mon", "a")
        self.wait("monitor", lambda: bool(self.ceph("mon", "stat")))
        self.daemon("ceph-mgr", "x")

    def start_daemon(self, number: int, disk: Path) -> None:
        """An object storage daemon whose store is all of a disk."""
        self.work.tell(f"starting daemon {number} on {disk}")
        identifier = str(uuid.uuid4())
        created = self.ceph("osd", "new", identifier)
        if created.strip().splitlines()[-1].strip() != str(number):
            raise ProgramFailed("ceph", f"gave daemon {number} another number: {created.strip()}")
        folder = self.place / f"osd.{number}"
        folder.mkdir()
        (folder / "block").symlink_to(disk)
        self.call("ceph-osd", "-i", str(number), "--mkfs", "--osd-uuid", identifier)
        self.daemon("ceph-osd", str(number))

    def make_pool(self) -> None:
        """A pool with an image."""
        self.ceph("osd", "pool", "create", POOL, str(GROUPS))
        self.ceph("osd", "pool", "application", "enable", POOL, "rbd")
        self.wait("pool", lambda: clean(self.status()))
        megabytes = max(1, self.work.count("image") >> 20)
        self.call("rbd", "create", "--size", str(megabytes), f"{POOL}/{IMAGE}")

    def wait(self, what: str, ready: Callable[[], bool]) -> None:
        """Wait until `ready` returns True. Raises ProgramFailed if it takes too long, or a daemon has ended."""
        until = time.monotonic() + UP_S
        while not ready():
            ended = next((daemon for daemon in self.daemons if not daemon.running()), None)
            if ended is not None:
                raise ProgramFailed(ended.name, f"has ended{last_words(ended)}")
            if time.monotonic() > until:
                raise ProgramFailed("ceph", f"waited {numbers.number(UP_S)} s for: {what}")
            time.sleep(0.5)

    def version(self) -> str:
        """Return Ceph's own version text, without the commit."""
        return " ".join(self.call("ceph", "--version").split()[:3])


def clean(status: Any) -> bool:
    """Return whether all placement groups have their copies."""
    groups = status["pgmap"]
    states = {state["state_name"]: state["count"] for state in groups.get("pgs_by_state", [])}
    return bool(states) and states.get("active+clean", 0) == groups["num_pgs"] >= GROUPS


COMMANDS = {
    "ceph-mon": "ceph-mon",
    "monmaptool": "ceph-mon",
    "ceph-mgr": "ceph-mgr",
    "ceph-osd": "ceph-osd",
    "ceph": "ceph-common",
    "rbd": "ceph-common",
}

PROGRAM = Program(
    name="ceph",
    title="Ceph: a pool of replicas with one disk per daemon, and fio on an RBD image",
    asks="on every disk: reads of objects, flushed writes of data and of the store's own log, compaction",
    needs=(*(Need(name, package) for name, package in COMMANDS.items()), *fio_files.NEEDS),
    settings={
        "mode": Choice(("randread", "randwrite", "randrw", "read", "write"), "what fio does, in its terms"),
        "depth": Count(16, "I/Os under way", 1, 1024),
        "block": Size("4 KiB", "of one I/O", "512 B", "16 MiB"),
        "image": Size("256 MiB", "of the image, which is filled first", "4 MiB"),
        "daemons": Count(3, "daemons; on a machine with as many volumes each gets one", 1, 32),
        "copies": Count(3, "copies of every object", 1, 10),
        "disk": Size("4 GiB", "of a disk, where it is a file", "1 GiB"),
        "seconds": Count(30, "measured seconds", 1, 86400),
        "seed": Count(1, "seed of fio's random numbers", 1, 2**31 - 1),
    },
    run=run,
    volumes=("osd0", "osd1", "osd2"),
)
