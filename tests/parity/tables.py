#!/usr/bin/env python3
"""`loom train` on ten tables, without a spec, beside scikit-learn's HistGradientBoosting and MLP.

tables.py LOOM [--data FOLDER] [--only NAME,...] [--seeds N] [--short]    77 without scikit-learn

Five folds of each table, the same for all; the mean over folds and seeds. The peer is the best of
HistGradientBoosting and MLP (numbers standardized, or as they are), all with their defaults, but
for the MLP's missing cells (means) and words (zeros and ones). As good: accuracy within a point,
or an RMSE within 5 %. Fails where fewer than 8 of 10 tables are. --short: tables that scikit-learn
holds or makes, small, one seed; none may fail by twice as much.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

# Threads that wait for each other take minutes where other programs hold the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
try:
    import numpy as np
    from sklearn import datasets
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import KFold, StratifiedKFold
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
except ImportError:
    print("tables.py: skipped: this Python has no scikit-learn (Debian: python3-sklearn)",
          file=sys.stderr)
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
MISSING = ("", "NA", "?")


def file_table(name, classes, header=False, target=-1):
    def load(folder):
        with open(folder / f"{name}.csv", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
        rows = rows[1:] if header else rows
        y = [row.pop(target) for row in rows]
        return rows, y, classes
    return load


def made(x, y, classes):
    cells = [[repr(float(v)) for v in row] for row in x]
    return cells, [f"c{v}" if classes else repr(float(v)) for v in y], classes


def bundled(load, classes):
    return lambda folder: made(*load(return_X_y=True), classes)


TABLES = {
    "abalone": file_table("abalone", False),
    "breast-cancer-wisconsin": file_table("breast-cancer-wisconsin", True),
    "housing": file_table("housing", False),
    "iris": file_table("iris", True),
    "penguins": file_table("penguins", True, header=True, target=0),
    "wine": file_table("wine", True),
    "digits": bundled(datasets.load_digits, True),
    "diabetes": bundled(datasets.load_diabetes, False),
    "friedman1": lambda folder: made(
        *datasets.make_friedman1(n_samples=1000, noise=1.0, random_state=1), False),
    "moons": lambda folder: made(*datasets.make_moons(1000, noise=0.3, random_state=1), True),
}
SHORT = ("diabetes", "moons")


def is_number(cell):
    try:
        float(cell)
        return True
    except ValueError:
        return False


def peer_arrays(rows):
    """Numbers (NaN where missing) and words, by columns."""
    columns = list(zip(*rows))
    numbers = [i for i, c in enumerate(columns) if all(is_number(v) or v in MISSING for v in c)]
    words = [i for i in range(len(columns)) if i not in numbers]
    x = np.array(rows, dtype=object)
    for i in numbers:
        x[:, i] = [float(v) if is_number(v) else np.nan for v in x[:, i]]
    return x, numbers, words


def peers(classes, numbers, words, seed):
    boost = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    mlp = MLPClassifier if classes else MLPRegressor
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    onehot = OneHotEncoder(handle_unknown="ignore")
    yield "boosting", make_pipeline(
        make_column_transformer(("passthrough", numbers), (ordinal, words)),
        boost(random_state=seed))
    for name, steps in (("mlp", [SimpleImputer()]),
                        ("mlp, scaled", [SimpleImputer(), StandardScaler()])):
        yield name, make_pipeline(
            make_column_transformer((make_pipeline(*steps), numbers), (onehot, words)),
            mlp(random_state=seed))


def score(truth, answers, classes):
    if classes:
        return 100 * float(np.mean([t == a for t, a in zip(truth, answers)]))
    return float(np.sqrt(np.mean((np.array(truth, float) - np.array(answers, float)) ** 2)))


def write(path, rows, y):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"x{i}" for i in range(len(rows[0]))] + ["y"])
        writer.writerows([*row, t] for row, t in zip(rows, y))


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stderr}")
    return done.stdout


def loom_answers(loom, folder, train, test, classes, seed):
    table, other, entity = folder / "train.csv", folder / "test.csv", folder / "t.entity"
    write(table, *train)
    write(other, *test)
    run(loom, "train", "--data", table, "--task", "classes" if classes else "numbers", "--seed",
        seed, "--out", entity)
    lines = [json.loads(line)
             for line in run(loom, "predict", entity, "--data", other, "--json").splitlines()]
    lines = [line for line in lines if "row" in line]
    return [line["class"] if classes else line["values"][0] for line in lines]


def judge(loom, name, folder, data, seeds):
    """Loom's scores, the peers' by name, and the longest training in seconds."""
    rows, y, classes = TABLES[name](data)
    x, numbers, words = peer_arrays(rows)
    loom_scores, peer_scores, longest = [], {}, 0.0
    for seed in range(seeds):
        cut = (StratifiedKFold if classes else KFold)(5, shuffle=True, random_state=seed)
        for train, test in cut.split(x, y):
            begin = time.monotonic()
            answers = loom_answers(loom, folder, ([rows[i] for i in train], [y[i] for i in train]),
                                   ([rows[i] for i in test], [y[i] for i in test]), classes, seed)
            longest = max(longest, time.monotonic() - begin)
            truth = [y[i] for i in test]
            loom_scores.append(score(truth, answers, classes))
            learn = [y[i] if classes else float(y[i]) for i in train]
            for peer, model in peers(classes, numbers, words, seed):
                answers = model.fit(x[train], learn).predict(x[test])
                peer_scores.setdefault(peer, []).append(score(truth, answers, classes))
    return classes, loom_scores, peer_scores, longest


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("loom")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "../shared/data/tabular")
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--short", action="store_true")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    names = SHORT if args.short else [n for n in args.only.split(",") if n] or list(TABLES)
    slack, seeds = (2, 1) if args.short else (1, args.seeds)
    good = 0
    print(f"{'table':24} {'measure':8} {'loom':>8} {'spread':>7} {'peer':>8}  of{'':12} seconds")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            classes, ours, theirs, longest = judge(args.loom, name, pathlib.Path(folder),
                                                   args.data, seeds)
            means = {peer: float(np.mean(s)) for peer, s in theirs.items()}
            best = max(means, key=means.get) if classes else min(means, key=means.get)
            mean = float(np.mean(ours))
            fine = (mean >= means[best] - slack if classes
                    else mean <= means[best] * (1 + 0.05 * slack))
            good += fine
            print(f"{name:24} {'accuracy' if classes else 'rmse':8} {mean:8.3f} "
                  f"{float(np.std(ours)):7.3f} {means[best]:8.3f}  {best:14} {longest:6.1f}"
                  f"{'' if fine else '  NOT as good'}", flush=True)
    wanted = len(names) * 8 // 10 if not args.short else len(names)
    print(f"{good} of {len(names)} as good, {wanted} wanted")
    return 0 if good >= wanted else 1


if __name__ == "__main__":
    sys.exit(main())
