"""Does the writer of files replace them whole, or leave them as they were?"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

import hotband
from hotband.base.errors import UserError
from hotband.base.text.write import expect_page, make_folder, replacing, temporary, write_file, write_files


def test_text_and_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    write_file(tmp_path / "a", "ä\n")
    write_file(tmp_path / "b", b"\xff\n")
    assert ((tmp_path / "a").read_bytes(), (tmp_path / "b").read_bytes()) == ("ä\n".encode(), b"\xff\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_the_old_file_stays_where_the_writing_is_interrupted(tmp_path: Path) -> None:
    out = tmp_path / "a"
    out.write_text("old")

    def interrupted() -> None:
        with replacing(out) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_files_that_belong_together_are_all_old_where_one_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(UserError, match="a/b: cannot be written: Not a directory"):
        write_files({tmp_path / "a": "new", tmp_path / "a/b": "new"})
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)
    (tmp_path / "link").symlink_to("a")
    write_file(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "a", "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_pipe_is_written_and_not_replaced(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    write_file(Path(f"/proc/self/fd/{writer}"), "text")
    os.close(writer)
    with os.fdopen(reader) as file:
        assert file.read() == "text"


def test_the_folder_of_a_file_is_made(tmp_path: Path) -> None:
    write_file(tmp_path / "deep/er/a", "text")
    with replacing(tmp_path / "other/b") as file:
        file.write(b"text")
    assert [(tmp_path / name).read_text() for name in ("deep/er/a", "other/b")] == ["text", "text"]


def test_a_page_in_a_folder_that_cannot_be_made_is_refused_first(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    expect_page("--output", tmp_path / "deep/er/page.html")
    with pytest.raises(UserError, match="file is not a folder; expected a file in a folder"):
        expect_page("--output", tmp_path / "file/deep/page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["", "file/a/b", "a\0b", "file/a", "x" * 300])
def test_a_wrong_path_is_the_users_mistake(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        write_file(tmp_path / name, "")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_long_name_leaves_room_for_the_temporary_one(tmp_path: Path) -> None:
    with temporary(tmp_path / ("ä" * 127)) as part:
        assert part.is_file()
    write_file(tmp_path / ("ä" * 127), "text")
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_in_the_place_of_a_file_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="file/folder: cannot be written"):
        make_folder(tmp_path / "file/folder")


def test_nothing_else_writes_files() -> None:
    other = re.compile(
        r"\.write_text\(|\.write_bytes\(|open\([^)]*[\"'][wax]b?[\"']|\.write_parquet\((?!buffer)|\.to_file\("
    )
    folder = Path(hotband.__file__).parent
    found = [
        f"{path.relative_to(folder)}: {match[0]}"
        for path in folder.rglob("*.py")
        if path.relative_to(folder) != Path("base/text/write.py")
        # Programs work on files of their own, on the drive that is measured: those are no results, and not flushed one
        # by one.
        and path.parent.name != "programs"
        for match in other.finditer(path.read_text())
    ]
    assert found == []
