"""The ladder of a bedrock: native outputs, those of the stream, those of the file read again."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional

import numpy as np

from .bedrocks import BEDROCK_IDS, STREAM_MODEL_IDS
from .compare import label_of
from .runs import FilePath, run_model
from .welvet_infer import try_infer_bedrock_entity


@dataclass(frozen=True)
class LadderResult:
    """Three outputs, [samples, numbers], and the labels of their pairs."""

    bedrock: str
    model_id: str
    planet: str
    layer_count: int
    entity_path: str
    native: np.ndarray
    loom_stream: np.ndarray
    welvet: Optional[np.ndarray]
    native_vs_loom: str
    native_vs_welvet: Optional[str]
    loom_vs_welvet: Optional[str]
    welvet_note: Optional[str] = None


def run_bedrock_ladder(bedrock: str, *, root: Optional[FilePath] = None,
                       model_id: Optional[str] = None, binary: Optional[FilePath] = None,
                       out_dir: Optional[FilePath] = None, max_samples: int = 5,
                       try_welvet: bool = True, planet: str = "numpy") -> LadderResult:
    """The ladder of one model of `planet`, by default of the reference in NumPy."""
    run = run_model(bedrock, planet, model_id=model_id, root=root, binary=binary, out_dir=out_dir,
                    samples=max_samples)
    native, loom = run.native.outputs, run.streamed.outputs
    again = first = second = note = None
    if not try_welvet:
        note = "welvet not requested"
    else:
        again = try_infer_bedrock_entity(run.model.bedrock, run.streamed.entity_path, run.rows,
                                         output_dim=run.model.output_dim)
        if again is None:
            note = "welvet reload failed or unavailable"
        else:
            first, second = label_of(native, again), label_of(loom, again)
    return LadderResult(run.model.bedrock, run.model.id, planet, run.streamed.layer_count,
                        run.streamed.entity_path, native, loom, again, label_of(native, loom),
                        first, second, note)


def run_all_bedrock_ladders(**options: Any) -> List[LadderResult]:
    """run_bedrock_ladder() of every bedrock; what fails has the label ERROR."""
    made = []
    for bedrock in BEDROCK_IDS:
        try:
            made.append(run_bedrock_ladder(bedrock, **options))
        except Exception as e:  # one that fails does not end the others
            nothing = np.zeros((0, 0))
            made.append(LadderResult(bedrock, STREAM_MODEL_IDS[bedrock],
                                     str(options.get("planet", "numpy")), 0, str(e), nothing,
                                     nothing, None, "ERROR", None, None, str(e)))
    return made
