"""nginx and wrk: a web server whose files are read past the host's memory, and a file set like SPECweb's.

A folder has 36 files, nine sizes in each of four classes: of all requests 35 % are for files below 1 KB, 50 % below 10
KB, 14 % below 100 KB, 1 % below 1 MB (SPECweb96, spec.org/osg/web96/workload.html). Within a class sizes are picked by
a Poisson distribution about the middle (same page, not verified); folders by Zipf's law with an exponent of 1
(SPECweb99, as Ruan and Pai have it, USENIX 2006). Sizes are rounded up to whole blocks, which is what a drive sees of
any file. Left out: SPECweb's dynamic pages and its limit on time a byte.

nginx reads past memory only what fills a buffer (ngx_output_chain.c: anything shorter is read through the page cache):
each size has a location with a buffer of its own, so that a file is one read, or several of 100 KB.
"""

from __future__ import annotations

import json
import math
import os
import pwd
import re
import signal
import socket
import time
from pathlib import Path
from typing import Any

from hotband.base.child import Child
from hotband.base.text import numbers
from hotband.data.documents.program import FigureDoc
from hotband.execution.programs.needs import path_of
from hotband.execution.programs.processes import last_words
from hotband.execution.programs.program import Choice, Count, Need, Outcome, Program, figure, latencies
from hotband.execution.programs.work import ProgramFailed, Work, expect_reachable

CLASSES = (35, 50, 14, 1)
"""Percent of the requests."""
SIZES = 9
UNIT = 102.4
"""Bytes of the smallest file; a class has ten times the sizes of the previous one."""
BLOCK = 4096
"""Block size of the file system, and of direct I/O."""
PIECE = 25 * BLOCK
"""The most that is read at once: 100 KB, of which the files of the last class are multiples; the kernel itself reads
ahead 128 KiB at most (read_ahead_kb)."""
MIDDLE = 5
READY_S = 20.0
SLACK_S = 60.0
MARK = "hotband-result "
"""Beginning of the line with the figures of wrk's script."""


def run(work: Work) -> Outcome:
    """Write the files, start nginx, run wrk."""
    root, folders = work.folder("data"), work.count("folders")
    work.expect_space("folders", folders * FOLDER_BYTES)
    work.tell(f"writing {folders * len(CLASSES) * SIZES:,} files, {numbers.size(folders * FOLDER_BYTES)}")
    write_files(root, folders)
    work.cold()
    port, version = free_port(), work.call(["nginx", "-v"], 20)
    start(work, root, port)
    script, seconds, connections = work.temporary / "requests.lua", work.count("seconds"), work.count("connections")
    script.write_text(lua(folders, work.count("seed")), encoding="utf-8")
    shape = [
        "-t",
        str(min(2, connections)),
        "-c",
        str(connections),
        "-d",
        f"{seconds}s",
        "--timeout",
        "10s",
        "--latency",
    ]
    work.tell(f"{connections} connections for {seconds} s")
    text = work.call(["wrk", *shape, "-s", script, f"http://127.0.0.1:{port}/"], seconds + SLACK_S)
    match = re.search(r"nginx/[\d.]+", version)
    return Outcome(match[0] if match else "nginx", figures_of(text), text)


def sizes(of_class: int) -> list[int]:
    """Bytes of the nine files of a class."""
    return [math.ceil(UNIT * 10**of_class * number / BLOCK - 1e-9) * BLOCK for number in range(1, SIZES + 1)]


FOLDER_BYTES = sum(sum(sizes(of_class)) for of_class in range(len(CLASSES)))


def write_files(root: Path, folders: int) -> None:
    """Write all files; their bytes do not compress."""
    data = os.urandom(sizes(len(CLASSES) - 1)[-1])
    for number in range(folders):
        folder = root / f"dir{number}"
        folder.mkdir()
        folder.chmod(0o755)
        for of_class in range(len(CLASSES)):
            for index, size in enumerate(sizes(of_class)):
                file = folder / f"class{of_class}_{index}"
                file.write_bytes(data[:size])
                file.chmod(0o644)


def start(work: Work, root: Path, port: int) -> Child:
    """Start nginx and wait until it listens."""
    user = account()
    expect_reachable(root, user)
    folder = work.temporary / "nginx"
    folder.mkdir(mode=0o755)
    settings = folder / "nginx.conf"
    settings.write_text(configuration(root, folder, port, user, work.word("direct") == "on"), encoding="utf-8")
    # SIGQUIT would wait for clients; SIGTERM ends its workers at once.
    command: list[str | Path] = [path_of("nginx"), "-p", folder, "-c", settings, "-e", folder / "error.log"]
    started = work.processes.start(command, end_signal=signal.SIGTERM)
    until = time.monotonic() + READY_S
    while not listening(port):
        if not started.running() or time.monotonic() > until:
            raise ProgramFailed("nginx", f"did not start{last_words(started)}")
        time.sleep(0.02)
    return started


