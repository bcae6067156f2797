"""Is every dependency in the bill of materials, with a licence that may be shipped?"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import sbom  # noqa: E402


def test_every_python_pin_is_listed_with_an_accepted_licence() -> None:
    pins = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if re.match(r"[\w.-]+.*==", line)]
    found = sbom.python_packages(("requirements.lock",))
    assert len(found) == len(pins) > 20
    assert all(one["licenses"][0]["expression"] and "==" not in one["version"] for one in found)


def test_every_rust_package_has_its_checksum_and_an_accepted_licence() -> None:
    if not (ROOT / "Cargo.lock").is_file():
        pytest.skip("no Cargo.lock: make writes it")
    found = sbom.rust_packages()
    checksums = set(re.findall(r'checksum = "(\w+)"', (ROOT / "rust.lock").read_text()))
    assert len(found) > 100
    assert {one["hashes"][0]["content"] for one in found} <= checksums


@pytest.mark.parametrize(
    ("licence", "accepted"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("", False),
    ],
)
def test_what_is_accepted(licence: str, accepted: bool) -> None:
    assert sbom.is_accepted(licence) is accepted


def test_a_licence_that_is_not_accepted_is_named() -> None:
    with pytest.raises(sbom.Unknown, match=r"frob 1\.0: licence 'AGPL-3.0'"):
        sbom.component("cargo", "frob", "1.0", "AGPL-3.0")
