"""A network that morphs itself to 4 bits while it serves.

    python3 examples/python/metacognition.py [FOLDER | --drawn]

Two layers have a rule: if the gain of the layer stays within 10 % of its first one for five runs,
its weights get 4 bits. The accuracy must stay within one point of that of f32. FOLDER has the four
files of MNIST; the default is ../shared/data/mnist beside the checkout. If the files are absent, or
with --drawn, digits.py draws the digits.
"""
import argparse
import gzip
import pathlib
import sys

import numpy as np

import digits
from welvet import Network, layers

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parent.parent.parent / "shared/data/mnist"
BOUND = 0.01  # of the accuracy


def read(folder, name):
    """The images and labels of two IDX files: headers of 16 and 8 bytes, then a byte per value."""
    pixels = gzip.decompress((folder / (name + "-images-idx3-ubyte.gz")).read_bytes())[16:]
    labels = gzip.decompress((folder / (name + "-labels-idx1-ubyte.gz")).read_bytes())[8:]
    images = np.frombuffer(pixels, np.uint8).reshape(-1, 784)
    return images / np.float32(255), np.frombuffer(labels, np.uint8).astype(np.int32)


def drawn(count, seed):
    images, labels = digits.draw(count, seed)
    return images.reshape(count, 784), labels


def load(folder, draw):
    if draw or (folder is None and not FOLDER.exists()):
        print("digits that code draws, in place of MNIST, which is looked for in", FOLDER)
        return drawn(4000, 1), drawn(1000, 2)
    images, labels = read(folder or FOLDER, "train")
    return (images[:20000], labels[:20000]), read(folder or FOLDER, "t10k")


parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("folder", nargs="?", type=pathlib.Path, metavar="FOLDER",
                    help="with the four files of MNIST, default: %s" % FOLDER)
parser.add_argument("--drawn", action="store_true", help="digits that digits.py draws")
args = parser.parse_args()
(x, y), (test_x, test_y) = load(args.folder, args.drawn)

calm = {"when": "gain_drift", "below": 0.1, "for": 5, "limit": 1, "do": "morph", "dtype": "i4"}
network = Network(layers.Sequential(
    layers.Input(784),
    layers.Metacognition(layers.Linear(128, activation="relu"), rules=[calm]),
    layers.Metacognition(layers.Linear(64, activation="relu"), rules=[{**calm, "for": 8}]),
    layers.Linear(10),
), seed=1)
network.train(x, y, lr=0.003, schedule="cosine", epochs=3, batch_size=32)
twin = network.copy()
exact = (network(test_x).argmax(axis=1) == test_y).mean()

session = network.session(max_rows=100)  # serves, and evaluates the rules after each run
parts = [test_x[begin:begin + 100] for begin in range(0, len(test_x), 100)]
served = [session.run(part) for part in parts]
for act in session.trace():
    print("run %d: %s of %s by %s %.3f: %s -> %s" % (
        act["pass"], act["act"], act["path"], act["statistic"], act["value"], act["before"],
        act["after"]))
small = (network(test_x).argmax(axis=1) == test_y).mean()
print("f32 reads %.1f %% of %d images, the network with hidden layers of 4 bits %.1f %%"
      % (100 * exact, len(test_y), 100 * small))

again = twin.replay(session.trace(), max_rows=100)
same = all((again.run(part) == y).all() for part, y in zip(parts, served))
if len(session.trace()) != 2 or small < exact - BOUND or not same:
    sys.exit("the network did not morph within the bound, or its replay differs")
print("a copy that replays the trace has given the same bits")