def configuration(root: Path, folder: Path, port: int, user: str | None, direct: bool) -> str:
    """nginx.conf: every file is read by a thread of the pool, past the page cache where asked."""
    past = "directio 1; directio_alignment 4k;" if direct else ""
    paths = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    buffers = [(n, index, min(size, PIECE)) for n in range(len(CLASSES)) for index, size in enumerate(sizes(n))]
    locations = "\n".join(
        f"  location ~ /class{n}_{index}$ {{ output_buffers 2 {size}; }}" for n, index, size in buffers
    )
    temporary = " ".join(f"{path}_temp_path {folder}/{path};" for path in paths)
    who = f"user {user} {group_of(user)};" if user else ""
    return f"""daemon off;
{who}
worker_processes 2;
pid {folder}/nginx.pid;
events {{ worker_connections 2048; }}
http {{
 access_log off; {temporary}
 sendfile off; aio threads; {past}
 keepalive_requests 1000000;
 server {{ listen 127.0.0.1:{port} backlog=2048; root "{root}";
{locations}
 }}
}}
"""


def account() -> str | None:
    """The user of nginx's workers; None if this process is not root's."""
    return "nobody" if os.geteuid() == 0 else None


def group_of(user: str) -> str:
    """The name of a user's own group."""
    import grp

    return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name


def free_port() -> int:
    """A free port of the loopback interface."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def listening(port: int) -> bool:
    """Return whether a process listens on the port."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def lua(folders: int, seed: int) -> str:
    """wrk's script: which file each request is for, and the figures at the end (wrk, SCRIPTING)."""
    weights = [math.exp(-MIDDLE) * MIDDLE**n / math.factorial(n) for n in range(1, SIZES + 1)]
    return f"""local threads = 0
function setup(thread)
   thread:set("number", threads)
   threads = threads + 1
end
local function sums(weights)
   local found, sum = {{}}, 0
   for i, w in ipairs(weights) do sum = sum + w; found[i] = sum end
   for i = 1, #found do found[i] = found[i] / sum end
   return found
end
local function pick(cumulative)
   local at, low, high = math.random(), 1, #cumulative
   while low < high do
      local middle = math.floor((low + high) / 2)
      if cumulative[middle] < at then low = middle + 1 else high = middle end
   end
   return low - 1
end
local classes, files, folders
function init(args)
   math.randomseed({seed} * 1000 + number)
   classes = sums({{ {", ".join(map(str, CLASSES))} }})
   files = sums({{ {", ".join(f"{weight:.6f}" for weight in weights)} }})
   local zipf = {{}}
   for i = 1, {folders} do zipf[i] = 1 / i end
   folders = sums(zipf)
end
function request()
   return wrk.format("GET", "/dir" .. pick(folders) .. "/class" .. pick(classes) .. "_" .. pick(files))
end
function done(summary, latency, requests)
   local e = summary.errors
   local failed = e.connect + e.read + e.write + e.status + e.timeout
   io.write(string.format(
      '{MARK}{{"requests": %d, "duration_us": %d, "bytes": %d, "failed": %d, "mean_us": %.1f, ' ..
      '"p50_us": %d, "p95_us": %d, "p99_us": %d}}\\n',
      summary.requests, summary.duration, summary.bytes, failed, latency.mean,
      latency:percentile(50), latency:percentile(95), latency:percentile(99)))
end
"""


def figures_of(text: str) -> list[FigureDoc]:
    """The figures of the script's last line. Raises ProgramFailed if it is missing, or no request completed."""
    line = re.search(rf"^{MARK}(.*)$", text, re.MULTILINE)
    if line is None:
        raise ProgramFailed("wrk", "printed no result")
    summary: Any = json.loads(line[1])
    if not summary["requests"] or summary["failed"] >= summary["requests"]:
        raise ProgramFailed("wrk", f"{summary['failed']} of {summary['requests']} requests failed")
    seconds = summary["duration_us"] / 1e6
    ranks = {rank: summary[f"p{rank}_us"] / 1000 for rank in (50, 95, 99)}
    figures = [figure("requests", summary["requests"] / seconds, "requests/s")]
    figures.append(figure("data sent", summary["bytes"] / seconds / 1e6, "MB/s"))
    figures.append(figure("failed", summary["failed"], "requests"))
    return figures + latencies("request", summary["mean_us"] / 1000, ranks)


PROGRAM = Program(
    name="web",
    title="nginx under wrk, with a file set like SPECweb's",
    asks="random reads of whole files of 4 to 900 KB, mostly below 10 KB, that bypass the host's memory",
    needs=(Need("nginx", "nginx-light"), Need("wrk", "wrk")),
    settings={
        "connections": Count(32, "connections, each with one request in progress", 1, 2000),
        "folders": Count(200, "folders of 36 files, 5 MB each", 1, 200_000),
        "direct": Choice(("on", "off"), "past the host's memory"),
        "seconds": Count(30, "measured seconds", 1, 86400),
        "seed": Count(1, "seed of the script's random numbers", 0, 2**31 - 1),
    },
    stands_for={"web-server": ""},
    run=run,
)
