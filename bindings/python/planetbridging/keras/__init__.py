"""Models of Keras 3 as networks of Loom."""
from __future__ import annotations

from .model import from_keras

__all__ = ["from_keras"]
