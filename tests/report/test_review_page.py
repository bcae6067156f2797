"""Do the pages of a review say what its JSON says?"""

from __future__ import annotations

import copy
import json
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import synthetic_review
from browser import needs_browser, open_page

from forms import LONG
from hotband.base.errors import UserError
from hotband.base.folders import folder_name
from hotband.base.text.numbers import number
from hotband.views.report import review_comparison, review_machine, review_page, review_rows
from hotband.views.report.pictures import Drawing, write_pictures
from hotband.views.report.review_page import write_review
from hotband.views.report.review_topics import key_of

DRAWN = (
    "linear", "access", "access-cumulative", "blocks-read", "streams", "patterns-latency", "streaming", "energy-watts",
)  # fmt: skip
"""Pictures of the first machine that are drawn in the short form: a chart of each kind."""
HOSTILE = "</script><b onmouseover=alert(1)>&\"'{{ 7*7 }}"


class Tables(HTMLParser):
    """The tables of a page by the section they stand in: rows of cells' texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self._section, self._open = "", False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self._section = dict(attrs)["id"] or ""
        if tag == "tr":
            self.found.setdefault(self._section, []).append([])
        if tag in ("td", "th"):
            self.found[self._section][-1].append("")
            self._open = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            self.found[self._section][-1][-1] += data.strip()


@contextmanager
def pictures_of(*folders: str, names: tuple[str, ...] = ()) -> Iterator[None]:
    """In the short form, draw only the pictures of these folders, and of these `names` if any are given, because they
    take most of the time of a review. The others exist by name only."""

    def write(folder: Path, name: str, drawn: Drawing, title: str, subtitle: str) -> Sequence[Path]:
        if LONG or (folder.name in folders and (not names or name in names)):
            return write_pictures(folder, name, drawn, title, subtitle)
        return [folder / f"{name}.svg", folder / f"{name}.png"]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(review_page, "write_pictures", write)
        yield


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], list[Path], str]:
    """Five reviews, the files that were written, and the page."""
    reviews = synthetic_review.five()
    with pictures_of(slugs(reviews)[0], names=DRAWN):
        paths = write_review(reviews, synthetic_review.comparison(reviews), tmp_path_factory.mktemp("five"))
    return reviews, paths, paths[0].read_text(encoding="utf-8")


def slugs(reviews: list[dict[str, Any]]) -> list[str]:
    return [machine.slug for machine in review_rows.machines(reviews)]


def data_of(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page.split('id="page-data">', 1)[1].split("</script>", 1)[0])
    return found


def rows_of(page: str, title: str) -> list[dict[str, list[Any]]]:
    """The frames of the charts of a title, by column."""
    data = data_of(page)
    charts = [chart for chart in data["charts"] if chart["title"] == title]
    assert charts, title
    spread = [
        {
            column["name"]: column.get("values") or [v for v, count in column["repeats"] for _ in range(count)]
            for column in data["frames"][chart["frames"][-1]]["columns"]
        }
        for chart in charts
    ]
    return spread


def shades(png: bytes) -> int:
    """How many different bytes the pixels of a PNG are made of: one or two where nothing is drawn."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    place, packed = 8, b""
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place : place + 8])
        packed += png[place + 8 : place + 8 + length] if kind == b"IDAT" else b""
        place += 12 + length
    return len(set(zlib.decompress(packed)))


def test_every_chart_is_a_picture_in_both_forms(five: tuple[Any, list[Path], str]) -> None:
    reviews, paths, page = five
    pictures = paths[1:]
    assert len(pictures) == 2 * len(data_of(page)["charts"])
    assert len(set(pictures)) == len(pictures)
    assert {path.parent.name for path in pictures} == {"comparison", *slugs(reviews)}
    assert {path.parent.parent for path in pictures} == {paths[0].parent / "charts"}
    drawn = [path for path in pictures if path.exists()]
    assert len(drawn) == len(pictures) if LONG else len(drawn) > 15
    for path in drawn:
        if path.suffix == ".png":
            assert shades(path.read_bytes()) > 20, path
        else:
            assert path.read_text(encoding="utf-8").count("<path") > 10, path


def test_a_picture_says_what_it_is_of_and_where_it_is_from(five: tuple[Any, list[Path], str]) -> None:
    svg = next(path for path in five[1] if path.name == "linear.svg").read_text(encoding="utf-8")
    assert "Linear read and write over the surface" in svg
    assert "Simulated with Hotband 0.1.0, seed 1" in svg


