"""What `hotband trace show` takes for a long trace, and how far its sampled miss ratios are from exact ones.

    python scripts/trace_show.py [--ios N] [--folder DIR]          speed and memory of a generated stream
    python scripts/trace_show.py --accuracy [FILE...]              against exact LRU: three synthetic traces, and files

The stream is text (SPC, about 3 GB for 100 million): half reads and writes by Zipf's law of
0.9 over 50 million blocks of 4 KiB, half of 8 runs that go on, one every 10 us. Prints I/Os a second of the processor,
and the most memory. Exact: the same with a sample that holds every block.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

SECTORS = 8
"""Of a block."""
BLOCKS = 50_000_000
RUNS = 8
THETA = 0.9
AT_ONCE = 1_000_000
ALL = 2**26
"""A sample that holds every block of these traces."""
SIZES = 200
"""Of the cache, at which curves are compared: evenly up to the footprint."""


def by_zipf(rng: np.random.Generator, blocks: int, theta: float, count: int) -> Numbers:
    """Ranks by Zipf's law (theta below 1), spread over the address space."""
    import numpy as np

    ranks = (blocks * rng.random(count) ** (1 / (1 - theta))).astype("i8")
    spread: Numbers = ranks * 2654435761 % blocks
    return np.asarray(spread)


def stream(ios: int) -> Iterator[tuple[Numbers, int]]:
    """Blocks, some at a time, and how many came before."""
    import numpy as np

    rng = np.random.default_rng(1)
    ends = BLOCKS + np.arange(RUNS, dtype="i8") * 10 * BLOCKS
    for begin in range(0, ios, AT_ONCE):
        count = min(AT_ONCE, ios - begin)
        blocks = by_zipf(rng, BLOCKS, THETA, count)
        run = np.arange(0, count, 2)
        blocks[::2] = ends[run // 2 % RUNS] + run // 2 // RUNS
        ends += count // 2 // RUNS + 1
        yield blocks, begin


def write(path: Path, batches: Iterator[tuple[Numbers, int]]) -> None:
    """A trace as SPC text, one I/O every 10 us; two of three are reads."""
    import numpy as np
    import pyarrow as pa
    from pyarrow.csv import CSVWriter, WriteOptions

    names = ["asu", "lba", "size", "op", "time"]
    kinds = [pa.int64(), pa.int64(), pa.int64(), pa.string(), pa.float64()]
    options = WriteOptions(include_header=False, quoting_style="none")
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    with path.open("wb") as file, CSVWriter(file, schema, write_options=options) as writer:
        for blocks, begin in batches:
            at = np.arange(begin, begin + len(blocks))
            ops = np.where(at % 3 == 2, "W", "R")
            columns = [np.zeros(len(at), "i8"), blocks * SECTORS, np.full(len(at), 4096), ops, np.round(at * 1e-5, 5)]
            writer.write(
                pa.record_batch([pa.array(one, kind) for one, kind in zip(columns, kinds, strict=True)], schema)
            )


def speed(folder: Path, ios: int) -> None:
    """Writes the stream, reads it in a process of its own, prints what that took."""
    path = folder / "stream.spc"
    write(path, stream(ios))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = "import sys; from hotband.faces.cli import main; sys.argv[0] = 'hotband'; sys.exit(main())"
    # The most of that process alone: getrusage has the larger of all children, which pyarrow's writer was none of.
    done = subprocess.run(
        [sys.executable, "-c", code, "trace", "show", str(path)], check=True, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size, rate = path.stat().st_size / 1e9, ios / spent
    print(f"{done.stdout}\n{ios:,} I/Os, {size:.2f} GB of text: {spent:.1f} s of processor, {rate:,.0f} I/Os a second")
    print(f"{after.ru_maxrss / 1024:,.0f} MB of memory at most")
    path.unlink()


def accuracy(folder: Path, files: list[Path]) -> None:
    """Prints the mean absolute error of each trace's curve, and what was stated."""
    import numpy as np

    from hotband.inference.traces.show import properties

    rng = np.random.default_rng(2)
    count = 4_000_000
    at = np.arange(count)
    mixed = np.where(at % 2 == 0, at // 2 % 800_000, 1_000_000 + (100_000 * rng.random(count)).astype("i8"))
    traces = {"zipf 0.9": by_zipf(rng, 4_000_000, 0.9, count), "scans and hot blocks": mixed, "loop": at % 900_000}
    paths = list(files)
    for name, blocks in traces.items():
        path = folder / f"{name}.spc"
        write(path, iter([(blocks, 0)]))
        paths.append(path)
    print(f"{'trace':36} {'I/Os':>10} {'blocks followed':>16} {'mean error':>11} {'largest':>8} {'stated':>7}")
    for path in paths:
        for sample in (1 << 18, 1 << 13):
            sampled, exact = properties(path, sample=sample), properties(path, sample=ALL)
            sizes = np.linspace(0, exact.footprint.bytes, SIZES + 1)[1:]
            curves = [np.array([one.reuse.curve.at(size) for size in sizes]) for one in (sampled, exact)]
            error = np.abs(curves[0] - curves[1])
            of = f"{sampled.sample_blocks:,}{' (all)' if sampled.is_exact else ''}"
            stated = max(sampled.reuse.curve.error)
            print(f"{path.name:36} {exact.ios:10,} {of:>16} {error.mean():11.5f} {error.max():8.4f} {stated:7.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ios", type=int, default=20_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--accuracy", nargs="*", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        if asked.accuracy is None:
            speed(Path(name), asked.ios)
        else:
            accuracy(Path(name), asked.accuracy)


if __name__ == "__main__":
    main()
