"""Errors for records with missing or mistyped values: one line, never a traceback.

Many pages and rules read records, and each key only when they need it. Loading a file checks some keys and reports them
with their values; other defects of an edited or broken record are reported here. The original error remains the cause
(`__cause__`), for callers in Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hotband.base.errors import UserError, characters
from hotband.base.foreign import shortened

# Errors raised by reading a value that is missing, of another type or out of all bounds.
_INCOMPLETE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, AssertionError)
# Most files that the message names.
_MOST_NAMED = 3


@contextmanager
def refusing_incomplete(paths: Sequence[Path]) -> Iterator[None]:
    """Convert errors of reading the values of these files to a UserError that names them."""
    try:
        yield
    except UnicodeEncodeError as error:
        # A name that is not text is not a fault of the file's content.
        for path in paths:
            characters("arguments", str(path))
        raise _refusal(paths, error) from error
    except _INCOMPLETE as error:
        raise _refusal(paths, error) from error
    except Exception as error:
        # polars and pyarrow have their own errors, whose only common base is Exception.
        if type(error).__module__.partition(".")[0] in ("polars", "pyarrow"):
            raise _refusal(paths, error) from error
        raise


def _refusal(paths: Sequence[Path], error: Exception) -> UserError:
    names = ", ".join(str(path) for path in paths[:_MOST_NAMED])
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    what = "is not a complete record" if len(paths) == 1 else "one of them is not a complete record"
    if isinstance(error, KeyError):
        why = f"{error} is missing or has the wrong type"
    else:
        why = f"a value is missing or has the wrong type ({type(error).__name__}: {shortened(error)})"
    return UserError(f"{names}{more}", "", "", f"{what}: {why}; expected an unchanged Hotband record")
