"""Language models."""
from __future__ import annotations

import functools
import itertools
import os
import types
from typing import (
    TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Sequence, Type, Union,
)

import numpy as np

from ._core import raw as _raw
from ._core.call import array, call, interruptible, library, new_bytes, place, seed_of
from ._completion import chunks, completion
from ._core.object import Idle, Object
from ._core.rows import one_sequence
from .network import Network, Path
from .text import Messages, Tokenizer, conversation
from .training import Data, History
from .training.fit import Callbacks

Prompt = Union[str, Sequence[int], np.ndarray]

_FINISH = {number: name for name, number in _raw.FINISH.items()}
_TOKENS = 256  # at most, where nothing is said: as `loom run`

if TYPE_CHECKING:
    from typing import TypeVar

    _F = TypeVar("_F", bound=Callable[..., Any])

    def _shared(function: _F) -> _F: ...

else:

    class _shared:
        """A method that, called on the class, runs on the model that load_model loaded last:
        Transformer.generate("...")."""

        def __init__(self, function):
            self.function = function
            functools.update_wrapper(self, function)

        def __get__(self, instance, owner):
            if instance is not None:
                return types.MethodType(self.function, instance)

            @functools.wraps(self.function)
            def on_last(*arguments, **settings):
                return self.function(owner._last_loaded(), *arguments, **settings)

            return on_last


class Piece(str):
    """A part of a text, with its token: `id` (-1 where none was picked) and `finish`: "more", or
    why the text ended."""

    id: int
    finish: str


class Text(str):
    """What a model wrote: a str, and how it came to be.

    tokens: the new ids, the end included. finish: "length", "eos", "stop" or "cancelled".
    fingerprint: SHA-256 over ids and logits, equal on every machine or something is wrong. info:
    prompt and decoding speed, as Transformer.generate found them.
    """

    tokens: List[int]
    finish: str
    fingerprint: str
    info: Dict[str, Any]

    @property
    def text(self) -> str:
        return str(self)


class _Generator(Object):
    def __init__(self, model: "Transformer") -> None:
        self._own(call("generator_create", model._handle, model._options))
        self.context: int = call("generator_info", self._handle)["context"]

    def feed(self, prompt: Any) -> None:
        """A text, ids of one sequence, or a conversation (a list of dicts)."""
        if isinstance(prompt, str):
            name = "generator_feed_text"
            value: Any = prompt
        elif not hasattr(prompt, "__len__") or isinstance(prompt, (bytes, bytearray)):
            raise TypeError("prompt: expects a text, ids, or messages, got %s"
                            % type(prompt).__name__)
        elif isinstance(prompt, dict) or (len(prompt) > 0 and isinstance(prompt[0], dict)):
            name, value = "generator_feed_chat", prompt
        else:
            name, value = "generator_feed", one_sequence(array(prompt, np.int32, "ids"))
        interruptible(lambda: call(name, self._handle, 0, value),
                      cancel=lambda: call("cancel", self._handle))


