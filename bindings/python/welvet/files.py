"""Training from files, and measures of models: what the program `loom` does, in Python."""
from __future__ import annotations

import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union

from ._core.call import array, call, interruptible
from ._core.object import Runner
from .layers._base import Layer
from .layers.model import Model
from .network import Network, Path
from .transformer import Transformer

_STEPS = 64  # of a call, at most: Ctrl-C and callbacks are seen between them


class Fitted(NamedTuple):
    """What fit() came to."""

    network: Optional[Network]  # with the best weights; None where an adapter learned, in `out`
    # step, best_step, validation, test and more; None where nothing was held back.
    figures: Optional[Dict[str, Any]]
    text: str  # the figures in words
    notes: List[str]  # what was chosen from the data, and what was left out
    step: int  # optimizer steps done


class Training(Runner):
    """A training from files, step by step: fit() runs one to its end. One thread at a time."""

    _nothing = ("training_info",)
    _instead = "save it, and open it with resume=True"

    def __init__(self, data: Optional[Path] = None, **options: Any) -> None:
        """Options as docs/reference/options.md (training_open) has them. Raises what the readers of
        the data raise, and InvalidArgument for an option that does not fit them."""
        given = {key: os.fspath(value) if isinstance(value, os.PathLike) else value
                 for key, value in dict(options, data=data).items() if value is not None}
        self._own(interruptible(lambda: call("training_open", given)))

    def info(self) -> Dict[str, Any]:
        """Where it stands: notes, parameters, samples, step, steps, ended, spec and more."""
        return call("training_info", self._handle)  # type: ignore[no-any-return]

    def step(self, steps: int = 1) -> Dict[str, Any]:
        """At most `steps` optimizer steps: ends early behind one that is logged or judged. Returns
        the report of the last: step, loss, lr, validation, ended and more."""
        return self._run("training_step", steps, size=steps)  # type: ignore[no-any-return]

    def judge(self) -> "tuple[Optional[Dict[str, Any]], str]":
        """Figures of the weights that are kept, and the same in words."""
        figures, text = interruptible(lambda: call("training_judge", self._handle))
        return figures, text

    def report(self, form: str = "text") -> str:
        """Of a table, after judge(): which columns the answers rest on; "text" or "svg"."""
        return call("training_report", self._handle, form)  # type: ignore[no-any-return]

    def save(self, path: Path) -> None:
        """Writes the network and the state that resumes."""
        call("training_save", self._handle, os.fspath(path))

    def network(self) -> Network:
        """The network with the kept weights, independent of this training. Raises where an adapter
        learns, which lies in a folder of its own."""
        handle = call("training_save_bytes", self._handle)
        try:
            return Network._of(call("network_load_bytes", handle))  # type: ignore[no-any-return]
        finally:
            call("release", handle)


def fit(data: Optional[Path] = None, *, on_step: Optional[Callable[[Dict[str, Any]], Any]] = None,
        **options: Any) -> Fitted:
    """Learns from a table (CSV), a folder of arrays, images or texts, or as a `spec` says, with the
    rest chosen from the data: `welvet.fit("iris.csv", target="species")`.

    Options are those of `loom train` (docs/reference/options.md, training_open): spec, test,
    target, task, network, dtype, method, series, horizon, teacher, temperature, alpha, steps, seed,
    out, resume, events, threads, device, mode. With `out` the result is saved there, also after
    Ctrl-C. `on_step` sees the report of every step that is logged or judged, and ends the training
    by returning False."""
    with Training(data, **options) as training:
        out, ended = options.get("out"), bool(training.info()["ended"])
        try:
            while not ended:
                report = training.step(_STEPS)
                ended = report["ended"]
                if "failed" in report:
                    raise OSError(report["failed"])
                told = report["logged"] or "validation" in report
                if on_step and told and on_step(report) is False:
                    break
            figures, text = training.judge()
        finally:
            if out is not None:
                training.save(out)
        info = training.info()
        network = None if "adapter_parameters" in info else training.network()
        return Fitted(network, figures, text, info["notes"], info["step"])


