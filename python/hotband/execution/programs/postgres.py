"""A PostgreSQL server for the length of a run: never as root, on a unix socket alone, with checksums of its pages."""

from __future__ import annotations

import os
import pwd
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from hotband.base.child import Child, run_child
from hotband.data.documents.program import FigureDoc
from hotband.execution.programs.needs import path_of
from hotband.execution.programs.processes import ProgramFailed, last_words
from hotband.execution.programs.program import Need, Size, figure
from hotband.execution.programs.work import Work, expect_reachable

NEEDS = (
    *(Need(name, "postgresql") for name in ("initdb", "postgres", "pg_isready", "psql", "pgbench")),
    Need("setpriv", "util-linux"),
)
DATABASE = "hotband"
PAGE = 8192
"""Bytes of a page: PostgreSQL's BLCKSZ as Debian builds it."""
READY_S = 120.0
BUFFERS = Size("64 MiB", "memory for pages (shared_buffers)", "1 MiB", "64 GiB")
"""Small, so that a database of some hundred megabytes does not fit. The host's page cache still holds what fits."""


@dataclass
class Server:
    """A server, as long as its work lasts."""

    work: Work
    data: Path
    socket: Path
    user: str | None
    options: dict[str, str]
    process: Child | None = None

    def start(self) -> None:
        """Start the server and wait until it is ready."""
        options = [word for key, value in self.options.items() for word in ("-c", f"{key}={value}")]
        command: list[str | Path] = [path_of("postgres"), "-D", self.data, "-k", self.socket, *options]
        # SIGINT is its fast shutdown: clients are cut off and a checkpoint is written.
        self.process = self.work.processes.start(command, user=self.user, end_signal=signal.SIGINT)
        ready = [path_of("pg_isready"), "-q", "-h", str(self.socket)]
        until = time.monotonic() + READY_S
        while run_child(ready).code != 0:
            if not self.process.running() or time.monotonic() > until:
                raise ProgramFailed("postgres", f"did not start{last_words(self.process)}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End it well."""
        if self.process is not None:
            self.work.processes.end(self.process)
            self.process = None

    def restart_cold(self) -> None:
        """Start it again, with nothing of its files in memory."""
        self.ask("CHECKPOINT")
        self.stop()
        self.work.cold()
        self.start()

    def client(self, *words: str | Path) -> list[str | Path]:
        """A client's command with where the server is."""
        return [words[0], "-h", self.socket, "-U", DATABASE, *words[1:]]

    def ask(self, sql: str, database: str = DATABASE) -> str:
        """Return the server's answer: columns separated by `|`."""
        command = self.client("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", sql)
        return self.work.call(command, 3600).strip()

    def run_file(self, script: Path) -> str:
        """Run a file of SQL."""
        command = self.client("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", DATABASE, "-f", script)
        return self.work.call(command, 7200)


def server(work: Work, clients: int) -> Server:
    """A new server with an empty database; its log (pg_wal) goes to the volume `log`, where the machine has one."""
    user = account()
    data, log = work.folder("data"), work.folder("log")
    for folder in (data, log):
        expect_reachable(folder, user)
        own(folder, user)
    socket = work.temporary / "postgres"
    socket.mkdir()
    own(socket, user)
    work.tell("making a database cluster")
    # The user's own choices (PGDATA, PGOPTIONS) are not for this server.
    made: list[str | Path] = ["initdb", "-D", data / "cluster", "-X", log / "wal", "-U", DATABASE, "-A", "trust"]
    made += ["-E", "UTF8", "--locale", "C.UTF-8", "--data-checksums"]
    work.call(made, 600, user=user, folder=socket)
    options = {
        "listen_addresses": "",
        "shared_buffers": f"{work.count('buffers') // 1024}kB",
        "max_connections": str(clients + 20),
    }
    made_server = Server(work, data / "cluster", socket, user, options)
    made_server.start()
    made_server.ask(f"CREATE DATABASE {DATABASE}", "postgres")
    return made_server


def account() -> str | None:
    """The user that the server runs as: PostgreSQL refuses root. None if this process is not root's."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    raise ProgramFailed("postgres", "must not run as root, and there is no user postgres or nobody")


def own(folder: Path, user: str | None) -> None:
    """Give a folder to the user of the server."""
    if user is not None:
        entry = pwd.getpwnam(user)
        os.chown(folder, entry.pw_uid, entry.pw_gid)
        folder.chmod(0o755)


RESET = "SELECT pg_stat_reset(), pg_stat_reset_shared('bgwriter'), pg_stat_reset_shared('wal')"
COUNTED = """SELECT (SELECT blks_read FROM pg_stat_database WHERE datname = current_database()),
 buffers_checkpoint + buffers_clean + buffers_backend, (SELECT wal_bytes FROM pg_stat_wal) FROM pg_stat_bgwriter"""


def page_figures(counted: str, seconds: float) -> list[FigureDoc]:
    """Pages that the database read from its files and wrote to them, and bytes of its log, from a reply to `COUNTED`.
    A page that it requests may come from the host's memory."""
    read, written, log = (float(part) for part in counted.split("|"))
    figures = [
        figure("pages read", read / seconds, "pages/s"),
        figure("pages written", written / seconds, "pages/s"),
        figure("log written", log / seconds / 1e6, "MB/s"),
    ]
    return figures + ([figure("pages read per page written", read / written, "to 1")] if written else [])
