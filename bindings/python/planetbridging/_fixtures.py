"""Fixtures: the samples that every framework gets, made from seed 42 and kept as NPZ files."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Dict, List, Optional, Tuple, Union

import numpy as np

from .bedrocks import ALL_BEDROCK_IDS, FIXTURE_VERSIONS, BedrockModel

SEED = 42
_CELLS = ("mha", "lstm", "rnn")
Arrays = Dict[str, np.ndarray]


def fixtures_cache_root() -> Optional[Path]:
    """PLANETBRIDGING_FIXTURES_CACHE, where it is set."""
    given = os.environ.get("PLANETBRIDGING_FIXTURES_CACHE")
    return Path(given).expanduser().resolve() if given else None


def _targets(x: np.ndarray, width: int, short: bool) -> np.ndarray:
    """What a model may learn of x [samples, numbers]: functions of its first numbers, three of them
    where `short`, again and again up to `width`."""
    flat = x.reshape(len(x), -1)
    column = [flat[:, i:i + 1] for i in range(min(13, flat.shape[1]))]
    parts = [np.sin(column[0]) + 0.25 * np.cos(column[1]), 0.1 * column[2] - 0.05 * column[3],
             0.02 * np.tanh(column[4] + column[5])]
    if not short:
        parts.append(0.01 * (column[6] ** 2 - column[7] ** 2))
    if not short and len(column) == 13:
        parts += [0.005 * column[8], 0.005 * np.sin(column[9]), 0.005 * np.cos(column[10]),
                  0.002 * (column[11] + column[12])]
    y = np.concatenate(parts, 1)
    return np.tile(y, (1, -(-width // y.shape[1])))[:, :width]


def _waves(phase: np.ndarray, sizes: Tuple[int, ...]) -> np.ndarray:
    """Images of one channel: a wave with each sample's phase."""
    first, second = {1: ((0.15,), (0.07,)), 2: ((0.12, 0.08), (0.05, -0.04)),
                     3: ((0.1, 0.08, 0.06), (0.05, -0.04, 0.0))}[len(sizes)]
    places = np.indices(sizes).astype(np.float64)
    by = phase.reshape((-1,) + (1,) * len(sizes))
    loud = 0.08 if len(sizes) == 3 else 0.1
    wave = np.sin(np.tensordot(first, places, 1) + by)
    return (wave + loud * np.cos(np.tensordot(second, places, 1) + by * 0.5))[:, None]


def _sequences(phase: np.ndarray, steps: int, features: int, rng: np.random.Generator,
               offset: float = 0.0) -> np.ndarray:
    at = (phase + offset).reshape(-1, 1, 1)
    step, feature = np.arange(steps)[:, None], np.arange(features)[None]
    wave = np.sin(0.11 * step + 0.07 * feature + at) + 0.05 * np.cos(0.03 * step + at * 0.3)
    return wave + rng.standard_normal((len(phase), steps, features)) * 0.01


def _token_ids(samples: int, steps: int, ids: int, rng: np.random.Generator) -> np.ndarray:
    out = np.zeros((samples, steps))
    for i in range(samples):
        first = int(rng.integers(0, ids))
        out[i] = (first + np.arange(steps) * 3 + i * 5) % ids
    return out


def _images(bedrock: str, rng: np.random.Generator) -> Tuple[np.ndarray, np.ndarray, Arrays]:
    rank, size = {"cnn1": (1, 64), "cnn2": (2, 32), "cnn3": (3, 16), "mixer": (3, 2)}[bedrock]
    train = 64 if bedrock == "mixer" else 2000
    scalars = rng.standard_normal((train + 100, size ** rank))
    phase = scalars[:, 0]
    x = _waves(phase, (size,) * rank)
    more: Arrays = {}
    if bedrock == "mixer":
        for name, rows in (("train", phase[:train]), ("test", phase[train:])):
            step, sample = np.arange(2)[None], np.arange(len(rows))[:, None]
            more["token_ids_" + name] = np.floor(
                np.abs(rows[:, None] * 1000 + step * 7 + sample) % 16)
    return x[:train], x[train:], more


def _rows(bedrock: str, rng: np.random.Generator) -> Tuple[np.ndarray, np.ndarray, Arrays]:
    """Sequences of rows, 64 to train and 100 to test."""
    steps, width, scalars = {"mha": (8, 16, 128), "lstm": (8, 8, 64), "rnn": (8, 8, 64),
                             "swiglu": (4, 8, 1)}.get(bedrock, (4, 32, 1))
    phase = rng.standard_normal((164, scalars))[:, 0]
    if bedrock != "residual":
        return (_sequences(phase[:64], steps, width, rng),
                _sequences(phase[64:], steps, width, rng), {})
    more: Arrays = {}
    for name, rows in (("train", phase[:64]), ("test", phase[64:])):
        more["x_main_" + name] = _sequences(rows, steps, width, rng)
        more["x_skip_" + name] = _sequences(rows, steps, width, rng, 1.7)
    return (np.stack([more["x_main_train"], more["x_skip_train"]], 1),
            np.stack([more["x_main_test"], more["x_skip_test"]], 1), more)


