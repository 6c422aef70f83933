"""positions in PyTorch, for tests/parity/pytorch/torch_random.py."""
import torch


def config(r, behind_dense):
    """A random configuration (tests/parity/pytorch/torch_configs.py)."""
    steps = r.randint(1, 7)
    if r.random() < 0.4:
        return behind_dense("positions", {"kind": "sinusoidal"}, [steps, 2 * r.randint(1, 4)],
                            version=2)
    cell = {"count": steps + r.randint(0, 3)} if r.random() < 0.5 else {}
    return behind_dense("positions", cell, [steps, r.randint(1, 6)], version=2)


def sines(steps, width):
    """As the paper has them."""
    angle = torch.arange(steps)[:,
                                None] / 10000 ** (torch.arange(0, width, 2, dtype=torch.float64)
                                / width)
    return torch.stack([angle.sin(), angle.cos()], -1).reshape(steps, width)


def forward(model, cell, path, x, dims):
    """Output and its dimensions."""
    steps, width = dims
    table = sines(steps, width) if cell.get("kind") == "sinusoidal" else model.p(path,
            "weight")[:steps]
    return (x.reshape(-1, steps, width) + table).reshape(len(x), -1), dims
