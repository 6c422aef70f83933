"""Functions of JAX, and modules of Flax, as networks of Loom."""
from __future__ import annotations

from .absorb import from_jax
from .training import with_optax

__all__ = ["from_jax", "with_optax"]
