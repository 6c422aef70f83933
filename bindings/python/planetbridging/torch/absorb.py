"""from_torch: a module's exported graph, node by node, as cells."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ..errors import Unmapped
from ..graph import Absorbed, Batch, Constant, Graph, Value
from . import circular, elementwise, layers, modules, over, products, shapes  # noqa: F401
from .export import Dynamic, Exported
from .layers import projects
from .opened import Opened
from .walk import IGNORED, Walk, array_of, rule_of
from .export import base_name


def from_torch(module: Any, args: Any, kwargs: Optional[Dict[str, Any]] = None, *,
               dynamic: Dynamic = 0, dynamic_shapes: Any = None, names: Sequence[str] = (),
               optimizer: Any = None, loss: Any = None, scheduler: Any = None) -> Absorbed:
    """A torch.nn.Module as a network of Loom, from the graph that torch.export takes of it in eval
    mode (PyTorch 2.1 or later; dropout stays for training).

    args, kwargs  example inputs, tensors of any number of samples
    dynamic       the axis of each input that holds the batch: 0, another one, {name: axis} where
                  they differ, None where an input has none
    dynamic_shapes  other axes that are open up to a maximum, as torch.export takes them:
                  {"x": {1: torch.export.Dim("length", max=64)}}, or a tuple in the inputs' order
    names         of the outputs, in the order in which the module returns them
    optimizer, loss, scheduler  what trains it: fills `training` and `moments()`

    Parameters keep their names, and weights() reads the module's present ones. Raises Unmapped for
    what no layer computes, with the module's path and the operator, and ImportError without
    PyTorch.
    """
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    exported = Exported(module, args, dict(kwargs or {}), dynamic, _known, dynamic_shapes)
    graph = Graph()
    walk = Walk(exported, graph)
    if exported.sizes is not None:
        walk.opened = Opened(walk)
    reader = Reader(module, exported)
    outputs, structure = _walked(walk, reader, names)
    absorbed = Absorbed(graph, outputs, reader, structure=structure,
                        metadata={"framework": "torch %s" % exported.torch.__version__})
    if walk.opened is not None:
        absorbed.lengths = walk.opened.described(
            [node for node, value in walk.results if isinstance(value, (Value, Constant))])
    walk.unfaithful += absorbed.overlaps()
    if walk.unfaithful:
        absorbed.metadata["trains_differently"] = list(dict.fromkeys(walk.unfaithful))
    if optimizer is not None or loss is not None:
        from .training import take_training
        take_training(absorbed, reader, optimizer, loss, scheduler)
    return absorbed


def _known(node: Any) -> bool:
    if base_name(node) == "lstm" and projects(node):
        return False
    return (rule_of(node) is not None or base_name(node) in IGNORED
            or "aten." not in str(node.target) and "planetbridging" not in str(node.target))


class Reader:
    """The module's tensors by name, as they are when they are asked for."""

    def __init__(self, module: Any, exported: Exported) -> None:
        self.module, self.torch = module, exported.torch
        self.constants = dict(exported.program.constants)
        self.tensors = self._tensors()
        first: Dict[int, str] = {}
        for name, tensor in self.tensors.items():
            first.setdefault(id(tensor), name)
        self.alias = {name: first[id(t)] for name, t in self.tensors.items()}

    def _tensors(self) -> Dict[str, Any]:
        made = dict(self.module.named_parameters(remove_duplicate=False))
        made.update(self.module.named_buffers(remove_duplicate=False))
        return made

    def __call__(self, name: str) -> np.ndarray:
        found = self._tensors().get(name)
        return array_of(self.torch, self.constants[name] if found is None else found)

    def names(self) -> List[str]:
        """Those of the module's state_dict, in its order."""
        return [str(name) for name in self.module.state_dict()]

    def constant(self, name: str, learns: bool) -> Constant:
        name = self.alias.get(name, name)
        tensor = self.tensors.get(name)
        trains = learns and tensor is not None and bool(tensor.requires_grad)
        return Constant.named(name, self(name), trains)


