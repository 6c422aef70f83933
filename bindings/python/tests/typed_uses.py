"""What a type checker accepts of the package, and what it refuses:
tools/check/package/python_types.sh. It is not run."""
from typing import Dict, List

import numpy as np

import welvet
from welvet import layers as L

network = welvet.Network(L.Sequential(L.Input(4), L.Linear(8, activation="relu"), L.Linear(3)),
                         seed=1)
x, y = np.zeros((6, 4), np.float32), np.zeros(6, np.int32)
history = network.train(x, y, lr=0.01, epochs=2, batch_size=3)
losses: List[float] = history["loss"]
rows = network(x)
assert isinstance(rows, np.ndarray)
digest: str = network.digest()
conv: L.Layer = L.Conv2d(8, kernel_size=3, padding=1)
lstm: L.Layer = L.LSTM(8, num_layers=2, output="last", stateful=True)

width: int = L.Linear(8).out_features
relu: L.Activation = L.ReLU()

model = welvet.Transformer("embedded")
text: str = model.generate("Once", max_tokens=8)
tokens: List[int] = model.generate("Once").tokens
info: Dict[str, object] = model.info

L.Linear("8")  # wrong
L.Linear(784, 128)  # wrong
L.Linear(8, activaton="relu")  # wrong
L.Linear(8, True, "relu")  # wrong
L.Linear(8).out  # wrong
L.Embedding(512, 16)  # wrong
L.Conv2d(8, kernel_size="three")  # wrong
L.Dropout(p="half")  # wrong
network.train(x, y, lr="0.01")  # wrong
network.train(x, y, epochs="2")  # wrong
number: int = network.digest()  # wrong
model.generate("Once", max_tokens="8")  # wrong
