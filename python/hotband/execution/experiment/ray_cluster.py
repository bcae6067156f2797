"""The connection to Ray: a cluster that runs, or one of processes on this computer that ends with this program.

Ray serves a program one cluster at a time: callers that request the same one share the connection, and the last
closes it. A cluster started here listens on loopback only, has no dashboard and sends no statistics.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import re
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from hotband.base.errors import UserError, reason_of

REACHED_S = 5.0
"""Seconds within which the other end has to answer: a packet around the earth and back takes 0.4."""
FRAME_BYTES, SETTINGS = 9, b"\4"
"""A server of gRPC, as Ray's are, begins with a frame of HTTP/2 of this type, its fourth byte (RFC 9113, 4.1, 6.5)."""
PORT = 6379
"""Address where `ray start --head` listens by default (`ray start --help`)."""
HERE = "auto"
"""Ray's word for the cluster that runs on this computer."""
STORE_BYTES = 256 * 1024 * 1024
"""Bytes of results in progress on this computer: those of a task are a few hundred kilobytes."""
NO_CONNECTION = (
    "expected `ray start --address` on this computer before, the same versions, and RAY_AUTH_MODE=token if the cluster "
    "requires a token"
)
NO_STATISTICS = {"RAY_USAGE_STATS_ENABLED": "0"}
ON_NETWORK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
AUTH_MODE, AUTH_TOKEN, AUTH_TOKEN_PATH = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"
TOKEN_BYTES = 32
"""Bytes of a token: as many as from Ray's own generator."""
STDERR = 2
FOLDER = "hotband-ray-"
LONGEST_FOLDER = 40
"""A socket's path has 107 bytes (unix(7)); Ray's begins with the folder and continues for some 65."""
NOT_THERE = "is not installed: expected pip install 'hotband[ray]'"


def expect_ray() -> None:
    """Raise UserError if Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise UserError("question.executor", "", "ray", NOT_THERE)


def address_of(text: str | None) -> str | None:
    """HOST:PORT of the cluster to use: the given address, else that in RAY_ADDRESS; None for a cluster that is to be
    started. Raises UserError."""
    where, text = ("question.executor", text) if text else ("RAY_ADDRESS", os.environ.get("RAY_ADDRESS", "").strip())
    if text in ("", "local"):
        return None
    if text == HERE:
        return HERE
    host, _, port = text.removeprefix("ray://").rpartition(":") if ":" in text else (text, "", str(PORT))
    if not host or not port.isdigit() or not 0 < int(port) < 1 << 16 or not re.fullmatch(r"[\w.:\[\]-]+", host):
        raise UserError(where, "", text, "expected HOST:PORT of a cluster, such as ray://10.0.0.5:6379")
    return f"{host}:{port}"


def expect_reachable(address: str) -> None:
    """Raise UserError if nothing listens there, or something that is not Ray, whose own attempts take minutes."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), REACHED_S) as connection:
            frame = connection.recv(FRAME_BYTES, socket.MSG_WAITALL)
    except OSError as error:
        why = "no answer" if isinstance(error, TimeoutError) else reason_of(error)
    else:
        if frame[3:4] == SETTINGS:
            return
        why = "something else answers"
    accepted = f"cannot be reached ({why}): expected the address that `ray start --head` printed"
    raise UserError("question.executor", "", f"ray://{address}", accepted)


@dataclass
class Connection:
    """Ray, connected to a cluster; its users are counted."""

    ray: ModuleType
    address: str | None
    folder: Path | None = None
    users: int = 1
    # Whether this program was connected before: then it stays so.
    is_theirs: bool = False

    @property
    def cores(self) -> int:
        """Cores of the whole cluster."""
        return max(int(self.ray.cluster_resources().get("CPU", 0)), 0)

    @property
    def largest(self) -> float:
        """Bytes of memory that the node with most of it gives to tasks."""
        nodes = [node for node in self.ray.nodes() if node.get("Alive")]
        return max((node.get("Resources", {}).get("memory", 0.0) for node in nodes), default=0.0)


_lock = threading.Lock()
_now: Connection | None = None


def connect(address: str | None, jobs: int | None) -> Connection:
    """The connection to a cluster, or to one of `jobs` processes that is started. Raises UserError."""
    global _now
    with _lock:
        if _now is not None:
            if _now.address != address:
                raise UserError(
                    "question.executor", "", f"ray://{address}", "is a different cluster from the one in use"
                )
            _now.users += 1
            return _now
        import ray

        if ray.is_initialized():
            _now = Connection(ray, address, is_theirs=True)
        else:
            _now = _joined(ray, address) if address is not None else _started(ray, jobs)
        return _now


def release(connection: Connection) -> None:
    """Let go of a connection; the last one ends it, and a cluster that was started for it."""
    global _now
    with _lock:
        connection.users -= 1
        if connection.users:
            return
        _now = None
        if not connection.is_theirs:
            with _own_signals():
                connection.ray.shutdown()
        if connection.folder is not None:
            shutil.rmtree(connection.folder, ignore_errors=True)


