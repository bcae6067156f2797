"""A modelled machine as a block device on the wall clock: programs use it as they use a drive."""

from hotband.serve.served import Served, ServedVolume, ServeSpec
from hotband.serve.serving import Serving

__all__ = ["ServeSpec", "Served", "ServedVolume", "Serving"]