def test_tables_have_the_numbers_of_the_json(five: tuple[Any, list[Path], str]) -> None:
    reviews, _, page = five
    tables = Tables(page).found
    for review, slug in zip(reviews, slugs(reviews), strict=True):
        iops = {(row["pattern"], row["queue_depth"]): number(row["iops"]) for row in review["patterns"]}
        shown = [row for row in tables[f"m-{slug}-patterns"] if row[0].isdecimal()]
        wide, steps = shown[: len(synthetic_review.DEPTHS)], shown[len(synthetic_review.DEPTHS) :]
        for depth, row in zip(synthetic_review.DEPTHS, wide, strict=True):
            assert row == [str(depth), *(iops[pattern, depth] for pattern in synthetic_review.PATTERNS)]
        assert [row[:2] for row in steps] == [[str(depth), value] for (_, depth), value in iops.items()]
        rates = [number(row["bandwidth_bytes_per_s"] / 1e6) for row in review["streams"]]
        assert [row[2] for row in tables[f"m-{slug}-streams"][1:]] == rates
        means = [number(review["linear"]["mean"][op] / 1e6) for op in ("read", "write")]
        assert [row[5] for row in tables[f"m-{slug}-linear"][1:3]] == means
        access = [number(review["access"][op]["p99_ns"] / 1e6) for op in ("read", "write")]
        assert [row[5] for row in tables[f"m-{slug}-access"][1:]] == access
        loads = [number(row["low_bytes_per_s"] / 1e6) for row in review["applications"]]
        assert [row[2] for row in tables[f"m-{slug}-applications"][1:]] == loads


def test_the_comparing_tables_have_a_column_per_machine(five: tuple[Any, list[Path], str]) -> None:
    reviews, _, page = five
    labels = [machine.label for machine in review_rows.machines(reviews)]
    tables = Tables(page).found
    assert tables["comparison-ratios"][0] == ["Group", *labels]
    comparison = synthetic_review.comparison(reviews)
    for row, group in zip(tables["comparison-ratios"][1:], comparison["groups"], strict=False):
        assert row == [group["title"], *(number(value) for value in group["ratios"].values())]
    moved = [number(review["defragmentation"]["extents_per_s"]) for review in reviews]
    assert [row[2] for row in tables["comparison-defragmentation"][1:]] == moved
    wanted = [
        number(row["files_per_s"])
        for review in reviews
        for row in review["files"]
        if (row["size"], row["op"], row["queue_depth"]) == ("large", "copy", 16)
    ]
    assert ["large", "copy", "16", *wanted] in tables["comparison-files"]


def test_charts_draw_the_numbers_of_the_json(five: tuple[Any, list[Path], str]) -> None:
    reviews, _, page = five
    (found,) = rows_of(page, "Database: IOPS against queue depth")
    labels = [machine.label for machine in review_rows.machines(reviews)]
    wanted = [
        (label, row["queue_depth"], row["iops"])
        for label, review in zip(labels, reviews, strict=True)
        for row in review["patterns"]
        if row["pattern"] == "database"
    ]
    drawn = list(zip(found["line"], found["qd"], found["iops"], strict=True))
    assert [one[:2] for one in drawn] == [one[:2] for one in wanted]
    assert [one[2] for one in drawn] == pytest.approx([one[2] for one in wanted], rel=1e-4)
    one = rows_of(page, "Linear read and write over the surface")[0]
    points = [point for op in ("read", "write") for point in reviews[0]["linear"][op]]
    assert one["gb"] == pytest.approx([point["offset_bytes"] / 1e9 for point in points], rel=1e-4)
    assert one["mbps"] == pytest.approx([point["bandwidth_bytes_per_s"] / 1e6 for point in points], rel=1e-4)


def test_a_machine_has_one_colour_in_all_comparing_charts(five: tuple[Any, list[Path], str]) -> None:
    _, _, page = five
    charts = data_of(page)["charts"]
    pairs: dict[str, set[str]] = {}
    for chart in charts:
        for layer in chart["spec"].get("layer", [chart["spec"]]):
            scale = layer["encoding"].get("color", {}).get("scale")
            if scale and "ssd one.toml" in scale["domain"]:
                for name, color in zip(scale["domain"], scale["range"], strict=True):
                    pairs.setdefault(name, set()).add(color)
    assert len(pairs) == 5
    assert all(len(colors) == 1 for colors in pairs.values())
    assert len(set.union(*pairs.values())) == 5