class Transformer(Object):
    """A language model: its network, its tokenizer, and what its authors recommend. Any number of
    threads may use one; each text that is being written has its own memory, which is kept for the
    next one.

    `name`: a HuggingFace folder, a .gguf or .entity file, a name in the local HuggingFace cache
    ("org/name"), or "embedded", the model inside the library. Nothing is downloaded. `format`: how
    the matrices run ("i8", "i4", ...; None: as an .entity file has them, blocks of a .gguf file as
    they are, others in f32, which training needs: "f32"). `context`: positions (0: as
    trained, at most 4096). `threads`: 0 is one per core. `mode` says threads and device in one word
    (docs/reference/modes.md). `activations`: "i8" runs prompts of quantized weights in less time,
    with other answers (docs/reference/dtypes.md).

    load_model is the same, and makes the model the one that methods called on the class use:

        Transformer.load_model("embedded")
        print(Transformer.generate("Once upon a time", max_tokens=50).text)
    """

    _last: Optional["Transformer"] = None

    def __init__(self, name: Path, format: Optional[str] = None, *, context: int = 0,
                 threads: int = 0, isa: str = "", mode: str = "", activations: str = "") -> None:
        name = os.fspath(name)
        self._set_up(context, threads, isa, mode, activations)
        self._own(interruptible(lambda: call("model_load", name, format or "")))

    def _set_up(self, context: int, threads: int, isa: str, mode: str, activations: str) -> None:
        self._generators = Idle()
        self._completions = itertools.count(1)
        self._options = {"context": context, "threads": threads, "isa": isa, "mode": mode,
                         "activations": activations}
        self._tokenizer: Optional[Tokenizer] = None

    @classmethod
    def load_model(cls, name: Path, format: Optional[str] = None, **options: Any) -> "Transformer":
        """Loads a model, complete or refused; methods of the class then use it. Raises NotFound,
        Unsupported, Corrupt, ..."""
        Transformer._last = cls(name, format, **options)
        return Transformer._last

    @classmethod
    def load_tokenizer(cls, name: Path) -> Tokenizer:
        """The tokenizer of a model, without its weights. load_model brings its own."""
        return Tokenizer(name)

    @classmethod
    def from_bytes(cls, data: Any, format: Optional[str] = None, *, context: int = 0,
                   threads: int = 0, isa: str = "", mode: str = "",
                   activations: str = "") -> "Transformer":
        """From the bytes of an .entity or GGUF file."""
        made = cls.__new__(cls)
        made._set_up(context, threads, isa, mode, activations)
        handle = new_bytes(data)
        try:
            made._own(call("model_load_bytes", handle, format or ""))
        finally:
            call("release", handle)
        return made

    @classmethod
    def from_network(cls, network: Network, tokenizer: Optional[Tokenizer] = None, *,
                     max_positions: int, context: int = 0, threads: int = 0, isa: str = "",
                     mode: str = "", activations: str = "", **settings: Any) -> "Transformer":
        """A language model of a network that was trained here, which is copied: it generates, and
        save() writes one file. The network reads ids and gives a value for each; max_positions: for
        how many positions it was trained. Settings: bos and eos (ids; as the tokenizer has them
        where not given, None for none), name, sampling (a dict: temperature, top_k, top_p, min_p,
        repetition_penalty)."""
        made = cls.__new__(cls)
        made._set_up(context, threads, isa, mode, activations)
        made._own(call("model_create", network._handle, tokenizer._handle if tokenizer is not None
                       else 0, {"max_positions": max_positions, **settings}))
        return made

    @staticmethod
    def check(name: Path) -> None:
        """Raises what loading would refuse without looking at a weight."""
        call("model_check", os.fspath(name))

    @classmethod
    def _last_loaded(cls) -> "Transformer":
        if Transformer._last is None:
            raise RuntimeError("no model is loaded: Transformer.load_model(name) first")
        return Transformer._last

    def close(self) -> None:
        if Transformer._last is self:
            Transformer._last = None
        self._generators.close()
        super().close()

    def _describe(self) -> str:
        info = self.info
        return "%s, %s parameters" % (info["name"], format(info["parameters"], ","))

    # ---- what it is

    @property
    def info(self) -> Dict[str, Any]:
        """name, architecture, vocab_size, max_positions, bos, eos, sampling (what the authors
        recommend), parameters."""
        return call("model_info", self._handle)  # type: ignore[no-any-return]

    @property
    def network(self) -> Network:
        """The model's own network: what changes it changes the model."""
        return Network._of(call("model_network", self._handle))

    def load_adapter(self, folder: Path) -> None:
        """Runs with a LoRA adapter from now on, in place of the one it has: a folder as `loom
        train`, Trainer.save and PEFT write it. The weights stay as they are, so that save() writes
        the model without it. Raises NotFound, Unsupported, Corrupt, or InvalidArgument for one of
        another model."""
        with self.network as network:
            network.load_adapter(folder)

    def save_adapter(self, folder: Path) -> None:
        """Writes the adapter that the model has, loaded or learned, as PEFT does. Raises
        InvalidArgument where it has none."""
        with self.network as network:
            network.save_adapter(folder)

    def unload_adapter(self) -> None:
        """Runs without an adapter again."""
        with self.network as network:
            network.unload_adapter()

    def merge_adapter(self) -> None:
        """Adds the adapter to the weights, encoded again where they are packed; the model then has
        none. Raises InvalidArgument where it has none before."""
        with self.network as network:
            network.merge_adapter()

    def train(self, texts: Union[str, Sequence[str], Data, Any], *, length: int = 256,
              spec: Optional[Dict[str, Any]] = None,
              optimizer: Union[str, Dict[str, Any], None] = None,
              schedule: Union[str, Dict[str, Any], None] = None, lr: Optional[float] = None,
              epochs: Optional[int] = None, steps: Optional[int] = None,
              batch_size: Optional[int] = None, callbacks: Optional[Callbacks] = None,
              progress: Optional[bool] = None, seed: Optional[int] = None, threads: int = 0,
              isa: str = "", mode: str = "", **settings: Any) -> History:
        """Learns to continue texts: one, a list of them, of which none goes on in the next, ids as
        Data.tokens takes them, or a Data object. Texts are cut into sequences of at most `length`
        tokens. The keywords are those of Network.train; with `lora={"rank": 8}` an adapter learns
        beside the weights. Raises Unsupported for weights that are packed and no `lora`."""
        if not isinstance(texts, Data):
            if isinstance(texts, str):
                texts = self.tokenize(texts)
            elif isinstance(texts, (list, tuple)) and all(isinstance(t, str) for t in texts):
                texts = [self.tokenize(text) for text in texts]
            texts = Data.tokens(texts, length=length)
        with self.network as network:
            return network.train(
                texts, spec=spec, optimizer=optimizer, schedule=schedule, lr=lr, epochs=epochs,
                steps=steps, batch_size=batch_size, callbacks=callbacks, progress=progress,
                seed=seed, threads=threads, isa=isa, mode=mode, **settings)

    @property
    def tokenizer(self) -> Tokenizer:
        """Raises NotFound where the model has none; it then runs by ids."""
        if self._tokenizer is None:
            self._tokenizer = Tokenizer._of(call("model_tokenizer", self._handle))
        return self._tokenizer

    @_shared
    def save(self, path: Path) -> None:
        """Writes an .entity file with network, tokenizer and configuration."""
        call("model_save", self._handle, os.fspath(path))

    def to_bytes(self) -> bytes:
        """The .entity file as bytes."""
        return library().take(call("model_save_bytes", self._handle))

    def export_bytes(self, name: str, *, dtype: str = "", tokenizer: bool = True,
                     matmul_nbits: bool = False) -> bytes:
        """For other programs, in memory: "gguf", "onnx" (a decoder), or a file of a HuggingFace
        folder ("model.safetensors", "config.json", ...). welvet.convert() writes files."""
        return library().take(call("model_export_bytes", self._handle, name, {
            "dtype": dtype, "tokenizer": tokenizer, "matmul_nbits": matmul_nbits}))

    def __reduce__(self) -> Any:
        """By bytes, as save() writes it: without an adapter, which a copy loads itself."""
        return _restored, (type(self), self.to_bytes(), self._options)

    # ---- text and ids

    @_shared
    def tokenize(self, text: str, add_special_tokens: bool = True) -> List[int]:
        """Ids of a text, with those that the model wants at both ends."""
        return self.tokenizer.encode(text, add_special_tokens)

    @_shared
    def detokenize(self, ids: Any, skip_special_tokens: bool = False) -> str:
        """The text of ids."""
        return self.tokenizer.decode(ids, skip_special_tokens)

    @_shared
    def logits(self, prompt: Prompt, out: Any = None) -> np.ndarray:
        """The prediction after a text or ids (at least one): (vocab_size,) of float32, into `out`
        where given."""
        logits = place(out, np.float32, (self.info["vocab_size"],))
        generator = self._generator()
        generator.feed(prompt)
        call("generator_logits", generator._handle, 0, logits)
        self._generators.put(generator)
        return logits if out is None else out  # type: ignore[no-any-return]

    # ---- writing

    @_shared
    def generate(
        self, prompt: Prompt = "", max_tokens: Optional[int] = None,
        temperature: Optional[float] = None, *, top_k: Optional[int] = None,
        top_p: Optional[float] = None, min_p: Optional[float] = None,
        repetition_penalty: Optional[float] = None, seed: Optional[int] = None,
        stop: Union[str, Sequence[str], None] = None, ignore_eos: bool = False,
    ) -> Text:
        """What the model writes after a prompt: a text, ids, or "" for the beginning of a text.

        max_tokens: at most (None: 256); a text also ends where the context is full, with finish
        "length". temperature: 0 is greedy. What is None is as the model's authors recommend, else
        temperature 0.7 and top_p 0.9. seed: None is 0. stop: a text or texts that end it, and are
        not part of it; None for none. Equal arguments give equal texts on every machine. Raises
        OutOfRange for a prompt that is longer than the context, and TypeError for several prompts
        at once."""
        stream = self._write(prompt, max_tokens, temperature, top_k, top_p, min_p,
                             repetition_penalty, seed, stop, ignore_eos)
        return _collect(stream)

    @_shared
    def generate_stream(
        self, prompt: Prompt = "", max_tokens: Optional[int] = None,
        temperature: Optional[float] = None, *, top_k: Optional[int] = None,
        top_p: Optional[float] = None, min_p: Optional[float] = None,
        repetition_penalty: Optional[float] = None, seed: Optional[int] = None,
        stop: Union[str, Sequence[str], None] = None, ignore_eos: bool = False,
    ) -> Iterator[Piece]:
        """The same piece by piece, one per token: whole characters, maybe none. The pieces together
        are what generate returns."""
        return _pieces(self._write(prompt, max_tokens, temperature, top_k, top_p, min_p,
                                   repetition_penalty, seed, stop, ignore_eos))

    @_shared
    def chat(
        self, messages: Messages, max_tokens: Optional[int] = None,
        temperature: Optional[float] = None, *, top_k: Optional[int] = None,
        top_p: Optional[float] = None, min_p: Optional[float] = None,
        repetition_penalty: Optional[float] = None, seed: Optional[int] = None,
        stop: Union[str, Sequence[str], None] = None,
        variables: Optional[Dict[str, Any]] = None,
    ) -> Text:
        """The answer in a conversation: [{"role": "user", "content": "..."}, ...], or what the user
        says. Give all that was said so far: what is known already is not run again. `variables` and
        errors: as Tokenizer.chat."""
        return _collect(self._write(conversation(messages, variables), max_tokens, temperature,
                                    top_k, top_p, min_p, repetition_penalty, seed, stop, False))

    @_shared
    def chat_stream(
        self, messages: Messages, max_tokens: Optional[int] = None,
        temperature: Optional[float] = None, *, top_k: Optional[int] = None,
        top_p: Optional[float] = None, min_p: Optional[float] = None,
        repetition_penalty: Optional[float] = None, seed: Optional[int] = None,
        stop: Union[str, Sequence[str], None] = None,
        variables: Optional[Dict[str, Any]] = None,
    ) -> Iterator[Piece]:
        """The answer piece by piece."""
        return _pieces(self._write(conversation(messages, variables), max_tokens, temperature,
                                   top_k, top_p, min_p, repetition_penalty, seed, stop, False))

    @_shared
    def create_chat_completion(
        self, messages: Messages, *, stream: bool = False, **settings: Any,
    ) -> Union[Dict[str, Any], Iterator[Dict[str, Any]]]:
        """The answer in a conversation as OpenAI's API and llama-cpp-python shape it: a dict with
        `choices` ([0]["message"]["content"], [0]["finish_reason"]) and `usage`; with `stream` an
        iterator of chunks, whose `choices` hold `delta`. `settings` and errors: as chat.
        `system_fingerprint` is the fingerprint of ids and logits."""
        name, number = self.info["name"], next(self._completions)
        if stream:
            return chunks(self.chat_stream(messages, **settings), name, number)
        return completion(self.chat(messages, **settings), name, number)

    def _generator(self) -> _Generator:
        """An idle one, or a new one. Who takes it puts it back when all went well."""
        return self._generators.take() or _Generator(self)

    def _sampling(self, temperature: Optional[float], top_k: Optional[int], top_p: Optional[float],
                  min_p: Optional[float], repetition_penalty: Optional[float]) -> Dict[str, Any]:
        """What `loom run` samples with."""
        given = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p,
                 "repetition_penalty": repetition_penalty}
        return {**self.info["sampling"],
                **{key: value for key, value in given.items() if value is not None}}

    def _write(
        self, prompt: Any, max_tokens: Optional[int], temperature: Any, top_k: Any,
        top_p: Any, min_p: Any, repetition_penalty: Any, seed: Optional[int], stop: Any,
        ignore_eos: bool,
    ) -> Iterator[Any]:
        """Pieces, and at the end the fingerprint with the generator's info."""
        options = self._sampling(temperature, top_k, top_p, min_p, repetition_penalty)
        options["seed"] = seed_of(0 if seed is None else seed)
        options["stop"] = [stop] if isinstance(stop, str) else list(stop or ())
        options["ignore_eos"] = ignore_eos
        if max_tokens is not None and max_tokens < 1:
            raise ValueError("max_tokens: must be at least 1, got %d" % max_tokens)
        generator = self._generator()
        handle = generator._handle
        try:
            generator.feed(prompt)
            options["max_tokens"] = max_tokens if max_tokens is not None else _TOKENS
            call("generator_start", handle, 0, options)
            finish = 0
            while finish == 0:
                finish, token, text = call("generator_next", handle)
                piece = Piece(text)
                piece.id, piece.finish = token, _FINISH[finish]
                yield piece
            yield call("generator_fingerprint", handle, 0), call("generator_info", handle)
        except KeyboardInterrupt:
            generator.close()  # a cancel may still wait in it
            raise
        except GeneratorExit:
            self._generators.put(generator)
            raise
        self._generators.put(generator)


def _restored(cls: Type[Transformer], data: bytes, options: Dict[str, Any]) -> Transformer:
    return cls.from_bytes(data, **options)


def _pieces(stream: Iterator[Any]) -> Iterator[Piece]:
    for item in stream:
        if isinstance(item, Piece):
            yield item


def _collect(stream: Iterator[Any]) -> Text:
    pieces = list(stream)
    fingerprint, info = pieces.pop()
    text = Text("".join(pieces))
    text.tokens = [p.id for p in pieces if p.id >= 0]
    text.finish = pieces[-1].finish
    text.fingerprint = fingerprint
    text.info = info
    return text
