"""Prints the table of src/llm/generate/sampler_test.cpp: picks of an independent sampler in NumPy,
f64 and plain loops.

usage: sampler.py
"""
import numpy as np

STREAM = 0x73616D706C65


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def uniform(seed, index):
    block = index // 4
    words = philox([block & 0xFFFFFFFF, block >> 32, STREAM & 0xFFFFFFFF, STREAM >> 32],
                   [seed & 0xFFFFFFFF, seed >> 32])
    return words[index % 4] / 2.0**32


def pick(logits, history, index, temperature, top_k, top_p, min_p, penalty, seed):
    x = logits.astype(np.float64).copy()
    for i in set(history):
        x[i] = x[i] / penalty if x[i] > 0 else x[i] * penalty
    if temperature == 0:
        return int(np.argmax(x))
    p = np.exp((x - x.max()) / temperature)
    order = sorted(range(len(p)), key=lambda i: (-p[i], i))
    if top_k:
        order = order[:top_k]
    total, kept, before = sum(p[i] for i in order), [], 0.0
    for i in order:
        if kept and before >= top_p * total:
            break
        kept.append(i)
        before += p[i]
    kept = [i for i in kept if p[i] >= min_p]
    target, sum_ = uniform(seed, index) * sum(p[i] for i in kept), 0.0
    for i in kept:
        sum_ += p[i]
        if sum_ > target:
            return i
    return kept[-1]


# Many ties: 1000 tokens share 641 values.
logits = np.array([((i * 7919) % 641 - 320) / 32 for i in range(1000)])
history = [(i * 37) % 1000 for i in range(40)]
for temperature, top_k, top_p, min_p, penalty, seed in [
    (1, 0, 1, 0, 1, 0), (0.7, 0, 1, 0, 1, 0), (1, 5, 1, 0, 1, 7), (2, 0, 0.9, 0, 1, 1),
    (1.5, 0, 1, 0.05, 1, 2), (1, 0, 1, 0, 1.3, 3),
    (3, 200, 0.8, 0.02, 1.1, 1 << 40), (100, 0, 0.999, 0, 1, 9), (0, 0, 1, 0, 1, 0),
    (0, 0, 1, 0, 2, 0), (1, 1, 1, 0, 1, 5), (1, 0, 1e-6, 0, 1, 5),
]:
    picks = [pick(logits, history, index, temperature, top_k, top_p, min_p, penalty, seed)
             for index in range(12)]
    print("    {{%g, %d, %g, %g, %g, %dull}, {%s}},"
          % (temperature, top_k, top_p, min_p, penalty, seed, ", ".join(map(str, picks))))
