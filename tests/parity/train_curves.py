#!/usr/bin/env python3
"""Loss curves of Loom in f32 against an independent implementation in NumPy f64: 100 steps,
differences below 1e-4.

train_curves.py DRIVER    (build/release/tests/train_curves_driver)

The script makes data and settings; the driver trains and prints its initial weights and its losses;
the script trains from the same weights with forward and backward passes, optimizers and schedules
written here from their papers, and compares each loss.
"""
import argparse
import json
import math
import subprocess
import sys
import tempfile

import numpy as np

STEPS, BATCH = 100, 8


# --- optimizers and schedules
# ------------------------------------------------------------------------------
def rate(schedule, step):
    top, warmup = schedule["lr"], schedule.get("warmup", 0)
    if step <= warmup:
        return top * step / warmup
    if schedule["type"] == "cosine":
        low = schedule.get("floor", 0.0)
        return low + (top - low) * (
            1 + math.cos(math.pi * (step - 1 - warmup) / (STEPS - warmup))) / 2
    return top


class Optimizer:
    def __init__(self, spec):
        self.spec, self.state = spec, {}

    def step(self, weights, grads, lr, t):
        o = self.spec
        norm = math.sqrt(sum(float((g * g).sum()) for g in grads.values()))
        clip = o.get("clip_norm", 0)
        scale = min(1.0, clip / (norm + 1e-6)) if clip else 1.0
        for name, w in weights.items():
            g = grads[name] * scale
            decay = o.get("weight_decay", 0) if w.shape[0] > 1 else 0  # of matrices
            if o["type"] == "sgd":
                d = g + decay * w
                u = self.state.get(name, 0) * o["momentum"] + d
                self.state[name] = u
                w -= lr * u
            else:
                b1, b2, eps = o.get("beta1", 0.9), o.get("beta2", 0.999), o.get("eps", 1e-8)
                m, v = self.state.get(name, (0, 0))
                m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
                self.state[name] = m, v
                w *= 1 - lr * decay
                w -= lr * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + eps)


# --- models: loss and gradients of the mean
# ------------------------------------------------------------------------------------
def mlp(w, x, y):
    grads = {}
    z = x @ w["0.0.0.0:weight"].T + w["0.0.0.0:bias"]
    h = np.tanh(z)
    z2 = h @ w["0.0.0.1:weight"].T + w["0.0.0.1:bias"]
    s = 1 / (1 + np.exp(-z2))
    h2 = z2 * s
    out = h2 @ w["0.0.0.2:weight"].T + w["0.0.0.2:bias"]
    loss = ((out - y) ** 2).mean()
    g = 2 * (out - y) / y.size
    grads["0.0.0.2:weight"], grads["0.0.0.2:bias"] = g.T @ h2, g.sum(0, keepdims=True)
    g = (g @ w["0.0.0.2:weight"]) * (s + z2 * s * (1 - s))
    grads["0.0.0.1:weight"], grads["0.0.0.1:bias"] = g.T @ h, g.sum(0, keepdims=True)
    g = (g @ w["0.0.0.1:weight"]) * (1 - h * h)
    grads["0.0.0.0:weight"], grads["0.0.0.0:bias"] = g.T @ x, g.sum(0, keepdims=True)
    return loss, grads


HEADS, KV_HEADS, DIM, EPS, BLOCKS = 4, 2, 6, 1e-5, 2


def rms(x, gain):
    r = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + EPS)
    return x * r * gain, r


def rms_back(x, gain, r, g):
    n = x * r
    gn = g * gain
    return r * (gn - n * (gn * n).mean(-1, keepdims=True)), (g * n).reshape(-1, x.shape[-1]).sum(0,
            keepdims=True)


def rotate(x, sign):
    """Rotary positions in the half-split form; x: batch, time, heads, dim. sign -1 is the
    transposed rotation."""
    half = x.shape[-1] // 2
    angle = np.arange(x.shape[1])[:, None] * 10000.0 ** (-np.arange(half) / half)[None, :]
    c, s = np.cos(angle)[None, :, None, :], sign * np.sin(angle)[None, :, None, :]
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * c - b * s, b * c + a * s], -1)


def cells_of(b):
    """Paths of block `b`: norm and attention, norm and feed-forward."""
    p = f"0.0.0.{b + 1}"
    return f"{p}/0/0", f"{p}/0/1", f"{p}/2/0", f"{p}/2/1"


def flat(a):
    return a.reshape(-1, a.shape[-1])


