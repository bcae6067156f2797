"""Writes a small tree whose entropy is known and the same everywhere: `python docs/examples/entropy.py FOLDER`.

`table.db` holds pages of 8 KiB with rows of text and numbers, a third of each page free; `server.log` lines of text;
`photos.bin` noise, as compressed pictures are. 24 MB in all.
"""

import random
import sys
from pathlib import Path

PAGE = 8192


def page(generator: random.Random) -> bytes:
    """A page that is two thirds full."""
    rows = bytearray()
    while len(rows) < PAGE * 2 // 3:
        name = generator.choice(("Smith", "Miller", "Tanaka", "Garcia", "Novak", "Okafor", "Larsen", "Rossi"))
        rows += f"{generator.randrange(10**9):010}|{name}|{generator.choice('ABCDEFGH')}|open|EUR|".encode()
        rows += generator.randbytes(16)
    return bytes(rows[: PAGE * 2 // 3]).ljust(PAGE, b"\0")


def line(generator: random.Random) -> bytes:
    """A line of a log."""
    path = generator.choice(("/index.html", "/cart", "/login", "/static/site.css", "/api/v1/items"))
    client = ".".join(str(generator.randrange(256)) for _ in range(4))
    status, size = generator.choice((200, 200, 304, 404)), generator.randrange(99999)
    return f'{client} - - "GET {path} HTTP/1.1" {status} {size}\n'.encode()


def main() -> None:
    """Writes the three files."""
    folder, generator = Path(sys.argv[1]), random.Random(1)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.db").write_bytes(b"".join(page(generator) for _ in range(1500)))
    (folder / "server.log").write_bytes(b"".join(line(generator) for _ in range(110_000)))
    (folder / "photos.bin").write_bytes(generator.randbytes(4_000_000))


main()
