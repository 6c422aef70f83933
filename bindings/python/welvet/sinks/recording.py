"""Recordings: lines of JSON that go into sinks again."""
from __future__ import annotations

import json
import os
import time
from typing import Any, Dict, Iterable, Iterator, List, Optional, Union

from .base import Event, Sink

_NUMBERS = ("mean", "std", "min", "max")
_COUNTS = ("pass", "passes", "nan_count", "inf_count", "count")
_TIMES = ("t0_ns", "t1_ns")
_AT_ONCE = 512  # less than queues have room for


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _places(value: Any, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(map(_whole, value))


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _wrong(event: Any) -> str:
    """Why this is no event; "" where it is one."""
    if not isinstance(event, dict):
        return "expects an object"
    for key in ("direction", "path", "type"):
        if not isinstance(event.get(key), str):
            return "%s: expects a text" % key
    for key in _COUNTS + tuple(key for key in _TIMES if key in event):
        if not _whole(event.get(key)):
            return "%s: expects a whole number, at least 0" % key
    for key in _NUMBERS:
        if key not in event or not (event[key] is None or _number(event[key])):
            return "%s: expects a number or null" % key
    if not _number(event.get("active_share")):
        return "active_share: expects a number"
    if not isinstance(event.get("enabled"), bool):
        return "enabled: expects true or false"
    if not _places(event.get("at"), 4):
        return "at: expects [z, y, x, l]"
    if "first_bad" not in event or not (
            event["first_bad"] is None or _places(event["first_bad"], 2)):
        return "first_bad: expects [row, column] or null"
    return ""


def read(path: Union[str, "os.PathLike[str]"]) -> Iterator[Event]:
    """The events of a recording, one after the other: what JsonLines and `loom observe --events`
    write. Raises ValueError that names the line where one is no event."""
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                event = json.loads(line)
                wrong = _wrong(event)
            except ValueError as error:
                wrong = str(error)
            if wrong:
                raise ValueError("%s: line %d: %s" % (os.fspath(path), number, wrong))
            yield event


def replay(source: Union[str, "os.PathLike[str]", Iterable[Event]],
           sink: Union[Sink, List[Sink]], speed: float = 0,
           blueprint: Optional[Dict[str, Any]] = None) -> int:
    """Hands the events of a recording, a path or the events themselves, to a sink or several,
    flushes them, and returns how many there were. `speed`: 1 keeps the pace of the recording, 2 is
    twice as fast, 0 as fast as they are delivered; events without times are not waited for.
    `blueprint`: of the network, for sinks that tell of its layers."""
    if not speed >= 0:
        raise ValueError("speed: expects at least 0, got %r" % (speed,))
    sinks = [sink] if isinstance(sink, Sink) else list(sink)
    if blueprint is not None:
        for one in sinks:
            one.begin(blueprint)
    events = read(source) if isinstance(source, (str, os.PathLike)) else source
    began, count = time.monotonic(), 0
    first: Optional[int] = None
    for event in events:
        at = event.get("t1_ns")
        if speed > 0 and at is not None:
            first = at if first is None else first
            wait = (at - first) / 1e9 / speed - (time.monotonic() - began)
            if wait > 0:
                time.sleep(wait)
        for one in sinks:
            one.add(event)
        count += 1
        if count % _AT_ONCE == 0 and speed == 0:  # receivers set the pace
            for one in sinks:
                one.flush()
    for one in sinks:
        one.flush()
    return count
