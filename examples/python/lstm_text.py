"""An LSTM that learns to spell: it reads a text letter by letter, and then writes one.

    python3 examples/python/lstm_text.py [TEXT.txt]

Without a file the text comes from a small grammar, so that the generated text can be checked.
"""
import argparse
import pathlib
import random
import re
import sys

import numpy as np

import welvet
from welvet import Data, Network, layers

ANIMALS, VERBS = ["cat", "old dog", "bird", "little mouse"], ["sees", "follows", "likes", "calls"]
SENTENCE = re.compile(r"the (%s) (%s) the (%s)( and sings)?" % ("|".join(ANIMALS), "|".join(VERBS),
                                                              "|".join(ANIMALS)))


def grammar(sentences):
    pick = random.Random(1).choice
    return "".join("the %s %s the %s%s. " % (pick(ANIMALS), pick(VERBS), pick(ANIMALS),
                                            pick(["", "", " and sings"])) for _ in range(sentences))


def write(network, letters, begin, count, seed):
    """Letters drawn one by one from the network's probabilities; a session keeps the state."""
    draw, text = np.random.default_rng(seed), begin
    with network.session() as session:
        for position in range(count):
            last = letters.index(text[position])
            logits = session.run_tokens([last], [position])[0].astype(np.float64)
            if position + 1 == len(text):
                chances = np.exp(logits - logits.max())
                text += letters[draw.choice(len(letters), p=chances / chances.sum())]
    return text


parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("text", nargs="?", type=pathlib.Path, metavar="TEXT.txt",
                    help="what to learn; without it, sentences of a small grammar")
args = parser.parse_args()
text = args.text.read_text()[:200000] if args.text else grammar(1600)
letters = sorted(set(text))
ids = np.array([letters.index(letter) for letter in text], np.int32)

network = Network(layers.Sequential(
    layers.Input(ids=len(letters)),  # one letter per row, in the order of the text
    layers.Embedding(16),
    layers.LSTM(64),
    layers.Linear(len(letters)),
), seed=1)
counts = np.bincount(ids) / len(ids)
history = network.train(Data.tokens(ids, length=50), streams=32, epochs=16, lr=0.015,
                        schedule="cosine")
print("bits for a letter: %.2f by how often each comes, %.2f by the LSTM"
      % (-(counts * np.log2(counts)).sum(), history["loss"][-1] / np.log(2)))

written = write(network, letters, text[:4], 1200, seed=1)
print(written[:200])
if not args.text:
    sentences = written.split(". ")[:-1]
    right = [bool(SENTENCE.fullmatch(sentence)) for sentence in sentences]
    print("%d of %d sentences are of the grammar" % (sum(right), len(right)))
    if sum(right) < 0.9 * len(right):
        sys.exit("fewer than 90 % are")