def test_shares_of_the_distribution_add_up() -> None:
    (machine,) = review_rows.machines([synthetic_review.review()])
    for op in ("read", "write"):
        bins = [row for row in review_rows.histogram(machine) if row["op"] == op]
        assert sum(row["share"] for row in bins) == pytest.approx(100)
        shares = [row["share"] for row in review_rows.cumulative(machine) if row["op"] == op]
        assert shares == sorted(shares)
        assert shares[-1] == pytest.approx(100)


def test_equal_titles_and_paths_get_labels_and_folders_of_their_own() -> None:
    named = [("x", "Same"), ("x", "Same"), ("/a/b/My disk.toml", ""), ("c/My disk.toml", ""), ("comparison", "C")]
    reviews = [synthetic_review.review(name, title) for name, title in named]
    found = review_rows.machines([*reviews, synthetic_review.review("../../..", "T" * 90)])
    assert [one.label for one in found][:5] == ["Same (x)", "Same (x) (2)", "My disk.toml (My disk.toml)",
                                                "My disk.toml (My disk.toml) (2)", "C"]  # fmt: skip
    assert [one.slug for one in found] == ["x", "x-2", "My-disk", "My-disk-2", "comparison-2", "machine"]
    assert len(found[-1].label) <= review_rows.LABEL_CHARS


def hostile() -> dict[str, Any]:
    found = synthetic_review.review("hostile", HOSTILE)
    found["machine"]["spec"] = HOSTILE
    found["applications"][0] |= {"title": HOSTILE, "uncertainty": HOSTILE}
    found["summary"][0]["title"] = HOSTILE
    found["notes"] = [HOSTILE]
    return found


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    reviews = [hostile(), synthetic_review.review()]
    with pictures_of("hostile", names=("linear", "applications")):
        paths = write_review(reviews, synthetic_review.comparison(reviews), tmp_path)
    page = paths[0].read_text(encoding="utf-8")
    assert "<b onmouseover" not in page
    assert "&lt;b onmouseover" in page
    assert all(path.resolve().is_relative_to(tmp_path.resolve()) for path in paths)


PARTS = (
    "linear", "access", "block_sizes", "streams", "patterns", "files", "streaming", "defragmentation", "applications",
    "energy",
)  # fmt: skip


def without(*parts: str) -> dict[str, Any]:
    found = copy.deepcopy(synthetic_review.review("small", "Small disk"))
    found |= dict.fromkeys(parts)
    found["notes"] = [f"{part.replace('_', '-')}: left out, the machine is too small" for part in parts]
    return found


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_null_leaves_a_line_with_the_reason(part: str) -> None:
    (machine,) = review_rows.machines([without(part)])
    (topic,) = [one for one in review_machine.topics(machine) if one.notes]
    assert (topic.figures, topic.tables) == ((), ())
    assert topic.notes[0].startswith("Small disk: no figures of ")
    assert topic.notes[0].endswith(": left out, the machine is too small.")


def test_a_machine_that_cannot_do_it_stands_beside_one_that_can() -> None:
    reviews = [synthetic_review.review(), without(*PARTS)]
    everyone = review_rows.machines(reviews)
    compared = {"groups": [{"group": "g", "title": "G", "ratios": {"disk-10k": 1.0, "small": None}}],
                "overall": {"disk-10k": 1.0, "small": None}, "baseline": "disk-10k"}  # fmt: skip
    topics = {one.id: one for one in review_comparison.topics(everyone, compared)}
    for name in ("linear", "access", "blocks", "streams", "patterns", "files", "streaming", "applications", "energy"):
        assert topics[name].figures, name
        assert any(note.startswith("Small disk: no figures of ") for note in topics[name].notes), name
    assert topics["absent"].notes == ["There are no groups that all machines have numbers of."]


def test_a_range_without_width_is_none() -> None:
    certain = synthetic_review.review()
    for row in certain["applications"]:
        row |= {"low_bytes_per_s": row["bandwidth_bytes_per_s"], "high_bytes_per_s": row["bandwidth_bytes_per_s"]}
    for found, marks in (
        (certain, ["bar", "text"]),
        (synthetic_review.review(), ["bar", "rule", "tick", "tick", "text"]),
    ):
        (machine,) = review_rows.machines([found])
        spec = review_machine.applications(machine).figures[0].view.to_dict()
        assert [layer["mark"]["type"] for layer in spec["layer"]] == marks


