"""Networks from PyTorch modules, by torch.export."""
from __future__ import annotations

from .absorb import from_torch

__all__ = ["from_torch"]
