"""Networks of several engines as one, which trains on."""
from __future__ import annotations

from typing import Any, Dict, List, Sequence

import numpy as np

_HOW = ("branches", "sequence", "experts")


def _network(one: Any, k: int) -> Any:
    import welvet
    if isinstance(one, welvet.Network):
        return one
    if hasattr(one, "network"):
        return one.network()
    raise TypeError("merge: item %d is a %s, expects what from_torch() and the others return, or a "
                    "welvet.Network" % (k, type(one).__name__))


def _unnamed(network: Any) -> Any:
    """A network of one named input as one of an input without a name: engines name theirs
    differently, and a merged network hands the same numbers to all."""
    import welvet
    topology = network.topology
    parts = topology["input"].get("parts")
    if not parts or len(parts) > 1:
        return network
    topology["input"] = {key: value for key, value in parts[0].items() if key != "name"}
    dims = topology["input"].get("dims")
    cells = []
    for cell in topology["cells"]:
        if cell.get("type") == "part" and cell.get("of"):
            cell = {key: value for key, value in cell.items() if key not in ("of", "index", "type")}
            if dims and "ids" not in parts[0]:
                cell.update(type="reshape", dims=dims)
        cells.append(cell)
    topology["cells"] = cells
    made = welvet.Network(topology, seed=None)
    _fill(made, network, 0)
    return made


def _fill(target: Any, source: Any, planes: int) -> None:
    for parameter in source.parameters:
        target.set(_moved(parameter.name, planes), source.get(parameter.name, np.float64))


def _moved(name: str, planes: int) -> str:
    first, rest = name.split(".", 1)
    return "%d.%s" % (int(first) + planes, rest)


def _moved_links(value: Any, planes: int) -> Any:
    """A cell, or a layer inside it, with the places that it names further back."""
    if not isinstance(value, dict):
        return value
    made = dict(value)
    for key, held in value.items():
        if key == "links":
            made[key] = [{way: [at[0] + planes, *at[1:]] for way, at in link.items()}
                         for link in held]
        elif key == "layers":
            made[key] = [_moved_links(layer, planes) for layer in held]
        elif key == "tie":
            made[key] = _moved(held, planes)
        elif key == "at":
            made[key] = [held[0] + planes, *held[1:]]
    return made


def _joins(k: int, before: Any, network: Any) -> None:
    """Network k takes what the one before makes."""
    given, made = network.info["input"], before.info["output"]
    if "ids" in given or given.get("parts"):
        raise ValueError("merge: network %d takes %s, and the one before it hands on numbers"
                         % (k, "ids" if "ids" in given else "several inputs"))
    if before.info["output"].get("parts"):
        raise ValueError("merge: network %d has several outputs" % (k - 1))
    if given["width"] != made["width"]:
        raise ValueError("merge: network %d takes %d numbers, network %d makes %d"
                         % (k, given["width"], k - 1, made["width"]))


def _sequence(networks: Sequence[Any]) -> Any:
    """The planes of one behind those of the other."""
    import welvet
    topologies = [network.topology for network in networks]
    if any(t.get("step_mesh") for t in topologies):
        raise ValueError("merge: a step mesh runs in ticks, and a sequence in one pass")
    cells: List[Dict[str, Any]] = []
    firsts, planes = [], 0
    for k, (network, topology) in enumerate(zip(networks, topologies)):
        if k:
            _joins(k, networks[k - 1], network)
            dims = network.info["input"].get("dims")
            if dims and list(dims) != list(networks[k - 1].info["output"].get("dims") or []):
                cells.append({"at": [planes, 0, 0, 0], "type": "reshape", "dims": list(dims)})
                planes += 1
        firsts.append(planes)
        cells += [_moved_links(cell, planes) for cell in topology["cells"]]
        planes += int(topology.get("depth", 1))
    merged = {key: value for key, value in topologies[0].items() if key not in ("cells", "outputs")}
    merged.update(depth=planes, cells=cells)
    for key in ("rows", "cols", "layers_per_cell", "version"):
        merged[key] = max(int(topology.get(key, 1)) for topology in topologies)
    if "outputs" in topologies[-1]:
        merged["outputs"] = topologies[-1]["outputs"]
    made = welvet.Network(merged, seed=None)
    for first, network in zip(firsts, networks):
        _fill(made, network, first)
    return made


def merge(items: Sequence[Any], how: str = "branches", **options: Any) -> Any:
    """One welvet.Network of several: of what from_torch() and the others return, or Networks.

    how       "branches": each sees the input, their outputs stand side by side (`combine`: concat,
              add, avg; `stitch` brings other widths to the first's); "sequence": each takes what
              the one before makes; "experts": each sees the input, and a learned gate, which begins
              with equal shares, weights their outputs
    options   of Network.graft: combine, stitch, residual, softmax

    Weights are those that the items have now; the merged network trains on as any other. Raises
    ValueError with what does not fit.
    """
    if how not in _HOW:
        raise ValueError("how: expects one of %s, got %r" % (", ".join(_HOW), how))
    if len(items) < 2:
        raise ValueError("merge: expects two networks or more, got %d" % len(items))
    import welvet
    networks = [_unnamed(_network(one, k)) for k, one in enumerate(items)]
    if how == "sequence":
        if options:
            raise TypeError("merge: a sequence has no options, got %s" % ", ".join(options))
        return _sequence(networks)
    if how == "experts":
        if options.get("combine", "gated") != "gated":
            raise ValueError("merge: experts are combined by their gate, got combine=%r"
                             % options["combine"])
        options["combine"] = "gated"
    elif options.get("combine") == "gated":
        raise ValueError('merge: combine="gated" is how="experts"')
    return welvet.Network.graft(networks, **options)
