"""Attention, and positions.

Made by tools/generate from the field lists in src: edit those.
"""
from __future__ import annotations

from typing import Optional, Sequence

from ._base import Layer, checked


class Attention(Layer):
    """Multi-head attention (arXiv 1706.03762) over the steps of a row (steps, features), or over
    the rows of a sequence where a row is one position, with grouped keys, a sliding window and
    rotary positions. Parameters: `q`, `k`, `v`, `o`.

    * `num_heads`: query heads; 1 to 65536.
    * `num_kv_heads`: key/value heads; 0: as many as heads; at least 0.
    * `head_dim`: values per head; 0: width / heads; 0 to 65536.
    * `window`: positions a query sees, its own included; 0: all; at least 0.
    * `causal`: a query sees no later position; where positions are rows, sessions of one that is
      false run whole sequences, without a cache.
    * `qkv_bias`: adds learned vectors to queries, keys and values.
    * `out_bias`: adds a learned vector to the output.
    * `qk_norm`: RMSNorm of every query and key head before rotation.
    * `qk_norm_eps`: its eps; without `qk_norm` it does nothing.
    * `rope`: rotary positions.
    * `rope_theta`: base of the rotary frequencies; with `rope`.
    * `rope_scaling`: how frequencies are scaled to longer sequences; with `rope`; one of none,
      linear, llama3.
    * `rope_factor`: how many times as long they are; with `rope_scaling` `linear` or `llama3`.
    * `rope_low_freq_factor`: frequencies below are scaled; with `rope_scaling` `llama3`.
    * `rope_high_freq_factor`: frequencies above are not scaled; with `rope_scaling` `llama3`.
    * `rope_original_positions`: positions the model was first trained on; with `rope_scaling`
      `llama3`.
    * `out_std`: standard deviation of the initial output projection; 0: 1/sqrt(its inputs); at
      least 0.
    * `alibi`: ALiBi (arXiv 2108.12409): a score falls by its head's slope, 2^(-8h/heads), with
      every position between query and key; positions need no end. Without `rope`.
    * `sub_norm`: RMSNorm before the output projection (BitNet b1.58).
    * `sub_norm_eps`: its eps; with `sub_norm`; 1e-8 to 1.
    * `dropout`: of the weights of keys while training, as the layer `dropout`; of steps in a row;
      at least 0, below 1.
    * By name, when called: `lengths`, steps of a row, an input of one id: keys behind them are not
      seen, outputs are 0; `mask` [steps] hides keys by a value other than 0, as PyTorch's
      `key_padding_mask`.
    """

    num_heads: int
    num_kv_heads: int
    head_dim: int
    window: int
    causal: bool
    qkv_bias: bool
    out_bias: bool
    qk_norm: bool
    qk_norm_eps: float
    rope: bool
    rope_theta: float
    rope_scaling: str
    rope_factor: float
    rope_low_freq_factor: float
    rope_high_freq_factor: float
    rope_original_positions: float
    out_std: float
    alibi: bool
    sub_norm: bool
    sub_norm_eps: float
    dropout: float
    _kind = "attention"

    @checked
    def __init__(self, num_heads: int, num_kv_heads: int = 0, head_dim: int = 0, *, window: int = 0,
                 causal: bool = True, qkv_bias: bool = False, out_bias: bool = False,
                 qk_norm: bool = False, qk_norm_eps: float = 1e-06, rope: bool = True,
                 rope_theta: float = 10000.0, rope_scaling: str = "none", rope_factor: float = 1.0,
                 rope_low_freq_factor: float = 1.0, rope_high_freq_factor: float = 4.0,
                 rope_original_positions: float = 8192.0, out_std: float = 0.0, alibi: bool = False,
                 sub_norm: bool = False, sub_norm_eps: float = 1e-05, dropout: float = 0.0,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("attention", {
            "heads": num_heads, "kv_heads": num_kv_heads, "head_dim": head_dim, "window": window,
            "causal": causal, "qkv_bias": qkv_bias, "out_bias": out_bias, "qk_norm": qk_norm,
            "qk_norm_eps": qk_norm_eps, "rope": rope, "rope_theta": rope_theta,
            "rope_scaling": rope_scaling, "rope_factor": rope_factor,
            "rope_low_freq_factor": rope_low_freq_factor,
            "rope_high_freq_factor": rope_high_freq_factor,
            "rope_original_positions": rope_original_positions, "out_std": out_std, "alibi": alibi,
            "sub_norm": sub_norm, "sub_norm_eps": sub_norm_eps, "dropout": dropout},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class CrossAttention(Layer):
    """Multi-head attention of the steps of one operand (steps, features) to those of a second,
    (steps, features) (arXiv 1706.03762), without positions. Every step sees all of them, except
    those that a third operand, (steps), masks by a value other than 0, as `True` does in
    PyTorch's `key_padding_mask`. The result of a step that sees none is `o_bias`, or 0 without
    it. Operands come by `merge` or `combine`: `operands`. Parameters: `q`, `k`, `v`, `o`.

    * `num_heads`: heads; 1 to 65536.
    * `head_dim`: values per head; 0: width / heads; 0 to 65536.
    * `qkv_bias`: adds learned vectors to queries, keys and values.
    * `out_bias`: adds a learned vector to the output.
    * `dropout`: of the weights of keys while training, as the layer `dropout`; at least 0, below 1.
    * By name, when called: `mask`, or `lengths`, steps that are attended to, an input of one id;
      none: a third is a `mask`.
    """

    num_heads: int
    head_dim: int
    qkv_bias: bool
    out_bias: bool
    dropout: float
    _kind = "cross_attention"

    @checked
    def __init__(self, num_heads: int, head_dim: int = 0, *, qkv_bias: bool = False,
                 out_bias: bool = False, dropout: float = 0.0, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("cross_attention", {
            "heads": num_heads, "head_dim": head_dim, "qkv_bias": qkv_bias, "out_bias": out_bias,
            "dropout": dropout},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Positions(Layer):
    """Adds a vector per position to the steps of a row (steps, features), or to rows that are
    positions of sequences, as language models have them. Parameter of those learned: `weight`
    (count, features).

    * `kind`: `learned`, or `sinusoidal`: sin(p / 10000^(2i / features)) at feature 2i of position
      p, and its cosine at 2i + 1.
    * `count`: positions; 0: the steps of a row; with `kind` `learned`; at least 0.
    * `std`: standard deviation of the initial vectors; with `kind` `learned`; at least 0.
    """

    kind: str
    count: int
    std: float
    _kind = "positions"

    @checked
    def __init__(self, kind: str = "learned", count: int = 0, std: float = 0.02, *,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("positions", {
            "kind": kind, "count": count or None, "std": std},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})
