"""Sinks that send events to another process: only what is asked for opens a socket."""
from __future__ import annotations

import http.client
import json
import socket
import urllib.parse
from typing import Any, Dict, List, Optional, Tuple, Type

from .base import Event, QueuedSink

MAX_LINKS, MAX_BRANCHES, UDP_PORT = 48, 32, 17481
_PHASES = {"forward": "fwd", "backward": "bwd", "weights": "bwd"}
_STATISTICS = ("mean", "std", "min", "max", "active_share", "nan_count", "inf_count", "count",
               "pass", "passes")


def _layers(layers: List[Dict[str, Any]], found: Dict[str, Dict[str, Any]]) -> None:
    for layer in layers:
        found[layer["path"]] = layer
        _layers(layer["branches"], found)


def by_path(blueprint: Dict[str, Any]) -> Dict[str, Dict[str, Any]]:
    """The layers of a blueprint, those inside others too."""
    found: Dict[str, Dict[str, Any]] = {}
    for model in blueprint["models"]:
        _layers(model["layers"], found)
    return found


def _branch(slot: int, layer: Dict[str, Any]) -> Dict[str, Any]:
    target = next((link["run"] for link in layer["links"] if "run" in link), [-1] * 4)
    return {"type": layer["type"], "slot": slot, "remote": target[0] >= 0,
            **dict(zip(("tz", "ty", "tx", "tl"), target))}


def datagram(event: Event, layer: Optional[Dict[str, Any]], seq: int, idx: int,
             send_shape: bool = True) -> Dict[str, Any]:
    """An event as Udp sends it (docs/guide/telemetry.md). `layer`: of a blueprint, or None; `seq`:
    number of the event; `idx`: of the cell within its pass."""
    about = layer or {}
    at = event.get("at") or [0, 0, 0, 0]
    message = {"v": "tanhi1", "seq": seq, "phase": _PHASES.get(event["direction"], "sweep"),
               "idx": idx, **dict(zip("zyxl", at)), "layer": event["type"],
               "dtype": about.get("dtype", ""), "connections": about.get("parameters", 0),
               "t0_ns": event.get("t0_ns", 0), "t1_ns": event.get("t1_ns", 0)}
    if send_shape:
        message["shape"] = about.get("output_shape", [])
    message["links"] = about.get("links", [])[:MAX_LINKS]
    message["label"] = about.get("name") or event["path"]
    message["combine"] = about.get("combine_mode") or ""
    message["branches"] = [_branch(slot, branch) for slot, branch in
                           enumerate(about.get("branches", [])[:MAX_BRANCHES])]
    message["stats"] = {key: event.get(key) for key in _STATISTICS}
    return message


class Udp(QueuedSink):
    """A datagram of JSON for each event, to a host and port. Raises OSError where the host has no
    address."""

    def __init__(self, host: str = "127.0.0.1", port: int = UDP_PORT, send_shape: bool = True,
                 queue_size: int = 1024) -> None:
        super().__init__(queue_size)
        if not 0 < port < 65536:
            raise ValueError("port: expects 1 to 65535, got %r" % (port,))
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_DGRAM)[0]
        self._address: Any = address
        self._socket = socket.socket(family, kind, protocol)
        self._send_shape = send_shape
        self._cells: Dict[str, Dict[str, Any]] = {}
        self._seq = self._idx = 0
        self._pass: Any = None

    def begin(self, blueprint: Dict[str, Any]) -> None:
        self._cells = by_path(blueprint)

    def add(self, event: Event) -> None:
        now = event["direction"], event["pass"]
        self._idx = self._idx + 1 if now == self._pass else 0
        self._pass = now
        self.put(datagram(event, self._cells.get(event["path"]), self._seq, self._idx,
                          self._send_shape))
        self._seq += 1

    def deliver(self, items: List[Any]) -> None:
        for item in items:
            self._socket.sendto(json.dumps(item, separators=(",", ":")).encode(), self._address)

    def _shut(self) -> None:
        self._socket.close()


class Http(QueuedSink):
    """POSTs {"events": [...]} to a URL, up to `batch` events at once; `timeout` in seconds. An
    answer other than 2xx makes them failed."""

    def __init__(self, url: str, timeout: float = 0.1, batch: int = 64,
                 queue_size: int = 1024) -> None:
        super().__init__(queue_size, batch)
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("url: expects http://HOST[:PORT]/PATH, got %r" % (url,))
        if not timeout > 0:
            raise ValueError("timeout: expects seconds above 0, got %r" % (timeout,))
        kind: Type[http.client.HTTPConnection] = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection)
        self._target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
        self._host: Tuple[str, Optional[int]] = parts.hostname, parts.port
        self._connection = kind(*self._host, timeout=timeout)

    def add(self, event: Event) -> None:
        self.put(event)

    def deliver(self, items: List[Any]) -> None:
        try:
            self._connection.request("POST", self._target, json.dumps({"events": items}).encode(),
                                     {"Content-Type": "application/json"})
            answer = self._connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise OSError(str(error) or type(error).__name__) from error
        if not 200 <= answer.status < 300:
            raise OSError("answered %d %s" % (answer.status, answer.reason))

    def _shut(self) -> None:
        self._connection.close()
