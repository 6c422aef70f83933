"""The program `loom-stream`, and where its data lies.

The program is one that PLANETBRIDGING_LOOM_STREAM names, or the one of this package
(planetbridging/protocol), which runs in this process.
"""
from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Dict, Optional, Union

__all__ = ["repo_root", "find_loom_stream", "run_loom_stream"]

_OWN = Path(__file__).resolve().parent / "protocol" / "__main__.py"


def repo_root() -> Path:
    """The folder of fixtures and models, python/<bedrock>/...: PLANETBRIDGING_ROOT, or
    .planetbridging in the user's home. Raises FileNotFoundError where PLANETBRIDGING_ROOT is no
    folder."""
    given = os.environ.get("PLANETBRIDGING_ROOT")
    if given:
        root = Path(given).expanduser().resolve()
        if not root.is_dir():
            raise FileNotFoundError("PLANETBRIDGING_ROOT is %s, and there is no such folder" % root)
        return root
    return Path.home() / ".planetbridging"


def work_dir(root: Optional[Path], *parts: str) -> Path:
    """A folder for what runs write."""
    base = root if root is not None else repo_root()
    if base.name != ".planetbridging":
        base = base / ".planetbridging"
    return base.joinpath(*parts)


def find_loom_stream(explicit: Union[str, Path, None] = None) -> Path:
    """The program: the one that is named, else PLANETBRIDGING_LOOM_STREAM, else this package's own.
    Raises FileNotFoundError where one that is named is missing."""
    for what, given in (("loom-stream", explicit),
                        ("PLANETBRIDGING_LOOM_STREAM", os.environ.get(
                            "PLANETBRIDGING_LOOM_STREAM") if explicit is None else None)):
        if given:
            path = Path(given).expanduser().resolve()
            if not path.is_file():
                raise FileNotFoundError("%s not found: %s" % (what, path))
            return path
    return _OWN


def run_loom_stream(*, binary: Union[str, Path, None], envelope: Dict[str, Any],
                    payload: Dict[str, Any], timeout: float = 120.0) -> Dict[str, Any]:
    """What the program answers. Raises RuntimeError where it fails."""
    program = find_loom_stream(binary)
    request = {**envelope, "payload": payload}
    if program == _OWN:
        from .protocol import loom_stream
        reply = loom_stream(request)
        if reply["status"] != "ok":
            raise RuntimeError("loom-stream failed: %s" % reply["message"])
        return reply
    done = subprocess.run([str(program)], input=json.dumps(request).encode(), capture_output=True,
                          timeout=timeout, check=False)
    said = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode != 0:
        detail = done.stderr.decode("utf-8", "replace").strip() or said
        raise RuntimeError("loom-stream failed: %s" % (detail or "exit %d" % done.returncode))
    try:
        answer = json.loads(said)
    except ValueError as e:
        raise RuntimeError("loom-stream returned invalid JSON: %r" % said[:200]) from e
    if not isinstance(answer, dict):
        raise RuntimeError("loom-stream returned no object: %r" % said[:200])
    return answer
