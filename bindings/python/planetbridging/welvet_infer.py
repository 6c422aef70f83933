"""Files that were streamed, run again by the package welvet."""
from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, FrozenSet, List, Optional, Union

import numpy as np

from .bedrocks import BEDROCK_IDS
from .compare import compare_outputs, diff_label, label_of

# Every bedrock is run again; the second name stays for what was written against earlier versions.
WELVET_RELOAD_BEDROCKS: FrozenSet[str] = frozenset(BEDROCK_IDS)
WELVET_RELOAD_SKIP: FrozenSet[str] = frozenset()


def import_welvet() -> Any:
    """welvet.Network. Raises ImportError where the package is missing."""
    try:
        from welvet import Network
    except ImportError as e:
        raise ImportError("welvet is not installed: pip install welvet") from e
    return Network


def load_entity_network(entity_path: Union[str, Path]) -> Any:
    return import_welvet().load(entity_path)


def _parts(network: Any) -> List[Dict[str, Any]]:
    given = network.topology["input"]
    return list(given.get("parts", [given]))


def _width(part: Dict[str, Any]) -> int:
    dims = part.get("dims")
    return int(np.prod(dims)) if dims else int(part.get("width", 1))


def run_rows(network: Any, inputs: Any) -> np.ndarray:
    """What a network answers to rows [samples, ...] that hold its inputs one behind the other, as
    [samples, numbers]."""
    x = np.asarray(inputs)
    parts = _parts(network)
    widths = [_width(part) for part in parts]
    if x.ndim < 2 or x.size != len(x) * sum(widths):
        raise ValueError("inputs: expects [samples, %s], got %s"
                         % (" + ".join(map(str, widths)), list(x.shape)))
    x = x.reshape(len(x), -1)
    made, at = [], 0
    for part, width in zip(parts, widths):
        rows = x[:, at:at + width]
        at += width
        if "ids" in part and (rows != np.floor(rows)).any():
            raise ValueError("inputs: %s are no whole numbers" % part.get("name", "ids"))
        made.append(rows.astype(np.int32 if "ids" in part else np.float32))
    names = [part.get("name") for part in parts]
    given: Any = dict(zip(names, made)) if all(names) else made[0]
    return np.asarray(network(given), np.float64).reshape(len(x), -1)


def infer_bedrock_entity(bedrock: str, entity_path: Union[str, Path], inputs: Any, *,
                         output_dim: int, input_dim: Optional[int] = None) -> np.ndarray:
    """The first `output_dim` numbers that a file answers to each sample. `inputs`: [samples, ...],
    of several inputs one behind the other; of dense ones the first `input_dim` numbers."""
    x = np.asarray(inputs)
    x = x.reshape(1, -1) if x.ndim == 1 else x
    if bedrock.lower() == "dense" and input_dim is not None:
        x = x[:, :input_dim]
    network = load_entity_network(entity_path)
    try:
        return run_rows(network, x)[:, :output_dim]
    finally:
        network.close()


def try_infer_bedrock_entity(bedrock: str, entity_path: Union[str, Path], inputs: Any, *,
                             output_dim: int, input_dim: Optional[int] = None
                             ) -> Optional[np.ndarray]:
    """The same, or None where welvet is not there, or does not read or run the file."""
    try:
        return infer_bedrock_entity(bedrock, entity_path, inputs, output_dim=output_dim,
                                    input_dim=input_dim)
    except Exception:  # whatever it is: that is what "try" is for
        return None


def infer_dense_entity(entity_path: Union[str, Path], inputs: Any, *,
                       input_dim: Optional[int] = None) -> np.ndarray:
    """What a file of dense layers answers to [samples, numbers], or to one sample."""
    x = np.asarray(inputs)
    x = x.reshape(1, -1) if x.ndim == 1 else x
    network = load_entity_network(entity_path)
    try:
        return run_rows(network, x[:, :input_dim])
    finally:
        network.close()


def infer_mixer_v1_entity(entity_path: Union[str, Path], volumes: Any, *,
                          output_dim: int = 8) -> np.ndarray:
    """What a file of the first mixer answers to volumes [samples, channels, depth, height, width],
    or to one volume."""
    x = np.asarray(volumes)
    return infer_bedrock_entity("mixer", entity_path, x[np.newaxis] if x.ndim == 4 else x,
                                output_dim=output_dim)


def compare_native_loom_welvet(native: Any, loom_stream: Any, welvet_out: Any) -> Dict[str, str]:
    """The labels of the three pairs."""
    return {"native_vs_loom_stream": label_of(native, loom_stream),
            "native_vs_welvet": label_of(native, welvet_out),
            "loom_stream_vs_welvet": label_of(loom_stream, welvet_out)}


def print_compare_ladder(*, title: str, native: Any, loom_stream: Any,
                         welvet_out: Any = None) -> None:
    """A line for each pair: label, largest and mean difference."""
    pairs = [("native → loom-stream:", native, loom_stream)]
    if welvet_out is not None:
        pairs += [("native → welvet:", native, welvet_out),
                  ("loom-stream → welvet:", loom_stream, welvet_out)]
    print("\n=== %s ===" % title)
    for name, a, b in pairs:
        largest, mean, exact = compare_outputs(a, b)
        print("  %-22s %-6s  max=%.6e  mean=%.6e" % (name, diff_label(largest, exact=exact),
                                                     largest, mean))
