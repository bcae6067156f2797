"""Write drives of the catalog from lines of their data sheets: python scripts/catalog_products.py

`products.toml` holds the lines; the rules are those of `hotband drives new`. Run it after a change of either. A drive's
file says of each stated line where it was read, or that nobody verified it. Like those described by hand, these drives
do what their sheets rate; what measured drives reach of that is in the range. What a sheet lacks, the corpus teaches.
Quantities that others measured on the drive's own family are fitted to those figures, with its sheet as the prior.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import hotband._core as _core
from hotband.base.text.write import write_file
from hotband.data.catalog import CATALOG_DIR
from hotband.data.catalog.products import NOT_VERIFIED
from hotband.data.corpus.named import family_among
from hotband.questions.datasheet.drive import KINDS, described, quoted, sections
from hotband.questions.datasheet.expected import expected
from hotband.questions.datasheet.learned import Learned, shipped_evidence, shipped_rules
from hotband.questions.datasheet.lines import Answers
from hotband.questions.datasheet.values import GIVEN, Expected, Value

SHEETS = Path(__file__).with_name("products.toml")
LOOKED_UP = "29 Nov 2026"
NAMED = {"sata": "SATA 6 Gb/s", "sas24": "SAS 24G"}
"""Interfaces as products print them."""
DEPTHS = {"sata": 32, "sas24": 128, "nvme": 512}
"""Depth at which a port's rate of random I/Os is rated, of all workers together: SATA has 32 tags."""
RATINGS = {
    "bandwidth": "sustained",
    "read-bandwidth": "sequential_read",
    "write-bandwidth": "sequential_write",
    "write-bandwidth-after-cache": "direct_write",
    "read-iops": "random_read",
    "write-iops": "random_write",
    "write-iops-burst": "burst_write",
    "read-latency": "latency_read_qd1",
    "write-latency": "latency_write_qd1",
}
"""References of a file by the line that they repeat; those of random I/Os go on with their depth."""


@dataclass(frozen=True)
class Product:
    """A product as `products.toml` has it, with what it shares with others; `read` has the address of each line that
    was read."""

    name: str
    about: Mapping[str, str]
    lines: Mapping[str, str]
    read: Mapping[str, str]

    @property
    def kind(self) -> str:
        """Return its kind, a key of `KINDS`."""
        return self.about["kind"]

    @property
    def port(self) -> str:
        """Return its interface; that of all NVMe drives is `nvme`."""
        return self.lines.get("interface", "nvme")

    def source_of(self, line: str) -> tuple[str, str]:
        """Return where a line was read, and the confidence in it."""
        return (self.read[line], "medium") if line in self.read else (NOT_VERIFIED, "low")


def products() -> dict[str, Product]:
    """Return the products by name."""
    known: dict[str, Product] = {}
    for name, table in tomllib.loads(SHEETS.read_text(encoding="utf-8")).items():
        known[name] = _product(name, table, known.get(table.get("like", "")))
    return known


def _product(name: str, table: Mapping[str, Any], like: Product | None) -> Product:
    about = {key: value for key, value in table.items() if isinstance(value, str)}
    read = {line: address for address, lines in table.get("read", {}).items() for line in lines.split()}
    if like is None:
        return Product(name, about, table["lines"], read)
    # What differs from the other product was not read with it.
    inherited = {
        line: address for line, address in like.read.items() if line not in table["lines"] and line not in about
    }
    return Product(name, {**like.about, **about}, {**like.lines, **table["lines"]}, {**inherited, **read})


def rules_of(product: Product) -> Learned:
    """Return the rules for a product: fitted to what others measured on its family, if they did."""
    return shipped_rules().fitted_to(family_among(product.about["title"], families()))


@cache
def families() -> tuple[str, ...]:
    """Return the measured families."""
    return tuple(dict.fromkeys(evidence.family for evidence in shipped_evidence()))


def as_rated(learned: Learned, kind: str, stated: Answers) -> dict[str, Expected]:
    """Return what is expected of a drive (with rules, the signature of `Expect`): rated quantities as they are rated,
    unless its own figures show them."""
    values = dict(learned.expected(kind, stated))
    for name, plain in expected(kind, stated).items():
        if plain.low == plain.high and name not in learned.fitted():
            ends = sorted((plain.value, values[name].low, values[name].high))
            values[name] = Expected(plain.value, ends[0], ends[-1], values[name].why)
    return values


