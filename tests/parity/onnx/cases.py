#!/usr/bin/env python3
"""tests/parity/onnx/cases.py INDEX.csv: the backend cases that the installed package onnx holds or
generates and the index (../shared/data/onnx_backend_tests/onnx_cases_index.csv) does not, through
welvet. Prints how many give the stored outputs (1e-3, 1e-5 as the backend tests do), how many are
refused and which are wrong; fails where one is. Environment as settings.py."""
import argparse
import collections
import csv
import glob
import os
import sys

import numpy as np
import onnx
import welvet
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def tensor(value):
    return numpy_helper.to_array(value) if isinstance(value,
                                                      onnx.TensorProto) else np.asarray(value)


def stored(known):
    """Those with files: (name, model, inputs, outputs)."""
    for path in sorted(
        glob.glob(os.path.join(os.path.dirname(onnx.__file__),
                               "backend/test/data/*/*/model.onnx"))):
        folder = os.path.dirname(path)
        data, model = os.path.join(folder, "test_data_set_0"), onnx.load(path)
        if os.path.basename(folder) in known:
            continue

        def read(kind, infos):
            values = []
            for i, info in enumerate(infos):
                if not info.type.HasField("tensor_type"):
                    return None
                path = os.path.join(data, f"{kind}_{i}.pb")
                # from here on initializers, which old files list as inputs
                if not os.path.exists(path):
                    break
                with open(path, "rb") as file:
                    values.append(numpy_helper.to_array(onnx.TensorProto.FromString(file.read())))
            return values
        yield os.path.basename(folder), model, read("input", model.graph.input), read("output",
                model.graph.output)


def generated(known):
    for case in collect_testcases(None):
        if case.name in known:
            continue
        inputs, outputs = case.data_sets[0]
        plain = all(v.type.HasField("tensor_type")
                    for v in [*case.model.graph.input, *case.model.graph.output])
        yield case.name, case.model, [tensor(v) for v in inputs] if plain else None, [tensor(v)
                for v in outputs] if plain else None


def right(got, want):
    a, b = np.asarray(want), np.asarray(got)
    return a.shape == b.shape and a.dtype.kind not in "SUO" and np.allclose(a.astype(np.float64),
            b.astype(np.float64), rtol=1e-3, atol=1e-5, equal_nan=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    with open(parser.parse_args().index) as file:
        known = {row["case"] for row in csv.DictReader(file)}
    count, wrong = collections.Counter(), []
    for source in (generated, stored):
        for name, model, inputs, outputs in source(known):
            if inputs is None or outputs is None:
                count["of sequences"] += 1
                continue
            try:
                got = welvet.from_onnx(model.SerializeToString()).run(
                    {v.name: a for v, a in zip(model.graph.input, inputs)})
            except (welvet.Unsupported, welvet.OutOfRange):
                count["refused"] += 1
                continue
            good = all(right(got[v.name], a) for v, a in zip(model.graph.output, outputs))
            count["right" if good else "wrong"] += 1
            wrong += [] if good else [name]
    print(dict(count), wrong)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
