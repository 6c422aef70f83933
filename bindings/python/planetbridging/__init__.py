"""Models of other frameworks as networks of Loom.

    import planetbridging
    absorbed = planetbridging.from_torch(model, (example,))
    absorbed.save("model.entity")
"""
from __future__ import annotations

from typing import Any

from .errors import Unmapped

__all__ = ["Unmapped", "from_torch"]


def __getattr__(name: str) -> Any:
    if name == "from_torch":  # frameworks are imported when they are asked for
        from .torch import from_torch
        return from_torch
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
