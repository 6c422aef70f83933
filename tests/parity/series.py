#!/usr/bin/env python3
"""`loom train` on time series, judged by forecasts of 1 to 12 steps from each date of the last fifth.

series.py LOOM [--data FOLDER]

Two measured series beside their seasonal naive forecasts, and generated ones beside who knows their
rule, all but the noise: within a tenth of that one's error, or a quarter where the level shifts,
which nobody told the network. Prints a table; 1 where one is missed.
"""
import argparse
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HORIZON = 12
TURN = 2 * math.pi


def origins(values):
    return range(len(values) - len(values) // 5, len(values))


def mean_error(values, forecast):
    """Of forecast(origin, steps ahead from 1), over all that are judged."""
    errors = [abs(forecast(o, h) - values[o + h - 1])
              for o in origins(values) for h in range(1, HORIZON + 1) if o + h <= len(values)]
    return sum(errors) / len(errors)


def naive(values, period):
    """The last value known that stands whole periods before."""
    return mean_error(values, lambda o, h: values[o + h - 1 - -(-h // period) * period])


def line_and_year(noise):
    known = [100 + 0.5 * i + 20 * math.sin(TURN * i / 12) for i in range(480)]
    values = [k + 3 * noise() for k in known]
    return values, lambda o, h: known[o + h - 1]


def ar2(noise):
    a, b, mean = 1.3, -0.5, 40.0
    values = [mean, mean]
    while len(values) < 720:
        values.append(mean + a * (values[-1] - mean) + b * (values[-2] - mean) + noise())
    values = values[120:]

    def forecast(o, h):
        last = values[o - 2:o]
        for _ in range(h):
            last.append(mean + a * (last[-1] - mean) + b * (last[-2] - mean))
        return last[-1]
    return values, forecast


def growing_season(noise):
    known = [80 * math.exp(0.006 * i) * (1 + 0.3 * math.sin(TURN * i / 12)) for i in range(360)]
    values = [k * math.exp(0.03 * noise()) for k in known]
    return values, lambda o, h: known[o + h - 1]


def level_shift(noise):
    known = [(50 if i < 200 else 80) + 10 * math.sin(TURN * i / 12) for i in range(480)]
    values = [k + 2 * noise() for k in known]
    return values, lambda o, h: known[o + h - 1]


# What makes the series, and how many times the error of who knows its rule is allowed.
MADE = {"a line, a year and noise": (line_and_year, 1.1), "AR(2)": (ar2, 1.1),
        "a season that grows with the level": (growing_season, 1.1),
        "a year, and a level that shifts": (level_shift, 1.25)}


def trained(loom, table, folder):
    done = subprocess.run([loom, "train", "--data", str(table), "--out", folder + "/s.entity",
                           "--horizon", str(HORIZON), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("series.py: " + done.stderr)
    return json.loads(done.stdout.splitlines()[-1])["forecasts"]["mae"]


def measured(data):
    """Name, table, the largest error, and what it is a part of."""
    def values(name):
        with open(data / name, newline="") as file:
            return [float(row[1]) for row in list(csv.reader(file))[1:]]
    yield ("airline-passengers", data / "airline-passengers.csv", 18.0,
           naive(values("airline-passengers.csv"), 12))
    spots = values("monthly-sunspots.csv")
    best = min(naive(spots, 12), naive(spots, 132))
    yield "monthly-sunspots", data / "monthly-sunspots.csv", 0.8 * best, best


def generated(folder):
    for number, (name, (make, times)) in enumerate(MADE.items()):
        draw = random.Random(number)
        values, rule = make(lambda: draw.gauss(0, 1))
        table = pathlib.Path(folder) / ("%d.csv" % number)
        rows = ["%04d-%02d,%r\n" % (1960 + i // 12, i % 12 + 1, v) for i, v in enumerate(values)]
        table.write_text("month,y\n" + "".join(rows))
        least = mean_error(values, rule)
        yield name, table, times * least, least


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("loom")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "../shared/data/tabular")
    args = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        tables = list(generated(folder))
        if (args.data / "monthly-sunspots.csv").exists():
            tables = list(measured(args.data)) + tables
        else:
            print("%s: no tables there: the measured series are left out" % args.data)
        print("%-36s %9s %9s %9s" % ("series", "loom", "allowed", "beside"))
        for name, table, allowed, beside in tables:
            mae = trained(args.loom, table, folder)
            missed += mae > allowed
            print("%-36s %9.3f %9.3f %9.3f%s" % (name, mae, allowed, beside,
                                                 "  MISSED" if mae > allowed else ""))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