def convert(source: Path, out: Path, *, dtype: str = "", adapter: Optional[Path] = None,
            tokenizer: bool = True, matmul_nbits: bool = False,
            settings: Optional[Dict[str, Any]] = None,
            dims: Optional[Dict[str, int]] = None,
            max: Optional[Dict[str, int]] = None) -> Dict[str, Any]:
    """Writes the model of a folder or file as .safetensors, .entity or, for other programs, .gguf
    or .onnx (a decoder with its keys and values as inputs and outputs), by the end of the name
    `out`; one that ends in "/" becomes a HuggingFace folder. `dtype`: of the weights; "" as they
    are. With an `adapter` added to them, and without the tokenizer where that is False.
    `matmul_nbits`: of .onnx, products of 4 and 8 bits by ONNX Runtime's MatMulNBits. `settings`: of
    a .safetensors file of weights, as from_weights takes them. `dims` and `max`: sizes of the open
    dimensions of an .onnx file, as Graph.network takes them. Returns tensors, with the errors of
    each, and notes: what was left out."""
    options = {"dtype": dtype, "adapter": os.fspath(adapter) if adapter is not None else "",
               "tokenizer": tokenizer, "matmul_nbits": matmul_nbits, "settings": settings or {},
               "dims": dims or {}, "max": max or {}}
    return interruptible(  # type: ignore[no-any-return]
        lambda: call("file_convert", os.fspath(source), os.fspath(out), options))


def export(source: Union[Network, Layer, Model, Transformer, Path], path: Path, **options: Any
           ) -> Dict[str, Any]:
    """Writes a network, layers that make one, or an .entity file for other programs, by the end of
    the path: .onnx. Options and result are those of Network.export; a language model is a decoder
    with its keys and values as inputs and outputs.

    A path of .safetensors takes the names and shapes of a `template`: what planetbridging absorbed,
    whose model then takes it back; a state_dict or a module of PyTorch; another .safetensors file.
    `prefix`: of the names to look at. The result has the tensors by name. Raises ValueError for
    what has no place in the template, or several."""
    if os.fspath(path).endswith(".safetensors"):
        return _export_safetensors(source, path, **options)
    if isinstance(source, Transformer):
        with source.network as network:
            return network.export(path, **{"decoder": True, **options})
    if isinstance(source, Network):
        return source.export(path, **options)
    if isinstance(source, (Layer, Model)):
        made = Network(source)
    else:
        made = Network.load(source)
    with made as network:
        return network.export(path, **options)


def _export_safetensors(source: Union[Network, Layer, Model, Transformer, Path], path: Path, *,
                        template: Any = None, prefix: str = "") -> Dict[str, Any]:
    from .state_dict import export as written
    if template is None:
        raise ValueError("%s: a .safetensors file takes the names of a template= (convert() writes "
                         "networks under their own)" % os.fspath(path))
    if isinstance(source, Network):
        return written(source, path, template, prefix)
    if isinstance(source, Transformer):
        made = source.network
    else:
        made = Network(source) if isinstance(source, (Layer, Model)) else Network.load(source)
    with made as network:
        return written(network, path, template, prefix)


def evaluate(model: Transformer, text: Union[str, Sequence[int]],
             reference: Optional[Transformer] = None, **options: Any) -> Dict[str, Any]:
    """How well a language model predicts a text, or its ids: tokens, loss (nats per token) and
    perplexity; with a `reference` also reference_loss, kl, largest_kl and same_argmax. Options:
    context, chunk, threads, device, mode, activations (those of the model, where not given):
    docs/reference/options.md, evaluator_create."""
    options = {"activations": model._options["activations"], **options}
    ids = model.tokenizer.encode(text) if isinstance(text, str) else text
    tokens = array(ids, "int32", "ids").reshape(-1)
    other = reference._handle if reference is not None else 0
    evaluator = _Evaluator._of(call("evaluator_create", model._handle, other, tokens, options))
    with evaluator:
        return evaluator.measure()  # type: ignore[no-any-return]


class _Evaluator(Runner):
    _nothing = ("evaluator_next", array([], "float32", "logits"))

    def measure(self) -> Dict[str, Any]:
        while self._run("evaluator_next", array([], "float32", "logits")) > 0:
            pass
        info: Dict[str, Any] = call("evaluator_info", self._handle)
        return {key: info[key] for key in ("tokens", "loss", "perplexity", "reference_loss", "kl",
                                           "largest_kl", "same_argmax") if key in info}
