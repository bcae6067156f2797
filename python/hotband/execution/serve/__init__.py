"""A modelled machine as a block device on the wall clock: programs use it as they use a drive
(docs/guides/serve.md)."""

from __future__ import annotations

from hotband.data.documents.serving import Serving
from hotband.execution.serve.served import Served, ServedVolume, ServeSpec

__all__ = ["ServeSpec", "Served", "ServedVolume", "Serving"]