def test_only_null_parts_make_a_page_without_charts(tmp_path: Path) -> None:
    nothing = without(*PARTS) | {"summary": [], "overall": None}
    (page,) = write_review([nothing], None, tmp_path)
    assert page.read_text(encoding="utf-8").count("no figures of") == len(PARTS) + 1


RATES = {
    "iops", "bandwidth_bytes_per_s", "slowest_bytes_per_s", "files_per_s", "extents_per_s", "low_bytes_per_s",
    "high_bytes_per_s", "latency_mean_ns", "latency_p99_ns", "mean_ns",
}  # fmt: skip


def without_rates(value: Any) -> Any:
    if isinstance(value, list):
        return [without_rates(one) for one in value]
    if isinstance(value, dict):
        return {key: None if key in RATES else without_rates(one) for key, one in value.items()}
    return value


def test_a_review_without_rates_leaves_gaps_in_charts_and_tables(tmp_path: Path) -> None:
    still = without_rates(synthetic_review.review("still", "Still disk")) | {"summary": [], "overall": None}
    still["linear"]["mean"] = {"read": None, "write": None}
    reviews = [synthetic_review.review(), still]
    with pictures_of("still", names=("streams", "patterns-iops", "defragmentation")):
        pictures = write_review(reviews, synthetic_review.comparison(reviews[:1]), tmp_path)
    assert {"streams.svg", "patterns-iops.svg", "defragmentation.svg"} <= {one.name for one in pictures}
    (machine,) = review_rows.machines([still])
    assert review_machine.lead(machine) == ""
    [table] = review_machine.defragmentation(machine).tables
    assert [cell.text for cell in table.groups[0].rows[0]] == ["64 KiB", "–", "–", "–"]


@pytest.mark.parametrize(
    ("ratios", "words"),
    [
        ({"a": 1.0, "b": 1.125}, "B leads in every group: servers (12 % more)."),
        ({"a": 1.0, "b": 0.4}, "A leads in every group: servers (2.5 times as much)."),
        ({"a": 1.0, "b": 1.01}, "none leads in servers."),
        ({"a": 1.0, "b": 1.3, "c": 1.0}, "B leads in every group: servers (30 % over the next)."),
        ({"a": 1.0, "b": None, "c": 3.0}, "C leads in every group: servers (3 times the next)."),
        ({"a": 1.0, "b": None}, ""),
    ],
)
def test_the_finding(ratios: dict[str, float | None], words: str) -> None:
    everyone = review_rows.machines([synthetic_review.review(name, name.upper()) for name in ratios])
    compared = {"groups": [{"group": "s", "title": "Servers", "ratios": ratios}], "overall": {}, "baseline": "a"}
    assert review_comparison.finding(everyone, compared).replace("\N{NO-BREAK SPACE}", " ") == words


def found_of(*groups: tuple[str, float, float]) -> str:
    everyone = review_rows.machines([synthetic_review.review(name, name.upper()) for name in ("a", "b")])
    listed = [{"group": title, "title": title, "ratios": {"a": a, "b": b}} for title, a, b in groups]
    return review_comparison.finding(
        everyone, {"groups": listed, "overall": {"a": 1.0, "b": 1.2}, "baseline": "a"}
    ).replace("\N{NO-BREAK SPACE}", " ")


def test_the_finding_of_a_split_field() -> None:
    found = found_of(("Streams", 1, 1.5), ("Access", 1, 0.8), ("Files", 1, 1.0), ("Servers", 1, 3.0))
    assert found == (
        "B leads in streams (50 % more) and servers (3 times as much); A leads in access (25 % more); "
        "none leads in files. Over all groups B reaches 1.2 times A."
    )


def test_the_finding_of_one_that_leads_everywhere_has_its_smallest_and_its_largest_lead() -> None:
    found = found_of(("Streams", 1, 1.5), ("Access", 1, 1.8), ("Servers", 1, 3.0))
    assert found.startswith("B leads in every group, from 50 % more in streams to 3 times as much in servers.")


