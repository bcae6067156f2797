"""Pack a corpus of measured figures into the catalog: python scripts/corpus_pack.py ../shared/corpus

Rows of low confidence (means of users' runs) are checks of class medians and are not shipped.
"""

import csv
import io
import lzma
import sys
from pathlib import Path

PACKED = Path(__file__).parents[1] / "python" / "hotband" / "data" / "corpus"


def pack(source: Path, target: Path) -> int:
    """Write the rows of a file of the corpus, compressed; return how many there are."""
    with source.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        rows = [row for row in reader if row.get("confidence") != "low"]
        columns = reader.fieldnames or []
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    target.write_bytes(lzma.compress(text.getvalue().encode(), preset=9 | lzma.PRESET_EXTREME))
    return len(rows)


if __name__ == "__main__":
    print(f"sheets: {pack(Path(sys.argv[1]) / 'sheets.csv', PACKED / 'sheets.csv.xz'):,} rows")
    print(f"figures: {pack(Path(sys.argv[1]) / 'figures.csv', PACKED / 'figures.csv.xz'):,} rows")
