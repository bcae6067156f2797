"""Are the figures of the guide to examples those that the commands beside them print?"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from forms import thinned

ROOT = Path(__file__).parents[2]
# Those that take a second or two; the warming of flash is tested in crates/engine/tests/integration/fidelity.rs.
QUICK = ("--power-loss", "run oltp", "run boot-storm")


def quick_lines() -> list[tuple[str, str]]:
    """Commands of the guide with what their comment says they print."""
    text = (ROOT / "docs" / "guides" / "examples.md").read_text(encoding="utf-8")
    section = text[text.index("## Caches, users and power") :]
    found = re.findall(r"^(hotband run [^#\n]*?) +# (.*)$", section[: section.index("\n## Reviews")], re.MULTILINE)
    return [(call, said) for call, said in found if any(word in call for word in QUICK)]


def figures(record: dict[str, Any]) -> dict[str, float]:
    """What a comment may say of a record, by the words around the number."""
    scripts = record.get("scripts", [])
    return {
        r"([\d,]+) writes/s": record["summary"]["write"]["iops"],
        r"([\d,]+) KiB lost": record.get("power_loss", {}).get("lost_bytes", 0) / 1024,
        r"([\d,]+) transactions/s": scripts[0]["per_second"] if scripts else 0.0,
        r"up after ([\d,]+) s": scripts[0]["last_end_ns"] / 1e9 if scripts else 0.0,
    }


def test_there_are_such_commands() -> None:
    assert len(quick_lines()) >= 6


@pytest.mark.parametrize(("call", "said"), thinned(2, quick_lines()))
def test_a_command_prints_what_the_guide_says(hotband, call: str, said: str) -> None:
    arguments = [str(ROOT / part) if part.startswith("docs/") else part for part in shlex.split(call)[1:]]
    done = hotband(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    numbers = [(re.search(words, said), value) for words, value in figures(record).items()]
    stated = [(float(match[1].replace(",", "")), value) for match, value in numbers if match]
    assert stated, f"no figure in {said!r}"
    for number, value in stated:
        assert number == pytest.approx(value, abs=0.5 + 1e-9)
    if "nothing lost" in said:
        assert record["power_loss"]["lost_bytes"] == 0
