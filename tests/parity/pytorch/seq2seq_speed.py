"""How long an encoder-decoder takes to find its sequences: by whole rows, step by step, and in
PyTorch, whose decoder sees a growing prefix. Prints seconds and their ratios, medians of five
rounds in turn; the first two find the same ids or it fails.

usage: seq2seq_speed.py        (needs PyTorch; LOOM_LIBRARY and PYTHONPATH as the Python tests)
"""
import argparse
import statistics
import time

import numpy as np
import torch
import welvet
from torch import nn
from welvet import layers as L

STEPS, WIDTH, WORDS, DEPTH, ROWS, HEADS = 64, 256, 1000, 4, 8, 4


def ours():
    def feed(h):
        return L.LayerNorm()(h + L.Linear(WIDTH)(L.Linear(4 * WIDTH, activation="relu")(h)))

    source = L.Input(STEPS, ids=WORDS, name="source")
    target = L.Input(STEPS, ids=WORDS, name="target")
    memory, h = (L.Positions()(L.Embedding(WIDTH)(one)) for one in (source, target))
    for _ in range(DEPTH):
        memory = L.LayerNorm()(memory + L.Attention(HEADS, causal=False, rope=False)(memory))
        memory = feed(memory)
    for _ in range(DEPTH):
        h = L.LayerNorm()(h + L.Attention(HEADS, rope=False)(h))
        h = feed(L.LayerNorm()(h + L.CrossAttention(HEADS)(h, memory)))
    return welvet.Network(L.Model([source, target], L.Linear(WORDS)(h)), seed=1)


def whole_rows(network, source):
    ids = np.zeros((ROWS, STEPS), int)
    ids[:, 0] = 1
    for t in range(STEPS - 1):
        answers = network.forward({"source": source, "target": ids})
        ids[:, t + 1] = answers[:, t].argmax(-1)
    return ids[:, 1:].tolist()


def theirs():
    def stack(layer, whole):
        return whole(layer(WIDTH, HEADS, 4 * WIDTH, 0.0, batch_first=True), DEPTH).eval()

    parts = (
        nn.Embedding(WORDS, WIDTH),
        stack(nn.TransformerEncoderLayer, nn.TransformerEncoder),
        stack(nn.TransformerDecoderLayer, nn.TransformerDecoder),
        nn.Linear(WIDTH, WORDS),
    )

    def run(source):
        embed, encoder, decoder, out = parts
        with torch.no_grad():
            memory = encoder(embed(torch.tensor(source)))
            ids = torch.ones(ROWS, 1, dtype=torch.long)
            for n in range(1, STEPS):
                hidden = torch.triu(torch.full((n, n), float("-inf")), 1)
                y = out(decoder(embed(ids), memory, tgt_mask=hidden)[:, -1])
                ids = torch.cat([ids, y.argmax(-1, keepdim=True)], 1)

    return run


def timed(run):
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def main():
    network, source = ours(), np.random.default_rng(1).integers(0, WORDS, (ROWS, STEPS))
    both, torch_run = welvet.Seq2Seq(network, "target", lanes=4 * ROWS), theirs()

    def found(beams):
        return both.generate(source, start=1, max_tokens=STEPS - 1, beams=beams)

    runs = {
        "whole rows": lambda: whole_rows(network, source),
        "step by step": lambda: found(1),
        "beam of 4": lambda: found(4),
        "PyTorch": lambda: torch_run(source),
    }
    seconds = {name: [] for name in runs}
    for _ in range(5):
        answers = {}
        for name, run in runs.items():
            took, answers[name] = timed(run)
            seconds[name].append(took)
        if answers["whole rows"] != answers["step by step"]:
            raise SystemExit("other ids step by step")
    steps = statistics.median(seconds["step by step"])
    for name, took in seconds.items():
        middle = statistics.median(took)
        print("%-13s %7.3f s  %5.1f" % (name, middle, middle / steps))


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
