"""Properties that show a value of their object's JSON document."""

from __future__ import annotations

import copy
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class Shown(property, Generic[T]):
    """A property that shows a value of the `_document` (or `document`) of its object: under its own name, or at a path
    of keys, `low = Shown[float]("The lower end.", "interval", "low")`. It is a copy, or None without a value."""

    def __init__(self, says: str, *path: str) -> None:
        super().__init__(self._read)
        self.__doc__ = says
        self.path = path

    def __set_name__(self, owner: type, name: str) -> None:
        self.path = self.path or (name,)

    def _read(self, holder: Any) -> Any:
        value = holder._document if hasattr(holder, "_document") else holder.document
        for key in self.path:
            value = None if value is None else value.get(key)
        return copy.deepcopy(value)

    @overload
    def __get__(self, holder: None, owner: type, /) -> Shown[T]: ...
    @overload
    def __get__(self, holder: Any, owner: type | None = None, /) -> T: ...
    def __get__(self, holder: Any, owner: type | None = None, /) -> Any:
        return super().__get__(holder, owner)
