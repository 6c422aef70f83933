"""torch_models.py --train: a module absorbed in the middle of a training continues as PyTorch
does."""

import copy
import random
import sys

import numpy as np
import torch
from torch import nn

import planetbridging
import torch_modules as modules

STEPS, BEFORE, BOUND = 100, 10, 1e-4


def mlp(r):
    return nn.Sequential(nn.Linear(6, 12), r.choice([nn.Tanh, nn.GELU, nn.SiLU])(),
                         nn.LayerNorm(12), nn.Linear(12, 4)), modules.floats(6)


def convolutional(r):
    return nn.Sequential(nn.Conv2d(2, 6, 3, padding=1), nn.BatchNorm2d(6), nn.SiLU(),
                         nn.AvgPool2d(2), nn.Conv2d(6, 6, 3), nn.GroupNorm(2, 6), nn.GELU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 4)), modules.floats(
                             2, 8, 8)


def recurrent(r):
    kind = r.choice([nn.LSTM, nn.GRU])
    return modules.Call(lambda m, x: m.out(m.net(m.e(x))[0][:, -1]), e=nn.Embedding(11, 6),
                        net=kind(6, 8, r.choice([1, 2]), batch_first=True), out=nn.Linear(8, 4)), \
        modules.ids(11, 6)


def attention(r):
    net = nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True, norm_first=True,
                                     activation="gelu")
    return modules.Call(lambda m, x: m.out(m.net(m.a(x)).mean(1)), a=nn.Linear(6, 8), net=net,
                        out=nn.Linear(8, 4)), modules.floats(5, 6)


def functional(r):
    return modules.Call(lambda m, x: (torch.cat([m.a(x), x], -1) @ m.w).softmax(-1) @ m.w.new_ones(
        5, 1) * m.s[:4] + m.b(x), a=nn.Linear(6, 4), b=nn.Linear(6, 4),
        parameters={"w": torch.randn(10, 5) * 0.3, "s": torch.randn(4)}), modules.floats(6)


def tied(r):
    return modules.Call(lambda m, x: nn.functional.linear(torch.tanh(m.n(m.e(x).mean(1))),
                                                          m.e.weight), e=nn.Embedding(9, 8),
                        n=nn.Linear(8, 8)), modules.ids(9, 5)


KINDS = [mlp, convolutional, recurrent, attention, functional, tied]
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, 0.05),
    "momentum": lambda p: torch.optim.SGD(p, 0.02, momentum=0.9, weight_decay=1e-3),
    "nesterov": lambda p: torch.optim.SGD(p, 0.02, momentum=0.8, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, 3e-3),
    "adam_l2": lambda p: torch.optim.Adam(p, 3e-3, weight_decay=1e-2),
    "adamw": lambda p: torch.optim.AdamW(p, 3e-3, weight_decay=0.05),
    "rmsprop": lambda p: torch.optim.RMSprop(p, 1e-3, momentum=0.5),
}


def steps(module, optimizer, scheduler, criterion, x, y, count, draw=None):
    losses = []
    for _ in range(count):
        if draw is not None:
            with torch.no_grad():
                for w in module.parameters():
                    w.mul_(1 + 2**-24 * (2 * torch.rand(w.shape, generator=draw) - 1))
        loss = criterion(module(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(float(loss.detach()))
    return np.array(losses)


def compared(i, seed, before):
    r = random.Random("train %d %d" % (seed, i))
    torch.manual_seed(seed * 7919 + i)
    kind = KINDS[i % len(KINDS)]
    named = sorted(OPTIMIZERS)[(i // len(KINDS) + i) % len(OPTIMIZERS)]
    module, make = kind(r)
    module.train()
    x = make(16)[0]
    classes = r.random() < 0.7
    y = torch.randint(0, 4, (16,)) if classes else torch.randn(16, 4)
    criterion = nn.CrossEntropyLoss() if classes else nn.MSELoss()
    module.double()
    x = x.double() if x.is_floating_point() else x
    y = y if classes else y.double()
    optimizer = OPTIMIZERS[named](module.parameters())
    scheduler = r.choice([lambda: torch.optim.lr_scheduler.StepLR(optimizer, 40, 0.5),
                          lambda: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 120),
                          lambda: torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)])()
    steps(module, optimizer, scheduler, criterion, x, y, before)
    absorbed = planetbridging.from_torch(
        module, (x,), optimizer=optimizer, loss=criterion, scheduler=scheduler)
    numbers = x.numpy() if x.dtype == torch.int64 else x.float().numpy()
    network = absorbed.network()
    with absorbed.trainer(next(iter(absorbed.rows(numbers).values())), y.numpy() if classes else
                          y.float().numpy(), network, batch_size=16, steps=before + STEPS,
                          shuffle=False) as trainer:
        ours = np.array([trainer.step().loss for _ in range(STEPS)])
    twin, other = copy.deepcopy((module, optimizer)), None
    moved = twin[0], twin[1]
    again = copy.deepcopy(scheduler)
    again.optimizer = moved[1]
    theirs = steps(module, optimizer, scheduler, criterion, x, y, STEPS)
    other = steps(*moved, again, criterion, x, y, STEPS, torch.Generator().manual_seed(i))
    first = abs(theirs[0])
    return (kind.__name__, named, float(np.abs(ours - theirs).max() / first),
            float(np.abs(other - theirs).max() / first))


def main(given):
    wrong, undecided, done = 0, 0, 0
    for i in range(given.count):
        try:
            kind, named, far, rounded = compared(i, given.seed, BEFORE)
        except planetbridging.Unmapped as e:
            wrong += 1
            print("%d: refused: %s" % (i, e))
            continue
        if far > BOUND and rounded > BOUND / 4:
            undecided += 1
            print("%d %s %s: undecided, %.2g; roundings alone %.2g" % (i, kind, named, far,
                                                                       rounded))
        elif far > BOUND:
            wrong += 1
            print("%d %s %s: differs by %.2g; roundings alone %.2g" % (i, kind, named, far,
                                                                       rounded))
        else:
            done += 1
            print("%d %s %s: %.2g" % (i, kind, named, far))
        sys.stdout.flush()
    print("%d trainings follow, %d undecided, %d wrong" % (done, undecided, wrong))
    return 1 if wrong else 0
