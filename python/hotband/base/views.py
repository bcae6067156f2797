"""Views of results: what shows them is registered above, by the name of the result, and loaded when one is shown.

    register("hotband.questions.advise.advice:Advice", page="hotband.views.report.advise_page:advise_page")
    view_of(advice, "page")(advice)

So a result can be shown, and imports nothing that shows it. Documents that are no type of their own are named by their
schema (`hotband-review`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import altair as alt

    View: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart


class ReportChart(Protocol):
    """A chart of a report: its title and caption, and `view`, what altair or Vega-Lite draws (`view.to_dict()`)."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def caption(self) -> str: ...

    @property
    def view(self) -> Any: ...

    def save(self, path: str | Path) -> Path:
        """Writes it as .svg or .png, by the name of the file. Raises UserError for another, OSError."""


class Report(Protocol):
    """A page of a result: `save` writes it, `charts` has every chart by its name."""

    @property
    def title(self) -> str:
        """Its heading."""

    @property
    def charts(self) -> Mapping[str, ReportChart]:
        """Every chart by a name made of its title, in the order of the page."""

    def save(self, path: str | Path) -> Path:
        """Writes the page, one HTML file that loads nothing from anywhere. Raises UserError, OSError."""

    def save_charts(self, folder: str | Path, form: str = "svg") -> list[Path]:
        """Writes every chart into the folder, which is made, as NAME.svg or NAME.png. Raises UserError, OSError."""


_SOURCES: list[str] = []
_VIEWS: dict[tuple[str, str], str] = {}


def registered_in(module: str) -> None:
    """Names a module that registers views: it is imported when the first result is shown."""
    if module not in _SOURCES:
        _SOURCES.append(module)


def register(result: str, **forms: str) -> None:
    """Says what shows a result ("module:Class", or the schema of a document): a function ("module:function") a form."""
    _VIEWS.update({(result, form): function for form, function in forms.items()})


def registered() -> Mapping[tuple[str, str], str]:
    """The functions by result and form."""
    for module in _SOURCES:
        import_module(module)
    return _VIEWS


def view_of(result: object, form: str) -> Callable[..., Any]:
    """What shows a result, or the document of a schema, in a form. KeyError where nothing is registered."""
    known = registered()
    kinds = [f"{kind.__module__}:{kind.__qualname__}" for kind in type(result).__mro__]
    name = result if isinstance(result, str) else next((one for one in kinds if (one, form) in known), kinds[0])
    module, _, function = known[name, form].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
