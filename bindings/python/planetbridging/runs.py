"""One run of a bedrock: framework, stream, file read again."""
from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Union

import numpy as np

from ._binary import repo_root, work_dir
from ._fixtures import load_fixture_arrays, model_inputs, side_by_side
from .bedrocks import FIXTURE_VERSIONS, BedrockModel, model_of
from .native import Native, Training, run_native
from .stream import StreamResult, stream_bedrock

FilePath = Union[str, Path]


class Run(NamedTuple):
    """A model, the rows that it got, and what the framework and the stream answered."""

    model: BedrockModel
    rows: np.ndarray
    native: Native
    streamed: StreamResult


def payload_of(model: BedrockModel, planet: str, layers: List[Dict[str, Any]]) -> Dict[str, Any]:
    """What `loom-stream` takes of a model."""
    made: Dict[str, Any] = {"bedrock": model.bedrock, "planet": planet, "model_id": model.id,
                            "fixture_version": FIXTURE_VERSIONS[model.bedrock],
                            "output_dim": model.output_dim, "layers": layers}
    if model.bedrock == "dense":
        made["input_dim"] = model.inputs[0][0]
    elif model.bedrock != "mixer" and model.bedrock[-1] not in "123":
        made["seq_len"] = model.inputs[0][0]
    return made


def run_model(bedrock: str, planet: str, *, model_id: Optional[str] = None,
              root: Optional[FilePath] = None, binary: Optional[FilePath] = None,
              out_dir: Optional[FilePath] = None, samples: Optional[int] = None,
              epochs: int = 0) -> Run:
    """Builds a model in a framework, trains it for `epochs` where it is of dense layers, runs it on
    the fixture's test samples, streams its layers, and compares."""
    model = model_of(bedrock, model_id)
    base = Path(root) if root else repo_root()
    data = load_fixture_arrays(model.bedrock, base, part="" if epochs else "test")
    inputs = [x[:samples] for x in model_inputs(data, model)]
    training = None
    if epochs and model.bedrock == "dense":
        training = Training(model_inputs(data, model, "train")[0],
                            data["y_train"][:, :model.output_dim], epochs)
    native = run_native(planet, model, inputs, training=training)
    folder = Path(out_dir) if out_dir else work_dir(Path(root) if root else None, "stream",
                                                    model.bedrock, planet)
    rows = side_by_side(inputs)
    streamed = stream_bedrock(
        model.bedrock, payload_of(model, planet, native.layers), inputs=rows, root=base,
        native_outputs=native.outputs, binary=binary, output_path=folder / (model.id + ".entity"))
    return Run(model, rows, native, streamed)
