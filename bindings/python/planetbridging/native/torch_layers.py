"""PyTorch's own layers."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np
import torch

from ..bedrocks import BedrockModel
from .chain import Made, Planet, Spec, Training, gates, lstm_weights, swiglu_weights

nn: Any = torch.nn
_ACTIVATIONS = {"linear": nn.Identity, "relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}


class SwiGLU(nn.Module):  # type: ignore[misc]
    """down(silu(gate(x)) * up(x)): PyTorch has no layer of it."""

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(dim, hidden), nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x: Any) -> Any:
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class RMSNorm(nn.Module):  # type: ignore[misc]
    """For PyTorch before 2.4, which has no layer of it."""

    def __init__(self, dim: int, eps: float) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x: Any) -> Any:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps) * self.weight


def _array(parameter: Any) -> np.ndarray:
    made: np.ndarray = parameter.detach().cpu().numpy()
    return made


class Torch(Planet):
    framework = "torch " + str(torch.__version__)

    def tensor(self, x: np.ndarray, ids: bool) -> Any:
        return torch.from_numpy(np.ascontiguousarray(x)).to(torch.int64 if ids else torch.float32)

    def array(self, x: Any) -> np.ndarray:
        return _array(x)

    def make(self, spec: Spec) -> Made:
        torch.manual_seed(int(self.rng.integers(1 << 31)))
        return super().make(spec)

    def _made(self, module: Any, weights: Any, behind: Any = None) -> Made:
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.copy_(torch.from_numpy(self.moved(_array(parameter))))
        module.eval()
        whole = module if behind is None else nn.Sequential(module, behind)

        def run(x: Any) -> Any:
            with torch.no_grad():
                made = whole(x)
            return made[0] if isinstance(made, tuple) else made

        return Made(run, weights, whole)

    def dense(self, spec: Spec) -> Made:
        m = nn.Linear(spec["input_dim"], spec["output_dim"], bias=spec["use_bias"])
        return self._made(m, lambda: {
            "weights": _array(m.weight), "bias": None if m.bias is None else _array(m.bias)},
            _ACTIVATIONS[spec["activation"]]())

    def cnn(self, spec: Spec) -> Made:
        kind = getattr(nn, "Conv%sd" % spec["kind"][-1])
        m = kind(spec["in_channels"], spec["filters"], spec["kernel_size"], spec["stride"],
                 spec["padding"], bias=False)
        return self._made(m, lambda: {"weights": _array(m.weight)},
                          _ACTIVATIONS[spec["activation"]]())

    def convt(self, spec: Spec) -> Made:
        kind = getattr(nn, "ConvTranspose%sd" % spec["kind"][-1])
        m = kind(spec["in_channels"], spec["filters"], spec["kernel_size"], spec["stride"],
                 spec["padding"])
        return self._made(m, lambda: {"weights": _array(m.weight).swapaxes(0, 1),
                                      "bias": _array(m.bias)}, _ACTIVATIONS[spec["activation"]]())

    def mha(self, spec: Spec) -> Made:
        m = nn.MultiheadAttention(spec["d_model"], spec["num_heads"], batch_first=True)

        class SelfAttention(nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.attention = m

            def forward(self, x: Any) -> Any:
                return m(x, x, x, need_weights=False)

        def weights() -> Any:
            made = {}
            for role, w, b in zip("qkv", _array(m.in_proj_weight).reshape(
                    3, spec["d_model"], -1), _array(m.in_proj_bias).reshape(3, -1)):
                made.update({role + "_weights": w, role + "_bias": b})
            return {**made, "o_weights": _array(m.out_proj.weight),
                    "o_bias": _array(m.out_proj.bias)}

        return self._made(SelfAttention(), weights)

    def lstm(self, spec: Spec) -> Made:
        m = nn.LSTM(spec["input_size"], spec["hidden_size"], batch_first=True)
        return self._made(m, lambda: lstm_weights(
            np.split(_array(m.weight_ih_l0), 4), np.split(_array(m.weight_hh_l0), 4),
            np.split(_array(m.bias_ih_l0) + _array(m.bias_hh_l0), 4)))

    def rnn(self, spec: Spec) -> Made:
        m = nn.RNN(spec["input_size"], spec["hidden_size"], batch_first=True)
        return self._made(m, lambda: {"weights": gates(
            [_array(m.weight_ih_l0)], [_array(m.weight_hh_l0)],
            [_array(m.bias_ih_l0) + _array(m.bias_hh_l0)])[0]})

    def layernorm(self, spec: Spec) -> Made:
        m = nn.LayerNorm(spec["dim"], eps=1e-5)
        return self._made(m, lambda: {"weights": np.concatenate([_array(m.weight),
                                                                 _array(m.bias)])})

    def rmsnorm(self, spec: Spec) -> Made:
        m = getattr(nn, "RMSNorm", RMSNorm)(spec["dim"], eps=1e-6)
        return self._made(m, lambda: {"weights": _array(m.weight)})

    def embedding(self, spec: Spec) -> Made:
        m = nn.Embedding(spec["vocab_size"], spec["embedding_dim"])
        return self._made(m, lambda: {"weights": _array(m.weight)})

    def swiglu(self, spec: Spec) -> Made:
        m = SwiGLU(spec["input_dim"], spec["intermediate_dim"])
        parts = (m.gate, m.up, m.down)
        return self._made(m, lambda: swiglu_weights([_array(p.weight) for p in parts],
                                                    [_array(p.bias) for p in parts]))

    def softmax(self, spec: Spec) -> Made:
        return self._made(nn.Softmax(-1), dict)

    def train(self, model: BedrockModel, layers: Sequence[Made], training: Training) -> None:
        net = nn.Sequential(*[made.layer for made in layers])
        step = torch.optim.Adam(net.parameters(), lr=training.learning_rate)
        x, y = self.tensor(training.x, False), self.tensor(training.y, False)
        torch.manual_seed(42)
        net.train()
        for _ in range(training.epochs):
            for rows in torch.randperm(len(x)).split(training.batch_size):
                step.zero_grad()
                nn.functional.mse_loss(net(x[rows]), y[rows]).backward()
                step.step()
        net.eval()


def make_planet() -> Planet:
    return Torch()
