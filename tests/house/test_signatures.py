"""No public function takes or gives a dict of `Any`: a signature says which keys are there."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from source import nodes, parsed

PACKAGE = Path(__file__).parents[2] / "python" / "hotband"
MAPPINGS = {"dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict"}


def name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def loose(annotation: ast.expr, aliases: set[str]) -> bool:
    """Whether a mapping with `Any` in it is in an annotation, by itself or by the name of an alias."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                if loose(ast.parse(node.value, mode="eval").body, aliases):
                    return True
            except (SyntaxError, ValueError):
                continue
        is_mapping = isinstance(node, ast.Subscript) and name_of(node.value) in MAPPINGS
        if is_mapping and any(name_of(one) == "Any" for one in ast.walk(node) if isinstance(one, ast.expr)):
            return True
        if isinstance(node, ast.Name) and node.id in aliases:
            return True
    return False


def aliases_of(tree: ast.Module) -> set[str]:
    """Names that the file gives to a mapping with `Any` in it: `Row = dict[str, Any]`, `Row: TypeAlias = ...`."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and loose(node.value, found):
            found.add(node.targets[0].id)
        is_alias = isinstance(node, ast.AnnAssign) and name_of(node.annotation) == "TypeAlias"
        if is_alias and node.value is not None and loose(node.value, found):
            found.add(name_of(node.target))
    return found


def functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Public functions of a file and public methods of its public classes."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from functions(node.body)
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function and (not node.name.startswith("_") or node.name == "__init__"):
            yield node


def annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    of = function.args
    for one in (*of.posonlyargs, *of.args, *of.kwonlyargs, of.vararg, of.kwarg):
        if one is not None and one.annotation is not None:
            yield one.annotation
    if function.returns is not None:
        yield function.returns


def imported(code: Iterable[ast.AST], known: dict[str, set[str]]) -> set[str]:
    """Return the aliases that a file takes from others; `known` has those of each module."""
    taken = [node for node in code if isinstance(node, ast.ImportFrom) and node.module in known]
    return {one.asname or one.name for node in taken for one in node.names if one.name in known[str(node.module)]}


def module_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def loose_functions(tree: ast.Module, taken: set[str] | None = None) -> list[str]:
    """Return the names of a file's public functions whose signature has a mapping of `Any`; `taken` are its aliases
    from other files."""
    aliases = aliases_of(tree) | (taken or set())
    return [one.name for one in functions(tree.body) if any(loose(part, aliases) for part in annotations(one))]


def test_public_signatures_say_which_keys_are_there() -> None:
    files = sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")])
    known = {module_of(file): aliases_of(parsed(file)) for file in files}
    found = {}
    for file in files:
        names = loose_functions(parsed(file), imported(nodes(file), known))
        if names:
            found[str(file.relative_to(PACKAGE))] = names
    assert not found, f"these take or give a mapping of Any: {found}"


@pytest.mark.parametrize(
    "text",
    [
        "def f(a: dict[str, Any]) -> None: ...",
        "def f() -> list[Mapping[str, Any]]: ...",
        "def f(a: 'dict[str, list[Any]]') -> None: ...",
        "Row = dict[str, Any]\ndef f(*rows: Row) -> None: ...",
        "Row: TypeAlias = 'dict[str, Any]'\ndef f(a: int, **rows: Row) -> None: ...",
        "class C:\n    def f(self, a: typing.Mapping[str, typing.Any]) -> None: ...",
    ],
)
def test_a_mapping_of_any_is_found(text: str) -> None:
    assert loose_functions(ast.parse(text)) == ["f"]


@pytest.mark.parametrize(
    "text",
    [
        "def f(a: dict[str, int], b: Any) -> list[Any]: ...",
        "def _f(a: dict[str, Any]) -> None: ...",
        "def f(a: Callable[[dict[str, str]], Any]) -> None: ...",
    ],
)
def test_what_is_no_mapping_of_any_is_left(text: str) -> None:
    assert loose_functions(ast.parse(text)) == []
