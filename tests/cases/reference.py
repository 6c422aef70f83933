#!/usr/bin/env python3
"""Does the cases over again in NumPy and f64, and compares: the recorded values of forward runs,
losses, learning rates and learned weights must be those of an implementation that shares nothing
with Loom. It has forward formulas alone; gradients are complex steps, f'(w) = Im f(w + ih) / h
(Squire and Trapp, SIAM Review 40, 1998), so no backward pass is written twice the same wrong way.

    reference.py            every value within 1e-5 of its size; a line per file

All of values.json is checked. Of the other files, what this small reference knows: f32 networks of
dense and norm cells, batches of all samples. A parameter after network_initialize is what the case
records of it first.
"""
import argparse
import json
import math
import pathlib
import sys

try:
    import numpy as np
except ImportError:
    print("needs NumPy")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-5
STEP = 1e-30


class Unknown(Exception):
    """More than this reference knows."""


# ---- formulas, of complex numbers where gradients are taken


def relu(z):
    return np.where(z.real > 0, z, 0)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def softplus(z):
    return np.log1p(np.exp(z))


def erf(z):
    real = np.vectorize(math.erf)(z.real)
    return real + 1j * z.imag * (2 / math.sqrt(math.pi)) * np.exp(-z.real**2) if np.iscomplexobj(
        z) else real


ACTIVATIONS = {
    "linear": lambda z: z, "relu": relu, "relu2": lambda z: relu(z) ** 2, "tanh": np.tanh,
    "sigmoid": sigmoid, "silu": lambda z: z * sigmoid(z),
    "softplus": softplus, "mish": lambda z: z * np.tanh(softplus(z)),
    "gelu_erf": lambda z: z / 2 * (1 + erf(z / math.sqrt(2))),
    "gelu_tanh": lambda z: z / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))),
}


class Network:
    """Cells in their order; each reads the one before it, or what its links say."""

    def __init__(self, topology):
        if topology.get("format") != "loom-topology" or "outputs" in topology:  # the Go engine's
            raise Unknown
        self.cells = topology["cells"]
        if "width" not in topology["input"] or "dtype" in json.dumps(topology):
            raise Unknown
        for cell in self.cells:
            if cell["type"] not in ("dense", "rms_norm", "layer_norm") or cell.get("activation",
                    "linear") not in ACTIVATIONS:
                raise Unknown
            if any("read" not in link for link in cell.get("links", [])) or ("links" in cell
                    and cell.get("merge") != "add"):
                raise Unknown
        self.params, width, widths = {}, topology["input"]["width"], {}
        for cell in self.cells:
            at, inside = self.name(cell["at"]), [widths[self.name(link["read"])]
                                                 for link in cell.get("links", [])]
            width = inside[0] if inside else width
            if cell["type"] == "dense":
                self.params[at, "weight"] = np.zeros((cell["out"], width))
                if cell.get("bias", True):
                    self.params[at, "bias"] = np.zeros((1, cell["out"]))
                width = cell["out"]
            else:
                self.params[at, "gain"] = np.ones((1, width))
                if cell["type"] == "layer_norm":
                    self.params[at, "bias"] = np.zeros((1, width))
            widths[at] = width
        self.unseen = set()  # initialized, with values that the case has not shown yet
        self.packed = False

    @staticmethod
    def name(at):
        return ".".join(map(str, at))

    def forward(self, x, params=None):
        params = self.params if params is None else params
        out = {}
        for cell in self.cells:
            at = self.name(cell["at"])
            if "links" in cell:
                x = sum(out[self.name(link["read"])] for link in cell["links"])
            if cell["type"] == "dense":
                x = ACTIVATIONS[cell.get("activation", "linear")](x @ params[at, "weight"].T
                                                                  + params.get((at, "bias"), 0))
            else:
                if cell["type"] == "layer_norm":
                    x = x - x.mean(-1, keepdims=True)
                x = x / np.sqrt((x * x).mean(-1, keepdims=True) + cell.get("eps", 1e-5)) * params[
                    at, "gain"] + params.get((at, "bias"), 0)
            out[at] = x
        return x

    def known(self):
        if self.unseen or self.packed:
            raise Unknown
        return self


