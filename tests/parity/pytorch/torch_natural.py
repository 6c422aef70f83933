#!/usr/bin/env python3
"""Networks as people write them (natural_networks.py, natural_sequences.py), in Loom and with
PyTorch's own modules: the same weights and inputs give the same outputs, and fifty steps of
training the same losses. What was learned is saved and loaded, and a training that is interrupted
goes on, with the same bits; networks whose rows are ids write what PyTorch writes.

    torch_natural.py [NAME...]
    torch_natural.py --random 300 [--seed N] [NAME...]  # of other sizes

Needs PyTorch, and build/release/libloom.so (or $LOOM_LIBRARY).

Loom computes in f32, PyTorch in double. An output may differ by 1e-5 of the largest, a loss of the
fifty by 1e-5 of the first. A training of which PyTorch's own double leaves that bound when its
weights are rounded otherwise, by 2^-24 at each step, says nothing of f32 (a LayerNorm of two values
is a sign): other sizes are drawn.
"""

import argparse
import pathlib
import sys

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as e:
    print(f"needs PyTorch and NumPy: {e}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bindings" / "python"))
import welvet
import natural_sequences  # noqa: F401: they name themselves
from natural_networks import NETWORKS, Sizes, set_from

BOUND = 1e-5
STEPS = 50


class Undecided(Exception):
    """Roundings of the weights move PyTorch's own losses by more than the bound."""


def loss_of(out, y, weights=None):
    if isinstance(y, dict):
        return sum(loss_of(out[key], one) for key, one in y.items())
    if y.dtype.kind == "f":
        return F.mse_loss(out, torch.tensor(y).reshape(out.shape))
    classes = torch.tensor(y)
    if (
        classes.ndim > 1 and out.shape[1:-1] == classes.shape[1:]
    ):  # steps; of images PyTorch has classes first, too
        out = out.movedim(-1, 1)
    return F.cross_entropy(out, classes, weight=weights)


class Comparison:
    """A case in both."""

    def __init__(self, case):
        self.case, self.net = case, welvet.Network(case.model, seed=3)
        by_layer = {}
        for parameter in self.net.parameters:
            if not parameter.tied:
                by_layer.setdefault(parameter.path, {})[parameter.role] = torch.tensor(
                    self.net.get(parameter.name, np.float64)
                )
        if len(by_layer) != len(case.order):
            raise AssertionError(
                "%d layers have parameters, PyTorch's %d" % (len(by_layer), len(case.order))
            )
        case.parts.double()
        for module, values in zip(case.order, by_layer.values()):
            set_from(module, values)
        x = case.x if isinstance(case.x, dict) else {"": case.x}
        x = {key: torch.tensor(np.asarray(v)) for key, v in x.items()}
        self.x = {
            key: v.to(torch.float32).double() if v.is_floating_point() else v
            for key, v in x.items()
        }
        self.rows = len(next(iter(x.values())))

    def theirs(self):
        return (
            self.case.forward(self.case.parts, **self.x)
            if "" not in self.x
            else self.case.forward(self.case.parts, self.x[""])
        )

    def ours(self, net):
        return np.stack([net(ids) for ids in self.case.x]) if self.case.by_row else net(self.case.x)

    def output(self):
        """The largest difference of an output."""
        self.case.parts.eval()
        want, got = self.theirs(), self.ours(self.net)
        pairs = [(want[key], got[key]) for key in want] if isinstance(want, dict) else [(want, got)]
        pairs = [(w.detach().numpy(), g.reshape(w.shape)) for w, g in pairs]
        return max(float(np.max(np.abs(g - w)) / max(1.0, np.max(np.abs(w)))) for w, g in pairs)

    def round_weights(self, draw):
        """Each by up to 2^-24 of it."""
        with torch.no_grad():
            for weight in self.case.parts.parameters():
                weight.mul_(1 + 2**-24 * (2 * torch.rand(weight.shape, generator=draw) - 1))

    def their_losses(self, draw=None):
        case = self.case
        case.parts.train()

        def rounded(y):
            return y.astype(np.float32).astype(np.float64) if y.dtype.kind == "f" else y

        targets = (
            {key: rounded(one) for key, one in case.y.items()}
            if isinstance(case.y, dict)
            else rounded(case.y)
        )
        optimizer, losses = torch.optim.SGD(case.parts.parameters(), case.rate), []
        weights = None if case.weights is None else torch.tensor(case.weights)
        for _ in range(STEPS):
            if draw is not None:
                self.round_weights(draw)
            loss = loss_of(self.theirs(), targets, weights)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
        return np.array(losses)

    def settings(self):
        made = {
            "optimizer": {"type": "sgd"},
            "schedule": {"type": "constant", "lr": self.case.rate},
            "epochs": STEPS,
            "batch_size": self.rows,
        }
        return made if self.case.weights is None else {**made, "class_weight": self.case.weights}

    def data(self):
        """What a training takes."""
        case = self.case
        if not case.by_row:
            return (case.x, case.y)
        text = np.concatenate([case.x, case.y[:, -1:]], 1)
        return (welvet.Data.tokens(text, length=text.shape[1]),)

    def our_losses(self):
        settings = self.settings()
        history = self.net.train(
            *self.data(),
            optimizer="sgd",
            lr=self.case.rate,
            epochs=STEPS,
            batch_size=self.rows,
            progress=False,
            **{key: settings[key] for key in settings if key == "class_weight"},
        )
        return np.array(history.losses)

    def survives(self):
        """Whether a file holds what was learned, and a training goes on, to the bit."""
        same = welvet.Network.from_bytes(self.net.to_bytes())
        got, want = self.ours(same), self.ours(self.net)
        for a, b in zip(*(v.values() if isinstance(v, dict) else [v] for v in (got, want))):
            np.testing.assert_array_equal(a, b)
        whole, first = self.net.copy(), self.net.copy()
        straight = whole.trainer(*self.data(), **self.settings())
        straight.step(6)
        begun = first.trainer(*self.data(), **self.settings())
        begun.step(3)
        again = self.net.copy().trainer(*self.data(), **self.settings())
        again.resume(begun.to_bytes())
        again.step(3)
        if again.digest() != straight.digest():
            raise AssertionError("a training that was resumed has other bits")

    def writes_alike(self):
        """Whether the most likely id after each is PyTorch's, from the first one of a text on."""
        self.case.parts.eval()
        first = int(self.case.x[0, 0])
        model = welvet.Transformer.from_network(self.net, max_positions=32, bos=None, eos=None)
        got = model.generate([first], max_tokens=12, temperature=0).tokens
        ids = [first]
        while len(ids) < 13:
            logits = self.case.forward(self.case.parts, torch.tensor([ids]))[0, -1]
            best = torch.topk(logits, 2).values
            if float(best[0] - best[1]) < 1e-4:
                break  # f32 may say the other
            ids.append(int(logits.argmax()))
        if got[: len(ids) - 1] != ids[1:]:
            raise AssertionError("writes %s, PyTorch %s" % (got, ids[1:]))

    def translates_alike(self):
        """Whether an encoder-decoder gives step by step what it gives for whole rows, to the bit,
        and finds the sequences that PyTorch's logits lead to."""
        case, sources = self.case, {k: v for k, v in self.case.x.items() if k != "target"}
        target, whole = case.x["target"], self.ours(self.net)
        both = welvet.Seq2Seq(self.net, "target")
        both.encode(**sources)
        for t in range(target.shape[1]):
            np.testing.assert_array_equal(both.step(target[:, t]), whole[:, t])
        case.parts.eval()
        most = target.shape[1]

        def logs(row, ids):
            given = {k: torch.tensor(v[row : row + 1]) for k, v in sources.items()}
            padded = torch.tensor([ids + [0] * (most - len(ids))])
            y = case.forward(case.parts, **given, target=padded)
            return torch.log_softmax(y[0, len(ids) - 1], 0).detach().numpy()

        greedy = both.generate(sources, start=1)
        best = both.search(sources, start=1, beams=4, length_penalty=0)
        for row in range(len(target)):
            ids = [1]
            while len(ids) <= most:
                y = logs(row, ids)
                second, first = np.sort(y)[-2:]
                if first - second < 1e-4:
                    break  # f32 may say the other
                ids.append(int(y.argmax()))
            if greedy[row][: len(ids) - 1] != ids[1:]:
                raise AssertionError("finds %s, PyTorch %s" % (greedy[row], ids[1:]))
            for found in best[row]:
                ids, score = [1] + found.ids, 0.0
                for n in range(len(found.ids)):
                    score += logs(row, ids[: n + 1])[ids[n + 1]]
                if abs(score - found.score) > 1e-4:
                    raise AssertionError("%s: %g, PyTorch %g" % (found.ids, found.score, score))
            if [f.score for f in best[row]] != sorted((f.score for f in best[row]), reverse=True):
                raise AssertionError("not in order: %s" % best[row])


