"""Answers in the shapes of OpenAI's chat completions, which llama-cpp-python's
`create_chat_completion` returns too."""
from __future__ import annotations

import time
from typing import Any, Dict, Iterator, Optional

_REASON = {"eos": "stop", "stop": "stop", "length": "length", "cancelled": "cancelled"}


def _head(kind: str, name: str, number: int) -> Dict[str, Any]:
    created = int(time.time())
    return {"id": "chatcmpl-%d-%d" % (created, number), "object": kind, "created": created,
            "model": name}


def completion(text: Any, name: str, number: int) -> Dict[str, Any]:
    """One answer (a Text)."""
    info = text.info
    prompt = info["reused_tokens"] + info["prefill_tokens"]
    return {
        **_head("chat.completion", name, number),
        "choices": [{"index": 0, "message": {"role": "assistant", "content": str(text)},
                     "logprobs": None, "finish_reason": _REASON[text.finish]}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": len(text.tokens),
                  "total_tokens": prompt + len(text.tokens)},
        "system_fingerprint": text.fingerprint,
    }


def chunks(pieces: Iterator[Any], name: str, number: int) -> Iterator[Dict[str, Any]]:
    """The same piece by piece: the role, the text, and why it ended."""
    head = _head("chat.completion.chunk", name, number)

    def chunk(delta: Dict[str, str], reason: Optional[str] = None) -> Dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None,
                                     "finish_reason": reason}]}

    yield chunk({"role": "assistant"})
    finish = "stop"
    for piece in pieces:
        finish = piece.finish
        if piece:
            yield chunk({"content": str(piece)})
    yield chunk({}, _REASON[finish])
