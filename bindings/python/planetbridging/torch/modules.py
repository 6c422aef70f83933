"""Whole modules that are one layer here."""
from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy as np

from ..graph import Constant
from .export import stack_of
from .walk import Walk

_ATTENTION = "torch.nn.modules.activation.MultiheadAttention"


class Group:
    """The nodes of one call of a module, which become one layer."""

    def __init__(self, path: str, nodes: List[Any], x: Any, out: Any, causal: bool) -> None:
        self.path, self.nodes, self.x, self.out, self.causal = path, nodes, x, out, causal

    def run(self, walk: Walk, node: Any) -> None:
        if node is not self.out:
            return
        walk.node, walk.g.where = node, self.path
        module = walk.exported.module.get_submodule(self.path)
        x = walk.g.value(walk.env[self.x])
        ends = None
        if walk.opened is not None and not self.causal:
            ends = walk.opened.operand(self.x, walk.opened.steps_of(x.shape))
        walk.env[node] = walk.g.attention(x, _weights(walk, self.path, module), module.num_heads,
                                          causal=self.causal, dropout=float(module.dropout),
                                          lengths=ends)
        walk._check(node)


def groups(walk: Walk, nodes: List[Any]) -> Dict[Any, Group]:
    """By their nodes: nn.MultiheadAttention of a tensor to itself, without a mask or causal."""
    made: Dict[Any, Group] = {}
    run: List[Any] = []
    path = ""
    for node in [*nodes, None]:
        own = ""
        if node is not None and node in walk.env:
            continue
        if node is not None and node.op == "call_function" and node in walk.live:
            own = next((p for p, kind in stack_of(node) if kind == _ATTENTION), "")
            if not own and run and not stack_of(node):
                continue  # sizes, which belong to nothing
        elif node is not None:
            continue
        if own != path:
            found = _attention(walk, path, run) if path else None
            if found is not None:
                made.update({n: found for n in found.nodes})
            run, path = [], own
        if own:
            run.append(node)
    return made


def _attention(walk: Walk, path: str, nodes: List[Any]) -> Optional[Group]:
    module = walk.exported.module.get_submodule(path)
    inside = set(nodes)
    tensors = [n for n in nodes if isinstance(n.meta.get("val"), walk.torch.Tensor)]
    given: List[Any] = []
    for node in tensors:
        for other in node.all_input_nodes:
            if other in inside or not isinstance(other.meta.get("val"), walk.torch.Tensor):
                continue
            if not isinstance(walk.env.get(other), Constant) and other not in given:
                given.append(other)
    outs = [n for n in tensors if any(u not in inside for u in n.users if u in walk.live)]
    attends = [n for n in tensors if "scaled_dot_product" in str(n.target)]
    if (len(given) != 1 or len(outs) != 1 or len(attends) != 1 or module.bias_k is not None
            or module.add_zero_attn or not module._qkv_same_embed_dim
            or len(given[0].meta["val"].shape) != 3):
        return None
    kwargs, args = attends[0].kwargs, attends[0].args
    causal = bool(kwargs.get("is_causal") or (len(args) > 5 and args[5]))
    mask = args[3] if len(args) > 3 else kwargs.get("attn_mask")
    if mask is not None:
        known = _is_causal(walk.env.get(mask))
        if known is None or causal:
            return None
        causal = known
    if walk.opened is not None and not causal and not walk.opened.itself(given[0]):
        return None
    if tuple(given[0].meta["val"].shape) != tuple(outs[0].meta["val"].shape):
        return None
    return Group(path, nodes, given[0], outs[0], causal)


def _is_causal(mask: Any) -> Optional[bool]:
    """Whether a known mask hides later steps and no others, or none; None: it is another one."""
    if not isinstance(mask, Constant) or mask.trainable or mask.names:
        return None
    array = mask.array
    hidden = ~array if array.dtype == bool else np.isneginf(array)
    if (array.dtype != bool and (array[~hidden] != 0).any()) or array.shape[-1] != array.shape[-2]:
        return None
    if not hidden.any():
        return False
    later = np.triu(np.ones(array.shape[-2:], bool), 1)
    return True if (hidden == later).all() else None


def _weights(walk: Walk, path: str, module: Any) -> Dict[str, Constant]:
    named: Dict[str, Constant] = {}
    for node, kept in walk.env.items():
        if node.op == "placeholder" and isinstance(kept, Constant):
            named.update({name: kept for name in kept.names})

    def own(name: str) -> Constant:
        made = named.get("%s.%s" % (path, name))
        if made is None:  # a tensor with another name, too
            tensor = module.get_parameter(name)
            made = next(c for n, c in named.items()
                        if walk.exported.module.get_parameter(n) is tensor)
        return made

    n = module.embed_dim
    fills = {r: own("in_proj_weight").part(0, i * n, (i + 1) * n) for i, r in enumerate("qkv")}
    fills["o"] = own("out_proj.weight")
    if module.in_proj_bias is not None:
        bias = own("in_proj_bias")
        fills.update({r + "_bias": bias.part(0, i * n, (i + 1) * n) for i, r in enumerate("qkv")})
    if module.out_proj.bias is not None:
        fills["o_bias"] = own("out_proj.bias")
    return fills
