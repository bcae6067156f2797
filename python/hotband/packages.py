"""Packages that can be called: `hotband.study("content-hdd")` is the function `study` of `hotband.api`.

Python binds a package's name in its parent when one of its modules is imported, which would hide a function of the same
name; a package that can be called is the same under both.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


def make_callable(package: str, module: str, function: str) -> None:
    """Calling `package` calls the function of a module, which is imported then."""

    class Callable(ModuleType):
        """A package that can be called."""

        def __call__(self, *arguments: Any, **options: Any) -> Any:
            return getattr(import_module(module), function)(*arguments, **options)

    sys.modules[package].__class__ = Callable
