"""Weights of a network under the names of another program: a .safetensors file like a template."""
from __future__ import annotations

import json
import os
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .network import Network, Path

Shapes = Dict[str, Tuple[int, ...]]
# Roles of parameters here, and the last part of their names there.
ROLES = {"weight": "weight", "gain": "weight", "bias": "bias", "running_mean": "running_mean",
         "running_var": "running_var"}
COUNTERS = "num_batches_tracked"
HEADER = 100_000_000  # bytes, the format's limit


def shapes_of(template: Union[Path, Mapping[str, Any]]) -> Tuple[Shapes, bool]:
    """Names and shapes of a template: a .safetensors file, or a mapping to arrays, such as a
    state_dict; and whether they are in the order of the layers, which a file's are not."""
    if isinstance(template, Mapping):
        given: Dict[str, Any] = {str(name): getattr(a, "shape", a) for name, a in template.items()}
        return {name: tuple(int(n) for n in shape) for name, shape in given.items()}, True
    with open(template, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if size > HEADER:
            raise ValueError("%s: no .safetensors file" % os.fspath(template))
        try:
            header = json.loads(file.read(size))
            shapes = {str(name): tuple(int(n) for n in tensor["shape"])
                      for name, tensor in header.items() if name != "__metadata__"}
        except (ValueError, TypeError, KeyError, AttributeError):
            raise ValueError("%s: no .safetensors file" % os.fspath(template)) from None
    return shapes, False


def write(path: Path, tensors: Mapping[str, np.ndarray],
          metadata: Optional[Mapping[str, str]] = None) -> None:
    """A .safetensors file of f32: the old content or the new."""
    header: Dict[str, Any] = {"__metadata__": dict(metadata or {"format": "pt"})}
    kinds = {"float32": "F32", "float64": "F64", "float16": "F16", "int64": "I64", "int32": "I32",
             "uint8": "U8", "int8": "I8", "bool": "BOOL"}
    arrays: List[np.ndarray] = []
    at = 0
    for name, given in tensors.items():
        array = np.asarray(given)
        shape = list(array.shape)
        array = np.ascontiguousarray(array)
        if array.dtype.name not in kinds:
            raise ValueError("%s: %s is no type of .safetensors" % (name, array.dtype))
        header[name] = {"dtype": kinds[array.dtype.name], "shape": shape,
                        "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
        arrays.append(array)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    temporary = "%s.tmp-%d" % (os.fspath(path), os.getpid())
    try:
        with open(temporary, "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for array in arrays:
                file.write(array.astype(array.dtype.newbyteorder("<")).tobytes())
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


class Group:
    """The parameters of a layer here, or of a module there: the name's ending to name and shape.
    Shapes of vectors are those of one dimension; others are rows and what a row has."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.members: Dict[str, Tuple[str, int, int]] = {}

    @property
    def signature(self) -> Tuple[Tuple[str, int, int], ...]:
        return tuple(sorted((end, rows, cols) for end, (_, rows, cols) in self.members.items()))


def flat_shape(shape: Sequence[int]) -> Tuple[int, int]:
    if len(shape) < 2:
        return 1, int(np.prod(shape))
    return int(shape[0]), int(np.prod(shape[1:]))


def groups_here(network: Network) -> List[Group]:
    made: Dict[str, Group] = {}
    for p in network.parameters:
        if p.tied:
            continue
        if p.role not in ROLES:
            raise ValueError("%s: a template has no place for parameters of this kind; those of "
                             "dense, convolutional, embedding and norm layers go there" % p.name)
        group = made.setdefault(p.path, Group(p.path))
        group.members[ROLES[p.role]] = (p.name, p.rows, p.cols)
    return list(made.values())


def groups_there(shapes: Shapes, prefix: str, ordered: bool) -> List[Group]:
    made: Dict[str, Group] = {}
    for name, shape in shapes.items():
        if not name.startswith(prefix):
            continue
        path, _, end = name.rpartition(".")
        if end == COUNTERS:
            continue
        made.setdefault(path, Group(path)).members[end] = (name, *flat_shape(shape))
    groups = list(made.values())
    if not ordered:
        groups.sort(key=lambda g: [(int(n or 0), n) if n.isdigit() else (-1, n)
                                   for n in re.split(r"(\d+)", g.path)])
    return groups


def _same(here: Group, there: Group) -> bool:
    """Vectors are [1, n] or [n, 1] here."""
    if set(here.members) != set(there.members):
        return False
    for end, (_, rows, cols) in here.members.items():
        _, other_rows, other_cols = there.members[end]
        if (rows, cols) != (other_rows, other_cols) and not (
                1 in (rows, cols) and 1 in (other_rows, other_cols)
                and rows * cols == other_rows * other_cols):
            return False
    return True


def matched(network: Network, shapes: Shapes, prefix: str = "", ordered: bool = True) -> Dict[
        str, str]:
    """For each parameter here its name there. Layers and modules meet by what they hold; those that
    hold the same, in their order. Raises ValueError, which names what fits nowhere, or in several
    places of a file, whose order says nothing."""
    here, there = groups_here(network), groups_there(shapes, prefix, ordered)
    names: Dict[str, str] = {}
    left = list(there)
    for group in here:
        fits = [g for g in left if _same(group, g)]
        if not fits:
            raise ValueError("%s: no module of the template%s is left that holds %s" % (
                group.path, " below %r" % prefix if prefix else "", _text(group)))
        if not ordered and len({re.sub(r"\d+", "#", g.path) for g in fits}) > 1:
            raise ValueError("%s: %s of the template fit alike: give the template as a state_dict, "
                             "whose order counts, or a prefix" % (
                                 group.path, ", ".join(repr(g.path) for g in fits)))
        left.remove(fits[0])
        for end, (name, _, _) in group.members.items():
            names[name] = fits[0].members[end][0]
    if left:
        raise ValueError("the template's %s: no layer of the network is left that holds %s" % (
            ", ".join(repr(g.path) for g in left), _text(left[0])))
    return names


def _text(group: Group) -> str:
    return ", ".join("%s [%d, %d]" % (end, rows, cols)
                     for end, (_, rows, cols) in group.members.items())


def export(network: Network, path: Path, template: Any, prefix: str = "") -> Dict[str, Any]:
    """welvet.export to a .safetensors file."""
    if hasattr(template, "state_dict") and hasattr(template, "topology"):  # planetbridging's
        tensors = dict(template.state_dict(network))
    else:
        if hasattr(template, "state_dict"):  # a module of PyTorch
            template = template.state_dict()
        shapes, ordered = shapes_of(template)
        names = matched(network, shapes, prefix, ordered)
        tensors = {names[p.name]: network.get(p.name).reshape(shapes[names[p.name]])
                   for p in network.parameters if p.name in names}
    write(path, tensors)
    return {"format": "safetensors", "tensors": {name: list(np.shape(a))
                                                 for name, a in tensors.items()}}