def product_text(product: Product) -> str:
    """Return the text of a product's file."""
    values = [_sectors(value) for value in described(product.kind, product.lines, partial(as_rated, rules_of(product)))]
    head = [
        f"# {product.about['title']}: from lines of its data sheet (scripts/products.toml), by the rules of",
        "# docs/models/data-sheets.md. Made by `python scripts/catalog_products.py`: changes here are lost.",
        f'kind = "{KINDS[product.kind].mechanism}"',
        f"title = {quoted(product.about['title'])}",
        f"model = {quoted(product.about['model'])}",
    ]
    has_cache = any(value.key == "pslc_static" for value in values)
    blocks = ["\n".join(head), *sold_as(product), sections(values, product.source_of).strip()]
    return "\n\n".join([*blocks, *ratings(product, has_cache)]) + "\n"


def sold_as(product: Product) -> list[str]:
    """Return what the product is sold as: its sheet, class, port, form, flash and year."""
    addresses = "; ".join(dict.fromkeys(product.read.values())) or "no copy"
    note = f"; {product.about['note']}" if "note" in product.about else ""
    unread = f"values marked as not verified were not looked up or not found on {LOOKED_UP}{note}"
    pages = ", ".join(dict.fromkeys(map(page_of, product.read.values())))
    quoted_by = f"as quoted by {pages}" if pages else "not read"
    rows = [
        reference("data_sheet", quoted_by, (f"{addresses}; {unread}", "medium")),
        reference("class", product.about["price_class"], ("our class (classes.toml)", "high")),
        reference("form_factor", product.about["form"], product.source_of("form")),
        reference("launch_year", int(product.lines["year"]), product.source_of("year")),
    ]
    if product.port != "nvme":
        rows.append(reference("interface", NAMED[product.port], product.source_of("interface")))
    if "flash" in product.lines:
        rows.append(reference("nand", product.lines["flash"], product.source_of("flash")))
    learned = rules_of(product)
    if learned.fitted():
        named = ", ".join(name.replace("_", " ") for name in sorted(learned.fitted()))
        source = (
            f"{named}: from figures that others measured (hotband corpus show {product.name}), the data sheet as prior"
        )
        rows.append(reference("fitted_to", family_among(product.about["title"], families()), (source, "medium")))
    return rows


def page_of(address: str) -> str:
    """Return the site of an address, or the document that begins it."""
    return re.split(r"/| \(|[:,]", address, maxsplit=1)[0]


def ratings(product: Product, has_cache: bool) -> list[str]:
    """Return what the sheet rates, which the model does not read, and the endurance."""
    rows = []
    for line, key in RATINGS.items():
        if line not in product.lines:
            continue
        text, name = product.lines[line], key
        if line.endswith(("-iops", "-iops-burst")):
            depth, unit = DEPTHS[product.port], "IOPS"
            if product.kind == "hdd":
                depth, unit, name = int(product.lines.get("read-iops-depth", "16")), "/s", f"{key}s"
            text, name = f"{text} {unit}", f"{name}_qd{depth}"
        elif line == "write-bandwidth" and has_cache:
            name = "pslc_write"
        rows.append(reference(name, text, product.source_of(line)))
    if endurance := _endurance(product):
        rows.append(reference("endurance", *endurance))
    return rows


def reference(key: str, value: str | int, source: tuple[str, str]) -> str:
    """Return a value for people as TOML, with its source and the confidence in it."""
    lines = [f"[reference.{key}]", f"value = {quoted(value)}", f"source = {quoted(source[0])}"]
    return "\n".join([*lines, f'confidence = "{source[1]}"'])


def _endurance(product: Product) -> tuple[str, tuple[str, str]] | None:
    """Return the bytes that may be written, as stated or from drive writes per day, and their source."""
    if "endurance" in product.about:
        return product.about["endurance"], product.source_of("endurance")
    if "dwpd" not in product.lines:
        return None
    written = float(product.lines["dwpd"]) * 365 * 5 * _core.quantity("size", product.lines["capacity"])
    source, confidence = product.source_of("dwpd")
    return f"{written / 1e12:.0f} TB", (
        f"{source.rstrip('.')}: {product.lines['dwpd']} DWPD for five years.",
        confidence,
    )


def _sectors(value: Value) -> Value:
    """Return the capacity as the number of sectors that drives of this size have; other values as they are."""
    if value.key != "capacity" or value.rule != GIVEN:
        return value
    gigabytes = round(int(str(value.value).removesuffix(" B")) / 1e9)
    sectors = 97_696_368 + 1_953_504 * (gigabytes - 50)
    return Value("capacity", f"{512 * sectors} B", "sector count for this capacity by IDEMA LBA1-02", given=True)


def write_products() -> None:
    """Write the file of each product."""
    for name, product in products().items():
        write_file(CATALOG_DIR / "drives" / f"{name}.toml", product_text(product))


if __name__ == "__main__":
    write_products()
