"""The client of ``loom bridge``: pushes that go on where they broke off."""
from __future__ import annotations

import hashlib
import http.client
import json
import math
import queue
import secrets
import time
import urllib.parse
import zlib
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

_ITEM = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2}
_BROKEN = (OSError, http.client.HTTPException)
# Statuses after which the same request may succeed: busy chunk, wrong checksum, full server.
_AGAIN = {409, 422, 429, 503}

Tensor = tuple[str, str, Sequence[int], Any]


class BridgeError(Exception):
    """A refusal of the bridge: ``status`` of HTTP, ``code`` and the message of the server."""

    def __init__(self, status: int, code: str, message: str, body: Any = None):
        super().__init__("%s (%d): %s" % (code, status, message))
        self.status, self.code, self.message, self.body = status, code, message, body


@dataclass(frozen=True)
class Pushed:
    """The network that a push made: ``digest`` is the identity of the file (64 hex digits)."""

    name: str
    entity: str
    digest: str
    bytes: int
    layers: int


class _Part:
    """A tensor with its bytes; ``view`` is flat and of bytes."""

    def __init__(self, tensor: Tensor):
        self.name, self.dtype, shape, buffer = tensor
        if self.dtype not in _ITEM:
            raise ValueError("%s: the dtype must be one of %s, got %r"
                             % (self.name, ", ".join(sorted(_ITEM)), self.dtype))
        self.shape = [int(size) for size in shape]
        view = memoryview(buffer)
        if not view.c_contiguous:
            raise ValueError("%s: the buffer must be contiguous in row-major order" % self.name)
        self.view = view.cast("B") if view.nbytes else view
        wanted = math.prod(self.shape) * _ITEM[self.dtype]
        if view.nbytes != wanted or wanted == 0:
            raise ValueError("%s: the shape %s of %s takes %d bytes (1 or more), the buffer has %d"
                             % (self.name, self.shape, self.dtype, wanted, view.nbytes))

    def described(self, hashed: bool) -> dict[str, Any]:
        about: dict[str, Any] = {"parameter": self.name, "dtype": self.dtype,
                                 "shape": self.shape, "bytes": self.view.nbytes}
        if hashed:
            about["sha256"] = hashlib.sha256(self.view).hexdigest()
        return about


def _crc_of(pieces: Sequence[Any]) -> int:
    crc = 0
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
    return crc


