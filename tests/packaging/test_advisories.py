"""Does the check of advisories find those that apply to what is locked, and no other?"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import advisories  # noqa: E402


def advisory(name: str, events: list[dict[str, str]], ecosystem: str = "crates.io", **more: Any) -> dict[str, Any]:
    """As osv.dev has one."""
    of = {"package": {"ecosystem": ecosystem, "name": name}, "ranges": [{"type": "SEMVER", "events": events}]}
    return {"id": "RUSTSEC-2030-0001", "summary": "made up", "affected": [of | more.pop("of", {})], **more}


ALL: list[dict[str, str]] = [{"introduced": "0"}]


@pytest.mark.parametrize(
    ("events", "applies"),
    [
        (ALL, True),
        ([{"introduced": "0"}, {"fixed": "1.2.3"}], False),
        ([{"introduced": "0"}, {"fixed": "1.2.4"}], True),
        ([{"introduced": "1.2.4"}], False),
        ([{"introduced": "1.2.3"}, {"fixed": "1.3.0"}], True),
        ([{"introduced": "0"}, {"last_affected": "1.2.3"}], True),
        ([{"introduced": "0"}, {"last_affected": "1.2.2"}], False),
        ([{"fixed": "1.1.0"}, {"introduced": "0"}, {"introduced": "1.2.0"}, {"fixed": "1.2.9"}], True),
        ([{"introduced": "not-a-version"}], True),
    ],
)
def test_a_version_between_introduced_and_fixed(events: list[dict[str, str]], applies: bool) -> None:
    found = list(advisories.of_advisory(advisory("a_b", events), {("crates.io", "a-b"): ["1.2.3"]}))
    assert [(one.package, one.version) for one in found] == ([("a-b", "1.2.3")] if applies else [])


def test_a_list_of_versions_a_withdrawal_and_another_ecosystem() -> None:
    have = {("PyPI", "a"): ["1.2.3"]}
    listed = advisory("A", [], "PyPI", of={"versions": ["1.2.3"]})
    assert len(list(advisories.of_advisory(listed, have))) == 1
    assert not list(advisories.of_advisory(listed | {"withdrawn": "2030-01-01T00:00:00Z"}, have))
    assert not list(advisories.of_advisory(advisory("a", ALL, "npm"), have))


def test_the_command_names_what_applies_to_what_is_locked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mended = [{"introduced": "0"}, {"fixed": "0.0.1"}]
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/a.json").write_text(json.dumps(advisory("serde", mended)))
    assert advisories.main([str(tmp_path / "folder")]) == 0
    unmaintained = advisory("serde", ALL, of={"database_specific": {"informational": "unmaintained"}})
    (tmp_path / "folder/b.json").write_text(json.dumps(unmaintained))
    assert advisories.main([str(tmp_path / "folder")]) == 0
    assert "serde" in (said := capsys.readouterr().out)
    assert "0 apply, 1 more inform" in said
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as packed:
        packed.writestr("c.json", json.dumps(advisory("Polars", ALL, "PyPI")))
    assert advisories.main([str(tmp_path / "all.zip")]) == 1
    assert "polars" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"id": "x", "affected": 3}', '{"id": "x", "affected": [3]}', '{"affected": []}']
)
def test_what_is_no_advisory_is_told_in_one_line(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    assert advisories.main([str(file)]) == 2
    assert advisories.main([str(tmp_path / "missing")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert "x.json" in said[0]
    assert "missing" in said[1]
