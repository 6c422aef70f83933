"""Learning: Network.train by epochs, with callbacks, held-back samples and a bar on the terminal;
Trainer step by step; Data, samples that both take."""
from __future__ import annotations

from .distill import distill
from .fit import Callback, EarlyStopping, Epoch, History, Progress
from .trainer import Data, Step, Trainer

__all__ = [
    "Callback", "Data", "EarlyStopping", "Epoch", "History", "Progress", "Step", "Trainer",
    "distill",
]