def _quiet() -> dict[str, Any]:
    """Return options of `ray.init` that prevent Ray from writing to the terminal."""
    logging.getLogger("ray").setLevel(logging.ERROR)
    return {"configure_logging": False, "logging_level": logging.ERROR, "log_to_driver": False}


def _errors_to_stderr(ray: ModuleType) -> None:
    """Redirect the errors of a cluster to stderr. Ray prints them to stdout even without `log_to_driver`, and stdout of
    a command carries data only."""

    def told(data: Mapping[str, Any], *_: object, **__: object) -> None:
        sys.stderr.write("".join(f"ray: {line}\n" for line in data["lines"]))

    if hasattr(ray._private.worker, "print_to_stdstream"):
        ray._private.worker.print_to_stdstream = told


def _joined(ray: ModuleType, address: str) -> Connection:
    """Connect to a cluster that runs."""
    if address != HERE:
        expect_reachable(address)
    # A cluster that was started so is on loopback alone.
    _on_loopback(ray, os.environ.get(ON_NETWORK) == "0")
    try:
        with _own_signals(), _settings(NO_STATISTICS), _silent():
            _read_authentication(ray)
            _errors_to_stderr(ray)
            ray.init(address=address, **_quiet())
    except Exception as error:  # Ray has no type for what can be wrong with a cluster
        accepted = f"no connection ({_first_line(error)}): {NO_CONNECTION}"
        raise UserError("question.executor", "", f"ray://{address}", accepted) from None
    return Connection(ray, address)


def _started(ray: ModuleType, jobs: int | None) -> Connection:
    """Start a cluster of processes on this computer. Its processes end with this one, however it ends (the kernel
    signals them)."""
    _remove_stale()
    above = tempfile.gettempdir() if len(tempfile.gettempdir()) < LONGEST_FOLDER else "/tmp"
    folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-", dir=above))
    # Ray's workers are at nice 15 where nothing is said; these do what this program's own threads would.
    settings = {**NO_STATISTICS, ON_NETWORK: "0", "RAY_worker_niceness": "0", **_own_token()}
    _on_loopback(ray, True)
    try:
        with _own_signals(), _settings(settings), _silent():
            _read_authentication(ray)
            _errors_to_stderr(ray)
            ray.init(
                address="local",
                num_cpus=jobs or os.cpu_count() or 1,
                num_gpus=0,
                include_dashboard=False,
                object_store_memory=STORE_BYTES,
                _node_ip_address="127.0.0.1",
                _temp_dir=str(folder),
                **_quiet(),
            )
    except BaseException as error:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
        if not isinstance(error, Exception):
            raise
        raise UserError("question.executor", "", "ray", f"does not start: {_first_line(error)}") from None
    return Connection(ray, None, folder)


def _own_token() -> dict[str, str]:
    """A token that only this cluster has, in the environment of its processes: by default Ray would create one in the
    user's home, ~/.ray/auth_token, which every later `ray start` requires. Empty if the user set one
    (ray/_private/authentication/authentication_token_setup.py)."""
    if any(name in os.environ for name in (AUTH_MODE, AUTH_TOKEN, AUTH_TOKEN_PATH)):
        return {}
    return {AUTH_MODE: "token", AUTH_TOKEN: secrets.token_hex(TOKEN_BYTES)}


def _read_authentication(ray: ModuleType) -> None:
    """Has Ray read the variables of its authentication, which it does once, when it is imported."""
    ray._raylet.Config.initialize("")
    if hasattr(ray._raylet, "AuthenticationTokenLoader"):
        ray._raylet.AuthenticationTokenLoader.instance().reset_cache()


def _on_loopback(ray: ModuleType, is_so: bool) -> None:
    """Return whether Ray's processes listen on loopback alone, as they do on Windows and macOS, where Ray turns it on
    by the variable RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER (ray/_private/ray_constants.py). The variable is read once, at
    import."""
    if sys.platform == "linux":
        ray._private.ray_constants.ENABLE_RAY_CLUSTER = not is_so


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Discard everything written to stderr during the block: Ray's own libraries write many lines there while they
    connect, and only an environment variable, which those lines mention, can stop them."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    saved, nowhere = os.dup(STDERR), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, STDERR)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(saved, STDERR)
        os.close(saved)


@contextlib.contextmanager
def _settings(values: dict[str, str]) -> Iterator[None]:
    """Variables of the environment, for what is started within; those that the user set stay."""
    added = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Ray puts handlers of its own into the main thread; those before are put back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


def _remove_stale() -> None:
    """Remove the folders of programs that were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        owner = path.name.removeprefix(FOLDER).partition("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists() and sys.platform == "linux":
            shutil.rmtree(path, ignore_errors=True)
