"""Does the code speak as VOICE.md asks? What is left to change may only become less (`voice.csv`)."""

import ast

import voice


def test_vague_names_fragments_and_patterns_become_fewer() -> None:
    """Give the thing its name, or run `python tests/house/voice.py` after there are fewer."""
    recorded, counted = voice.recorded(), voice.counted()
    assert {key: number for key, number in counted.items() if number > recorded.get(key, 0)} == {}
    assert {key: number for key, number in recorded.items() if number > counted.get(key, 0)} == {}, "run voice.py"


def test_the_lint_finds_what_it_looks_for() -> None:
    code = list(ast.walk(ast.parse('def f(one):\n    """That of the seed."""\n    for found in one:\n        pass\n')))
    assert [name for name in voice.names(code) if name in voice.VAGUE] == ["one", "found"]
    assert [bool(voice.FRAGMENTS.match(line)) for line in voice.first_lines(code)] == [True]
    assert voice.PATTERNS.findall("100 where not said; written over first") == ["where not said", "written over first"]
    assert [name for name in voice.rust_names("let one = 1; for of in x {} |kept| 2") if name in voice.VAGUE] == [
        "one",
        "of",
        "kept",
    ]
