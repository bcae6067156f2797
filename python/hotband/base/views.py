"""Registry of the views of results: floors above register them by the name of the result; each is loaded on first use.

    register("hotband.questions.advise.advice:Advice", page="hotband.views.report.advise_page:advise_page")
    view_of(advice, "page")(advice)

A result can thus be shown without importing its views. Documents without a separate type are named by their schema
(`hotband-review`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from hotband.base.heavy import alt

View: TypeAlias = "alt.Chart | alt.LayerChart | alt.FacetChart"


class ReportChart(Protocol):
    """A chart of a report: its title and caption, and `view`, a chart of altair or Vega-Lite (`view.to_dict()`)."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def caption(self) -> str: ...

    @property
    def view(self) -> Any: ...

    def save(self, path: str | Path) -> Path:
        """Write the chart as .svg or .png, by the file's suffix. Raises UserError for another suffix, OSError."""


class Report(Protocol):
    """A page of a result: `save` writes it, `charts` has each of its charts by name."""

    @property
    def title(self) -> str:
        """Return the heading."""

    @property
    def charts(self) -> Mapping[str, ReportChart]:
        """Return every chart by a name derived from its title, in the order of the page."""

    def save(self, path: str | Path) -> Path:
        """Write the page, one HTML file without external resources. Raises UserError, OSError."""

    def save_charts(self, folder: str | Path, form: str = "svg") -> list[Path]:
        """Write every chart into the folder, which is created if necessary, as NAME.svg or NAME.png. Raises UserError,
        OSError."""


_SOURCES: list[str] = []
_VIEWS: dict[tuple[str, str], str] = {}


def registered_in(module: str) -> None:
    """Name a module that registers views; it is imported when the first result is shown."""
    if module not in _SOURCES:
        _SOURCES.append(module)


def register(result: str, **forms: str) -> None:
    """Register the views of a result ("module:Class", or the schema of a document): one function ("module:function")
    per form."""
    _VIEWS.update({(result, form): function for form, function in forms.items()})


def registered() -> Mapping[tuple[str, str], str]:
    """Return the functions by result and form."""
    for module in _SOURCES:
        import_module(module)
    return _VIEWS


def view_of(result: object, form: str) -> Callable[..., Any]:
    """Return the view of a result, or of a schema's document, in a form. Raises KeyError if none is registered."""
    known = registered()
    kinds = [f"{kind.__module__}:{kind.__qualname__}" for kind in type(result).__mro__]
    name = (
        result
        if isinstance(result, str)
        else next((class_name for class_name in kinds if (class_name, form) in known), kinds[0])
    )
    module, _, function = known[name, form].partition(":")
    view: Callable[..., Any] = getattr(import_module(module), function)
    return view


def self_contained(chart: View) -> View:
    """Return a chart whose `.save("chart.html")` includes its libraries in the file; altair would load them from the
    network."""
    # altair treats attributes set on a chart as parts of its specification.
    kind: Any = type(chart)
    object.__setattr__(chart, "__class__", _self_contained(kind))
    return chart


@cache
def _self_contained(kind: Any) -> Any:
    def save(self: Any, fp: Any, format: str | None = None, **options: Any) -> None:
        is_html = (format or Path(str(fp)).suffix.removeprefix(".")) == "html"
        kind.save(self, fp, format, **({"inline": True} if is_html else {}) | options)

    return type(kind.__name__, (kind,), {"save": save, "__doc__": kind.__doc__})