class Bridge:
    """One server. A connection stays open between requests; not for several threads at once.

    ``url``: ``http://HOST:PORT``. ``token``: what the server printed, or the text of its token
    file. ``timeout``: seconds without a byte.
    """

    def __init__(self, url: str, token: str, timeout: float = 60.0):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError("url: expects http://HOST:PORT, got %r" % url)
        self._host, self._port = parts.hostname, parts.port or 9876
        self._token, self._timeout = token.strip(), timeout
        self._connection: http.client.HTTPConnection | None = None

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None

    def __enter__(self) -> "Bridge":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _request(self, method: str, path: str, body: Sequence[Any] = (),
                 headers: Mapping[str, str] | None = None) -> bytes:
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self._host, self._port,
                                                          timeout=self._timeout)
        connection = self._connection
        try:
            connection.putrequest(method, path, skip_accept_encoding=True)
            connection.putheader("Authorization", "Bearer " + self._token)
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            if method != "GET":
                connection.putheader("Content-Length", str(sum(len(piece) for piece in body)))
            connection.endheaders()
            for piece in body:
                connection.send(piece)
            response = connection.getresponse()
            data = response.read()
        except BaseException:
            self.close()
            raise
        if response.status >= 300:
            self._refused(response.status, data)
        return data

    @staticmethod
    def _refused(status: int, data: bytes) -> None:
        try:
            body = json.loads(data)
            error = body["error"]
            raise BridgeError(status, error["code"], error["message"], body)
        except (ValueError, KeyError, TypeError):
            raise BridgeError(status, "http", data[:200].decode("utf-8", "replace")) from None

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """A request with JSON in and out; ``path`` begins with ``/api``."""
        data = [json.dumps(body, allow_nan=False).encode()] if body is not None else []
        return json.loads(self._request(method, path, data, {"Content-Type": "application/json"}))

    def networks(self) -> list[dict[str, Any]]:
        return self.call("GET", "/api/v1/loom/networks")["networks"]

    def info(self, name: str) -> dict[str, Any]:
        return self.call("GET", "/api/v1/loom/networks/%s/info" % urllib.parse.quote(name))

    def fetch(self, name: str) -> bytes:
        """The .entity file of a network."""
        return self._request("GET", "/api/v1/loom/networks/%s" % urllib.parse.quote(name))

    def run(self, name: str, inputs: Any) -> list[Any]:
        """Outputs for rows of values or ids: lists, ``[rows, ...]`` in and out."""
        return self.call("POST", "/api/v1/loom/run", {"name": name, "inputs": inputs})["outputs"]

    def compare(self, name: str, inputs: Any, outputs: Any,
                layers: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The outputs of another framework (and of its layers, by cell) beside those of the
        network here; the report is shown on the page of the server, too."""
        body = {"name": name, "inputs": inputs, "outputs": outputs}
        if layers is not None:
            body["layers"] = dict(layers)
        return self.call("POST", "/api/v1/loom/compare", body)

    def begin(self, announced: Mapping[str, Any]) -> dict[str, Any]:
        return self.call("POST", "/api/v1/loom/stream/begin", announced)

    def chunk(self, session: str, offset: int, pieces: Sequence[Any],
              crc: int | None = None) -> dict[str, Any]:
        """One chunk, in pieces of bytes one after another; ``crc`` is their CRC-32."""
        crc = _crc_of(pieces) if crc is None else crc
        data = self._request("PUT", "/api/v1/loom/stream/chunk?session=%s&offset=%d"
                             % (session, offset), pieces,
                             {"X-Loom-CRC32": "%08x" % crc,
                              "Content-Type": "application/octet-stream"})
        return json.loads(data)

    def status(self, session: str) -> dict[str, Any]:
        return self.call("GET", "/api/v1/loom/stream/status?session=%s" % session)

    def finish(self, session: str, sha256: Mapping[str, str] | None = None) -> Pushed:
        body: dict[str, Any] = {"session": session}
        if sha256:
            body["sha256"] = dict(sha256)
        return Pushed(**self.call("POST", "/api/v1/loom/stream/finish", body))

    def abort(self, session: str) -> None:
        self.call("POST", "/api/v1/loom/stream/abort", {"session": session})


class _Sender:
    """One push: begins, sends what is missing, finishes; begins again where that broke off."""

    def __init__(self, bridges: Sequence[Bridge], announced: dict[str, Any], parts: Sequence[_Part],
                 progress: Callable[[int, int], None] | None, retries: int):
        self._bridges, self._announced, self._parts = bridges, announced, parts
        self._progress, self._retries = progress, retries
        self._begins: list[int] = []
        self._bytes = self._best = self._failed = 0
        for part in parts:
            self._begins.append(self._bytes)
            self._bytes += part.view.nbytes

    def _pieces(self, begin: int, end: int) -> list[memoryview]:
        pieces = []
        for start, part in zip(self._begins, self._parts):
            first, last = max(begin, start), min(end, start + part.view.nbytes)
            if first < last:
                pieces.append(part.view[first - start:last - start])
        return pieces

    def _offsets(self, ranges: Iterable[Sequence[int]], chunk: int) -> Iterator[tuple[int, int]]:
        for begin, end in ranges:
            for offset in range(begin, end, chunk):
                yield offset, min(offset + chunk, self._bytes)

    def _send_missing(self, session: str, chunk: int, ranges: Iterable[Sequence[int]]) -> None:
        """Each connection makes the CRC of a chunk while the others send theirs."""
        free: queue.SimpleQueue[Bridge] = queue.SimpleQueue()
        for bridge in self._bridges if self._failed == 0 else self._bridges[:1]:
            free.put(bridge)

        def send(begin: int, end: int) -> int:
            bridge = free.get()
            try:
                return bridge.chunk(session, begin, self._pieces(begin, end))["received"]
            finally:
                free.put(bridge)

        threads = ThreadPoolExecutor(free.qsize())
        try:
            for sent in as_completed([threads.submit(send, *one)
                                      for one in self._offsets(ranges, chunk)]):
                self._show(sent.result())
        finally:
            threads.shutdown(cancel_futures=True)

    def _attempt(self) -> Pushed:
        bridge = self._bridges[0]
        state = bridge.begin(self._announced)
        session = state["session"]
        self._show(state["received"])
        while state["missing"]:
            self._send_missing(session, state["chunk_bytes"], state["missing"])
            # At most 1,000 ranges come at once.
            state = bridge.status(session)
        return bridge.finish(session)

    def _show(self, received: int) -> None:
        if received > self._best:
            self._best, self._failed = received, 0  # there is progress: tries count anew
        if self._progress:
            # What was sent at the same time may be told in another order.
            self._progress(max(received, self._best), self._bytes)

    def send(self) -> Pushed:
        self._best, self._failed = 0, 0
        while True:
            try:
                return self._attempt()
            except BridgeError as error:
                lost = error.status == 404 and error.code == "not_found" and self._failed == 0
                if self._failed >= self._retries or not (error.status in _AGAIN or lost):
                    raise
            except _BROKEN:
                if self._failed >= self._retries:
                    raise
            self._failed += 1
            time.sleep(min(5.0, 0.05 * 2 ** self._failed))


def _push(url: str, token: str, about: dict[str, Any], tensors: Iterable[Tensor],
          inputs: Mapping[str, Any] | None, metadata: Mapping[str, Any] | None,
          progress: Callable[[int, int], None] | None, retries: int, timeout: float,
          hash_first: bool) -> Pushed:
    parts = [_Part(tensor) for tensor in tensors]
    announced = {"version": 1, **about, "tensors": [part.described(hash_first) for part in parts]}
    if not hash_first:
        announced["nonce"] = secrets.token_hex(16)
    for key, given in (("inputs", inputs), ("metadata", metadata)):
        if given is not None:
            announced[key] = dict(given)
    with Bridge(url, token, timeout) as one, Bridge(url, token, timeout) as other:
        return _Sender((one, other), announced, parts, progress, retries).send()


def push(url: str, token: str, topology: Mapping[str, Any], tensors: Iterable[Tensor],
         metadata: Mapping[str, Any] | None = None, name: str = "network", *,
         inputs: Mapping[str, Any] | None = None,
         progress: Callable[[int, int], None] | None = None, retries: int = 8,
         timeout: float = 60.0, hash_first: bool = False) -> Pushed:
    """Sends a network: its topology (docs/reference/topology.md) and all its parameters.

    ``tensors``: (parameter, dtype, shape, buffer), for example ``("0.0.0.1:weight", "f32",
    (8, 4), array)``; a buffer is anything with contiguous bytes, little-endian and row-major, and
    must not change until this returns. ``metadata``: JSON that stays in the file. ``inputs``: names
    of columns and classes (docs/reference/entity.md, inputs). ``progress``: called with the bytes
    that the server has, and all bytes. A connection that breaks, or a server that starts again,
    costs the chunk on its way: ``retries`` tries in a row without a new chunk raise what broke.
    ``hash_first``: also a new process can go on with the push, which otherwise begins anew; costs
    one pass over the bytes before the first is sent.

    Raises BridgeError where the server refuses, ValueError for a tensor that is not what it says.
    """
    return _push(url, token, {"name": name, "topology": dict(topology)}, tensors, inputs,
                 metadata, progress, retries, timeout, hash_first)


def push_weights(url: str, token: str, tensors: Iterable[Tensor], name: str, *,
                 weights_of: str | None = None, inputs: Mapping[str, Any] | None = None,
                 metadata: Mapping[str, Any] | None = None,
                 progress: Callable[[int, int], None] | None = None, retries: int = 8,
                 timeout: float = 60.0, hash_first: bool = False) -> Pushed:
    """Sends some or all parameters of a network that is there (``weights_of``; ``name`` itself
    where not given), which is ``name`` with them; the others stay."""
    return _push(url, token, {"name": name, "weights_of": weights_of or name}, tensors, inputs,
                 metadata, progress, retries, timeout, hash_first)
