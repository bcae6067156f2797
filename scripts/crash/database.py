"""A PostgreSQL cluster with checksums of its pages, clients that are told of every commit, and what is left of those.

A transaction moves money to an account and writes that into a ledger, with a text and its sum: a commit that is lost
is missing in the ledger, one that is there by half makes an account differ from its ledger."""

from __future__ import annotations

import os
import pwd
import random
import re
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

from crash.host import HostError, call, last_line, until
from crash.probe import Probe
from crash.records import Left, Promise
from hotband.base.child import descendants
from hotband.execution.programs.needs import path_of

CLIENTS = 4
ACCOUNTS = 500
PROGRAMS = ("initdb", "postgres", "psql", "pg_isready", "pg_amcheck", "pg_checksums", "setpriv")
NAME = "crash"
LARGEST = 4000
"""Bytes of the largest text: half a page; most go to the table itself, some beside it (TOAST)."""
CHECKPOINT_EVERY_S = 0.7
"""A checkpoint so often, far more than any cluster has, so that pages of tables are on their way when it crashes."""
READY_S = 60.0
SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "16MB",
    "max_connections": "12",
    "max_wal_size": "32MB",
    "min_wal_size": "16MB",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
}
SCHEMA = f"""
CREATE EXTENSION amcheck;
CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL);
INSERT INTO account SELECT id, 0 FROM generate_series(1, {ACCOUNTS}) AS id;
CREATE TABLE ledger (client int, n int, account int, amount int, text text, sum text, PRIMARY KEY (client, n));
CREATE INDEX ON ledger (account);
CREATE FUNCTION pay(c int, number int, a int, how_much int, bytes int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  written text := left(repeat(md5(random()::text), bytes / 32 + 1), bytes);
BEGIN
  UPDATE account SET balance = balance + how_much WHERE id = a;
  INSERT INTO ledger VALUES (c, number, a, how_much, written, md5(written));
  RETURN number;
END $$;
"""
DIFFERING = """SELECT count(*) FROM account AS a
 WHERE balance <> coalesce((SELECT sum(amount) FROM ledger WHERE account = a.id), 0)"""


def missing() -> str | None:
    """Why there is no such database here; None where there is."""
    lacking = [name for name in PROGRAMS if path_of(name) is None]
    if lacking:
        return f"PostgreSQL: {', '.join(lacking)}: not installed"
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        return "PostgreSQL: there is no user postgres, and it does not run as root"
    return None


def program(name: str) -> str:
    """Where it is."""
    found = path_of(name)
    if found is None:
        raise HostError(f"{name}: not installed")
    return str(found)


