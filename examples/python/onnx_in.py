"""Imports a network that PyTorch trained and exported as ONNX, and trains it further.

    python3 examples/python/onnx_in.py
"""
import pathlib
import sys
import tempfile

import numpy as np

import digits
import welvet
from welvet import Network

FILE = pathlib.Path(__file__).resolve().parent.parent / "data/digits.onnx"


def accuracy(network, images, labels):
    return (network(images).argmax(axis=1) == labels).mean()


graph = welvet.from_onnx(FILE)
info = graph.info
print("%s, opset %d: %s" % (info["producer"], info["opset"], ", ".join(
    "%d %s" % (count, name) for name, count in info["nodes"].items())))

# A graph runs as it is, like a session of ONNX Runtime ...
images, labels = digits.draw(1000, seed=2)
scores = graph.run({"image": images})["scores"]

# ... and becomes a network that trains, morphs and saves.
network, ports = graph.network()
difference = np.abs(network(images) - scores).max()
print("as a network: %d parameters, scores differ by %.1e at most"
      % (network.info["parameters"], difference))
print("white digits on black: %.1f %%" % (100 * accuracy(network, images, labels)))

# Black digits on white are new to the network: train it again for a few seconds.
before = accuracy(network, 1 - images, labels)
more, more_labels = digits.draw(2000, seed=3)
both = np.concatenate([more, 1 - more])
network.train(both, np.tile(more_labels, 2), epochs=10, batch_size=32, lr=0.005,
              schedule="cosine")
after, still = accuracy(network, 1 - images, labels), accuracy(network, images, labels)
print("black on white: %.1f %% before, %.1f %% after training (white on black still %.1f %%)"
      % (100 * before, 100 * after, 100 * still))

with tempfile.TemporaryDirectory() as folder:
    network.morph("i8")
    network.save(pathlib.Path(folder) / "digits.entity")
    loaded = Network(pathlib.Path(folder) / "digits.entity")
    print("saved in i8 and loaded: %.1f %%" % (100 * accuracy(loaded, 1 - images, labels)))
if difference > 1e-4 or min(after, still) < 0.95:
    sys.exit("the network is not what it should be")
