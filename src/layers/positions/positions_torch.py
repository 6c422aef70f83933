"""positions in PyTorch, for tests/parity/torch_random.py."""


def config(r, behind_dense):
    """A random configuration (tests/parity/torch_configs.py)."""
    steps = r.randint(1, 7)
    cell = {"count": steps + r.randint(0, 3)} if r.random() < 0.5 else {}
    return behind_dense("positions", cell, [steps, r.randint(1, 6)], version=2)


def forward(model, cell, path, x, dims):
    """Output and its dimensions."""
    steps, width = dims
    return (x.reshape(-1, steps, width) + model.p(path, "weight")[:steps]).reshape(len(x), -1), dims