class Cluster:
    """A cluster in `folder`/data, whose socket is in `sockets`."""

    def __init__(self, folder: Path, sockets: Path) -> None:
        self.data, self.sockets = folder / "data", sockets
        self.user = pwd.getpwnam("postgres").pw_uid
        self.process: subprocess.Popen[bytes] | None = None
        sockets.mkdir(exist_ok=True)
        os.chown(sockets, self.user, -1)

    def make(self) -> None:
        """A new one, with its tables, that has ended well."""
        self.data.mkdir()
        os.chown(self.data, self.user, pwd.getpwnam("postgres").pw_gid)
        made = ("-U", NAME, "-A", "trust", "-E", "UTF8", "--locale", "C.UTF-8", "--data-checksums", "--no-sync")
        call(program("initdb"), "-D", self.data, *made, "--wal-segsize=4", user=self.user)
        self.start()
        self.ask(f"CREATE DATABASE {NAME}", "postgres")
        self.ask(SCHEMA)
        self.stop()

    def start(self) -> None:
        """Starts it, and waits until it answers: after a crash, until it has gone through its log."""
        options = [word for key, value in SETTINGS.items() for word in ("-c", f"{key}={value}")]
        # It ends with this process, too.
        as_user = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=KILL")
        with open(self.sockets / "postgres.log", "ab") as log:
            self.process = subprocess.Popen(
                [*as_user, program("postgres"), "-D", str(self.data), "-k", str(self.sockets), *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
            )
        started = self.process
        ready = [program("pg_isready"), "-q", "-h", str(self.sockets)]

        def is_ready() -> bool:
            if started.poll() is not None:
                raise HostError(f"postgres ended: {self.last_words()}")
            return subprocess.run(ready, capture_output=True, check=False).returncode == 0

        until(is_ready, "postgres answers", READY_S)

    def last_words(self) -> str:
        """Errors of its log, the last ones."""
        text = (self.sockets / "postgres.log").read_text(errors="replace")
        grave = [line for line in text.splitlines() if re.search(r"PANIC|FATAL|ERROR", line)]
        return " / ".join(grave[-2:]) or last_line(text)

    def stop(self) -> None:
        """Ends it well: clients are cut off and a checkpoint is written."""
        assert self.process is not None, "it was started"
        self.process.send_signal(signal.SIGINT)
        until(lambda: self.process is None or self.process.poll() is not None, "postgres ends", 60)
        if self.process.returncode != 0:
            raise HostError(f"postgres ended with {self.process.returncode}: {self.last_words()}")

    def crash(self) -> None:
        """Ends what is left of it, whatever state it is in: its memory goes with the power."""
        if self.process is None:
            return
        members = descendants(self.process.pid)
        for signal_number, seconds in ((signal.SIGQUIT, 2.0), (signal.SIGKILL, 15.0)):
            for member in [self.process.pid, *members]:
                if signal_number == signal.SIGKILL or member == self.process.pid:
                    with suppress(ProcessLookupError):
                        os.kill(member, signal_number)
            with suppress(HostError):
                until(lambda: self.process is None or self.process.poll() is not None, "", seconds)
                break
        until(lambda: not any(Path("/proc", str(one)).exists() for one in members), "postgres is gone", 20)
        self.process = None

    def ask(self, sql: str, database: str = NAME) -> str:
        """What it answers; columns apart by `|`."""
        return call(*self.client(database), "-v", "ON_ERROR_STOP=1", "-c", sql)

    def client(self, database: str = NAME) -> list[str]:
        """A client's command."""
        return [program("psql"), "-h", str(self.sockets), "-U", NAME, "-d", database, "-qAtX"]

    def check(self) -> None:
        """Looks through all tables and indexes, and ends it; then through the checksums of all pages."""
        checks = ("--heapallindexed", "--parent-check", "--no-strict-names", "-d", NAME)
        call(program("pg_amcheck"), "-h", self.sockets, "-U", NAME, *checks)
        self.stop()
        call(program("pg_checksums"), "--check", "-D", self.data, user=self.user)


class Clients:
    """Clients beside this thread, each with one transaction after the other, until the database fails."""

    def __init__(self, cluster: Cluster, device: Path, seed: str) -> None:
        self.promises = [Promise(client) for client in range(CLIENTS)]
        self._stop = threading.Event()
        self._sessions = [
            subprocess.Popen(
                cluster.client(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                bufsize=1,
                cwd="/",
            )
            for _ in self.promises
        ]
        pairs = zip(self._sessions, self.promises, strict=True)
        self._threads = [
            threading.Thread(target=self._pay, args=(session, device, one, f"{seed}/{one.writer}"), daemon=True)
            for session, one in pairs
        ]
        for thread in self._threads:
            thread.start()

    def _pay(self, session: subprocess.Popen[str], device: Path, promise: Promise, seed: str) -> None:
        draw = random.Random(seed)
        assert session.stdin is not None, "a pipe was asked for"
        assert session.stdout is not None, "a pipe was asked for"
        next_checkpoint = time.monotonic() + CHECKPOINT_EVERY_S
        with suppress(OSError, ValueError), Probe(device) as probe:
            while not self._stop.is_set():
                number = promise.last + 1
                values = (promise.writer, number, draw.randint(1, ACCOUNTS), draw.randint(-100, 100))
                session.stdin.write(f"SELECT pay({', '.join(map(str, values))}, {draw.randint(1, LARGEST)});\n")
                # psql prints the answer once the whole command is complete, which comes after its commit
                # (exec_simple_query in src/backend/tcop/postgres.c ends the transaction before it tells).
                answer = session.stdout.readline().strip()
                if answer != str(number) or not probe.answers():
                    return
                promise.last = number
                if promise.writer == 0 and time.monotonic() > next_checkpoint:
                    session.stdin.write("CHECKPOINT;\n")
                    next_checkpoint = time.monotonic() + CHECKPOINT_EVERY_S

    def wait(self) -> None:
        """Waits for nothing: a database may take its time to notice, and its computer has no power any more."""

    def stop(self) -> None:
        """Ends them; they are told nothing more."""
        self._stop.set()
        for session in self._sessions:
            session.kill()
            session.wait()
        for thread in self._threads:
            thread.join(5)
        for session in self._sessions:
            for pipe in (session.stdin, session.stdout, session.stderr):
                with suppress(OSError):
                    assert pipe is not None, "pipes were asked for"
                    pipe.close()


def left(cluster: Cluster, promises: list[Promise]) -> Left:
    """Compares every commit that was told with the ledger, and accounts with the ledger."""
    found = Left()
    for promise in promises:
        own = f"client = {promise.writer} AND n BETWEEN 1 AND {promise.last}"
        have = int(cluster.ask(f"SELECT count(*) FROM ledger WHERE {own} AND md5(text) = sum"))
        found.lost += promise.last - have
        if have != promise.last:
            found.faults.append(f"client {promise.writer}: {promise.last - have} of {promise.last} commits")
    differing = int(cluster.ask(DIFFERING))
    if differing:
        found.faults.append(f"{differing} accounts differ from their ledger")
    return found
