"""Hostile names and files that another user could put where a command reads or writes. The damaged bytes are names.

Whatever the file is (a link to a private file, a pipe without a writer, an endless device, a file that unpacks to half
a gigabyte), the command ends with a result or a one-line error, in bounded time and memory, and private text is neither
printed nor changed.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from probe import bases
from probe.bases import Base
from probe.command import ENDINGS, Said, Wrong, hotband
from probe.ways import Came, Way, came, filled

sys.path.append(str(bases.ROOT / "tests/output"))

from foreign_names import NAMES

SECRET = "hotband-probe-private-4f1c"
READ_S = 1.0
"""Limit of processor seconds for a command that reads; the pool ends a command that waits."""
BOMB = 512 << 20
"""Unpacked size of a bomb in bytes: above the limit for an input of its packed size."""
NOBODY = 65_534
"""Id of another user."""
Made = Callable[[Path, Path], None]


def name_bases(_: Path) -> list[Base]:
    """Return names with a meaning for a terminal, a page, a spreadsheet, a shell or a file system."""
    shells = (
        "-rf",
        "--help",
        "$(id)",
        "`id`",
        "a;b",
        "a b",
        "~",
        "*",
        "a'b\"c",
        "..",
        ".hidden",
        "%s%n",
        "con",
        "a" * 250,
    )
    return [(f"{n}.name", name.encode(errors="surrogatepass")) for n, name in enumerate((*NAMES, *shells)) if name]


def bomb_bases(_: Path) -> list[Base]:
    """Return lines of a trace, of a log and of a record, to be repeated."""
    lines = ("0.000001,0,4096,4096,read\n", "1, 2000, 0, 4096, 0\n", '{"a": [1, 2, 3]}\n', "0 a0 Q R 0 + 8 [fio]\n")
    return [(f"{n}.line", line.encode()) for n, line in enumerate(lines)]


def link(place: Path, folder: Path) -> None:
    """Make a link to the private file; if this process is root, the link belongs to another user."""
    place.symlink_to(private(folder))
    if os.geteuid() == 0:
        os.lchown(place, NOBODY, NOBODY)


def link_to_nothing(place: Path, folder: Path) -> None:
    place.symlink_to(folder / "nothing")


def link_to_itself(place: Path, folder: Path) -> None:
    place.symlink_to(place)


def endless(place: Path, folder: Path) -> None:
    place.symlink_to("/dev/zero")


def pipe(place: Path, folder: Path) -> None:
    os.mkfifo(place)


def folder_of_links(place: Path, folder: Path) -> None:
    place.mkdir()
    link(place / "record.json", folder)
    (place / "up").symlink_to(folder)


def listener(place: Path, folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place))


def text(place: Path, folder: Path) -> None:
    shutil.copy(bases.ROOT / "tests/fio/samples/fio-2.1-usec.json", place)


def huge(place: Path, folder: Path) -> None:
    with place.open("wb") as file:
        file.truncate(1 << 42)


MADE: Sequence[Made] = (link, link_to_nothing, link_to_itself, endless, folder_of_links, listener, text, huge)
READING = (
    "audit", "compare {record}", "report -o {out.html}", "import auto --out {out}", "trace show", "run --on ent-15k",
    "run fio-randread --duration 1ms --on", "drives", "expect --on ent-15k", "fleet", "store list", "studies",
    "workloads convert -o {out.toml}", "advise fio-randread --capacity 1TB --slo p99<60ms --prices",
)  # fmt: skip
"""Commands that read the name, their last argument."""
WRITING = (
    "run fio-randread --on ent-15k --duration 1ms --out", "report {record} -o", "trace convert {trace}",
    "workloads convert fio-randread -o", "run fio-randread --on ent-15k --duration 1ms --io-log",
)  # fmt: skip
"""Commands that write to the name, their last argument."""


def private(folder: Path) -> Path:
    """Return the path of a new private file, which no command may read or change."""
    place = folder / "private"
    place.write_text(f"{SECRET}\n")
    return place


def named(words: str, make: Made) -> Way:
    """Return a probe that runs a command on the name, under which `make` has made a file."""

    def way(made: Path, folder: Path, file: Path) -> Came:
        name = file.read_bytes().replace(b"\0", b"").replace(b"/", b"_")[:255]
        place = Path(os.fsdecode(name or b"x"))
        if place.name in ("", ".", ".."):
            return False, False
        file.unlink()
        try:
            make(place, folder)
        except OSError:
            return False, False
        secret = folder / "private"
        before = secret.read_text() if secret.exists() else ""
        given = filled(words, made, folder, place)
        said = hotband([*given, "--", str(place)] if str(place).startswith("-") else [*given, str(place)], READ_S)
        ended = came(said, accepted=(*ENDINGS, os.EX_IOERR))
        expect_private(said, secret, before)
        return ended

    return way


def expect_private(said: Said, secret: Path, before: str) -> None:
    """Raise Wrong if private text was printed or changed."""
    if SECRET in said.out or SECRET in said.error:
        raise Wrong("prints a private file")
    if before and secret.read_text() != before and os.geteuid() == 0:
        raise Wrong("writes through a link to a private file")


def bomb(words: str, pack: Callable[[bytes], bytes], ending: str) -> Way:
    """Return a probe that runs a command on the line, repeated to half a gigabyte and packed."""

    def way(made: Path, folder: Path, file: Path) -> Came:
        line = file.read_bytes() or b"\n"
        place = folder / f"bomb.csv{ending}"
        piece = pack(line * (-(-(16 << 20) // len(line))))
        with place.open("wb") as packed:
            for _ in range(BOMB >> 24):
                packed.write(piece)
        file.unlink()
        return came(hotband([*filled(words, made, folder, place), str(place)], READ_S))

    return way


PACKED = ((gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz"))
NAME_WAYS = [
    *(named(words, make) for words in (*READING, *WRITING) for make in MADE),
    # Without a writer, a command that reads waits as every program does.
    *(named(words, pipe) for words in WRITING),
]
BOMB_WAYS = [
    bomb(words, pack, ending)
    for words in ("trace show", "run --on ent-15k", "import auto --out {out}", "audit")
    for pack, ending in PACKED
]
