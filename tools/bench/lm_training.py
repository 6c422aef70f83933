#!/usr/bin/env python3
"""Training of a language model beside PyTorch on this machine, in f32, in one process, step by step
in turn; run by hand, not in CI:

    python3 tools/bench/lm_training.py [--threads N ...] [--rounds N] [--layers N] [--vocab N]
        [--batch N] [--length N] [--isa NAME] [--memory]
    python3 tools/bench/lm_training.py --lora 8 --batch 1 --threads 1
    python3 tools/bench/lm_training.py --mode gpu-mc --torch cuda --layers 9 --vocab 4096 --batch 4

needs NumPy and torch. The shape is that of SmolLM-135M (30 layers, width 576, 9 heads, 3 of keys
and values, 1,536 hidden, 49,152 ids, embedding and output tied); --layers 4 --vocab 8192 has the
same parts and runs in a minute. Both train the same random weights with AdamW and cross-entropy
on random ids: PyTorch in eager mode, with its fused AdamW, scaled_dot_product_attention and
rms_norm. First the losses of a few steps are compared, then a round is a step of each after a rest.
Printed is the median of the rounds' ratios, PyTorch's time / Loom's, with the extremes: above 1
Loom is faster. --memory trains in a process of each instead, and prints the peak of its resident
memory less what it took before the model was built. --lora does so of an adapter that learns over
the shape in i4, beside inference over as many tokens, 64 at a time, and needs no torch.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("LOOM_LIBRARY", str(ROOT / "build" / "release" / "libloom.so"))
sys.path.insert(0, str(ROOT / "bindings" / "python"))

WIDTH, HEADS, KV_HEADS, HIDDEN, THETA, EPS = 576, 9, 3, 1536, 1e4, 1e-5
HEAD = WIDTH // HEADS
ADAMW = {"lr": 3e-4, "betas": (0.9, 0.95), "eps": 1e-8, "weight_decay": 0.1}
REST, COMPARED = 0.05, 4  # seconds; steps whose losses are compared
ROWS = 64  # of a run of inference


def topology(layers, vocab):
    def sequential(*cells):
        return {"type": "sequential", "layers": list(cells)}

    norm, residual = {"type": "rms_norm", "eps": EPS}, {"type": "residual"}
    attention = {"type": "attention", "heads": HEADS, "kv_heads": KV_HEADS, "head_dim": HEAD,
                 "rope_theta": THETA}
    block = sequential(sequential(norm, attention), residual,
                       sequential(norm, {"type": "swiglu", "hidden": HIDDEN}), residual)
    cells = [{"type": "embedding", "out": WIDTH}, *[block] * layers, norm,
             {"type": "dense", "out": vocab, "bias": False, "tie": "0.0.0.0:weight"}]
    return {"format": "loom-topology", "version": 1, "layers_per_cell": len(cells),
            "input": {"ids": vocab},
            "cells": [{"at": [0, 0, 0, at], **cell} for at, cell in enumerate(cells)]}


class Loom:
    def __init__(self, args):
        import welvet
        self.welvet, self.args, self.trainer = welvet, args, None
        self.network = (welvet.Network.load(args.file) if args.file else
                        welvet.Network(topology(args.layers, args.vocab), seed=1))
        self.version = welvet.__version__

    def start(self, ids, threads):
        """Ids [steps, batch, length + 1], in the order in which they are learned."""
        self.stop()
        spec = {"loss": "cross_entropy", "batch": self.args.batch, "steps": len(ids),
                "shuffle": False, "optimizer": {
                    "type": "adamw", "beta1": ADAMW["betas"][0], "beta2": ADAMW["betas"][1],
                    "eps": ADAMW["eps"], "weight_decay": ADAMW["weight_decay"]},
                "schedule": {"type": "constant", "lr": ADAMW["lr"]}}
        if self.args.lora:
            spec.update(lora={"rank": self.args.lora}, checkpoint=True)
        data = self.welvet.Data.tokens(ids.reshape(-1, ids.shape[-1]), length=ids.shape[-1] - 1)
        on_device = self.args.mode.startswith("gpu")
        self.trainer = self.network.trainer(data, spec=spec, threads=0 if on_device else threads,
                                            isa=self.args.isa, mode=self.args.mode)

    def step(self):
        return self.trainer.step(1).loss

    def stop(self):
        if self.trainer:
            self.trainer.close()


class Torch:
    def __init__(self, args, weights=None):
        import torch
        from torch import nn
        from torch.nn import functional

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm1, self.norm2 = (nn.RMSNorm(WIDTH, eps=EPS) for _ in range(2))
                for name, out, inner in (("q", WIDTH, WIDTH), ("k", KV_HEADS * HEAD, WIDTH),
                                         ("v", KV_HEADS * HEAD, WIDTH), ("o", WIDTH, WIDTH),
                                         ("gate", HIDDEN, WIDTH), ("up", HIDDEN, WIDTH),
                                         ("down", WIDTH, HIDDEN)):
                    setattr(self, name, nn.Linear(inner, out, bias=False))

            def forward(self, x, turn):
                y = self.norm1(x)
                q, k, v = (layer(y).unflatten(-1, (-1, HEAD)).transpose(1, 2)
                           for layer in (self.q, self.k, self.v))
                y = functional.scaled_dot_product_attention(turn(q), turn(k), v, is_causal=True,
                                                            enable_gqa=True)
                x = x + self.o(y.transpose(1, 2).flatten(2))
                y = self.norm2(x)
                return x + self.down(functional.silu(self.gate(y)) * self.up(y))

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = nn.Embedding(args.vocab, WIDTH)
                self.blocks = nn.ModuleList(Block() for _ in range(args.layers))
                self.norm = nn.RMSNorm(WIDTH, eps=EPS)
                angles = torch.outer(torch.arange(float(args.length)),
                                     THETA ** (-torch.arange(HEAD // 2) * 2 / HEAD)).repeat(1, 2)
                self.cos = angles.cos().to(args.torch)
                self.sin = angles.sin().to(args.torch)

            def turn(self, x):
                a, b = x.chunk(2, -1)
                return x * self.cos + torch.cat((-b, a), -1) * self.sin

            def forward(self, ids):
                x = self.embedding(ids)
                for block in self.blocks:
                    x = block(x, self.turn)
                return functional.linear(self.norm(x), self.embedding.weight)

        torch.manual_seed(1)
        # TF32 would compare a product of 10 bits with one of 24.
        torch.backends.cuda.matmul.allow_tf32 = False
        self.torch, self.functional, self.model = torch, functional, Model().to(args.torch)
        self.version, self.weights, self.args = torch.__version__, weights, args
        self.ids, self.optimizer, self.at = None, None, 0

    def start(self, ids, threads):
        self.torch.set_num_threads(threads)
        if self.weights:
            with self.torch.no_grad():
                for name, parameter in self.by_loom_name():
                    parameter.copy_(self.torch.from_numpy(self.weights[name]).reshape(
                        parameter.shape))
        matrices, vectors = ([p for p in self.model.parameters() if (p.dim() > 1) == wide]
                             for wide in (True, False))
        self.optimizer = self.torch.optim.AdamW(
            [{"params": matrices}, {"params": vectors, "weight_decay": 0}], fused=True, **ADAMW)
        self.ids, self.at = self.torch.from_numpy(ids.astype(np.int64)).to(self.args.torch), 0

    def by_loom_name(self):
        yield "0.0.0.0:weight", self.model.embedding.weight
        for i, block in enumerate(self.model.blocks):
            yield f"0.0.0.{i + 1}/0/0:gain", block.norm1.weight
            yield f"0.0.0.{i + 1}/2/0:gain", block.norm2.weight
            for part, names in ((0, "q k v o"), (2, "gate up down")):
                for name in names.split():
                    yield f"0.0.0.{i + 1}/{part}/1:{name}", getattr(block, name).weight
        yield f"0.0.0.{len(self.model.blocks) + 1}:gain", self.model.norm.weight

    def step(self):
        ids = self.ids[self.at]
        self.at += 1
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.functional.cross_entropy(self.model(ids[:, :-1]).flatten(0, 1),
                                             ids[:, 1:].flatten())
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())


def ids_of(args, steps):
    return np.random.default_rng(42).integers(0, args.vocab, (steps, args.batch, args.length + 1),
                                              dtype=np.int32)


def compare(ours, theirs, args):
    theirs.start(ids_of(args, COMPARED), args.threads[-1])
    ours.start(ids_of(args, COMPARED), args.threads[-1])
    losses = [(ours.step(), theirs.step()) for _ in range(COMPARED)]
    worst = max(abs(a - b) / abs(b) for a, b in losses)
    print("losses of Loom and PyTorch: " + ", ".join(f"{a:.6f} {b:.6f}" for a, b in losses)
          + f"; they differ by at most {worst:.1e}", flush=True)
    if not worst < 1e-4:
        sys.exit("the losses differ by more than 1e-4")


def measure(ours, theirs, threads, args):
    ids = ids_of(args, args.rounds + 1)
    theirs.start(ids, threads)
    ours.start(ids, threads)
    times = []
    for _ in range(args.rounds + 1):
        pair = []
        for one in (ours, theirs):
            time.sleep(REST)
            begin = time.perf_counter()
            one.step()
            pair.append(time.perf_counter() - begin)
        times.append(pair)
    del times[0]  # the first round warms up
    ratios = [b / a for a, b in times]
    tokens = args.batch * args.length
    a, b = (statistics.median(side) for side in zip(*times))
    print(f"{threads:7} {1e3 * a:10.1f} {1e3 * b:11.1f} {tokens / a:15.1f} {tokens / b:16.1f}   "
          f"{statistics.median(ratios):.2f}x ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)


def resident(key):
    text = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(rf"{key}:\s+(\d+) kB", text).group(1)) / 1e6


def train_alone(name, args):
    """In a process where the other is not."""
    __import__("torch" if name == "torch" else "welvet")
    before = resident("VmRSS")
    if name == "infer":
        import welvet
        ids = ids_of(args, 1)[0, 0, :-1]
        with welvet.Network.load(args.file).session(max_rows=ROWS, max_positions=args.length,
                                                    threads=args.threads[-1]) as session:
            for at in range(0, args.length, ROWS):
                session.run_tokens(ids[at:at + ROWS], np.arange(args.length)[at:at + ROWS])
    else:
        one = Torch(args) if name == "torch" else Loom(args)
        one.start(ids_of(args, 3), args.threads[-1])
        for _ in range(3):
            one.step()
    print(f"{resident('VmHWM') - before:.3f}")


def peaks(*names, file=""):
    return [float(subprocess.run([sys.executable, *sys.argv, "--file", file, "--alone", name],
                                 check=True, stdout=subprocess.PIPE).stdout) for name in names]


def memory(args):
    loom, torch = peaks("loom", "torch")
    print(f"peak of resident memory: Loom {loom:.2f} GB, PyTorch {torch:.2f} GB")


def lora_memory(args):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "model.entity")
        network = Loom(args).network
        network.morph("i4")
        network.save(file)
        del network
        learn, infer = (1e3 * peak for peak in peaks("loom", "infer", file=file))
    print(f"peak of resident memory: {learn:.0f} MB learning, {infer:.0f} MB inference: "
          f"{learn / infer:.2f}x")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    for name, value in (("rounds", 5), ("layers", 30), ("vocab", 49152), ("batch", 2),
                        ("length", 256)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--isa", default="", help="of Loom; fast: its fast profile")
    parser.add_argument("--mode", default="", help="of Loom, for example gpu-mc")
    parser.add_argument("--torch", default="cpu", metavar="DEVICE", help="of PyTorch: cpu, cuda")
    parser.add_argument("--memory", action="store_true", help="the peaks of memory alone")
    parser.add_argument("--lora", type=int, default=0, metavar="RANK",
                        help="the peaks of memory of an adapter over the shape in i4")
    parser.add_argument("--alone", choices=["loom", "torch", "infer"], help=argparse.SUPPRESS)
    parser.add_argument("--file", default="", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.alone:
        train_alone(args.alone, args)
        return
    if args.lora or args.memory:
        (lora_memory if args.lora else memory)(args)
        return
    if args.mode.startswith("gpu"):
        from training import share_dawn  # which loads PyTorch
        share_dawn()
    ours = Loom(args)
    theirs = Torch(args, {f"{p.path}:{p.role}": ours.network.get(f"{p.path}:{p.role}")
                          for p in ours.network.parameters if not p.tied})
    print(f"PyTorch {theirs.version} and Loom {ours.version}: {args.layers} layers, {args.vocab} "
          f"ids, {args.batch} x {args.length} tokens a step, {args.rounds} rounds", flush=True)
    compare(ours, theirs, args)
    print("threads    Loom ms  PyTorch ms   Loom tokens/s PyTorch tokens/s   PyTorch / Loom")
    for threads in args.threads:
        measure(ours, theirs, threads, args)
    ours.stop()


if __name__ == "__main__":
    main()
