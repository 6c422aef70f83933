"""Where this tree lies, and which package its tests import: the one beside them, or with
WELVET_INSTALLED=1 the installed one. Every folder of tests imports this before its tests."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
if os.environ.get("WELVET_INSTALLED") != "1":
    sys.path.insert(0, str(ROOT / "bindings/python"))
