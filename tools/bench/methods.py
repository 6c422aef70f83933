#!/usr/bin/env python3
"""Methods of learning beside each other on MNIST (docs/guide/methods.md); run by hand, not in CI:

    python3 tools/bench/methods.py [--data FOLDER] [--threads N] [--svg FILE] [RUN...]

needs NumPy and the four files of MNIST, by default in ../shared/data/mnist. Runs: `wide` (two
hidden layers of 512, relu and tanh), `long` (two of 1000, 10 epochs), `deep` (50 of 128, tanh,
20,000 images). Each is AdamW with a cosine from a rate of 0.001, in batches of 128; printed is the
share of the 10,000 test images that are classified rightly, which is the same on every machine, and
the seconds of the training, which are not. --svg draws the losses of `deep`.
"""
import argparse
import gzip
import os
import pathlib
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("LOOM_LIBRARY", str(ROOT / "build" / "release" / "libloom.so"))
sys.path.insert(0, str(ROOT / "bindings" / "python"))
from welvet import Network, layers  # noqa: E402

METHODS = ("back_propagation", "mono_forward", "direct_feedback_alignment",
           "difference_target_propagation", "learned_feedback", "target_propagation", "layer_wise",
           "activation_slope")
SPECS = {"learned_feedback": {"type": "difference_target_propagation", "feedback": "learned"},
         "layer_wise": {"type": "target_propagation", "mode": "layer_wise"},
         "activation_slope": {"type": "target_propagation", "mode": "layer_wise",
                              "activation_slope": True}}
# name: widths of hidden layers, activations, images, epochs, methods
RUNS = {
    "wide": ([512] * 2, ("relu", "tanh"), 60000, 3, METHODS),
    "long": ([1000] * 2, ("relu",), 60000, 10, METHODS[:2]),
    "deep": ([128] * 50, ("tanh",), 20000, 3, METHODS),
}
COLORS = ("#33526e", "#c2571a", "#2f6b34", "#8a5a00", "#1f7a8c", "#6a3d8f", "#8f2d56",
          "#555555")
WINDOW = 10  # steps that a point of a curve is the mean of


def read(path):
    """The array of an idx file."""
    data = gzip.open(path).read()
    dims = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(dims)


def digits(folder, which):
    images = read(folder / (which + "-images-idx3-ubyte.gz"))
    x = images.reshape(len(images), -1).astype(np.float32) / 255
    return x, read(folder / (which + "-labels-idx1-ubyte.gz")).astype(np.int32)


def learn(method, widths, activation, train, test, epochs, threads):
    """Accuracy, seconds, and the losses of all steps."""
    hidden = [layers.Linear(n, activation=activation) for n in widths]
    network = Network(layers.Sequential(layers.Input(784), *hidden, layers.Linear(10)), seed=0)
    begun = time.perf_counter()
    history = network.train(*train, loss="cross_entropy", method=SPECS.get(method, method),
                            optimizer="adamw", schedule="cosine", lr=0.001, epochs=epochs,
                            batch_size=128, seed=0, threads=threads, progress=False)
    seconds = time.perf_counter() - begun
    right = network.forward(test[0]).argmax(axis=1) == test[1]
    return right.mean(), seconds, history.losses


def draw(curves, title):
    """An SVG of {name: losses}."""
    width, height, left, top, right, bottom = 720, 300, 56, 34, 210, 40
    inner, tall = width - left - right, height - top - bottom
    most = max(max(y) for y in curves.values())
    limit = next(n for n in (1, 2, 2.5, 3, 4, 5, 10) if n >= most)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
           'font-family="sans-serif" font-size="13">' % (width, height),
           "  <title>%s</title>" % title,
           '  <rect width="%d" height="%d" fill="white"/>' % (width, height),
           '  <text x="%d" y="20" fill="#111">%s</text>' % (left, title)]
    for i in range(6):
        y = top + tall * i / 5
        out += ['  <path d="M %d %.1f h %d" stroke="#ddd"/>' % (left, y, inner),
                '  <text x="%d" y="%.1f" text-anchor="end" fill="#333">%g</text>'
                % (left - 6, y + 4, limit * (5 - i) / 5)]
    steps = max(map(len, curves.values()))
    for at, text in ((0, "0"), (inner, "%d steps" % (steps * WINDOW))):
        out.append('  <text x="%d" y="%d" text-anchor="%s" fill="#333">%s</text>' % (
            left + at, height - bottom + 18, "end" if at else "start", text))
    ends = sorted((top + tall * (1 - y[-1] / limit), name) for name, y in curves.items())
    labels, last = {}, -100.0
    for y, name in ends:
        last = max(y + 4, last + 16)
        labels[name] = last
    for color, (name, y) in zip(COLORS, curves.items()):
        points = " ".join("%.1f,%.1f" % (left + inner * i / (steps - 1),
                                         top + tall * (1 - v / limit)) for i, v in enumerate(y))
        out += ['  <polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>'
                % (points, color),
                '  <text x="%d" y="%.1f" fill="%s">%s</text>'
                % (left + inner + 8, labels[name], color, name)]
    return "\n".join(out + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared/data/mnist")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--svg", type=pathlib.Path)
    parser.add_argument("runs", nargs="*", metavar="RUN")
    args = parser.parse_args()
    unknown = [name for name in args.runs if name not in RUNS]
    if unknown:
        parser.error("unknown run %s: one of %s" % (unknown[0], ", ".join(RUNS)))
    if args.svg and args.runs and "deep" not in args.runs:
        parser.error("--svg draws the losses of deep, which is not among the runs")
    x, y = digits(args.data, "train")
    test = digits(args.data, "t10k")
    for name in args.runs or RUNS:
        widths, activations, images, epochs, methods = RUNS[name]
        curves = {}
        for activation in activations:
            for method in methods:
                right, seconds, losses = learn(method, widths, activation,
                                               (x[:images], y[:images]), test, epochs,
                                               args.threads)
                print("%s %s %s: %.2f %%, %.1f s" % (name, activation, method, 100 * right,
                                                     seconds), flush=True)
                whole = len(losses) // WINDOW * WINDOW
                curves[method] = np.mean(np.reshape(losses[:whole], (-1, WINDOW)), axis=1)
        if args.svg and name == "deep":
            args.svg.write_text(draw(curves, "Cross-entropy of a network of 50 hidden layers"))


if __name__ == "__main__":
    main()
