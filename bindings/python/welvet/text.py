"""Tokenizers, and decoders for ids that come one by one."""
from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Sequence, Union

from ._core.call import call
from ._core.object import Object

Messages = Union[str, Sequence[Dict[str, str]]]


def conversation(messages: Messages, variables: Optional[Dict[str, Any]] = None) -> Any:
    """A text alone is what the user says."""
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    return {"messages": said, "variables": variables} if variables else said


class Decoder(Object):
    """The text of ids as they come: the parts put together are Tokenizer.decode of all ids, and
    none ends inside a character."""

    def __init__(self, tokenizer: "Tokenizer", skip_special_tokens: bool = False) -> None:
        self._own(call("decoder_create", tokenizer._handle, skip_special_tokens))

    def push(self, id: int) -> str:
        """One more id; returns what is final now, maybe nothing."""
        return call("decoder_push", self._handle, id)  # type: ignore[no-any-return]

    def finish(self) -> str:
        """The rest; the decoder then begins anew."""
        return call("decoder_finish", self._handle)  # type: ignore[no-any-return]


class Tokenizer(Object):
    """Text to ids and back, as HuggingFace's tokenizers do it, for BPE models. Immutable; any
    thread.

    `path`: a model, a folder, a tokenizer.json, a name in the local HuggingFace cache, or
    "embedded".
    """

    _instead = "load it again; a Transformer with it can be pickled"

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self._own(call("tokenizer_load", os.fspath(path)))

    load = classmethod(lambda cls, path: cls(path))

    @classmethod
    def parse(cls, json: str, config: str = "") -> "Tokenizer":
        """From the contents of a tokenizer.json, and of its tokenizer_config.json."""
        return cls._of(call("tokenizer_parse", json, config))  # type: ignore[no-any-return]

    @classmethod
    def train(cls, texts: Sequence[str], vocab_size: int, special_tokens: Sequence[str] = (),
              bos: str = "", eos: str = "", add_bos: bool = False) -> "Tokenizer":
        """A byte-level BPE vocabulary learned from texts."""
        options = {"vocab_size": vocab_size, "special_tokens": list(special_tokens), "bos": bos,
                   "eos": eos, "add_bos": add_bos}
        return cls._of(call("tokenizer_train", list(texts), options))  # type: ignore[no-any-return]

    @property
    def info(self) -> Dict[str, Any]:
        """vocab_size, bos, eos (None where there is none), chat (whether the chat template is one
        that this build can read), chat_template."""
        return call("tokenizer_info", self._handle)  # type: ignore[no-any-return]

    def __len__(self) -> int:
        """One more than the largest id."""
        return self.info["vocab_size"]  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        return True

    def encode(self, text: str, add_special_tokens: bool = True, plain: bool = False) -> List[int]:
        """Ids of a text. add_special_tokens: with those that the model wants at both ends; plain:
        special tokens in the text are characters like others, and none is added (for what a user
        typed)."""
        if plain:
            return call("tokenizer_encode_plain", self._handle,
                        text).tolist()  # type: ignore[no-any-return]
        return call("tokenizer_encode", self._handle, text,
                    add_special_tokens).tolist()  # type: ignore[no-any-return]

    def decode(self, ids: Any, skip_special_tokens: bool = False) -> str:
        """The text of ids; those that do not exist are passed over."""
        return call("tokenizer_decode", self._handle, ids,
                    skip_special_tokens)  # type: ignore[no-any-return]

    def token(self, id: int) -> str:
        """A token as the vocabulary spells it. Raises OutOfRange."""
        return call("tokenizer_token", self._handle, id)  # type: ignore[no-any-return]

    def id(self, token: str) -> Optional[int]:
        """The id of a token, or None."""
        found: int = call("tokenizer_id", self._handle, token)
        return None if found < 0 else found

    def chat(
        self, messages: Messages, add_generation_prompt: bool = True, **variables: Any
    ) -> List[int]:
        """A conversation as the model's chat template writes it, as apply_chat_template of
        transformers: [{"role": "user", "content": "..."}, ...], or what the user says. Special
        tokens in what messages say stay text. `variables` are the template's, such as
        enable_thinking=False; strftime_now="2026-11-24" is today for templates that write it.
        Raises InvalidArgument where there is no template or it refuses the messages, Unsupported
        where this build lacks something that it uses."""
        said = conversation(messages, variables)
        ids = call("tokenizer_chat", self._handle, said, add_generation_prompt)
        return ids.tolist()  # type: ignore[no-any-return]

    def decoder(self, skip_special_tokens: bool = False) -> Decoder:
        """For ids that come one by one."""
        return Decoder(self, skip_special_tokens)

    def _describe(self) -> str:
        return "%d tokens" % len(self)
