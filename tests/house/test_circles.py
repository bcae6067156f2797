"""Does every crate keep its files out of large circles?"""

from pathlib import Path

import pytest
from circles import circles, graph

CRATES = Path(__file__).parents[2] / "crates"
MOST = 3
"""Files of a circle: two or three that are one idea may know one another; more cannot be read one by one."""


@pytest.mark.parametrize("crate", sorted(folder.name for folder in CRATES.iterdir() if (folder / "src").is_dir()))
def test_no_circle_of_more_than_three_files(crate: str) -> None:
    source = CRATES / crate / "src"
    large = [
        ", ".join(str(file.relative_to(source)) for file in circle)
        for circle in circles(graph(source))
        if len(circle) > MOST
    ]
    assert not large, f"{crate}: these files use one another in circles: {large}"


def test_a_circle_is_found_through_every_way_of_naming_a_file(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a; mod b; mod room; pub use a::A;",
        "a.rs": "use crate::{b::B, room::C};",
        "b.rs": "use std::fmt;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}",
        "room/mod.rs": "mod inner;\nuse inner::D;",
        "room/inner.rs": "// use crate::b::B;\nfn f() { super::super::a::A::new() }\nuse super::super::a::A;",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = circles(graph(tmp_path))
    assert [[file.relative_to(tmp_path).as_posix() for file in circle] for circle in found] == [
        ["a.rs", "room/inner.rs", "room/mod.rs"]
    ]
