"""One request of `loom-stream`, answered."""
from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from .._binary import repo_root
from .._fixtures import load_fixture_arrays, side_by_side
from ..bedrocks import ALL_BEDROCK_IDS
from ..compare import compare_outputs
from ..graph import Absorbed, Batch, Graph, count
from .kinds import _SPACE, KINDS, Chain, Refused, name_of, size

_ENVELOPE = {"bedrock", "payload", "root", "models_dir", "fixtures_dir", "fixture_version",
             "output_path", "inputs", "skip_infer", "native_outputs"}
_PAYLOAD = {"bedrock", "planet", "model_id", "fixture_version", "layers", "output_dim", "input_dim",
            "seq_len", "d_model", "input_size", "hidden_size", "dim", "vocab_size", "embed_dim",
            "intermediate_dim", "input_channels", "depth", "height", "width"}
_SAME = {"embed_dim": "embedding_dim", "input_channels": "in_channels", "depth": "input_depth",
         "height": "input_height", "width": "input_width"}
Layer = Dict[str, Any]
Shape = Tuple[int, ...]


def _layers(payload: Mapping[str, Any], bedrock: str) -> List[Layer]:
    given = payload.get("layers")
    if not isinstance(given, (list, tuple)) or not given:
        raise Refused("layers required")
    made = []
    for i, layer in enumerate(given):
        if not isinstance(layer, dict):
            raise Refused("layer %d is no object" % i)
        layer = {"kind": "dense" if bedrock == "dense" else bedrock, "index": i, **layer}
        if layer["index"] != i:
            raise Refused("%s stands at %d: indices count from 0" % (name_of(layer), i))
        if str(layer["kind"]).lower() not in KINDS:
            raise Refused("%s: unknown kind %r: there are %s"
                          % (name_of(layer), layer["kind"], ", ".join(sorted(KINDS))))
        made.append(layer)
    return made


def _agrees(payload: Mapping[str, Any], first: Layer) -> None:
    """Sizes of a payload are said again by its first layer."""
    unknown = sorted(set(payload) - _PAYLOAD)
    if unknown:
        raise Refused("unknown keys of a payload: %s; there are %s"
                      % (", ".join(unknown), ", ".join(sorted(_PAYLOAD))))
    for key, value in payload.items():
        own = _SAME.get(key, key)
        if key in ("layers", "output_dim") or own not in first:
            continue
        if first[own] != value:
            raise Refused("the payload's %s is %r, %s has %s %r"
                          % (key, value, name_of(first), own, first[own]))


def _first_shape(layer: Layer, payload: Mapping[str, Any]) -> Shape:
    """The shape of a sample that the first layer takes."""
    kind = str(layer["kind"]).lower()
    steps = payload.get("seq_len", layer.get("seq_len"))
    steps = {"seq_len": 1 if steps is None else steps, "kind": kind, "index": 0}
    if kind == "dense":
        return (size(layer, "input_dim"),)
    if kind[:-1] in ("cnn", "convt") and kind[-1] in "123":
        return (size(layer, "in_channels"), *(size(layer, key) for key in _SPACE[int(kind[-1])]))
    if kind == "embedding":
        return (size(steps, "seq_len"),)
    if kind == "mha":
        return (size(layer, "seq_len"), size(layer, "d_model"))
    if kind in ("lstm", "rnn"):
        return (size(layer, "seq_len"), size(layer, "input_size"))
    return (size(steps, "seq_len"), size(layer, "input_dim" if kind == "swiglu" else "dim"))