class Trainer:
    def __init__(self, network, data, spec):
        self.network = network.known()
        self.spec, self.done, self.state = spec, 0, {}
        self.take(data)
        self.optimizer = {"type": "adamw", **spec.get("optimizer", {})}
        self.steps = spec.get("steps", spec.get("epochs"))
        if (spec.get("batch", 1) != len(self.x) or "method" in spec or "micro_batches" in spec
                or self.optimizer["type"] not in ("sgd", "adamw")):
            raise Unknown

    def take(self, data):
        """Samples, and the weight of each: its own times that of its class."""
        self.x, self.y, *weights = data
        self.w = weights[0] if weights else np.ones(len(self.x))
        if "class_weights" in self.spec:
            self.w = self.w * np.array(self.spec["class_weights"], float)[self.y]

    def loss(self, params):
        y = self.network.forward(self.x, params)
        if self.spec.get("loss", "mse") == "mse":
            return (((y - self.y) ** 2).mean(-1) * self.w).sum() / self.w.sum()
        counted = np.flatnonzero(self.y >= 0)
        y, w = y[counted], self.w[counted]
        y = y - y.real.max(-1, keepdims=True)
        return ((np.log(np.exp(y).sum(-1)) - y[np.arange(len(y)), self.y[counted]])
                * w).sum() / w.sum()

    def rate(self):
        s = {"type": "constant", "lr": 0.001, "warmup": 0, **self.spec.get("schedule", {})}
        if self.done <= s["warmup"]:
            return s["lr"] * self.done / s["warmup"]
        t = self.done - s["warmup"] - 1
        if s["type"] == "cosine":
            low, end = s.get("floor", 0), (s.get("steps") or self.steps) - s["warmup"]
            return low + (s["lr"] - low) * (1 + math.cos(math.pi * min(t / end, 1))) / 2
        return s["lr"] * s["factor"] ** (t // s["every"]) if s["type"] == "step" else s["lr"]

    def gradients(self):
        grads = {}
        for key, w in self.network.params.items():
            grads[key] = np.empty_like(w)
            for i in np.ndindex(w.shape):
                moved = w.astype(complex)
                moved[i] += 1j * STEP
                grads[key][i] = self.loss({**self.network.params, key: moved}).imag / STEP
        return grads

    def step(self):
        """Loss and rate of one more step."""
        o, loss, grads = self.optimizer, self.loss(None), self.gradients()
        self.done += 1
        rate = self.rate()
        norm = math.sqrt(sum((g * g).sum() for g in grads.values()))
        clip = o.get("clip_norm", 0)
        for key, w in self.network.params.items():
            g = grads[key] * (clip / norm if clip and norm > clip else 1)
            decay = o.get("weight_decay", 0) if len(w) > 1 else 0
            if o["type"] == "sgd":
                velocity = self.state[key] = o.get("momentum", 0) * self.state.get(key,
                        0) + g + decay * w
                w -= rate * velocity
            else:
                b1, b2 = o.get("beta1", 0.9), o.get("beta2", 0.999)
                m, v = self.state.get(key, (0, 0))
                m, v = self.state[key] = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
                w *= 1 - rate * decay
                w -= rate * (m / (1 - b1**self.done)) / (np.sqrt(v / (1 - b2**self.done))
                                                         + o.get("eps", 1e-8))
        return loss, rate


# ---- the cases


class Case:
    def __init__(self, case):
        self.name, self.steps, self.saved = case["name"], case["steps"], {}
        self.checked, self.passed_over, self.failures = 0, 0, []

    def value(self, v):
        """Of an argument; None where it is a variable that this reference has not got."""
        return self.saved.get(v[1:]) if isinstance(v, str) and v.startswith("$") else v

    def run(self):
        for step in self.steps:
            if "write" in step or "error" in step:
                continue
            try:
                results = self.call(step["call"],
                                    {k: self.value(v) for k, v in step.get("args", {}).items()},
                                    step.get("expect", {}))
            except Unknown:
                self.passed_over += 1
                for variable in step.get("save", {}).values():
                    self.saved.pop(variable, None)
                continue
            for result, variable in step.get("save", {}).items():
                if result in results:
                    self.saved[variable] = results[result]
            for result, expected in step.get("expect", {}).items():
                if result in results and isinstance(expected,
                                                    (int, float, list)) and not isinstance(expected,
                                                    bool):
                    self.compare(step["call"] + " " + result, results[result], expected)

    def compare(self, what, got, expected):
        got, expected = np.ravel(got).astype(float), np.ravel(expected).astype(float)
        self.checked += got.size
        scale = max(1.0, float(np.abs(expected).max(initial=0)))
        if got.shape != expected.shape or not np.all(np.abs(got - expected) <= TOLERANCE * scale):
            self.failures.append("%s: %s: recorded %s, here %s"
                                 % (self.name, what, expected[:8], got[:8]))

    def call(self, function, a, expect):
        if function == "trainer_resume_bytes" and a["trainer"]:
            a["trainer"].state = None  # that of a file
        if any(v is None for v in a.values()):
            raise Unknown
        network = a.get("network")
        if function == "network_create":
            return {"network": Network(a["topology"])}
        if function == "network_initialize":
            network.unseen = set(network.params)
        elif function == "network_copy":
            made = Network.__new__(Network)
            made.__dict__ = {**network.__dict__,
                             "params": {k: v.copy() for k, v in network.params.items()},
                             "unseen": set(network.unseen)}
            return {"copy": made}
        elif function == "network_morph":
            network.packed = a["format"] != "f32"
        elif function in ("network_set_f32", "network_set_f64"):
            key = a["path"], a["role"]
            network.params[key] = np.array(a["values"], float).reshape(network.params[key].shape)
            network.unseen.discard(key)
        elif function in ("network_get_f32", "network_get_f64"):
            key = a["path"], a["role"]
            if key in network.unseen:  # an input of the reference, not a result
                if not isinstance(expect.get("values"), list):
                    raise Unknown
                network.params[key] = np.array(expect["values"],
                                               float).reshape(network.params[key].shape)
                network.unseen.discard(key)
                return {}
            return {"values": network.known().params[key]}
        elif function == "session_create":
            return {"session": network}
        elif function == "session_run":
            return {"y": a["session"].known().forward(
                np.array(a["x"], float).reshape(a["rows"], -1))}
        elif function in ("data_values", "data_values_f64"):
            return {"data": (np.array(a["x"], float).reshape(-1, a["width"]),
                             np.array(a["y"], float).reshape(-1, a["targets"]))}
        elif function in ("data_classes", "data_classes_f64"):
            return {"data": (np.array(a["x"], float).reshape(-1, a["width"]),
                             np.array(a["classes"]))}
        elif function == "data_weighted":
            return {"data": (*a["samples"], np.array(a["weights"], float))}
        else:
            return self.call_trainer(function, network, a)
        return {}

    def call_trainer(self, function, network, a):
        if function == "trainer_extend":
            a["trainer"].steps += a["steps"] or a["epochs"]
            return {"total": a["trainer"].steps}
        elif function == "trainer_step_on":
            trainer, own = a["trainer"], (a["trainer"].x, a["trainer"].y, a["trainer"].w)
            trainer.take(a["data"])
            loss, rate = trainer.step()
            trainer.x, trainer.y, trainer.w = own
            return {"step": trainer.done, "rows": len(a["data"][0]), "loss": loss, "lr": rate}
        elif function == "trainer_create":
            return {"trainer": Trainer(network, a["data"], a["spec"])}
        elif function == "trainer_step":
            trainer, done = a["trainer"], a["trainer"].done
            if trainer.state is None:
                raise Unknown
            loss = rate = 0
            for _ in range(min(a["steps"], trainer.steps - trainer.done)):
                loss, rate = trainer.step()
            out = {"step": trainer.done, "rows": len(trainer.x) * (trainer.done - done)}
            return {**out, "loss": loss, "lr": rate} if trainer.done > done else out
        raise Unknown


def main():
    bad = 0
    for path in sorted(HERE.glob("*.json")):
        cases = [Case(c) for c in json.loads(path.read_text())["cases"]]
        for case in cases:
            with np.errstate(all="ignore"):
                case.run()
            if path.name == "values.json" and (case.passed_over or not case.checked):
                case.failures.append("%s: %d calls are more than the reference knows"
                                     % (case.name, case.passed_over))
            for failure in case.failures:
                print("%s: %s" % (path.name, failure))
            bad += len(case.failures)
        print("%s: %d values of %d cases"
              % (path.name, sum(c.checked for c in cases), sum(c.checked > 0 for c in cases)))
    return bad > 0


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    sys.exit(main())
