"""Where the events of observed runs go: `session.observe(sink=...)`, and recordings that replay
(docs/guide/telemetry.md).

    from welvet import sinks
    with session.observe(sink=[sinks.Console(), sinks.Udp("127.0.0.1")]):
        session.run(x)

No socket is opened before a Udp or Http is made."""
from __future__ import annotations

from .base import Sink
from .files import Console, JsonLines, TensorBoard
from .network import Http, Udp, datagram
from .recording import read, replay

__all__ = ["Console", "Http", "JsonLines", "Sink", "TensorBoard", "Udp", "datagram", "read",
           "replay"]
