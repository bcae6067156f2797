"""Ways to issue many I/Os from one thread: Linux's asynchronous I/O on an open file or device, and NBD.

Sources: io_submit(2), linux/aio_abi.h; the NBD protocol (see `hotband.execution.targets.remote`). What was read is
dropped; what is written is random.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import random
import socket
import struct
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from hotband.base.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from hotband.execution.replay.loop import Io

READ, WRITE, FLUSH, TRIM = range(4)
"""Operations, as in a row of a trace."""
MOST_OUTSTANDING = 4096
"""I/Os outstanding at once; a trace that needs more is issued late."""
UNIT = 4096
LARGEST_TRIM, LARGEST = (1 << 32) - 1, (1 << 31) - UNIT
"""Most bytes of a trim, of which NBD has 32 bits for the number, and of a read or write (read(2), NOTES)."""
_AT_ONCE = 1 << 20


class Port(Protocol):
    """A volume or device to which I/Os are submitted without waiting."""

    @property
    def has_unsent(self) -> bool:
        """Return whether something was submitted and could not be sent yet."""

    def fileno(self) -> int:
        """Return the descriptor that is readable once I/Os have completed."""

    def submit(self, index: int, io: Io) -> None:
        """Submit an I/O. Raises OSError."""

    def send(self) -> None:
        """Go on with what was submitted, once the port is writable. Raises OSError."""

    def completed(self) -> list[tuple[int, bool]]:
        """Return the I/Os that have completed, and whether they failed. Raises OSError."""


def random_data(size: int, seed: int) -> mmap.mmap:
    """Return memory with data that does not compress, aligned to pages."""
    memory = mmap.mmap(-1, max(UNIT, size))
    rng = random.Random(seed)
    while left := len(memory) - memory.tell():
        # randbytes counts bits, at most 2^31 of them.
        memory.write(rng.randbytes(min(left, _AT_ONCE)))
    return memory


# --- NBD --------------------------------------------------------------------------------------------------------------

_COMMANDS = {READ: 0, WRITE: 1, FLUSH: 3, TRIM: 4}
_REQUEST, _REPLY = struct.Struct(">IHHQQI"), struct.Struct(">IIQ")
_REQUEST_MAGIC, _REPLY_MAGIC, _FUA = 0x25609513, 0x67446698, 1


class NbdPort:
    """A connection to an NBD export after its handshake. `data` is what is written."""

    def __init__(self, client: socket.socket, data: mmap.mmap) -> None:
        self._client, self._data = client, memoryview(data)
        self._buffer = bytearray(_AT_ONCE)
        self._unsent: deque[memoryview] = deque()
        self._head = b""
        self._reads: dict[int, int] = {}
        self._payload = 0
        self._index = 0
        client.setblocking(False)

    def fileno(self) -> int:
        return self._client.fileno()

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def submit(self, index: int, io: Io) -> None:
        offset, size = (0, 0) if io.op == FLUSH else (io.offset, io.size)
        flags = _FUA if io.fua and io.op in (WRITE, TRIM) else 0
        request = _REQUEST.pack(_REQUEST_MAGIC, flags, _COMMANDS[io.op], index, offset, size)
        self._unsent.append(memoryview(request))
        if io.op == WRITE:
            self._unsent.append(self._data[:size])
        elif io.op == READ:
            self._reads[index] = size
        self.send()

    def send(self) -> None:
        try:
            while self._unsent:
                sent = self._client.send(self._unsent[0])
                if sent < len(self._unsent[0]):
                    self._unsent[0] = self._unsent[0][sent:]
                else:
                    self._unsent.popleft()
        except BlockingIOError:
            return

    def completed(self) -> list[tuple[int, bool]]:
        try:
            count = self._client.recv_into(self._buffer)
        except BlockingIOError:
            return []
        if not count:
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        done = []
        at = 0
        while at < count:
            if self._payload:
                taken = min(self._payload, count - at)
                self._payload, at = self._payload - taken, at + taken
                if not self._payload:
                    done.append((self._index, False))
                continue
            taken = min(_REPLY.size - len(self._head), count - at)
            self._head, at = self._head + self._buffer[at : at + taken], at + taken
            if len(self._head) < _REPLY.size:
                break
            magic, error, index = _REPLY.unpack(self._head)
            self._head = b""
            if magic != _REPLY_MAGIC:
                raise OSError(errno.EPROTO, os.strerror(errno.EPROTO))
            length = self._reads.pop(index, 0)
            if length and not error:
                self._index, self._payload = index, length
            else:
                done.append((index, bool(error)))
        return done


# --- Linux's asynchronous I/O -----------------------------------------------------------------------------------------

# io_setup, io_destroy, io_submit and io_getevents by architecture (asm/unistd.h).
_SYSCALLS = {"x86_64": (206, 207, 209, 208), "aarch64": (0, 1, 2, 4)}
_PREAD, _PWRITE, _FDSYNC = 0, 1, 3
_EVENT_BY_DESCRIPTOR, _RWF_DSYNC = 1, 2


class _Iocb(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_uint64),
        ("key", ctypes.c_uint32),
        ("rw_flags", ctypes.c_uint32),
        ("opcode", ctypes.c_uint16),
        ("priority", ctypes.c_int16),
        ("descriptor", ctypes.c_uint32),
        ("buffer", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("offset", ctypes.c_int64),
        ("reserved", ctypes.c_uint64),
        ("flags", ctypes.c_uint32),
        ("event", ctypes.c_uint32),
    )


class _Event(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_uint64),
        ("iocb", ctypes.c_uint64),
        ("result", ctypes.c_int64),
        ("result2", ctypes.c_int64),
    )


class AioPort:
    """A file or device that is open for direct I/O. `data` is what is written; a write has at most its bytes, and a
    read at most `read_bytes`."""

    @property
    def has_unsent(self) -> bool:
        return False

    def __init__(self, descriptor: int, context: int, event: int, data: mmap.mmap, read_bytes: int) -> None:
        self._descriptor, self._context, self._event = descriptor, ctypes.c_ulong(context), event
        # All reads share one buffer: nobody looks at what was read.
        self._read = mmap.mmap(-1, read_bytes)
        self._buffers = {READ: _address(self._read), WRITE: _address(data)}
        self._data = data
        self._sizes: dict[int, int] = {}
        self._events = (_Event * 256)()

    def fileno(self) -> int:
        return self._event

    def submit(self, index: int, io: Io) -> None:
        iocb = _Iocb(data=index, descriptor=self._descriptor, flags=_EVENT_BY_DESCRIPTOR, event=self._event)
        if io.op == FLUSH:
            iocb.opcode = _FDSYNC
        else:
            iocb.opcode = _PREAD if io.op == READ else _PWRITE
            iocb.buffer, iocb.size, iocb.offset = self._buffers[io.op], io.size, io.offset
            iocb.rw_flags = _RWF_DSYNC if io.fua and io.op == WRITE else 0
        self._sizes[index] = iocb.size
        _syscall(2, self._context, ctypes.c_long(1), ctypes.byref(ctypes.pointer(iocb)))

    def send(self) -> None:
        """Return at once: the kernel has taken all I/Os."""

    def completed(self) -> list[tuple[int, bool]]:
        os.read(self._event, 8)
        done = []
        while True:
            count = _syscall(3, self._context, ctypes.c_long(0), ctypes.c_long(256), self._events, None)
            # A full file system, for instance, ends a write early and reports the bytes before.
            done += [(event.data, event.result != self._sizes.pop(event.data)) for event in self._events[:count]]
            if count < len(self._events):
                return done


@contextmanager
def aio_port(path: Path | str, data: mmap.mmap, *, writes: bool, read_bytes: int = UNIT) -> Iterator[AioPort]:
    """Open a file or device for direct I/O during the block; see `AioPort`. Raises UserError on another kind of
    computer, OSError."""
    if platform.machine() not in _SYSCALLS:
        machines = " or ".join(_SYSCALLS)
        raise UserError("question.on", "", str(path), f"replays of traces need Linux on {machines}")
    descriptor = os.open(path, (os.O_RDWR if writes else os.O_RDONLY) | os.O_DIRECT | os.O_CLOEXEC)
    try:
        event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        context = ctypes.c_ulong(0)
        try:
            _syscall(0, ctypes.c_uint(MOST_OUTSTANDING), ctypes.byref(context))
            try:
                yield AioPort(descriptor, context.value, event, data, read_bytes)
            finally:
                # It waits for what is outstanding.
                _syscall(1, context)
        finally:
            os.close(event)
    finally:
        os.close(descriptor)


def _address(memory: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


_libc = ctypes.CDLL(None, use_errno=True)


def _syscall(which: int, *arguments: object) -> int:
    """Call one of `_SYSCALLS`. Raises OSError."""
    number = _SYSCALLS[platform.machine()][which]
    result = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(result)
