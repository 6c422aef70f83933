"""Learns to read handwritten digits with a small convolutional network.

    python3 examples/python/mnist.py [FOLDER | --drawn]

FOLDER has the four files of MNIST (train-images-idx3-ubyte.gz, ...). The default is
../shared/data/mnist beside the checkout. If the files are absent, or with --drawn, digits.py draws
the digits.
"""
import argparse
import gzip
import pathlib
import sys

import numpy as np

import digits
import welvet
from welvet import Network, layers

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parent.parent.parent / "shared/data/mnist"


def read(folder, name):
    """The images and labels of two IDX files: headers of 16 and 8 bytes, then a byte per value."""
    pixels = gzip.decompress((folder / (name + "-images-idx3-ubyte.gz")).read_bytes())[16:]
    labels = gzip.decompress((folder / (name + "-labels-idx1-ubyte.gz")).read_bytes())[8:]
    images = np.frombuffer(pixels, np.uint8).reshape(-1, 1, 28, 28)
    return images / np.float32(255), np.frombuffer(labels, np.uint8).astype(np.int32)


def load(folder, drawn):
    if drawn or (folder is None and not FOLDER.exists()):
        print("digits that code draws, in place of MNIST, which is looked for in", FOLDER)
        return digits.draw(4000, seed=1), digits.draw(1000, seed=2)
    images, labels = read(folder or FOLDER, "train")
    return (images[:20000], labels[:20000]), read(folder or FOLDER, "t10k")


parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("folder", nargs="?", type=pathlib.Path, metavar="FOLDER",
                    help="with the four files of MNIST, default: %s" % FOLDER)
parser.add_argument("--drawn", action="store_true", help="digits that digits.py draws")
args = parser.parse_args()
(x, y), (test_x, test_y) = load(args.folder, args.drawn)
network = Network(layers.Sequential(
    layers.Input(1, 28, 28),
    layers.Conv2d(8, kernel_size=3, stride=2, padding=1, activation="relu"),
    layers.Conv2d(16, kernel_size=3, stride=2, padding=1, activation="relu"),
    layers.Flatten(),
    layers.Linear(64, activation="relu"),
    layers.Linear(10),
), seed=1)
history = network.train(x, y, lr=0.003, schedule="cosine", epochs=3, batch_size=32)
print("%d images learned, mean loss of each epoch %s"
      % (len(x), ", ".join("%.3f" % loss for loss in history["loss"])))

right = {}
for dtype in ("f32", "i8", "i4"):  # the same network with fewer bits per weight
    network.morph(dtype)
    right[dtype] = (network(test_x).argmax(axis=1) == test_y).mean()
    print("%-4s reads %.1f %% of %d images that it has not seen"
          % (dtype, 100 * right[dtype], len(test_x)))
if right["f32"] < 0.95 or right["i8"] < 0.95:
    sys.exit("fewer than 95 % are read")