def network_of(bedrock: str, payload: Mapping[str, Any]) -> Tuple[Absorbed, int]:
    """The network of a payload, and how many numbers its weights have. Raises Refused with the
    layer and what it should have."""
    layers = _layers(payload, bedrock)
    _agrees(payload, layers[0])
    graph = Graph()
    first = _first_shape(layers[0], payload)
    second = None
    table = next((layer for layer in layers if str(layer["kind"]).lower() == "embedding"), None)
    if layers[0] is table:
        x = graph.input("ids", (Batch(), *first), ids=size(table, "vocab_size"))
    else:
        x = graph.input("x", (Batch(), *first))
        if table is not None:
            behind = [layer["seq_len"] for layer in layers[table["index"]:] if "seq_len" in layer]
            steps = size({"seq_len": behind[0] if behind else 1, **table}, "seq_len")
            second = graph.input("ids", (Batch(), steps), ids=size(table, "vocab_size"))
        elif str(layers[0]["kind"]).lower() == "residual":
            second = graph.input("skip", (Batch(), *first))
    chain = Chain(graph, x, second)
    for layer in layers:
        chain.add(layer)
    absorbed = Absorbed(graph, [("y", chain.x)], lambda name: chain.arrays[name], metadata={
        "framework": str(payload.get("planet", "")), "model": str(payload.get("model_id", ""))})
    return absorbed, sum(array.size for array in chain.arrays.values())


def _split(absorbed: Absorbed, rows: Any) -> List[np.ndarray]:
    """Rows of a request as the network's inputs."""
    try:
        x = np.asarray(rows, np.float64)
    except (TypeError, ValueError):
        raise Refused("inputs: rows of different lengths, or no numbers") from None
    widths = [count([n for n in port.shape if not isinstance(n, Batch)])
              for port in absorbed.inputs]
    total = sum(widths)
    if x.ndim < 2 or len(x) == 0 or x.size != len(x) * total:
        raise Refused("inputs: expects [samples, %s], got %s" % (
            " + ".join("%d of %s" % (n, port.name) for n, port in zip(widths, absorbed.inputs)),
            list(x.shape)))
    x = x.reshape(len(x), total)
    made, at = [], 0
    for width, port in zip(widths, absorbed.inputs):
        part = x[:, at:at + width]
        at += width
        if port.ids:
            bad = (part != np.floor(part)) | (part < 0) | (part >= port.ids)
            if bad.any():
                raise Refused("inputs: %s is no id below %d" % (part[bad][0], port.ids))
        made.append(part.reshape((-1,) + tuple(n for n in port.shape[1:] if isinstance(n, int))))
    return made


def _samples(request: Mapping[str, Any], bedrock: str, payload: Mapping[str, Any],
             absorbed: Absorbed, root: Path) -> List[np.ndarray]:
    if request.get("inputs") is not None:
        return _split(absorbed, request["inputs"])
    version = str(request.get("fixture_version") or payload.get("fixture_version") or "")
    if not version:
        raise Refused("stream: fixture or inputs required for inference")
    if request.get("fixtures_dir"):
        path = Path(request["fixtures_dir"]) / (version + ".npz")
        if not path.is_file():
            raise Refused("fixture: there is no %s" % path)
        with np.load(path) as file:
            data = {name: file[name] for name in file.files if name.endswith("test")}
    else:
        data = load_fixture_arrays(bedrock, root, version, part="test")
    names = ["x_test", "token_ids_test"]
    if bedrock == "residual":
        names = ["x_main_test", "x_skip_test"]
    made = []
    for name, port in zip(names, absorbed.inputs):
        if name not in data:
            raise Refused("fixture %s: has no %s" % (version, name))
        sizes = tuple(n for n in port.shape[1:] if isinstance(n, int))
        cut = data[name][(slice(None),) + tuple(slice(0, n) for n in sizes)]
        if cut.shape[1:] != sizes:
            raise Refused("fixture %s: %s is %s, the model takes %s"
                          % (version, name, list(data[name].shape[1:]), list(sizes)))
        made.append(cut % port.ids if port.ids else cut)
    return _split(absorbed, side_by_side(made).reshape(len(made[0]), -1))


