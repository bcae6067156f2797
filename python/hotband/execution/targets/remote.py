"""Targets without a path on this computer: size and properties of a device served over NBD.

Source: the NBD protocol, https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md (fixed newstyle
negotiation, NBD_OPT_GO).
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from socket import SocketIO
from urllib.parse import parse_qs, unquote, urlsplit

from hotband.base.errors import UserError, reason_of

# Seconds that a server has to answer a handshake of four small messages.
TO_ANSWER_S = 5.0
_PORT = 10809  # of IANA for nbd
_MAGIC, _OPTION_MAGIC, _REPLY_MAGIC = b"NBDMAGIC", b"IHAVEOPT", 0x3E889045565A9
_FIXED_NEWSTYLE, _NO_ZEROES = 1, 2
_OPT_ABORT, _OPT_GO = 2, 7
_REP_ACK, _REP_INFO, _ERROR_BIT = 1, 3, 1 << 31
_INFO_EXPORT, _INFO_BLOCK_SIZE = 0, 3
_DISCONNECT = struct.pack(">IHHQQI", 0x25609513, 0, 2, 0, 0, 0)
_READ_ONLY, _SEND_FLUSH, _SEND_FUA, _SEND_TRIM = 1 << 1, 1 << 2, 1 << 3, 1 << 5
# A server's reply to an option is short text or a few numbers; more is no NBD.
_LONGEST_REPLY = 1 << 16


@dataclass(frozen=True)
class Export:
    """A served device: its bytes, the smallest I/O, whether it is read-only, and whether it accepts trims, flushes and
    FUA."""

    size_bytes: int
    block_bytes: int
    read_only: bool
    trims: bool
    flushes: bool
    fua: bool


def export_of(on: str, uri: str) -> Export:
    """Return the export at `uri`. Raises UserError like `connected`."""
    with connected(on, uri) as (_, export):
        return export


@contextmanager
def connected(on: str, uri: str) -> Iterator[tuple[socket.socket, Export]]:
    """Connect to the export at `uri` (nbd+unix:///EXPORT?socket=PATH, nbd://HOST:PORT/EXPORT) for the block, after the
    handshake. Raises UserError if there is no server, or it does not speak NBD."""
    parts = urlsplit(uri)
    name = unquote(parts.path.removeprefix("/"))
    path = parse_qs(parts.query).get("socket", [""])[0]
    if parts.scheme == "nbd+unix" and not path:
        raise UserError("question.on", "", on, "names no socket: expected real:nbd+unix:///EXPORT?socket=PATH")
    try:
        if parts.scheme == "nbd+unix":
            client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            client.settimeout(TO_ANSWER_S)
            client.connect(path)
        else:
            client = socket.create_connection((parts.hostname or "localhost", parts.port or _PORT), TO_ANSWER_S)
    except (OSError, ValueError) as error:
        reason = reason_of(error).lower()
        raise UserError("question.on", "", on, f"no server: {reason}; expected a device of hotband serve") from None
    with client:
        try:
            with client.makefile("rwb", buffering=0) as stream:
                export = _negotiated(stream, name)
        except _Refused as why:
            raise UserError("question.on", "", on, f"has no export of the name {name!r}: {why}") from None
        except (OSError, struct.error, ValueError) as error:
            reason = str(error) or type(error).__name__
            raise UserError("question.on", "", on, f"is not an NBD server: {reason}") from None
        try:
            yield client, export
        finally:
            # The server then knows that nothing was lost.
            with suppress(OSError):
                client.send(_DISCONNECT)


class _Refused(Exception):
    """The server has no such export."""


def _negotiated(stream: SocketIO, name: str) -> Export:
    magic, option, flags = struct.unpack(">8s8sH", _read(stream, 18))
    if (magic, option) != (_MAGIC, _OPTION_MAGIC) or not flags & _FIXED_NEWSTYLE:
        raise ValueError("no fixed newstyle handshake")
    encoded = name.encode()
    data = struct.pack(">I", len(encoded)) + encoded + struct.pack(">HH", 1, _INFO_BLOCK_SIZE)
    stream.write(struct.pack(">I", flags & (_FIXED_NEWSTYLE | _NO_ZEROES)))
    stream.write(struct.pack(">8sII", _OPTION_MAGIC, _OPT_GO, len(data)) + data)
    size, transmission, block = 0, 0, 512
    while True:
        reply_magic, _, kind, length = struct.unpack(">QIII", _read(stream, 20))
        if reply_magic != _REPLY_MAGIC or length > _LONGEST_REPLY:
            raise ValueError("an invalid reply")
        reply = _read(stream, length)
        if kind & _ERROR_BIT:
            raise _Refused(reply.decode(errors="replace") or f"error {kind & ~_ERROR_BIT}")
        if kind == _REP_ACK:
            flags = (_READ_ONLY, _SEND_TRIM, _SEND_FLUSH, _SEND_FUA)
            return Export(size, block, *(bool(transmission & flag) for flag in flags))
        if kind == _REP_INFO and struct.unpack(">H", reply[:2])[0] == _INFO_EXPORT:
            _, size, transmission = struct.unpack(">HQH", reply[:12])
        elif kind == _REP_INFO and struct.unpack(">H", reply[:2])[0] == _INFO_BLOCK_SIZE:
            _, block, _, _ = struct.unpack(">HIII", reply[:14])


def _read(stream: SocketIO, count: int) -> bytes:
    """Read `count` bytes. Raises ValueError if there are fewer."""
    data = b""
    while len(data) < count:
        more = stream.read(count - len(data))
        if not more:
            raise ValueError("it ends in the middle of a message")
        data += more
    return data
