"""Is the script of all charts bundled once, and again where what was kept of it is damaged or cannot be kept?"""

from __future__ import annotations

from pathlib import Path

import pytest

from hotband.views.report import page

SCRIPT = "bundled(</script);"


@pytest.fixture
def bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls that bundle, into a cache of their own."""
    calls: list[str] = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(page.vl_convert, "javascript_bundle", lambda text: calls.append(text) or SCRIPT)
    return calls


def once() -> str:
    """The script, as a process of its own would have it."""
    page.library.cache_clear()
    try:
        return page.library()
    finally:
        page.library.cache_clear()


def test_it_is_bundled_once(bundled: list[str], tmp_path: Path) -> None:
    first = once()
    assert once() == first == "(() => {bundled(<\\/script);\n})();"
    assert len(bundled) == 1
    assert len(list((tmp_path / "cache/hotband").iterdir())) == 1


@pytest.mark.parametrize("damage", [b"", b"\xff", b"0123\nother();"])
def test_what_is_damaged_is_bundled_again(damage: bytes, bundled: list[str], tmp_path: Path) -> None:
    first = once()
    (file,) = (tmp_path / "cache/hotband").iterdir()
    kept = file.read_bytes()
    file.write_bytes(damage)
    assert once() == first
    assert len(bundled) == 2
    assert file.read_bytes() == kept


@pytest.mark.parametrize("place", ["file/cache", "~/cache"])
def test_without_a_cache_it_is_bundled_each_time(
    place: str, bundled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", place if place.startswith("~") else str(tmp_path / place))
    assert once() == once()
    assert len(bundled) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
