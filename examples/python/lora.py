"""Teaches the embedded model another style of writing, with an adapter of a few weights.

    python3 examples/python/lora.py [TEXT.txt]

Without a file it learns the log book of a boat, which this program generates.
"""
import argparse
import pathlib
import random
import sys
import tempfile

import numpy as np

import welvet
from welvet import Transformer


def log_book(nights, seed):
    pick = random.Random(seed).choice
    return " ".join(
        "Night on the river. The wind was %s and the boat was %s. I saw a %s %s. I %s and said: %s."
        % (pick(["cold", "quiet", "dark"]), pick(["small", "old", "dark"]),
           pick(["big", "little", "red"]), pick(["bear", "bird", "fox", "hill"]),
           pick(["waited", "looked back", "smiled"]),
           pick(["never go home", "now we are happy", "go on, little boat"]))
        for _ in range(nights))


def loss_of(model, text):
    """Mean -log probability of the tokens of a text, each given the previous ones."""
    ids = model.tokenizer.encode(text)[:200]
    with model.network as network:
        logits = network.forward_tokens(ids).astype(np.float64)[:-1]
    logits -= logits.max(axis=1, keepdims=True)
    right = logits[np.arange(len(ids) - 1), ids[1:]]
    return (np.log(np.exp(logits).sum(axis=1)) - right).mean()


parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("text", nargs="?", type=pathlib.Path, metavar="TEXT.txt",
                    help="what to learn; without it, a log book made here")
args = parser.parse_args()
text, other = log_book(100, seed=1), log_book(12, seed=2)
if args.text:
    whole = args.text.read_text()
    text, other = whole[:len(whole) * 4 // 5], whole[len(whole) * 4 // 5:]

model = Transformer.load_model("embedded")
before, digest = loss_of(model, other), model.network.digest()
print("before: loss %.3f" % before)
print("  Night on" + model.generate("Night on", max_tokens=40, seed=1))

model.train(text, length=64, lora={"rank": 8}, lr=0.01, epochs=6, batch_size=4)
after = loss_of(model, other)
print("after: loss %.3f" % after)
print("  Night on" + model.generate("Night on", max_tokens=40, seed=1))

with tempfile.TemporaryDirectory() as folder:  # the adapter alone, in PEFT's files
    model.save_adapter(folder)
    size = sum(file.stat().st_size for file in pathlib.Path(folder).iterdir())
    print("the adapter has %d KB, the model %d parameters"
          % (size // 1024, model.info["parameters"]))
    model.unload_adapter()
    unloaded = loss_of(model, other)
    model.load_adapter(folder)
    if unloaded != before or loss_of(model, other) != after or model.network.digest() != digest:
        sys.exit("the model is not what it was before, or the adapter not what it was")
if after > 0.5 * before:
    sys.exit("the text was hardly learned")
