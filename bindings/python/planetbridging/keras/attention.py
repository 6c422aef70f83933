"""Attention, from products: queries, keys and values as Keras projects them."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence

import numpy as np

from ..graph.cells import Tensor, Value
from ..graph.constant import Constant
from ..graph.products import contract
from ..graph.shape import row_of
from .basic import masked, projected
from .walk import Walk, maps, sizes_of


def _flag(w: Walk, x: Tensor, sizes: Sequence[Any]) -> Value:
    value = w.value(x)
    return w.g.value(w.g.reshape(value, sizes))


def _both(w: Walk, flags: Sequence[Tensor]) -> Optional[Tensor]:
    made: Optional[Tensor] = None
    for flag in flags:
        made = flag if made is None else w.g.binary(made, flag, "mul")
    return made


def _causal(steps: int, keys: int) -> Constant:
    return Constant.of(np.tril(np.ones((1, steps, keys), np.float32)))


def _mask(w: Walk, steps: int, keys: int, query_mask: Any, value_mask: Any, key_mask: Any,
          attention_mask: Any, causal: bool, window: Any = None) -> Optional[Tensor]:
    """1 where a query sees a key, [batch or 1, steps, keys]; None where all see all."""
    flags: List[Tensor] = []
    if query_mask is not None:
        flags.append(_flag(w, query_mask, [None, steps, 1]))
    for flag in (value_mask, key_mask):
        if flag is not None:
            flags.append(_flag(w, flag, [None, 1, keys]))
    if attention_mask is not None:
        flags.append(attention_mask if isinstance(attention_mask, Value) else
                     Constant.of(np.asarray(attention_mask.array, np.float32)))
    if causal:
        flags.append(_causal(steps, keys))
    if window is not None:
        places = np.abs(np.arange(steps)[:, None] - np.arange(keys)[None])
        flags.append(Constant.of((places < window).astype(np.float32)[None]))
    return _both(w, flags)


def _attend(w: Walk, layer: Any, q: Value, k: Value, v: Value, scale: float, rate: float,
            mask: Optional[Tensor]) -> List[Value]:
    """What steps see, and their weights: q, k and v are [batch, steps, heads, features]."""
    scores = w.g.value(contract(w.g, w.scaled(q, scale), k, "bthd", "bshd", "bhts"))
    if mask is not None:
        sizes = list(sizes_of(mask.shape))
        if len(sizes) == 3:
            sizes = [sizes[0], 1, *sizes[1:]]
        scores = masked(w, scores, w.g.reshape(mask, sizes))
    weights = w.g.softmax(scores, -1)
    seen = weights
    if rate:
        seen = w.g.cell({"type": "dropout", "rate": rate}, [weights], weights.shape)
    return [w.g.value(contract(w.g, seen, v, "bhts", "bshd", "bthd")), weights]


def _projection(w: Walk, dense: Any, x: Value) -> Value:
    return projected(w, dense, x, w.named(dense._kernel if hasattr(dense, "_kernel")
                                          else dense.kernel))


@maps("MultiHeadAttention", "GroupedQueryAttention", "GroupQueryAttention")
def multi_head(w: Walk, layer: Any, query: Tensor, value: Tensor, key: Optional[Tensor] = None,
               query_mask: Any = None, value_mask: Any = None, key_mask: Any = None,
               attention_mask: Any = None, return_attention_scores: bool = False,
               use_causal_mask: bool = False) -> Any:
    grouped = type(layer).__name__ != "MultiHeadAttention"
    q, v = w.value(query), w.value(value)
    k = v if key is None else w.value(key)
    if len(q.shape) != 3 or len(v.shape) != 3:
        raise w.refuse("%s of %d axes" % (type(layer).__name__, len(q.shape)),
                       "batch, steps and features")
    if attention_mask is not None and not isinstance(attention_mask, (Value, Constant)):
        attention_mask = Constant.of(np.asarray(attention_mask))
    mask = _mask(w, row_of(q.shape)[1], row_of(k.shape)[1], query_mask, value_mask, key_mask,
                 attention_mask, use_causal_mask, getattr(layer, "sliding_window", None))
    many = [_projection(w, dense, x) for dense, x in (
        (layer._query_dense, q), (layer._key_dense, k), (layer._value_dense, v))]
    if grouped:
        heads = np.repeat(np.arange(layer.num_key_value_heads), layer.num_repeats)
        many[1:] = [w.g.value(w.g.take(x, 2, heads)) for x in many[1:]]
        scale, rate = float(layer._inverse_sqrt_head_dim), float(layer.dropout)
    else:
        scale, rate = float(layer._inverse_sqrt_key_dim), float(layer._dropout)
    seen, weights = _attend(w, layer, many[0], many[1], many[2], scale, rate, mask)
    if getattr(layer, "use_gate", getattr(layer, "_use_gate", False)):
        from .activations import activate
        dense = layer._gate_dense
        seen = w.two(seen, activate(w, _projection(w, dense, q), dense.activation), "mul")
    y = _projection(w, layer._output_dense, seen)
    return [y, weights] if return_attention_scores else y


@maps("Attention", "AdditiveAttention")
def attention(w: Walk, layer: Any, inputs: Sequence[Tensor], mask: Any = None,
              return_attention_scores: bool = False, use_causal_mask: bool = False) -> Any:
    q, v = w.value(inputs[0]), w.value(inputs[1])
    k = w.value(inputs[2]) if len(inputs) > 2 else v
    steps, keys = row_of(q.shape)[1], row_of(k.shape)[1]
    masks = list(mask or [None, None])
    if type(layer).__name__ == "AdditiveAttention" or layer.score_mode == "concat":
        scores = _additive(w, layer, q, k)
    else:
        scores = w.g.value(contract(w.g, q, k, "btd", "bsd", "bts"))
        if layer.scale is not None:
            scores = w.two(scores, w.parameter(w.named(layer.scale)), "mul")
    seen = _mask(w, steps, keys, None, masks[1], None, None, use_causal_mask)
    if seen is not None:
        scores = w.g.select(seen, scores, w.plus(scores, -1e9))
    weights = w.g.softmax(scores, -1)
    used = weights
    if float(layer.dropout):
        used = w.g.cell({"type": "dropout", "rate": float(layer.dropout)}, [weights],
                        weights.shape)
    y = w.g.value(contract(w.g, used, v, "bts", "bsd", "btd"))
    if masks[0] is not None:
        y = w.two(y, _flag(w, masks[0], [None, steps, 1]), "mul")
    return [y, weights] if return_attention_scores else y


def _additive(w: Walk, layer: Any, q: Value, k: Value) -> Value:
    wide = w.two(w.g.reshape(q, [None, q.shape[1], 1, q.shape[2]]),
                 w.g.reshape(k, [None, 1, k.shape[1], k.shape[2]]), "add")
    additive = type(layer).__name__ == "AdditiveAttention"
    scale = layer.scale
    if scale is not None and not additive:
        wide = w.two(wide, w.parameter(w.named(scale)), "mul")
    made = w.g.activation(wide, "tanh")
    if additive:
        if scale is not None:
            made = w.two(made, w.parameter(w.named(scale)), "mul")
        return w.g.reduce(made, "sum", [-1])
    total = w.g.reduce(made, "sum", [-1])
    return w.two(total, w.parameter(w.named(layer.concat_score_weight)), "mul")
