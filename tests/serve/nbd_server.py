"""A drive in memory on a socket, served by `serve_fixed`: what tests of NBD's own clients talk to."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MIB = 1 << 20


@dataclass(frozen=True)
class Served:
    """What a server said when it was ready."""

    pid: int
    where: str

    def uri(self, scheme: str = "nbd+unix", certificates: Path | None = None) -> str:
        """For libnbd."""
        if scheme == "nbd+unix":
            return f"nbd+unix:///?socket={self.where}"
        port = self.where.rpartition(":")[2]
        return f"{scheme}://localhost:{port}/" + (f"?tls-certificates={certificates}" if certificates else "")

    def memory(self) -> int:
        """Bytes that are resident."""
        return int(Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def server_program() -> str:
    """The newest build of it; skips where there is none."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    found = [path for kind in ("debug", "release") if (path := target / kind / "examples" / "serve_fixed").is_file()]
    if not found:
        pytest.skip("serve_fixed is not built: cargo build -p hotband-serve --example serve_fixed")
    return str(max(found, key=lambda path: path.stat().st_mtime))


def need(*programs: str) -> None:
    """Skips where one of them is not installed."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


@contextmanager
def served(
    where: Path | str, size: int = 64 * MIB, latency_ns: int = 0, files: tuple[Path, ...] = ()
) -> Iterator[Served]:
    """A server until the end of the block, which it leaves with its socket removed."""
    command = [server_program(), str(where), str(size), str(latency_ns), *map(str, files)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        said = server.stdout.readline().split()
        assert said, "it does not serve"
        try:
            yield Served(server.pid, said[1] if len(said) > 1 else str(where))
        finally:
            server.stdin.close()
            server.wait(timeout=60)


def run(*command: str, **more: object) -> str:
    """A client's output; the test fails where it does."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **more)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{command}: {done.stdout} {done.stderr}"
    return str(done.stdout)
