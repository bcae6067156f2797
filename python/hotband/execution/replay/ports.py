"""Ways to issue many I/Os from one thread: Linux's asynchronous I/O on an open file or device, and NBD.

Sources: io_submit(2), linux/aio_abi.h; the NBD protocol (see `hotband.execution.targets.remote`). What was read is
dropped; what is written is random, and nothing is written twice.
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
from array import array
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from time import time_ns
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


class Data:
    """Random bytes to write, in which each page has a number of its own, so that a target stores every write.
    Ports share it; a write has its pages from `taken` until `returned`."""

    def __init__(self, memory: mmap.mmap) -> None:
        self.memory = memory
        self._numbers = memoryview(memory).cast("Q")[:: UNIT // 8]
        self._users = [0] * len(self._numbers)
        self._next = 0
        # It differs from the numbers of earlier runs on the same target.
        self._number = time_ns()

    def taken(self, size: int) -> int:
        """Return the offset of memory for a write. Pages of outstanding writes keep their numbers: where those writes
        leave no room, it returns their data again."""
        pages = -(-size // UNIT)
        begin = self._free(pages)
        self._next = end = begin + pages
        users = self._users[begin:end]
        if not any(users):
            self._numbers[begin:end] = array("Q", range(self._number, self._number + pages))
        else:
            for page, count in enumerate(users):
                if not count:
                    self._numbers[begin + page] = self._number + page
        self._users[begin:end] = [count + 1 for count in users]
        self._number += pages
        return begin * UNIT

    def _free(self, pages: int) -> int:
        """Return where the next pages that no outstanding write has begin; pages in use if there are none."""
        first = self._next if self._next + pages <= len(self._users) else 0
        begin, has_wrapped = first, False
        while any(self._users[begin : begin + pages]):
            begin += next(at for at in range(pages, 0, -1) if self._users[begin + at - 1])
            if begin + pages > len(self._users):
                if has_wrapped:
                    return first
                begin, has_wrapped = 0, True
            if has_wrapped and begin >= first:
                return first
        return begin

    def returned(self, offset: int, size: int) -> None:
        """Note that a write has completed."""
        begin, end = offset // UNIT, -(-(offset + size) // UNIT)
        self._users[begin:end] = [count - 1 for count in self._users[begin:end]]


def random_data(size: int, seed: int) -> Data:
    """Return data for writes of up to `size` bytes that does not compress, aligned to pages."""
    memory = mmap.mmap(-1, -(-max(size, UNIT) // UNIT) * UNIT)
    rng = random.Random(seed)
    while left := len(memory) - memory.tell():
        # randbytes counts bits, at most 2^31 of them.
        memory.write(rng.randbytes(min(left, _AT_ONCE)))
    return Data(memory)


# --- NBD --------------------------------------------------------------------------------------------------------------

_COMMANDS = {READ: 0, WRITE: 1, FLUSH: 3, TRIM: 4}
_REQUEST, _REPLY = struct.Struct(">IHHQQI"), struct.Struct(">IIQ")
_REQUEST_MAGIC, _REPLY_MAGIC, _FUA = 0x25609513, 0x67446698, 1


class NbdPort:
    """A connection to an NBD export after its handshake. `data` is what is written."""

    def __init__(self, client: socket.socket, data: Data) -> None:
        self._client, self._data, self._memory = client, data, memoryview(data.memory)
        self._buffer = bytearray(_AT_ONCE)
        self._unsent: deque[memoryview] = deque()
        self._head = b""
        self._reads: dict[int, int] = {}
        self._writes: dict[int, tuple[int, int]] = {}
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
            at = self._data.taken(size)
            self._writes[index] = at, size
            self._unsent.append(self._memory[at : at + size])
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
            if index in self._writes:
                self._data.returned(*self._writes.pop(index))
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

    def __init__(self, descriptor: int, context: int, event: int, data: Data, read_bytes: int) -> None:
        self._descriptor, self._context, self._event = descriptor, ctypes.c_ulong(context), event
        # All reads share one buffer: nobody looks at what was read.
        self._read = mmap.mmap(-1, read_bytes)
        self._read_at, self._memory_at = _address(self._read), _address(data.memory)
        self._data = data
        self._sizes: dict[int, int] = {}
        self._writes: dict[int, tuple[int, int]] = {}
        self._events = (_Event * 256)()

    def fileno(self) -> int:
        return self._event

    def submit(self, index: int, io: Io) -> None:
        iocb = _Iocb(data=index, descriptor=self._descriptor, flags=_EVENT_BY_DESCRIPTOR, event=self._event)
        if io.op == FLUSH:
            iocb.opcode = _FDSYNC
        else:
            iocb.opcode = _PREAD if io.op == READ else _PWRITE
            iocb.buffer, iocb.size, iocb.offset = self._read_at, io.size, io.offset
            if io.op == WRITE:
                at = self._data.taken(io.size)
                self._writes[index] = at, io.size
                iocb.buffer = self._memory_at + at
                iocb.rw_flags = _RWF_DSYNC if io.fua else 0
        self._sizes[index] = iocb.size
        _syscall(2, self._context, ctypes.c_long(1), ctypes.byref(ctypes.pointer(iocb)))

    def send(self) -> None:
        """Return at once: the kernel has taken all I/Os."""

    def completed(self) -> list[tuple[int, bool]]:
        os.read(self._event, 8)
        done = []
        while True:
            count = _syscall(3, self._context, ctypes.c_long(0), ctypes.c_long(256), self._events, None)
            for event in self._events[:count]:
                index = event.data
                if index in self._writes:
                    self._data.returned(*self._writes.pop(index))
                # A full file system, for instance, ends a write early and reports the bytes before.
                done.append((index, event.result != self._sizes.pop(index)))
            if count < len(self._events):
                return done


@contextmanager
def aio_port(path: Path | str, data: Data, *, writes: bool, read_bytes: int = UNIT) -> Iterator[AioPort]:
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
