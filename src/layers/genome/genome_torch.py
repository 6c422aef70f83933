"""genome in PyTorch, for tests/parity/pytorch/torch_random.py."""
import torch

FUNCTIONS = {
    "linear": lambda x: x, "sigmoid": torch.sigmoid,
    "steep_sigmoid": lambda x: torch.sigmoid(4.9 * x),
    "tanh": torch.tanh, "relu": torch.relu, "gaussian": lambda x: torch.exp(-(x * x)),
    "sin": torch.sin, "abs": torch.abs}


def config(r, behind_dense):
    """A random configuration (tests/parity/pytorch/torch_configs.py)."""
    inputs, nodes, ticks = r.randint(1, 5), r.randint(1, 12), r.choice([0, 0, r.randint(1, 4)])
    # In runs, as evolution writes them, so that several nodes are computed together.
    kinds = r.sample(sorted(set(FUNCTIONS) - {"relu", "abs"}), 2)
    activations = [r.choice(kinds) for _ in range(nodes)]
    edges = []
    for _ in range(r.randint(0, 3 * nodes)):
        to = r.randrange(inputs, inputs + nodes)
        edges += [r.randrange(inputs + nodes if ticks else to), to]
    return behind_dense("genome", {"out": r.randint(1, nodes), "activations": activations,
                                   "edges": edges, "ticks": ticks}, [inputs])


def forward(model, cell, path, x, dims):
    """Output and its dimensions; model.p(path, role) is a parameter. PyTorch differentiates."""
    inputs, kinds, edges = x.shape[-1], cell["activations"], cell["edges"]
    bias = model.p(path, "bias").reshape(-1)
    weight = model.p(path, "weight").reshape(-1) if edges else None
    ticks = cell.get("ticks", 0)
    values = [x[..., i] for i in range(inputs)] + [torch.zeros_like(x[..., 0])] * len(kinds)
    for _ in range(max(ticks, 1)):
        read = list(values) if ticks else values
        for n, kind in enumerate(kinds):
            total = bias[n].expand_as(x[..., 0])
            for e in range(len(edges) // 2):
                if edges[2 * e + 1] == inputs + n:
                    total = total + weight[e] * read[edges[2 * e]]
            values[inputs + n] = FUNCTIONS[kind](total)
    return torch.stack(values[len(values) - cell["out"]:], -1), list(dims[:-1]) + [cell["out"]]
