"""Makes the picture of the README: `python scripts/pictures.py` writes docs/images/content-hdd.png.

It runs the study content-hdd (seconds) and draws its published IOPS beside the predicted ones, as its report does.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import hotband as hb
from hotband.draw import published
from hotband.report.pictures import drawing, write_pictures
from hotband.report.study_page import published_frame
from hotband.text.write import write_file

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"


def main() -> None:
    """Writes the picture."""
    result = hb.study("content-hdd").run(progress=False)
    frame = published_frame(result.to_dict()["figures"], "IOPS")
    title = "Five disk layouts under vdbench: published and predicted IOPS"
    subtitle = (
        "Study content-hdd. Mixes of 8 KB at one shared sequential position are missed by far; its report says why."
    )
    with tempfile.TemporaryDirectory() as folder:
        drawn = drawing(published.published_chart(frame, "IOPS"))
        pictures = write_pictures(Path(folder), "content-hdd", drawn, title, subtitle)
        [png] = [path for path in pictures if path.suffix == ".png"]
        write_file(IMAGES / "content-hdd.png", png.read_bytes())


if __name__ == "__main__":
    main()
