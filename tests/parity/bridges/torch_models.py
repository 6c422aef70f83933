#!/usr/bin/env python3
"""Modules of PyTorch in Loom by planetbridging.from_torch: random ones (torch_modules.py)
and networks as people write them (torch_named.py) answer as the module does, for batches of
1, 3 and 7, or are refused by name.

    torch_models.py [--count 300] [--seed N] [--part K/N] [--only NAME] [--named] [--train]

Needs PyTorch 2.1 or later, and build/release/libloom.so (or $LOOM_LIBRARY). An output may differ by
1e-5 of the largest, of the named networks by 1e-4. With --train, 100 further steps (SGD, Adam,
AdamW) of what was absorbed follow PyTorch's loss within 1e-4 of the first; a training of which
PyTorch's own loss leaves that bound when its weights are rounded otherwise is not counted. --part:
each N-th module from the K-th on (0 to N-1), so that N processes do them all.
"""

import argparse
import itertools
import pathlib
import random
import sys
import traceback

try:
    import numpy as np
    import torch
    from torch.utils._pytree import tree_leaves
except ImportError as e:
    print(f"needs PyTorch and NumPy: {e}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bindings" / "python"))
import planetbridging
import torch_modules as modules

BOUND = 1e-5
torch.set_num_threads(1)  # small modules


def difference(module, absorbed, inputs):
    """The largest, as a share of the largest output, in double there."""
    got = tree_leaves(absorbed.predict(*[x.numpy() for x in inputs]))
    double = [x.double() if x.is_floating_point() else x for x in inputs]
    for norm in module.modules():  # None is another number in double
        if isinstance(norm, getattr(torch.nn, "RMSNorm", ())) and norm.eps is None:
            norm.eps = torch.finfo(torch.float32).eps
    module.double()
    with torch.no_grad():
        want = tree_leaves(module(*double))
    module.float()
    worst = 0.0
    for w, g in zip(want, got):
        w = w.numpy()
        if w.shape != np.shape(g):
            raise AssertionError("%s there, %s here" % (w.shape, np.shape(g)))
        if not np.isfinite(np.asarray(w, np.float64)).all() or not np.isfinite(g).all():
            raise AssertionError("numbers that are not finite")
        worst = max(worst, float(np.abs(w - g).max()) / max(1.0, float(np.abs(w).max())))
    return worst


def agrees(module, make, bound):
    module.eval()
    absorbed = planetbridging.from_torch(module, make(2),
                                         dynamic_shapes=getattr(make, "shapes", None))
    return max(difference(module, absorbed, make(n)) for n in (1, 3, 7)), absorbed


def generated(count, seed, only):
    made = [m for m in modules.MAKERS if only in ("", m.__name__)]
    for i in range(count):
        maker = made[i % len(made)]
        r = random.Random("%d %d" % (seed, i))
        torch.manual_seed(seed * 100003 + i)
        module, make = maker(r)
        yield "%d %s" % (i, maker.__name__), module, make


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--named", action="store_true")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--trace", action="store_true")
    given = parser.parse_args()
    if given.train:
        import torch_continued
        return torch_continued.main(given)
    bound, cases = BOUND, generated(given.count, given.seed, given.only)
    if given.named:
        import torch_named
        bound, cases = 1e-4, torch_named.cases(given.only)
    wrong, refused, total, worst = [], [], 0, 0.0
    part, parts = map(int, given.part.split("/"))
    for name, module, make in itertools.islice(cases, part, None, parts):
        total += 1
        try:
            far, _ = agrees(module, make, bound)
            worst = max(worst, far)
            if far > bound:
                wrong.append(name)
                print("%s: differs by %.2g" % (name, far), getattr(module, "steps", ""))
            elif given.named:
                print("%s: %.2g" % (name, far), flush=True)
        except planetbridging.Unmapped as e:
            refused.append(name)
            print("%s: refused: %s" % (name, str(e)[:300]))
            if given.trace:
                traceback.print_exc()
        except Exception as e:  # noqa: BLE001: counted
            wrong.append(name)
            print("%s: %s: %s" % (name, type(e).__name__, str(e)[:300]),
                  getattr(module, "steps", ""))
            if given.trace:
                traceback.print_exc()
        sys.stdout.flush()
    print("%d modules: %d agree (worst %.2g), %d refused by name (%.1f %%), %d wrong" % (
        total, total - len(refused) - len(wrong), worst, len(refused),
        100 * len(refused) / max(1, total), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
