"""trees in PyTorch, for tests/parity/pytorch/torch_random.py."""
import base64
import struct

import torch


def bits_of(features):
    return (features - 1).bit_length()


def grow(r, features, nodes, thresholds):
    """A tree, its nodes level by level; returns how many it has."""
    b, level, size = bits_of(features), [r.randint(0, 4)], 1
    while level:
        below, first = [], size
        inner = [depth > 0 and r.random() < 0.8 for depth in level]
        at = first - len(level)
        for depth, splits in zip(level, inner):
            if splits:
                nodes.append(first + len(below) - at << b + 1 | r.randint(0, 1) << b
                             | r.randrange(features))
                thresholds.append(r.uniform(-0.7, 0.7))
                below += [depth - 1] * 2
            else:
                nodes.append(0)
            at += 1
        size, level = size + len(below), below
    return size


def config(r, behind_dense):
    """A random configuration (tests/parity/pytorch/torch_configs.py)."""
    features, outputs, single = r.randint(1, 6), r.randint(1, 4), r.random() < 0.5
    nodes, thresholds = [], []
    sizes = [grow(r, features, nodes, thresholds)
             for _ in range(r.randint(1, 4) * outputs if single else r.randint(1, 12))]
    return behind_dense("trees", {
        "features": features, "outputs": outputs, "sizes": sizes, "single": single,
        "average": r.random() < 0.5,
        "nodes": base64.b64encode(struct.pack(f"<{len(nodes)}I", *nodes)).decode(),
        "thresholds": base64.b64encode(
            struct.pack(f"<{len(thresholds)}f", *thresholds)).decode()}, [features])


def forward(model, cell, path, x, dims):
    """Output and its dimensions. Nothing of it is learned."""
    features, outputs, sizes = cell["features"], cell.get("outputs", 1), cell["sizes"]
    words = base64.b64decode(cell["nodes"])
    nodes = struct.unpack(f"<{len(words) // 4}I", words)
    words = base64.b64decode(cell["thresholds"])
    thresholds = iter(struct.unpack(f"<{len(words) // 4}f", words))
    thresholds = [next(thresholds) if word else None for word in nodes]
    leaves = [0]
    for word in nodes:
        leaves.append(leaves[-1] + (word == 0))
    values, base = model.p(path, "values").detach(), model.p(path, "base").detach().reshape(-1)
    b, rows = bits_of(features), []
    for row in x.detach():
        total, root = base.clone(), 0
        for t, size in enumerate(sizes):
            at = root
            while nodes[at]:
                value = float(row[nodes[at] & (1 << b) - 1])
                model.margin = min(model.margin, abs(value - thresholds[at]))
                at += (nodes[at] >> b + 1) + (value > thresholds[at])
            if cell.get("single"):
                total[t % outputs] += values[leaves[at], 0]
            else:
                total += values[leaves[at]]
            root += size
        if cell.get("average"):
            total /= len(sizes) // outputs if cell.get("single") else len(sizes)
        rows.append(total)
    return torch.stack(rows) + 0 * x.sum(-1, keepdim=True), [outputs]
