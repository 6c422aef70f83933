"""Networks from files of weights, by names and shapes."""
from __future__ import annotations

import json
import os
from typing import Any, BinaryIO, Dict, NamedTuple, Optional, Union

from ._core.call import call, interruptible
from ._core.errors import InvalidArgument
from ._core.source import open_file
from .network import Network, Path

Settings = Union[Dict[str, Any], Path, None]


class FromWeights(NamedTuple):
    """A network, and what the file was taken to be: strip, modules (path, type, certain, assumed),
    order, left, topology (docs/reference/weights.md)."""

    network: Network
    report: Dict[str, Any]


class OpenQuestions(InvalidArgument):
    """Names and shapes leave questions open. `report` has them: of the file under "questions", of
    each module under modules[i]["questions"], with key, text and choices."""

    report: Dict[str, Any]


def _settings(given: Settings) -> Dict[str, Any]:
    if given is None:
        return {}
    if isinstance(given, dict):
        return given
    with open(os.fspath(given), encoding="utf-8") as file:
        return json.load(file)  # type: ignore[no-any-return]


def weights_report(source: Union[Path, bytes, BinaryIO], settings: Settings = None
                   ) -> Dict[str, Any]:
    """What from_weights would decide, and the questions that are open, without an error for those:
    `open` counts them."""
    given, file = _settings(settings), open_file(source)
    try:
        return call("file_weights", file, given)  # type: ignore[no-any-return]
    finally:
        call("release", file)


def from_weights(source: Union[Path, bytes, BinaryIO], settings: Settings = None) -> FromWeights:
    """The network of a file of weights (safetensors, PyTorch, GGUF, shards): each module becomes
    a layer by the names and shapes of its tensors, as PyTorch writes them.

    `source`: a path, bytes, or a binary file with seek and readinto. `settings`: a dict, or the
    path of a JSON file, with what names and shapes do not tell (docs/reference/weights.md). Raises
    OpenQuestions, with the report, where some is missing; nothing is guessed. Other errors are
    InvalidArgument, NotFound (tensors that nothing takes) and Unsupported."""
    given, file = _settings(settings), open_file(source)
    try:
        report: Optional[Dict[str, Any]] = None
        try:
            network, report = interruptible(
                lambda: call("network_from_weights", file, given))
        except InvalidArgument as error:
            report = _report_of(file, given)
            if report is None or not report["open"]:
                raise
            asked = OpenQuestions(str(error))
            asked.report = report
            raise asked from None
        return FromWeights(Network._of(network), report)
    finally:
        call("release", file)


def _report_of(file: int, settings: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    try:
        return call("file_weights", file, settings)  # type: ignore[no-any-return]
    except InvalidArgument:
        return None  # the settings themselves are wrong: the first error says so
