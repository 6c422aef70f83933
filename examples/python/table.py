"""Learns the prices of houses from a table of numbers, words and empty cells.

    python3 examples/python/table.py

`loom train --data table.csv` does all of this automatically; this program shows each step.
"""
import csv
import io
import sys

import numpy as np

import welvet
from welvet import Network, layers

TOWNS = ["Aber", "Brig", "Combe", "Dale"]


def make_table(rows):
    """A CSV of houses: every tenth area is unknown, and a garden is worth more in some towns."""
    random = np.random.default_rng(3)
    lines = ["town,area,age,garden,price"]
    for _ in range(rows):
        town, area, age = random.integers(4), random.uniform(40, 200), random.uniform(0, 100)
        garden = random.uniform(0, 500)
        price = area * (2 + town / 2) + 0.1 * garden * town + (age - 50) ** 2 / 20
        cell = "" if random.random() < 0.1 else "%.0f" % area
        lines.append("%s,%s,%.0f,%.0f,%.1f" % (TOWNS[town], cell, age, garden,
                                              price + random.normal(0, 10)))
    return "\n".join(lines) + "\n"


table = list(csv.DictReader(io.StringIO(make_table(3000))))
towns = np.array([[TOWNS.index(row["town"])] for row in table])
numbers = np.array([[float(row[name] or "nan") for name in ("area", "age", "garden")]
                    for row in table], np.float32)
price = np.array([[float(row["price"])] for row in table], np.float32)
center, scale = price[:2400].mean(), price[:2400].std()

town = layers.Input(1, ids=len(TOWNS), name="town")
sizes = layers.Input(3, name="sizes")
known = layers.Standardize(missing=True, name="scaled")(sizes)  # an empty cell counts as the mean
hidden = layers.concat(layers.Flatten()(layers.Embedding(4)(town)), known)
for _ in range(2):
    hidden = layers.Linear(32, activation="silu")(hidden)
network = Network(layers.Model([town, sizes], layers.Linear(1)(hidden)), seed=1)
for p in network.parameters:  # mean and scale of Standardize: set, not learned
    if p.role in ("mean", "scale"):
        mean, spread = np.nanmean(numbers[:2400], axis=0), np.nanstd(numbers[:2400], axis=0)
        network.set(p.name, mean if p.role == "mean" else 1 / spread)

inputs = {"town": towns, "sizes": numbers}
learned = {name: values[:2400] for name, values in inputs.items()}
others = {name: values[2400:] for name, values in inputs.items()}
network.train(learned, (price[:2400] - center) / scale, loss="huber", epochs=60,
              batch_size=64, lr=0.005, schedule="cosine")

error = np.abs(network(others) * scale + center - price[2400:]).mean()
line = np.c_[np.eye(4)[towns[:, 0]], np.nan_to_num(numbers - np.nanmean(numbers, axis=0))]
weights = np.linalg.lstsq(line[:2400], price[:2400], rcond=None)[0]
straight = np.abs(line[2400:] @ weights - price[2400:]).mean()
print("mean error of 600 prices that it has not seen: %.1f; of a straight line: %.1f"
      % (error, straight))
house = {"town": [[TOWNS.index("Dale")]], "sizes": [[120, 30, 200]]}
print("a house in Dale, 120 m2, 30 years old, with a garden of 200 m2: %.0f (made with %.0f)"
      % (network(house)[0, 0] * scale + center, 120 * 3.5 + 0.1 * 200 * 3 + 20))
if error > 0.7 * straight:
    sys.exit("that is hardly better than a straight line")
