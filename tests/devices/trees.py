"""Trees of files that stand for machines: what sysfs, proc, device nodes and tools would say there."""

from __future__ import annotations

from pathlib import Path

from hotband.execution.devices.host import Host

MIB = 1 << 20


class Tree:
    """A machine of files: `/dev/sda` with the root file system, and what a test adds."""

    def __init__(self, root: Path) -> None:
        self.root, self.host = root, Host(root)
        self.mounts: list[str] = []
        self.put("/proc/swaps", "Filename Type Size Used Priority\n")
        self.disk("sda", "8:0", serial="ROOT0001")
        self.partition("sda", 1, "8:1", 2048, 2048)
        self.mount("/dev/sda1", "/", "8:1", "ext4")

    def put(self, path: str, text: str | bytes) -> Path:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            file.write_bytes(text)
        else:
            file.write_text(text)
        return file

    def link(self, path: str, to: str) -> None:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(to)

    def disk(
        self, name: str, number: str, *, serial: str | None = None, size: int = 8 * MIB, driver: bool = True
    ) -> str:
        """A disk with nothing on it; the path of its node."""
        base = f"/sys/block/{name}"
        self.put(f"{base}/dev", number)
        self.put(f"{base}/size", str(size // 512))
        self.put(f"{base}/ro", "0")
        self.put(f"{base}/diskseq", "7")
        for key, value in {"logical_block_size": "512", "physical_block_size": "4096", "rotational": "0"}.items():
            self.put(f"{base}/queue/{key}", value)
        self.put(f"{base}/queue/scheduler", "none [mq-deadline] kyber")
        self.put(f"{base}/queue/zoned", "none")
        if serial is not None:
            self.put(f"{base}/device/serial", serial)
        node = self.put(f"/dev/{name}", b"")
        with node.open("r+b") as file:
            file.truncate(size)
        return f"/dev/{name}"

    def partition(self, disk: str, part: int, number: str, start: int, sectors: int) -> str:
        """A partition, in units of 512 bytes; the path of its node."""
        name = f"{disk}p{part}" if disk[-1].isdigit() else f"{disk}{part}"
        base = f"/sys/block/{disk}/{name}"
        for key, value in {"dev": number, "partition": part, "start": start, "size": sectors, "ro": 0}.items():
            self.put(f"{base}/{key}", str(value))
        node = self.put(f"/dev/{name}", b"")
        with node.open("r+b") as file:
            file.truncate(sectors * 512)
        return f"/dev/{name}"

    def mapped(self, name: str, number: str, title: str, uuid: str, *slaves: str) -> str:
        """A device of the device mapper on others; the path of its node."""
        self.disk(name, number)
        self.put(f"/sys/block/{name}/dm/name", title)
        self.put(f"/sys/block/{name}/dm/uuid", uuid)
        self.link(f"/dev/mapper/{title}", f"../{name}")
        self.hold(name, *slaves)
        return f"/dev/{name}"

    def hold(self, holder: str, *slaves: str) -> None:
        """`holder` is made of others."""
        for slave in slaves:
            folder = self.host.sysfs(slave)
            self.put(f"{folder}/holders/{holder}", "")
            self.put(f"/sys/block/{holder}/slaves/{slave}", "")

    def loop(self, name: str, number: str, file: str) -> str:
        """A loop device on a file or a device."""
        self.disk(name, number)
        self.put(f"/sys/block/{name}/loop/backing_file", file)
        return f"/dev/{name}"

    def mount(
        self, source: str, place: str, number: str, kind: str, process: str = "self", options: str = "rw"
    ) -> None:
        """A line of a process's mount table."""
        file = self.root / f"proc/{process}/mountinfo"
        before = file.read_text() if file.exists() else ""
        self.put(f"/proc/{process}/mountinfo", f"{before}30 1 {number} / {place} rw - {kind} {source} {options}\n")

    def opened(self, process: int, name: str, path: str, flags: str) -> None:
        """A process that has a path open."""
        self.put(f"/proc/{process}/comm", name)
        self.link(f"/proc/{process}/fd/5", path)
        self.put(f"/proc/{process}/fdinfo/5", f"pos:\t0\nflags:\t{flags}\n")

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Bytes on a device, or anything else that is there."""
        with (self.root / path.lstrip("/")).open("r+b") as file:
            file.seek(offset)
            file.write(data)

    def recorded(self, command: str, text: str, code: int = 0) -> None:
        """What a command line prints here."""
        name = command.replace("/", "%")
        self.put(f"/commands/{name}", text)
        if code:
            self.put(f"/commands/{name}.exit", str(code))
