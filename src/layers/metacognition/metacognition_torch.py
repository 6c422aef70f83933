"""metacognition in PyTorch, for tests/parity/pytorch/torch_random.py."""


def config(r, behind_dense):
    """A random configuration (tests/parity/pytorch/torch_configs.py): a layer, what acts
    appended, a gate, and rules, which no plain pass evaluates."""
    width, out = r.randint(2, 8), r.randint(2, 8)
    layers = [{"type": "dense", "out": out, "activation": r.choice(["tanh", "silu", "linear"])}]
    if r.random() < 0.3:
        layers = [{"type": "metacognition", "layers": layers, "gate": 0.5}]
    if r.random() < 0.5:
        layers.append({"type": "rms_norm"})
    settings = {"layers": layers}
    if r.random() < 0.5:
        settings["gate"] = r.choice([0.25, 0.75, 1.0])
    if r.random() < 0.5:
        settings["rules"] = [{"when": "std", "below": 1e-9, "do": "freeze"}]
    return behind_dense("metacognition", settings, [width])


def forward(model, cell, path, x, dims):
    """Output and its dimensions."""
    for i, child in enumerate(cell["layers"]):
        x, dims = model.layer(child, f"{path}/{i}", x, dims)
    return x * cell.get("gate", 1.0), dims
