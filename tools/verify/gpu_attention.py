#!/usr/bin/env python3
"""Are the logits of prompts on a GPU those of the CPU? For the kernels of attention that software
adapters do not have (src/ops/attention/attention_units.wgsl); run by hand, not in CI:

    python3 tools/verify/gpu_attention.py

needs NumPy and a GPU; where `wgpudawn` is installed, its Dawn, which has matrix units. Small
decoders with weights in i4 process rows of up to four sequences at once, from 1 to 256 of each,
also in turns: heads of several widths, shared keys, windows, ALiBi. A line for each says whether
the bits of every run are equal; the exit status is 1 where one is not.
"""
import os
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("LOOM_LIBRARY", str(ROOT / "build" / "release" / "libloom.so"))
sys.path.insert(0, str(ROOT / "bindings" / "python"))

import welvet  # noqa: E402

try:
    from wgpudawn._lib import ffi, lib
    welvet.use_webgpu(ffi.addressof(lib, "wgpuGetProcAddress"))
except ImportError:
    pass  # LOOM_WEBGPU_LIBRARY, or Dawn where the system has it

WIDTH, IDS, SEQUENCES = 256, 300, 4
# heads, KV heads, width of a head, other settings
SHAPES = [(4, 2, 64, {}), (6, 2, 128, {}), (4, 4, 32, {}), (4, 1, 80, {}),
          (2, 2, 48, {"window": 37}), (4, 2, 64, {"alibi": True, "rope": False}), (2, 1, 256, {}),
          (4, 2, 112, {"window": 100})]
# Rows of each sequence in a run.
RUNS = [(70, 0, 0, 0), (30, 64, 50, 7), (256, 0, 0, 0), (90, 1, 1, 90), (128, 100, 0, 20),
        (17, 17, 17, 17)]
IN_TURNS = 3  # the run in which sequences take turns


def decoder(heads, kv_heads, head_dim, settings):
    def sequential(*cells):
        return {"type": "sequential", "layers": list(cells)}

    norm, residual = {"type": "rms_norm"}, {"type": "residual"}
    attention = {"type": "attention", "heads": heads, "kv_heads": kv_heads, "head_dim": head_dim,
                 **settings}
    block = sequential(sequential(norm, attention), residual,
                       sequential(norm, {"type": "swiglu", "hidden": 512}), residual)
    cells = [{"type": "embedding", "out": WIDTH}, block, block, norm,
             {"type": "dense", "out": IDS, "bias": False}]
    network = welvet.Network(
        {"format": "loom-topology", "version": 1, "layers_per_cell": len(cells),
         "input": {"ids": IDS},
         "cells": [{"at": [0, 0, 0, at], **cell} for at, cell in enumerate(cells)]}, seed=3)
    network.morph("i4")
    return network


def logits(network, **options):
    """The bytes of every run's logits."""
    random = np.random.default_rng(5)
    lengths = [0] * SEQUENCES
    found = []
    with network.session(max_rows=270, max_head_rows=270, max_positions=700, sequences=SEQUENCES,
                         **options) as session:
        for run, counts in enumerate(RUNS):
            sequences = np.repeat(np.arange(SEQUENCES), counts)
            positions = np.concatenate([np.arange(n, n + count)
                                        for n, count in zip(lengths, counts)])
            lengths = [n + count for n, count in zip(lengths, counts)]
            ids = random.integers(0, IDS, sequences.size)
            if run == IN_TURNS:
                order = np.argsort(positions, kind="stable")
                sequences, positions, ids = sequences[order], positions[order], ids[order]
            found.append(session.run_tokens(ids, positions, sequences,
                                            np.arange(ids.size)).tobytes())
    return found


def main():
    gpus = welvet.audit(device="gpu")["gpus"]
    if not gpus:
        sys.exit("no GPU: docs/reference/modes.md, The library of WebGPU")
    units = gpus[0]["limits"]["matrix_units"]
    print(f"{gpus[0]['name']}: {'with' if units else 'WITHOUT'} matrix units", flush=True)
    differ = 0
    for shape in SHAPES:
        network = decoder(*shape)
        equal = [a == b for a, b in zip(logits(network), logits(network, device="gpu"))]
        wrong = [run for run, same in enumerate(equal) if not same]
        differ += len(wrong)
        print("heads %d, KV heads %d, width %d %s:" % shape,
              f"DIFFERS in runs {wrong}" if wrong else "equal", flush=True)
    return differ > 0


if __name__ == "__main__":
    sys.exit(main())
