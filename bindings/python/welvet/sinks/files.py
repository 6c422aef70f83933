"""Sinks that write: a terminal, lines of JSON, TensorBoard."""
from __future__ import annotations

import json
import os
import struct
import sys
import time
from typing import IO, Any, List, Optional, TextIO, Union

from .base import Event, Sink

_SCALARS = ("mean", "std", "min", "max", "active_share", "nan_count")


def _number(value: Any) -> str:
    return "-" if value is None else "%.6g" % value


class Console(Sink):
    """A line for each event, to stderr or another stream."""

    def __init__(self, stream: Optional[TextIO] = None) -> None:
        super().__init__()
        self._stream = stream

    def add(self, event: Event) -> None:
        bad = event.get("first_bad")
        form = "pass %d  %s  %s %s  mean %s  std %s  min %s  max %s  active %.4f  nan %d  inf %d%s"
        print(form % (
            event["pass"], event["direction"], event["path"], event["type"],
            *(_number(event[key]) for key in ("mean", "std", "min", "max")),
            event["active_share"], event["nan_count"], event["inf_count"],
            "  first bad %d,%d" % tuple(bad) if bad else ""), file=self._stream or sys.stderr)
        self.sent += 1

    def flush(self) -> None:
        (self._stream or sys.stderr).flush()


class _FileSink(Sink):
    """Of these, what writes to a file."""

    def __init__(self, file: IO[Any]) -> None:
        super().__init__()
        self._file: Optional[IO[Any]] = file

    def _open(self) -> IO[Any]:
        if self._file is None:
            raise ValueError(type(self).__name__ + ": is closed")
        return self._file

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class JsonLines(_FileSink):
    """An object a line, in a file that replay() and `loom observe --from` read."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        super().__init__(open(path, "w", encoding="utf-8", newline="\n"))

    def add(self, event: Event) -> None:
        self._open().write(json.dumps(event, separators=(",", ":")) + "\n")
        self.sent += 1


def _crc_table() -> List[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_CRC = _crc_table()


def _masked_crc(data: bytes) -> bytes:
    """CRC-32C, masked as TFRecords have it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _record(event: bytes) -> bytes:
    size = struct.pack("<Q", len(event))
    return size + _masked_crc(size) + event + _masked_crc(event)


def _block(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


class TensorBoard(_FileSink):
    """Scalars PATH/mean, /std, /min, /max, /active_share and /nan_count in an event file in
    `folder`, which is made; the step is the pass."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        os.makedirs(folder, exist_ok=True)
        self._time = time.time()
        name = "events.out.tfevents.%010d.loom" % self._time
        super().__init__(open(os.path.join(folder, name), "ab"))
        if self._open().tell() == 0:
            self._open().write(_record(self._head(0) + _block(3, b"brain.Event:2")))

    def _head(self, step: int) -> bytes:
        return b"\x09" + struct.pack("<d", self._time) + b"\x10" + _varint(step)

    def add(self, event: Event) -> None:
        file = self._open()
        tag = event["path"] + (":" + event["role"] if event.get("role") else "")
        if event["direction"] != "forward":
            tag += "/" + event["direction"]
        for key in _SCALARS:
            if event[key] is None:
                continue
            value = (_block(1, ("%s/%s" % (tag, key)).encode()) + b"\x15" +
                     struct.pack("<f", event[key]))
            file.write(_record(self._head(event["pass"]) + _block(5, _block(1, value))))
        self.sent += 1