def _entity_path(request: Mapping[str, Any], bedrock: str, payload: Mapping[str, Any],
                 root: Path) -> Path:
    if request.get("output_path"):
        return Path(request["output_path"])
    planet, model = (str(payload.get(key) or default) for key, default in
                     (("planet", "planet"), ("model_id", "model")))
    for what, part in (("planet", planet), ("model_id", model)):
        if part in (".", "..") or "/" in part or "\\" in part or "\0" in part:
            raise Refused("%s %r is no name of a folder" % (what, part))
    base = request.get("models_dir") or root / "python" / bedrock / "models"
    return Path(base) / planet / model / (model + ".stream.entity")


def _infer(request: Mapping[str, Any], absorbed: Absorbed, samples: List[np.ndarray],
           payload: Mapping[str, Any]) -> Dict[str, Any]:
    y = np.asarray(absorbed.predict(*samples), np.float64).reshape(len(samples[0]), -1)
    wanted = payload.get("output_dim")
    if wanted is not None:
        wanted = size({"output_dim": wanted, "kind": "payload", "index": ""}, "output_dim")
        if wanted > y.shape[1]:
            raise Refused("output_dim is %d, the network makes %d numbers" % (wanted, y.shape[1]))
        y = y[:, :wanted]
    made: Dict[str, Any] = {"output_dim": y.shape[1], "sample_count": len(y),
                            "outputs": y.tolist()}
    if request.get("native_outputs") is not None:
        try:
            largest, mean, exact = compare_outputs(request["native_outputs"], y)
        except (TypeError, ValueError) as e:
            raise Refused("native_outputs: %s" % e) from None
        made.update(max_abs_diff=largest, mean_abs_diff=mean, exact_match=exact)
    return made


def _answer(request: Any) -> Dict[str, Any]:
    if not isinstance(request, dict):
        raise Refused("a request is an object, got %s" % type(request).__name__)
    unknown = sorted(set(request) - _ENVELOPE)
    if unknown:
        raise Refused("unknown keys of a request: %s; there are %s"
                      % (", ".join(unknown), ", ".join(sorted(_ENVELOPE))))
    payload = request.get("payload")
    if not isinstance(payload, dict):
        raise Refused("payload required")
    bedrock = str(request.get("bedrock") or payload.get("bedrock") or "").lower()
    if bedrock not in ALL_BEDROCK_IDS:
        raise Refused('unknown bedrock "%s": there are %s' % (bedrock, ", ".join(ALL_BEDROCK_IDS)))
    root = Path(request["root"]) if request.get("root") else repo_root()
    absorbed, numbers = network_of(bedrock, payload)
    # What cannot run leaves no file behind.
    ran: Dict[str, Any] = {}
    if not request.get("skip_infer"):
        ran = _infer(request, absorbed, _samples(request, bedrock, payload, absorbed, root),
                     payload)
    path = _entity_path(request, bedrock, payload, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    absorbed.save(path)
    return {"status": "ok", "entity_path": str(path), "layer_count": len(payload["layers"]),
            "weight_bytes": 4 * numbers, **ran}


def loom_stream(request: Any) -> Dict[str, Any]:
    """The reply to a request: status "ok" with entity_path, layer_count, weight_bytes, output_dim,
    sample_count, outputs, and max_abs_diff, mean_abs_diff and exact_match where it has
    `native_outputs`; or "error" with a message."""
    from welvet import LoomError
    try:
        return _answer(request)
    except (LoomError, ValueError, OSError) as e:
        return {"status": "error", "message": str(e)}


def main(argv: Optional[List[str]] = None) -> int:
    """`loom-stream`: a request on stdin, the reply on stdout; 1 where it is an error."""
    argv = sys.argv[1:] if argv is None else argv
    if argv:
        from . import __doc__ as text
        print((text or "").strip(), file=sys.stdout if argv[0] in ("-h", "--help") else sys.stderr)
        return 0 if argv[0] in ("-h", "--help") else 2
    try:
        request = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    except ValueError as e:
        reply: Dict[str, Any] = {"status": "error", "message": "stdin is no JSON: %s" % e}
    else:
        reply = loom_stream(request)
    json.dump(reply, sys.stdout, indent=2)
    sys.stdout.write("\n")
    return 0 if reply["status"] == "ok" else 1
