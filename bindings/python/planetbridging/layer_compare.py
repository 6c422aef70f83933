"""A model's layers beside those of its network: which is the first one that differs."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from .compare import FP32_PASS_TOLERANCE, compare_outputs, diff_label


class LayerDifference(NamedTuple):
    """One layer: its name in the model, the label, the differences."""

    name: str
    label: str
    max_abs_diff: float
    mean_abs_diff: float
    native_shape: Tuple[int, ...]
    loom_shape: Tuple[int, ...]


class LayerComparison:
    """All layers in the order in which the network runs them.

    layers      LayerDifferences
    first       the first one that is a DIFF, or None
    label       EXACT where all are, DIFF where one is, else PASS
    missing     names of the model that no cell of the network has, or none with as many numbers:
                what several layers became together
    """

    def __init__(self, layers: List[LayerDifference], missing: List[str]) -> None:
        self.layers, self.missing = layers, missing
        self.first: Optional[LayerDifference] = next(
            (layer for layer in layers if layer.label == "DIFF"), None)
        labels = {layer.label for layer in layers}
        self.label = "DIFF" if "DIFF" in labels else "PASS" if "PASS" in labels else "EXACT"

    def to_dict(self) -> Dict[str, Any]:
        """As JSON has it, for dashboards."""
        return {"label": self.label, "first": self.first.name if self.first else None,
                "missing": self.missing, "layers": [layer._asdict() for layer in self.layers]}

    def __str__(self) -> str:
        wide = max([5] + [len(layer.name) for layer in self.layers])
        lines = ["%-*s  %-5s  max=%.3e  mean=%.3e%s" % (
            wide, layer.name, layer.label, layer.max_abs_diff, layer.mean_abs_diff,
            "   <- the first that differs" if layer is self.first else "")
            for layer in self.layers]
        lines += ["%-*s  has no cell of its size" % (wide, name) for name in self.missing]
        return "\n".join(lines)


Place = Tuple[int, int, int, int]


def _cells_of(topology: Mapping[str, Any], names: Iterable[str]) -> Dict[str, List[Place]]:
    """The cells of each module, its own and those of what is inside it, the last one first."""
    found: Dict[str, List[Place]] = {}
    cells = sorted(topology["cells"], key=lambda cell: list(cell["at"]), reverse=True)
    for name in names:
        for cell in cells:
            own = str(cell.get("name", ""))
            if own and (own == name or own.startswith(name + ".")):
                at = cell["at"]
                found.setdefault(name, []).append((at[0], at[1], at[2], at[3]))
    return found


def _tapped(network: Any, places: Mapping[str, Place]) -> Any:
    """The same network with the outputs of these cells as its own, side by side."""
    import welvet
    topology = network.topology
    depth = int(topology.get("depth", 1))
    last: Dict[str, Any] = {"at": [depth, 0, 0, 0],
                            "links": [{"read": list(place)} for place in places.values()]}
    if len(places) > 1:
        last["merge"] = "operands"
        topology["outputs"] = ["tap%d" % i for i in range(len(places))]
    else:
        topology.pop("outputs", None)
    topology["depth"] = depth + 1
    topology["cells"] = list(topology["cells"]) + [last]
    tapped = welvet.Network(topology, seed=None)
    for parameter in network.parameters:
        tapped.set(parameter.name, network.get(parameter.name, np.float64))
    return tapped


def cell_outputs(network: Any, places: Mapping[str, Place], x: Any) -> Dict[str, np.ndarray]:
    """What cells make of x, as network(x) takes it: [samples, ...] by name."""
    if not places:
        return {}
    tapped = _tapped(network, places)
    try:
        made = tapped(x)
    finally:
        tapped.close()
    if len(places) == 1:
        return {next(iter(places)): np.asarray(made)}
    return {name: np.asarray(made["tap%d" % i]) for i, name in enumerate(places)}


def torch_layer_outputs(module: Any, *inputs: Any) -> Dict[str, np.ndarray]:
    """What each submodule of a torch.nn.Module makes, by its path, from forward hooks; those that
    return no tensor are left out, a module that runs again has its last output."""
    import torch
    made: Dict[str, np.ndarray] = {}
    hooks = []

    def hook(name: str) -> Any:
        def keep(_module: Any, _inputs: Any, output: Any) -> None:
            if isinstance(output, (tuple, list)) and output:
                output = output[0]
            if isinstance(output, torch.Tensor):
                made[name] = output.detach().cpu().numpy().copy()
        return keep

    for name, submodule in module.named_modules():
        if name:
            hooks.append(submodule.register_forward_hook(hook(name)))
    training = module.training
    try:
        module.eval()
        with torch.no_grad():
            module(*(torch.as_tensor(x) for x in inputs))
    finally:
        module.train(training)
        for one in hooks:
            one.remove()
    return made


def compare_layers(native: Any, network: Any, *inputs: Any,
                   tolerance: float = FP32_PASS_TOLERANCE) -> LayerComparison:
    """Compares layer by layer.

    native   the model's outputs by layer, {name: [samples, ...]}, or a torch.nn.Module
    network  a welvet.Network with named cells, or what from_torch() and the others return
    inputs   the model's

    A layer's name is its path in the model; of one that became several cells the last one with as
    many numbers counts. Raises ValueError where no name is in both.
    """
    absorbed = network if hasattr(network, "topology") and hasattr(network, "rows") else None
    if not isinstance(native, Mapping):
        native = torch_layer_outputs(native, *inputs)
    loom = network if absorbed is None else absorbed.network()
    x: Any = inputs[0] if len(inputs) == 1 else inputs
    if absorbed is not None:
        x = absorbed.rows(*(np.asarray(one) for one in inputs))
    places = _cells_of(loom.topology, native)
    if not places:
        raise ValueError("no cell of the network has the name of one of the layers: %s"
                         % ", ".join(map(str, native)))
    every = {str(list(place)): place for held in places.values() for place in held}
    made = cell_outputs(loom, every, x)
    chosen: Dict[str, Place] = {}
    for name, held in places.items():
        fits = [place for place in held
                if made[str(list(place))].size == np.asarray(native[name]).size]
        if fits:
            chosen[name] = fits[0]
    layers = [_difference(name, np.asarray(native[name]), made[str(list(place))], tolerance)
              for name, place in sorted(chosen.items(), key=lambda item: item[1])]
    return LayerComparison(layers, [str(name) for name in native if name not in chosen])


def _difference(name: str, native: np.ndarray, loom: np.ndarray,
                tolerance: float) -> LayerDifference:
    largest, mean, exact = compare_outputs(native.reshape(-1), loom.reshape(-1))
    return LayerDifference(name, diff_label(largest, exact=exact, tolerance=tolerance), largest,
                           mean, native.shape, loom.shape)
