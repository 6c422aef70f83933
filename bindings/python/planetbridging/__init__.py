"""Models of other frameworks as networks of Loom.

    import planetbridging
    absorbed = planetbridging.from_torch(model, (example,))
    absorbed.save("model.entity")

`engines`, `absorb`, the stream_* functions and the tables are those of planetbridging 0.7.3: each
bedrock (a kind of layer) out of each planet (a framework) into an .entity file, and compared.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import absorb, engines
from .bedrock_ladder import LadderResult, run_all_bedrock_ladders, run_bedrock_ladder
from .bedrock_smoke import SmokeResult, run_all_bedrock_smokes, run_bedrock_smoke
from .bedrocks import (BEDROCK_IDS, BEDROCK_PLANETS, BEDROCKS, STREAM_MODEL_IDS, BedrockInfo)
from .compare import compare_outputs, diff_label
from .engines import EngineStreamResult
from .errors import Unmapped
from .layer_compare import LayerComparison, LayerDifference, compare_layers
from .merging import merge
from .protocol import loom_stream
from .stream import (StreamResult, stream_bedrock, stream_cnn1, stream_cnn2, stream_cnn3,
                     stream_dense, stream_embedding, stream_layernorm, stream_lstm, stream_mha,
                     stream_mixer, stream_residual, stream_rmsnorm, stream_rnn, stream_swiglu)
from .welvet_infer import (WELVET_RELOAD_BEDROCKS, WELVET_RELOAD_SKIP, import_welvet,
                           infer_bedrock_entity, infer_dense_entity, infer_mixer_v1_entity,
                           print_compare_ladder, try_infer_bedrock_entity)

if TYPE_CHECKING:
    from .jax import from_jax
    from .keras import from_keras
    from .sklearn import from_sklearn
    from .torch import from_torch

__version__ = "0.8.0"
__all__ = [
    "__version__", "BEDROCK_IDS", "BEDROCK_PLANETS", "BEDROCKS", "BedrockInfo", "STREAM_MODEL_IDS",
    "StreamResult", "EngineStreamResult", "SmokeResult", "LadderResult", "LayerComparison",
    "LayerDifference", "Unmapped", "engines", "absorb", "run_bedrock_ladder",
    "run_all_bedrock_ladders", "stream_bedrock", "stream_dense", "stream_cnn1", "stream_cnn2",
    "stream_cnn3", "stream_mha", "stream_lstm", "stream_rnn", "stream_layernorm",
    "stream_embedding", "stream_rmsnorm", "stream_swiglu", "stream_residual", "stream_mixer",
    "run_bedrock_smoke", "run_all_bedrock_smokes", "compare_outputs", "diff_label",
    "compare_layers", "merge", "loom_stream", "from_jax", "from_keras", "from_sklearn",
    "from_torch", "import_welvet", "infer_dense_entity", "infer_bedrock_entity", "try_infer_bedrock_entity",
    "infer_mixer_v1_entity", "print_compare_ladder", "WELVET_RELOAD_BEDROCKS", "WELVET_RELOAD_SKIP",
]

_FRONTS = ("torch", "keras", "jax", "sklearn")


def __getattr__(name: str) -> Any:
    if name.startswith("from_") and name[5:] in _FRONTS:  # frameworks come in when asked for
        return getattr(importlib.import_module("." + name[5:], __name__), name)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