def test_speeds_far_apart_are_dots_on_a_log_axis_and_close_ones_bars_from_zero(
    five: tuple[Any, list[Path], str],
) -> None:
    specs = {chart["title"]: chart["spec"] for chart in data_of(five[2])["charts"]}
    apart = specs["Extents relocated per second"]["layer"][0]
    assert (apart["mark"]["type"], apart["encoding"]["x"]["scale"]["type"]) == ("point", "log")
    close = specs["Concurrent sequential readers or writers"]["layer"][0]
    assert (close["mark"]["type"], close["encoding"]["x"]["scale"]["domain"][0]) == ("bar", 0)


def test_more_machines_than_colours_are_dashed_in_charts_and_in_their_key() -> None:
    reviews = [synthetic_review.review(f"m{n}", f"Machine {n}", rate=6e7 + n * 9e6) for n in range(9)]
    everyone = review_rows.machines(reviews)
    lines = review_comparison.machine_lines(everyone)
    topic = review_comparison.linear(everyone, lines)
    dash = topic.figures[0].view.to_dict()["layer"][0]["encoding"]["strokeDash"]["scale"]
    looks = set(zip(lines.colors.values(), map(tuple, dash["range"]), strict=True))
    assert dash["domain"] == lines.names
    assert len(looks) == 9
    assert [item.text for item in key_of(lines)][-2:] == ["Machine 7", "Machine 8 (dashed)"]


def test_specs_are_what_vega_lite_accepts() -> None:
    reviews = synthetic_review.five()
    everyone = review_rows.machines(reviews)
    topics = review_comparison.topics(everyone, synthetic_review.comparison(reviews))
    for topic in [*topics, *review_machine.topics(everyone[0])]:
        for drawn in topic.figures:
            drawn.view.to_dict(validate=True)


def test_a_folder_that_cannot_be_written_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        write_review([synthetic_review.review()], None, tmp_path / "file" / "out")


def test_nothing_to_review() -> None:
    with pytest.raises(UserError, match="one review or more"):
        write_review([], None, Path("out"))


@pytest.mark.long
@needs_browser
def test_the_page_of_five_machines_in_a_browser(five: tuple[Any, list[Path], str], tmp_path: Path) -> None:
    _, paths, page = five
    opened = open_page(paths[0], tmp_path)
    opened.check(charts=len(data_of(page)["charts"]))
    assert not re.search(r"NaN|undefined|Infinity", "".join(re.findall(r"<text[^>]*>([^<]*)</text>", opened.document)))


@needs_browser
def test_the_page_of_one_machine_with_a_hostile_name_in_a_browser(tmp_path: Path) -> None:
    with pictures_of():
        paths = write_review([hostile()], None, tmp_path / "out")
    open_page(paths[0], tmp_path).check()


def test_energy_has_the_ends_of_its_ranges(five: tuple[Any, list[Path], str]) -> None:
    reviews, _, page = five
    tables = Tables(page).found
    for review, slug in zip(reviews, slugs(reviews), strict=True):
        energy = review["energy"]
        rows = tables[f"m-{slug}-energy"][2:]
        keys = ("patterns_w", "patterns_low_w", "patterns_high_w")
        assert [row[1:4] for row in rows] == [[number(energy[key][name]) for key in keys] for name in energy[keys[0]]]
        keys = ("joules_per_io", "joules_per_io_low", "joules_per_io_high")
        shown = [[number(1e3 * energy[key][name]) for key in keys] for name in energy[keys[0]]]
        assert [row[4:7] for row in rows] == shown


def test_charts_are_in_a_folder_of_the_reviews_name() -> None:
    names = ["raid0:2xsavvio-10k1:256KiB", "savvio-10k1"]
    found = review_rows.machines([synthetic_review.review(name, name) for name in names])
    assert [one.slug for one in found] == [folder_name(name) for name in names]
    assert found[0].slug == "raid0-2xsavvio-10k1-256KiB"


def test_writes_over_reads_are_dashed() -> None:
    [machine] = review_rows.machines([synthetic_review.review("x", "X")])
    [drawn] = review_machine.linear(machine).figures
    line = drawn.view.to_dict()["layer"][0]["encoding"]["strokeDash"]["scale"]
    dashes = dict(zip(line["domain"], line["range"], strict=True))
    assert dashes["read"] == [1, 0]
    assert dashes["write"] != [1, 0]