def block(w, b, x0):
    """What block `b` makes of x0, and what its gradient needs."""
    norm1, attn, norm2, ffn = cells_of(b)
    batch, time = x0.shape[:2]
    share = HEADS // KV_HEADS
    n1, r1 = rms(x0, w[norm1 + ":gain"])
    heads = lambda role, count: (n1 @ w[f"{attn}:{role}"].T).reshape(batch, time, count, DIM)
    q, k = rotate(heads("q", HEADS), 1), rotate(heads("k", KV_HEADS), 1)
    v = heads("v", KV_HEADS)
    kk, vv = np.repeat(k, share, 2), np.repeat(v, share, 2)
    scores = np.einsum("bthd,bshd->bhts", q, kk) / math.sqrt(DIM)
    scores = np.where(np.tril(np.ones((time, time), bool)), scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    prob = e / e.sum(-1, keepdims=True)
    y = np.einsum("bhts,bshd->bthd", prob, vv).reshape(batch, time, -1)
    x1 = x0 + y @ w[attn + ":o"].T
    n2, r2 = rms(x1, w[norm2 + ":gain"])
    gate, up = n2 @ w[ffn + ":gate"].T, n2 @ w[ffn + ":up"].T
    s = 1 / (1 + np.exp(-gate))
    h = gate * s * up
    return x1 + h @ w[ffn + ":down"].T, (x0, n1, r1, q, kk, vv, prob, y, x1, n2, r2, gate, up, s, h)


def block_back(w, grads, b, saved, g):
    """The gradient of the block's input from that of its output; those of its weights go into
    `grads`."""
    x0, n1, r1, q, kk, vv, prob, y, x1, n2, r2, gate, up, s, h = saved
    norm1, attn, norm2, ffn = cells_of(b)
    batch, time = x0.shape[:2]
    share = HEADS // KV_HEADS
    grads[ffn + ":down"] = flat(g).T @ flat(h)
    gh = g @ w[ffn + ":down"]
    ggate, gup = gh * up * (s + gate * s * (1 - s)), gh * gate * s
    grads[ffn + ":gate"], grads[ffn + ":up"] = flat(ggate).T @ flat(n2), flat(gup).T @ flat(n2)
    gx, grads[norm2 + ":gain"] = rms_back(x1, w[norm2 + ":gain"], r2,
                                          ggate @ w[ffn + ":gate"] + gup @ w[ffn + ":up"])
    g = g + gx
    grads[attn + ":o"] = flat(g).T @ flat(y)
    gy = (g @ w[attn + ":o"]).reshape(batch, time, HEADS, DIM)
    gprob = np.einsum("bthd,bshd->bhts", gy, vv)
    fold = lambda a: a.reshape(batch, time, KV_HEADS, share, DIM).sum(3)
    gv = fold(np.einsum("bhts,bthd->bshd", prob, gy)).reshape(batch, time, -1)
    gs = prob * (gprob - (gprob * prob).sum(-1, keepdims=True)) / math.sqrt(DIM)
    gq = rotate(np.einsum("bhts,bshd->bthd", gs, kk), -1).reshape(batch, time, -1)
    gk = rotate(fold(np.einsum("bhts,bthd->bshd", gs, q)), -1).reshape(batch, time, -1)
    gn = 0
    for role, gr in (("q", gq), ("k", gk), ("v", gv)):
        grads[f"{attn}:{role}"] = flat(gr).T @ flat(n1)
        gn = gn + gr @ w[f"{attn}:{role}"]
    gx, grads[norm1 + ":gain"] = rms_back(x0, w[norm1 + ":gain"], r1, gn)
    return g + gx


def decoder(w, ids, targets):
    grads = {k: np.zeros_like(v) for k, v in w.items()}
    table = w["0.0.0.0:weight"]
    x, tape = table[ids], []
    for b in range(BLOCKS):
        x, saved = block(w, b, x)
        tape.append(saved)
    last = f"0.0.0.{BLOCKS + 1}:gain"
    n, r = rms(x, w[last])
    logits = n @ table.T
    logits -= logits.max(-1, keepdims=True)
    prob_out = np.exp(logits)
    prob_out /= prob_out.sum(-1, keepdims=True)
    rows = np.indices(ids.shape)
    loss = -np.log(prob_out[rows[0], rows[1], targets]).mean()

    g = prob_out.copy()
    g[rows[0], rows[1], targets] -= 1
    g /= ids.size
    grads["0.0.0.0:weight"] += flat(g).T @ flat(n)
    g, grads[last] = rms_back(x, w[last], r, g @ table)
    for b in reversed(range(BLOCKS)):
        g = block_back(w, grads, b, tape[b], g)
    np.add.at(grads["0.0.0.0:weight"], ids, g)
    return loss, grads


# --- cases
# ------------------------------------------------------------------------------
def cells(*items):
    return [{"at": [0, 0, 0, i], **c} for i, c in enumerate(items)]


def topology(inputs, *items):
    return {"format": "loom-topology", "version": 1, "layers_per_cell": len(items), "input": inputs,
            "cells": cells(*items)}


def cases():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((50, 5)).astype("f4")
    y = np.stack([np.sin(x[:, 0] * x[:, 1]), x[:, 2] ** 2 - x[:, 3], np.tanh(x[:, 4])],
                 1).astype("f4")
    net = topology({"width": 5}, {"type": "dense", "out": 16, "activation": "tanh"},
                   {"type": "dense", "out": 16, "activation": "silu"}, {"type": "dense", "out": 3})
    arrays = {"x": x.ravel().tolist(), "width": 5, "y": y.ravel().tolist(), "targets": 3}

    def rows(step):
        at = (np.arange(BATCH) + step * BATCH) % 50
        return x[at].astype("f8"), y[at].astype("f8")

    base = {"format": "loom-training", "version": 2, "network": net, "loss": "mse", "steps": STEPS,
            "batch": BATCH, "shuffle": False, "seed": 11}
    yield "mlp, mse, sgd with momentum", {**base, "optimizer": {"type": "sgd", "momentum": 0.9},
                                          "schedule": {"type": "constant",
                                                       "lr": 0.02}}, arrays, mlp, rows
    yield ("mlp, mse, adamw with decay and clip",
           {**base, "micro_batches": 4,
            "optimizer": {"type": "adamw", "weight_decay": 0.1, "clip_norm": 0.5},
           "schedule": {"type": "constant", "lr": 0.01}}, arrays, mlp, rows)

    vocabulary, length = 37, 12
    ids = [0]
    for i in range(40 * length):
        ids.append((ids[-1] * 5 + 3 + int(rng.integers(3))) % vocabulary)
    ids = np.array(ids)
    block = {"type": "sequential", "layers": [
        {"type": "sequential",
         "layers": [{"type": "rms_norm"},
                    {"type": "attention", "heads": HEADS, "kv_heads": KV_HEADS}]},
                      {"type": "residual"},
        {"type": "sequential", "layers": [{"type": "rms_norm"}, {"type": "swiglu", "hidden": 40}]},
        {"type": "residual"}]}
    net = topology({"ids": vocabulary}, {"type": "embedding", "out": HEADS * DIM, "std": 0.3},
                   block, block, {"type": "rms_norm"},
                   {"type": "dense", "out": vocabulary, "bias": False, "tie": "0.0.0.0:weight"})
    spec = {**base, "network": net, "loss": "cross_entropy",
            "optimizer": {"type": "adamw", "weight_decay": 0.05, "clip_norm": 1.0},
            "schedule": {"type": "cosine", "lr": 0.01, "warmup": 10, "floor": 0.001}}

    def sequences(step):
        at = ((np.arange(BATCH) + step * BATCH) % 40)[:, None] * length + np.arange(length)
        return ids[at], ids[at + 1]

    data = {"ids": ids.tolist(), "length": length}
    yield "decoder, cross-entropy, adamw, warm-up and cosine", spec, data, decoder, sequences


def main(driver):
    failed = False
    for name, spec, data, model, batch in cases():
        with tempfile.NamedTemporaryFile("w", suffix=".json") as job:
            json.dump({"spec": spec, "data": data}, job)
            job.flush()
            got = json.loads(subprocess.run([driver, job.name], check=True,
                                            stdout=subprocess.PIPE).stdout)
        w = {}
        widths = {"mlp": {"0.0.0.0": 5, "0.0.0.1": 16, "0.0.0.2": 16},
                  "decoder": {}}[model.__name__]
        for key, values in got["initial"].items():
            path, role = key.split(":")
            columns = len(values) if role in ("bias",
                                              "gain") else 40 if role == "down" else widths.get(
                                              path, HEADS * DIM)
            w[key] = np.array(values, "f8").reshape(-1, columns)
        optimizer, worst, first, last = Optimizer(spec["optimizer"]), 0.0, None, None
        for step in range(STEPS):
            loss, grads = model(w, *batch(step))
            worst = max(worst, abs(loss - got["losses"][step]))
            first, last = first if step else loss, loss
            optimizer.step(w, grads, rate(spec["schedule"], step + 1), step + 1)
        weights = max(float(np.abs(np.array(got["final"][k]) - v.ravel()).max()) for k,
                      v in w.items())
        ok = len(got["losses"]) == STEPS and worst < 1e-4 and last < first
        failed |= not ok
        print(f"{'ok  ' if ok else 'FAIL'} {name}: loss {first:.4f} -> {last:.4f}, largest "
              f"difference {worst:.1e} in losses, {weights:.1e} in final weights")
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("driver")
    sys.exit(main(parser.parse_args().driver))
