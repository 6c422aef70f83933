"""Weights pushed while they are trained: every N steps, into a running ``loom bridge``."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .client import Pushed, Tensor, push, push_weights

if TYPE_CHECKING:
    from ..graph.absorbed import Absorbed


def tensors_of(network: Any) -> list[Tensor]:
    """The parameters of a welvet.Network as push() takes them: f64 keeps its digits, and all else
    goes as f32."""
    def values(p: Any) -> Tensor:
        wide = p.format == "f64"
        return (p.name, "f64" if wide else "f32", (p.rows, p.cols),
                network.get(p.name, np.float64 if wide else np.float32))
    return [values(p) for p in network.parameters if not p.tied]


class Pushing:
    """Pushes a network now, and its weights alone every ``every`` steps. The bridge answers with
    the last complete file meanwhile, so that its readers see the old weights or the new ones.

    ``source``: what a from_torch, from_keras, ... made, whose live model trains, or a
    welvet.Network. Call ``step()`` after each step of a loop; in ``Network.train`` the object is a
    callback; ``keras_callback()`` is one of Keras's. ``last``: what the last push made. Raises
    BridgeError where the bridge refuses, and what broke where it cannot be reached.
    """

    def __init__(self, source: "Absorbed | Any", url: str, token: str, *, name: str,
                 every: int = 100) -> None:
        if every < 1:
            raise ValueError("every: expects at least 1, got %r" % (every,))
        self._url, self._token, self._name, self._every = url, token, name, every
        self._source, self._steps = source, 0
        if hasattr(source, "weights"):
            self.last: Pushed = source.push(url, token=token, name=name)
        else:
            self.last = push(url, token, source.topology, tensors_of(source), name=name)

    def push(self) -> Pushed:
        """Pushes the present weights at once."""
        if hasattr(self._source, "weights"):
            self.last = self._source.push(self._url, token=self._token, name=self._name,
                                          weights_only=True)
        else:
            self.last = push_weights(self._url, self._token, tensors_of(self._source), self._name)
        return self.last

    def step(self) -> None:
        """A step is done: each ``every``-th one pushes."""
        self._steps += 1
        if self._steps % self._every == 0:
            self.push()

    def __call__(self, progress: Any) -> None:
        """As a callback of Network.train."""
        self.step()

    def keras_callback(self) -> Any:
        """A keras.callbacks.Callback, which counts batches."""
        import keras
        done: Callable[[], None] = self.step

        class PushingCallback(keras.callbacks.Callback):  # type: ignore[misc]
            def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
                _ = self.model  # on JAX the variables have their numbers behind this alone
                done()

        return PushingCallback()
