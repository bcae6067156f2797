"""Makes the pictures of README and guides: `python scripts/pictures.py` writes content-hdd.png and sweep.png.

It runs the study content-hdd (seconds) and draws its published IOPS beside the predicted ones, as its report does; and
the first sweep of docs/guides/sweeps.md.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import hotband as hb
from hotband.draw import published
from hotband.report.pictures import drawing, write_pictures
from hotband.report.study_figures import published_frame
from hotband.text.write import write_file

if TYPE_CHECKING:
    from hotband.draw.charts import View

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"


def main() -> None:
    """Writes the pictures."""
    of_study()
    of_sweep()


def of_sweep() -> None:
    """p99 latency of three machines against the queue depth."""
    machines = ["exos-15e900-512n", "ent-10k", "raid10:4xent-15k"]
    swept = hb.sweep("fio-randread", on=machines, qd="1..256", duration="5 s", records=False, progress=False)
    title = "Random reads of 4 KiB: p99 latency against queue depth"
    write(swept.plot("latency_p99_ns"), "sweep", title, " ".join(swept.answers[1:]))


def of_study() -> None:
    """Published and predicted IOPS of a study."""
    result = hb.study("content-hdd").run(progress=False)
    frame = published_frame(result.to_dict()["figures"], "IOPS")
    title = "Five disk layouts under vdbench: published and predicted IOPS"
    subtitle = (
        "Study content-hdd. Mixes of 8 KB at one shared sequential position are missed by far; its report says why."
    )
    write(published.published_chart(frame, "IOPS"), "content-hdd", title, subtitle)


def write(view: View, name: str, title: str, subtitle: str) -> None:
    """Writes a chart as docs/images/NAME.png."""
    with tempfile.TemporaryDirectory() as folder:
        pictures = write_pictures(Path(folder), name, drawing(view), title, subtitle)
        [png] = [path for path in pictures if path.suffix == ".png"]
        write_file(IMAGES / f"{name}.png", png.read_bytes())


if __name__ == "__main__":
    main()
