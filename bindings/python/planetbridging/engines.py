"""Bedrocks of live frameworks, streamed into .entity files and compared.

    from planetbridging import engines
    result = engines.stream("mha", "pytorch")
    print(result.native_vs_loom, result.entity_path)
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

import numpy as np

from .bedrock_ladder import LadderResult, run_bedrock_ladder
from .bedrocks import BEDROCK_IDS, BEDROCK_PLANETS, BEDROCKS, STREAM_MODEL_IDS
from .compare import label_of
from .native import planet_installed
from .runs import FilePath, run_model
from .welvet_infer import infer_bedrock_entity

_ALL_PLANETS = ("pytorch", "tensorflow", "jax", "sklearn")


def available_planets(bedrock: str) -> Tuple[str, ...]:
    """The frameworks that a bedrock is compared with. Raises ValueError for no bedrock."""
    bedrock = bedrock.lower()
    if bedrock not in BEDROCK_PLANETS:
        raise ValueError("unknown bedrock %r: there are %s" % (bedrock, ", ".join(BEDROCK_PLANETS)))
    return BEDROCK_PLANETS[bedrock]


def installed_planets(bedrock: Optional[str] = None) -> Tuple[str, ...]:
    """Those of them, or of all, that can be imported here."""
    candidates = available_planets(bedrock) if bedrock else _ALL_PLANETS
    return tuple(planet for planet in candidates if planet_installed(planet))


@dataclass(frozen=True)
class EngineStreamResult:
    """What a framework answered, what the network answered that was made of its weights, and the
    file read again; arrays are [samples, numbers], labels EXACT, PASS, DIFF or ERROR."""

    bedrock: str
    planet: str
    model_id: str
    layer_count: int
    entity_path: str
    native: np.ndarray
    loom_stream: np.ndarray
    native_vs_loom: str
    welvet: Optional[np.ndarray] = None
    native_vs_welvet: Optional[str] = None
    loom_vs_welvet: Optional[str] = None
    welvet_note: Optional[str] = None
    framework: str = ""  # by name and version: "keras 3.15.0 on jax"


def stream(bedrock: str, planet: str, *, model_id: Optional[str] = None,
           root: Optional[FilePath] = None, binary: Optional[FilePath] = None,
           out_dir: Optional[FilePath] = None, try_welvet: bool = False, max_samples: int = 5,
           samples: Optional[int] = 3, epochs: int = 0) -> EngineStreamResult:
    """Streams one model of a bedrock out of a framework. `try_welvet`: the file is read again and
    run on the first `max_samples`; `samples`: how many are run at all, None for the fixture's 100
    (of which the norms have rows so even that frameworks differ by over 1e-5 in f32); `epochs`: for
    how long a model of dense layers learns before. Raises ValueError for an unknown bedrock, planet
    or model, ImportError for a framework that is not installed."""
    bedrock, planet = bedrock.lower(), planet.lower()
    if planet not in available_planets(bedrock):
        raise ValueError("planet %r not enabled for bedrock %s: there are %s"
                         % (planet, bedrock, ", ".join(BEDROCK_PLANETS[bedrock])))
    if not planet_installed(planet):
        raise ImportError("%s dependencies not installed" % planet)
    run = run_model(bedrock, planet, model_id=model_id, root=root, binary=binary, out_dir=out_dir,
                    samples=samples, epochs=epochs)
    native, loom = run.native.outputs, run.streamed.outputs
    again = first = second = None
    if try_welvet:
        rows = run.rows[:max_samples]
        again = infer_bedrock_entity(bedrock, run.streamed.entity_path, rows,
                                     output_dim=run.model.output_dim)
        first, second = label_of(native[:len(again)], again), label_of(loom[:len(again)], again)
    return EngineStreamResult(
        bedrock, planet, run.model.id, run.streamed.layer_count, run.streamed.entity_path, native,
        loom, label_of(native, loom), again, first, second, framework=run.native.framework)


def _failed(bedrock: str, planet: str, model_id: str, error: Exception) -> EngineStreamResult:
    nothing = np.zeros((0, 0))
    return EngineStreamResult(bedrock, planet, model_id, 0, str(error), nothing, nothing, "ERROR",
                              welvet_note=str(error))


def ladder(bedrock: str, planet: str = "numpy", **options: Any) -> LadderResult:
    """Framework, stream and file read again, beside each other; the planet `numpy` is a reference
    that needs no framework."""
    if planet == "numpy":
        return run_bedrock_ladder(bedrock, **options)
    r = stream(bedrock, planet, **{"try_welvet": True, **options})
    return LadderResult(r.bedrock, r.model_id, r.planet, r.layer_count, r.entity_path, r.native,
                        r.loom_stream, r.welvet, r.native_vs_loom, r.native_vs_welvet,
                        r.loom_vs_welvet, r.welvet_note)


def stream_all_bedrocks(planet: str, **options: Any) -> List[EngineStreamResult]:
    """stream() of every bedrock of one framework; what fails is a result with the label ERROR."""
    if not planet_installed(planet):
        raise ImportError("%s dependencies not installed" % planet)
    made = []
    for bedrock in BEDROCK_IDS:
        if planet in available_planets(bedrock):
            try:
                made.append(stream(bedrock, planet, **options))
            except Exception as e:  # one that fails does not end the others
                made.append(_failed(bedrock, planet, STREAM_MODEL_IDS[bedrock], e))
    return made


def stream_all_planets(bedrock: str, *, model_id: Optional[str] = None,
                       **options: Any) -> List[EngineStreamResult]:
    """stream() of one bedrock out of every framework that is installed; what fails is a result with
    the label ERROR."""
    made = []
    for planet in installed_planets(bedrock):
        try:
            made.append(stream(bedrock, planet, model_id=model_id, **options))
        except Exception as e:  # one that fails does not end the others
            made.append(_failed(bedrock, planet, model_id or STREAM_MODEL_IDS[bedrock.lower()], e))
    return made


__all__ = ["EngineStreamResult", "LadderResult", "available_planets", "installed_planets", "ladder",
           "stream", "stream_all_bedrocks", "stream_all_planets", "BEDROCKS"]
