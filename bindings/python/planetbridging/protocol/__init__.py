"""The program `loom-stream`: layers with their weights as JSON become an .entity file.

    loom-stream < request.json > reply.json

The request has `bedrock`, `payload` (`planet`, `model_id`, sizes, `layers`), and where things lie:
`root`, `models_dir`, `fixtures_dir`, `fixture_version`, `output_path`; `inputs` are the samples to
run, one row each (of several inputs, such as a residual's two, one behind the other), else those of
the fixture; `skip_infer` leaves that out. `native_outputs`, where they are given, are compared
with.
"""
from __future__ import annotations

from .loom_stream import loom_stream, main, network_of

__all__ = ["loom_stream", "main", "network_of"]