def compare(name, r, sizes):
    both = Comparison(NETWORKS[name](r, sizes))
    output = both.output()
    before = {key: v.clone() for key, v in both.case.parts.state_dict().items()}
    want, got = both.their_losses(), both.our_losses()

    def difference(losses):
        return float(np.max(np.abs(losses - want)) / max(want[0], 1e-9))

    curve = difference(got)
    for number in range(8 if curve > BOUND else 0):
        both.case.parts.load_state_dict(before)
        if difference(both.their_losses(torch.Generator().manual_seed(number))) > BOUND:
            raise Undecided
    wrong = not (output <= BOUND and curve <= BOUND and want[-1] < want[0])
    both.survives()
    if both.case.by_row:
        both.writes_alike()
    if isinstance(both.case.x, dict) and "target" in both.case.x:
        both.translates_alike()
    print(
        "%-36s output %.1e, fifty losses %.1e (%.4f to %.4f)%s"
        % (name, output, curve, want[0], want[-1], "   WRONG" if wrong else "")
    )
    return not wrong


def main():
    given = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    given.add_argument("names", nargs="*", metavar="NAME")
    given.add_argument("--random", type=int, default=0, metavar="COUNT")
    given.add_argument("--seed", type=int, default=1)
    args = given.parse_args()
    unknown = [name for name in args.names if name not in NETWORKS]
    if unknown:
        sys.exit("no network %s: %s" % (unknown[0], ", ".join(NETWORKS)))
    names = args.names or list(NETWORKS)
    torch.set_default_dtype(torch.float64)
    done, undecided, i = [], 0, -1
    while len(done) < (args.random or len(names)):
        i += 1
        name = names[i % len(names)]
        seed = [args.seed, i] if args.random else len(name)
        try:
            torch.manual_seed(i)
            r = np.random.default_rng(seed)
            done.append(
                compare(name, r, Sizes(np.random.default_rng(seed) if args.random else None))
            )
        except Undecided:
            undecided += 1
            done += [] if args.random else [False]
        except Exception as error:
            print(
                "%s, number %d of seed %d: %s: %s"
                % (name, i, args.seed, type(error).__name__, error)
            )
            done.append(False)
    print("%d networks, %d as in PyTorch; %d say nothing" % (len(done), sum(done), undecided))
    return 0 if all(done) and undecided <= len(done) // 10 else 1


if __name__ == "__main__":
    sys.exit(main())
