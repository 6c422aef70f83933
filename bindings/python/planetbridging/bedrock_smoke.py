"""Each bedrock once, against a reference in NumPy: no framework is needed."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional

from .bedrocks import BEDROCK_IDS, STREAM_MODEL_IDS
from .runs import FilePath, run_model


@dataclass(frozen=True)
class SmokeResult:
    """The label of one bedrock: EXACT, PASS, DIFF, or ERROR with the reason as entity_path."""

    bedrock: str
    model_id: str
    layer_count: int
    compare_label: str
    max_abs_diff: Optional[float]
    entity_path: str


def run_bedrock_smoke(bedrock: str, *, root: Optional[FilePath] = None,
                      model_id: Optional[str] = None, binary: Optional[FilePath] = None,
                      out_dir: Optional[FilePath] = None) -> SmokeResult:
    """Streams one model with weights of the reference, and compares."""
    run = run_model(bedrock, "numpy", model_id=model_id, root=root, binary=binary, out_dir=out_dir)
    made = run.streamed
    return SmokeResult(run.model.bedrock, run.model.id, made.layer_count,
                       made.compare_label or "PENDING", made.max_abs_diff, made.entity_path)


def run_all_bedrock_smokes(**options: Any) -> List[SmokeResult]:
    """run_bedrock_smoke() of every bedrock; what fails has the label ERROR."""
    made = []
    for bedrock in BEDROCK_IDS:
        try:
            made.append(run_bedrock_smoke(bedrock, **options))
        except Exception as e:  # one that fails does not end the others
            made.append(SmokeResult(bedrock, STREAM_MODEL_IDS[bedrock], 0, "ERROR", None, str(e)))
    return made
