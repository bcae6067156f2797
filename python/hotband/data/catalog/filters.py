"""Choose drives of the catalog by words, capacity and order: `hotband drives nvme --min 3TB --sort read-iops`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache

from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.text.numbers import size
from hotband.base.text.quantities import SIZE_EXPECTED, size_bytes
from hotband.data.catalog import is_file
from hotband.data.catalog.classes import drive_classes
from hotband.data.catalog.names import without_ending
from hotband.data.catalog.products import CatalogDrive, catalog_drives

NEAR = 3
"""Most near names in an error."""
SORT_KEYS: dict[str, tuple[str, bool]] = {
    "name": ("name", False),
    "size": ("capacity_bytes", True),
    "read-iops": ("read_iops", True),
    "write-iops": ("write_iops", True),
    "read-rate": ("read_bytes_per_s", True),
    "write-rate": ("write_bytes_per_s", True),
    "endurance": ("endurance_bytes", True),
    "rpm": ("rpm", True),
    "seek": ("seek_read_ns", False),
    "year": ("launch_year", True),
    "price": ("eur_per_tb", False),
    "class": ("price_class", False),
    "interface": ("interface", False),
}
"""Values to sort by, and whether the largest comes first. Drives without the value are last."""
SORT_ALIASES = {"capacity": "size", "iops": "read-iops", "read": "read-iops", "write": "write-iops", "cost": "price"}
KIND_WORDS = {"disk": ("hdd", "disk", "disks", "hard-disk"), "ssd": ("ssd", "flash", "ssds")}
MARKET_WORDS = {"consumer": ("client", "desktop"), "enterprise": ("datacenter", "data-center")}
"""Further words for markets."""


@dataclass(frozen=True)
class DriveSelection:
    """The selected drives of the catalog, with the words, bounds and order of the selection, and the number of all
    drives."""

    drives: tuple[CatalogDrive, ...]
    total: int
    words: tuple[str, ...] = ()
    least_bytes: float | None = None
    most_bytes: float | None = None
    sort: str | None = None

    @property
    def rows(self) -> Sequence[Mapping[str, object]]:
        """Return a document per drive."""
        return [drive.to_dict() for drive in self.drives]

    @property
    def frame(self) -> pl.DataFrame:
        """Return a row per drive."""
        kinds = {"int": pl.Int64, "float": pl.Float64, "bool": pl.Boolean, "str": pl.String}
        schema = {field.name: kinds[str(field.type).removesuffix(" | None")] for field in fields(CatalogDrive)}
        return pl.DataFrame(self.rows, schema=schema)


def select_drives(
    words: Sequence[str] = (), *, least: str | None = None, most: str | None = None, sort: str | None = None
) -> DriveSelection:
    """Select the drives that match every word and both bounds. Names of products are alternatives to each other. Raises
    UserError for an unknown word, size or order."""
    drives = catalog_drives()
    least_bytes, most_bytes = _bound("question.min", least), _bound("question.max", most)
    names = {word for word in words if any(drive.name == word for drive in drives)}
    chosen = [drive for drive in drives if not names or drive.name in names]
    for word in (word.lower() for word in words if word not in names):
        fits = _filter_of(word, drives)
        chosen = [drive for drive in chosen if fits(drive)]
    chosen = [
        drive
        for drive in chosen
        if (least_bytes is None or drive.capacity_bytes >= least_bytes)
        and (most_bytes is None or drive.capacity_bytes <= most_bytes)
    ]
    key = None if sort is None else _sort_key(sort)
    return DriveSelection(
        tuple(chosen if key is None else _ordered(chosen, *SORT_KEYS[key])),
        len(drives),
        tuple(words),
        least_bytes,
        most_bytes,
        key,
    )


def product_of(words: Sequence[str]) -> str | None:
    """Return the product or the file that a single word names, also by its beginning; None if the words are filters."""
    if len(words) != 1:
        return None
    (word,) = words
    names = [drive.name for drive in catalog_drives()]
    if is_file(word) or word in names:
        return word
    begin = [name for name in names if name.startswith(word)]
    return begin[0] if len(begin) == 1 and word.lower() not in filter_words() else None


@cache
def filter_words() -> tuple[str, ...]:
    """Return every word that filters drives: kinds, interfaces, speeds, forms, cells, markets, makers and years."""
    markets = {word for class_ in drive_classes().values() for word in _market_words(class_.market)}
    return tuple(sorted({word for drive in catalog_drives() for word in words_of(drive)} | markets))


def first_of_kind(word: str) -> str | None:
    """Return the first drive that a word selects; None if the word is no filter."""
    return next((drive.name for drive in catalog_drives() if word in words_of(drive)), None)


def words_of(drive: CatalogDrive) -> frozenset[str]:
    """Return the words that select a drive."""
    interface, *details = drive.interface.lower().split()
    words = {*KIND_WORDS[drive.kind], interface, drive.price_class, str(drive.launch_year)}
    words |= {*_market_words(drive.market), drive.title.split()[0].lower(), *_form_words(drive.form_factor)}
    if interface == "nvme":
        generation = details[1].partition(".")[0]
        words |= {"pcie", f"pcie{generation}", f"gen{generation}"}
    if drive.rpm is not None:
        words |= {str(drive.rpm), f"{drive.rpm}rpm", f"{drive.rpm / 1000:g}k", *_speed_class(drive.rpm)}
    if drive.recording is not None:
        words |= set(re.split(r", ", drive.recording.lower()))
    if drive.nand is not None:
        words |= {drive.nand.lower().replace(" ", "-"), *(("optane",) if "xpoint" in drive.nand.lower() else ())}
    if drive.actuators > 1:
        words |= {"dual-actuator", "mach.2"}
    if drive.power_loss_protection:
        words.add("plp")
    return frozenset(words)


def _speed_class(rpm: int) -> tuple[str, ...]:
    """Return the words for a speed: makers sell 10,500 rpm as 10K."""
    return (f"{rpm // 1000}k",) if rpm >= 10_000 else ()


def _form_words(form: str) -> set[str]:
    first, *others = form.lower().split()
    return {first, *(f"{first}{unit}" for unit in ("in", "inch") if others == ["inch"])}


def _market_words(market: str) -> tuple[str, ...]:
    return (market, *MARKET_WORDS.get(market, ()))


def _filter_of(word: str, drives: Iterable[CatalogDrive]) -> Callable[[CatalogDrive], bool]:
    """Return the meaning of a word: a property, or else a part of a name, title or model number."""
    known = filter_words()
    if word in known:
        return lambda drive: word in words_of(drive)

    def has_part(drive: CatalogDrive) -> bool:
        return any(word in text.lower() for text in (drive.name, drive.title, drive.model))

    if any(map(has_part, drives)):
        return has_part
    raise unknown_word(word, [*(drive.name for drive in drives), *known])


def unknown_word(word: str, known: Sequence[str]) -> UserError:
    """Return the error for a word that is neither a product nor a filter, with the nearest ones, or with the file that
    it names without its ending."""
    from hotband.data.catalog.hints import drive_hint

    if (sentence := drive_hint(word, first_of_kind)) is not None:
        return UserError("question.words", "", word, sentence)
    near = difflib.get_close_matches(word, known, n=NEAR, cutoff=0.6)
    quoted = " or ".join(f'"{name}"' for name in near)
    meant = f"did you mean {quoted}? " if near else ""
    return without_ending("question.words", word, word) or UserError(
        "question.words", "", word, f"{meant}expected a drive (hotband drives), or a word such as nvme, sata, hdd, 15k"
    )


def _bound(field: str, text: str | None) -> float | None:
    if text is None:
        return None
    size = size_bytes(text)
    if size is None:
        raise UserError(field, "", text, f"expected {SIZE_EXPECTED}")
    return size


def _sort_key(text: str) -> str:
    key = SORT_ALIASES.get(text, text)
    if key not in SORT_KEYS:
        raise UserError("question.sort", "", text, f"expected one of {', '.join(SORT_KEYS)}")
    return key


def _ordered(drives: Iterable[CatalogDrive], key: str, largest_first: bool) -> list[CatalogDrive]:
    """Return drives in the order of a value, those without it last, equal ones by name."""
    have = [drive for drive in drives if getattr(drive, key) is not None]
    lack = [drive for drive in drives if getattr(drive, key) is None]
    return [*sorted(have, key=lambda drive: getattr(drive, key), reverse=largest_first), *lack]


def bounds_text(selection: DriveSelection) -> str:
    """Describe the bounds of capacity: "of 3 TB and more"."""
    least, most = selection.least_bytes, selection.most_bytes
    if least is not None and most is not None:
        return f"of {size(least)} to {size(most)}"
    if least is not None:
        return f"of {size(least)} and more"
    return "" if most is None else f"of {size(most)} at most"