def _walked(walk: Walk, reader: Reader, names: Sequence[str]) -> Tuple[
        List[Tuple[str, Value]], Callable[[List[np.ndarray]], Any]]:
    program = walk.exported.program
    signature = program.graph_signature
    learned: Dict[str, str] = dict(signature.inputs_to_parameters)
    buffers: Dict[str, str] = dict(signature.inputs_to_buffers)
    lifted = dict(getattr(signature, "inputs_to_lifted_tensor_constants", {}))
    nodes = list(program.graph.nodes)
    uses: Dict[str, int] = {}
    for node in nodes:
        if node.name in learned:
            name = reader.alias[learned[node.name]]
            uses[name] = uses.get(name, 0) + len(node.users)
    walk.g.repeated = {name for name, n in uses.items() if n > 1}
    for node in nodes:
        if node.op != "placeholder":
            continue
        if node.name in learned:
            walk.env[node] = reader.constant(learned[node.name], True)
        elif node.name in buffers or node.name in lifted:
            walk.env[node] = reader.constant(buffers.get(node.name) or lifted[node.name], False)
        else:
            walk.env[node] = _input(walk, node)
    if walk.opened is not None:
        walk.opened.inputs()
    for node in nodes:  # what is known, first: masks tell what a module is
        if node.op == "call_function" and node in walk.live and (
                walk.opened is not None and walk.is_size(node) or all(
                    n in walk.env and walk._known(walk.env[n]) for n in node.all_input_nodes)):
            walk.run(node)
    groups = modules.groups(walk, nodes)
    for node in nodes:
        if node.op == "call_function" and node in walk.live:
            if node in groups and not walk.is_size(node):  # sizes are other modules', too
                groups[node].run(walk, node)
            elif node not in walk.env:
                walk.run(node)
        elif node.op in ("get_attr", "call_module", "call_method"):
            raise Unmapped("", "%s %s" % (node.op, node.target))
    return _outputs(walk, nodes[-1], names)


def _input(walk: Walk, node: Any) -> Any:
    value = node.meta.get("val")
    if not isinstance(value, walk.torch.Tensor):
        return value
    shape = tuple(n if isinstance(n, int) else Batch() for n in value.shape)
    if all(isinstance(n, int) for n in value.shape):
        raise Unmapped("the input " + node.name, "an input without an axis for the batch",
                       "networks run rows of samples: give examples that have one (x[None] is a "
                       "batch of one), and its axis as dynamic; what is the same for all samples "
                       "is a buffer of the module")
    if value.dtype.is_complex:
        raise Unmapped("the input " + node.name, "complex numbers")
    ids = 0
    if not value.dtype.is_floating_point and value.dtype != walk.torch.bool:
        ids = _table(node)
    return walk.g.input(node.name, shape, ids)


def _table(node: Any) -> int:
    """Rows of the smallest embedding that the ids go into as they are."""
    found: List[int] = []
    for user in node.users:
        if base_name(user) == "embedding" and user.args[1] is node:
            found.append(int(user.args[0].meta["val"].shape[0]))
        elif base_name(user) in ("transpose", "view", "unsqueeze", "squeeze", "t", "reshape",
                                 "_to_copy", "to", "clone", "alias"):
            below = _table(user)
            found += [below] if below else []
    return min(found) if found else 0


def _outputs(walk: Walk, output: Any, names: Sequence[str]) -> Any:
    walk.node, walk.g.where = output, ""
    flat = list(output.args[0])
    given = list(names) or ["output_%d" % i if len(flat) > 1 else "output"
                            for i in range(len(flat))]
    if len(given) != len(flat):
        raise ValueError("names: %d, the module returns %d" % (len(given), len(flat)))
    made: List[Tuple[str, Value]] = []
    fixed: Dict[int, Any] = {}
    for i, (name, node) in enumerate(zip(given, flat)):
        result = walk._resolved(node)
        if walk.opened is not None:
            result = walk.opened.output(node, result)
        walk.results.append((node, result))
        if isinstance(result, (Value, Constant)):
            made.append((name, walk.g.value(result)))
        else:
            fixed[i] = result
    if not made:
        raise Unmapped("", "a module that returns no tensor")
    spec = walk.exported.program.call_spec.out_spec

    def structure(rows: List[np.ndarray]) -> Any:
        left = iter(rows)
        return walk.torch.utils._pytree.tree_unflatten(
            [fixed[i] if i in fixed else next(left) for i in range(len(flat))], spec)

    return made, structure
