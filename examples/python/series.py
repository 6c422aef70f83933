"""Forecasts a time series: 12 months from the 36 before them.

    python3 examples/python/series.py

For a table of dates and values no program is needed: `loom train --data series.csv`, then
`loom predict`.
"""
import sys

import numpy as np

import welvet
from welvet import Network, layers

PAST, AHEAD = 36, 12


def make_series(months):
    """Passengers of a growing airline, with two seasons that grow in proportion."""
    random, month = np.random.default_rng(5), np.arange(months)
    season = 1 + 0.25 * np.sin(month * np.pi / 6) + 0.1 * np.cos(month * np.pi / 3)
    return 100 * np.exp(month / 150) * season * np.exp(random.normal(0, 0.02, months))


def windows(series):
    """Every stretch of PAST + AHEAD months, relative to the last month of PAST."""
    stretches = np.lib.stride_tricks.sliding_window_view(np.log(series), PAST + AHEAD)
    return stretches - stretches[:, PAST - 1:PAST]


series = make_series(360)
learned, later = windows(series[:-60]), windows(series[-60 - PAST:])
network = Network(layers.Sequential(
    layers.Input(PAST, 1),  # steps, values per step
    layers.GRU(32, output="last"),
    layers.Linear(AHEAD),
), seed=1)
history = network.train(learned[:, :PAST, None], learned[:, PAST:], epochs=60, batch_size=32,
                        lr=0.005, schedule="cosine")
print("%d stretches learned, loss %.5f" % (len(learned), history["loss"][-1]))

forecast = np.exp(network(later[:, :PAST, None]))
truth, year_before = np.exp(later[:, PAST:]), np.exp(later[:, PAST - 12:PAST])
error = np.abs(forecast / truth - 1).mean()
naive = np.abs(year_before / truth - 1).mean()
print("of the last 60 months it is off by %.1f %%, the value of the year before by %.1f %%"
      % (100 * error, 100 * naive))
level = series[-1 - AHEAD]
for month in range(0, AHEAD, 3):
    print("in %2d months: %4.0f passengers, and there were %4.0f"
          % (month + 1, forecast[-1, month] * level, truth[-1, month] * level))
if error > 0.6 * naive:
    sys.exit("that is hardly better than the year before")