def make_fixture(bedrock: str) -> Arrays:
    """x_train, y_train, x_test and y_test of a bedrock, float64, from seed 42. A residual's
    x_main_* and x_skip_* stand side by side in x_*; the second mixer's ids are token_ids_*."""
    rng = np.random.default_rng(SEED)
    more: Arrays = {}
    if bedrock == "dense":
        x = rng.standard_normal((5100, 128))
        train, test, width = x[:5000], x[5000:], 8
    elif bedrock == "embedding":
        train, test, width = _token_ids(64, 8, 64, rng), _token_ids(100, 8, 64, rng), 64
    elif bedrock.startswith("convt"):
        sizes = (4,) + {1: (16,), 2: (8, 8), 3: (4, 4, 4)}[int(bedrock[-1])]
        x = rng.standard_normal((164,) + sizes)
        train, test, width = x[:64], x[64:], 8
    elif bedrock.startswith("cnn") or bedrock == "mixer":
        (train, test, more), width = _images(bedrock, rng), 4 if bedrock == "mixer" else 8
    else:
        (train, test, more), width = _rows(bedrock, rng), 64 if bedrock in _CELLS else 128
    short = bedrock in ("layernorm", "embedding", "rmsnorm", "swiglu", "residual", "softmax")
    y = [_targets(x.sum(1) if bedrock == "residual" else x, width, short) for x in (train, test)]
    return {"x_train": train, "y_train": y[0], "x_test": test, "y_test": y[1], **more}


def ensure_bedrock_fixture(bedrock: str, *, out_dir: Union[str, Path]) -> Path:
    """The file of a bedrock's fixture in a folder, made where it is missing."""
    target = Path(out_dir) / (FIXTURE_VERSIONS[bedrock] + ".npz")
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        # Another process may make the same file: each writes its own and the last rename stays.
        draft = target.with_name("%s.%d.npz" % (target.stem, os.getpid()))
        try:
            np.savez_compressed(draft, **make_fixture(bedrock))  # type: ignore[arg-type]
            os.replace(draft, target)
        finally:
            if draft.exists():
                draft.unlink()
    return target


def resolve_fixtures_dir(bedrock: str, data_root: Union[str, Path], fixture_version: str) -> Path:
    """The folder that holds `fixture_version`.npz. Raises FileNotFoundError where it is none of
    the bedrock's own and nobody has put it there."""
    bedrock = bedrock.lower()
    here = Path(data_root) / "python" / bedrock / "fixtures"
    if (here / (fixture_version + ".npz")).is_file():
        return here
    cache = fixtures_cache_root()
    folder = here if cache is None else cache / bedrock
    if (folder / (fixture_version + ".npz")).is_file():
        return folder
    if fixture_version != FIXTURE_VERSIONS[bedrock]:
        raise FileNotFoundError("the fixture %s.npz is neither in %s nor made by planetbridging, "
                                "whose one of %s is %s" % (fixture_version, folder, bedrock,
                                                           FIXTURE_VERSIONS[bedrock]))
    return ensure_bedrock_fixture(bedrock, out_dir=folder).parent


def load_fixture_arrays(bedrock: str, data_root: Union[str, Path],
                        fixture_version: Optional[str] = None, *, part: str = "") -> Arrays:
    """The arrays of a bedrock's fixture; `part`, train or test: those alone."""
    bedrock = bedrock.lower()
    version = fixture_version or FIXTURE_VERSIONS[bedrock]
    path = resolve_fixtures_dir(bedrock, data_root, version) / (version + ".npz")
    with np.load(path) as data:
        return {name: data[name] for name in data.files if name.endswith(part)}


def ensure_all_bedrock_fixtures(data_root: Union[str, Path]) -> None:
    """Makes every fixture that is missing."""
    for bedrock in ALL_BEDROCK_IDS:
        resolve_fixtures_dir(bedrock, data_root, FIXTURE_VERSIONS[bedrock])


def _cut(array: np.ndarray, shape: Tuple[int, ...]) -> np.ndarray:
    return array[(slice(None),) + tuple(slice(0, n) for n in shape)]


def model_inputs(data: Arrays, model: BedrockModel, part: str = "test") -> List[np.ndarray]:
    """A model's inputs among a fixture's, each [samples, ...]: its sizes are cut out of the
    largest, ids are taken modulo its table's."""
    if model.bedrock == "residual":
        names = ["x_main_" + part, "x_skip_" + part]
    else:
        names = ["x_" + part, "token_ids_" + part][:len(model.inputs)]
    made = [_cut(data[name], shape) for name, shape in zip(names, model.inputs)]
    if model.ids:
        made[-1] = made[-1] % model.ids
    return made


def side_by_side(inputs: List[np.ndarray]) -> np.ndarray:
    """Several inputs as `loom-stream` takes them: one row for each sample, one behind the
    other."""
    if len(inputs) == 1:
        return inputs[0]
    return np.concatenate([x.reshape(len(x), -1) for x in inputs], 1)


def fixture_inputs(model: BedrockModel, data_root: Union[str, Path],
                   samples: Optional[int] = None) -> List[np.ndarray]:
    """The first test inputs of a model."""
    data = load_fixture_arrays(model.bedrock, data_root, part="test")
    return [x[:samples] for x in model_inputs(data, model)]
