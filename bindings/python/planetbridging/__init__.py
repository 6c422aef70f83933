"""Models of other frameworks as networks of Loom.

    import planetbridging
    absorbed = planetbridging.from_torch(model, (example,))
    absorbed.save("model.entity")
"""
from __future__ import annotations

from .keras import from_keras

__all__ = ["from_keras"]
