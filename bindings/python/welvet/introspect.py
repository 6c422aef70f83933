"""What this package offers, as data."""
from __future__ import annotations

import inspect
import re
from typing import Any, Dict, List

from ._core import call as _call
from ._core import raw

_RETURNED = ("new ", "out ", "fill ")


def _c_function(name: str) -> Dict[str, Any]:
    returned, parameters = raw.FUNCTIONS[name]
    takes = [{"name": p, "type": kind} for p, kind in parameters if not kind.startswith(_RETURNED)]
    returns = [{"name": p, "type": re.sub("^(new|out|fill) ", "", kind)}
               for p, kind in parameters if kind.startswith(_RETURNED)]
    if returned != "code":
        returns.insert(0, {"name": "result", "type": returned})
    return {"method_name": "loom_" + name, "parameters": takes, "returns": returns}


def _text(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _python_function(name: str, function: Any, bound: bool) -> Dict[str, Any]:
    parameters = []
    signature = inspect.signature(function)
    for p in list(signature.parameters.values())[1 if bound else 0:]:
        stars = "*" if p.kind == p.VAR_POSITIONAL else "**" if p.kind == p.VAR_KEYWORD else ""
        one: Dict[str, Any] = {"name": stars + p.name, "type":
                               "Any" if p.annotation is p.empty else _text(p.annotation)}
        if p.default is not p.empty:
            one["default"] = repr(p.default)
        parameters.append(one)
    returned = signature.return_annotation
    returns = [] if returned in (None, "None", signature.empty) else [{"type": _text(returned)}]
    return {"method_name": name, "parameters": parameters, "returns": returns}


def _python_class(name: str, kind: type) -> List[Dict[str, Any]]:
    found: List[Dict[str, Any]] = []
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] != "welvet":
            continue
        for key, value in vars(base).items():
            public = key == "__init__" or not key.startswith("_")
            full = name if key == "__init__" else "%s.%s" % (name, key)
            if isinstance(value, property):
                entry = {**_python_function(full, value.fget, True), "property": True}
            elif public and isinstance(value, (staticmethod, classmethod)):
                entry = _python_function(full, value.__func__, isinstance(value, classmethod))
            elif public and inspect.isfunction(value):
                entry = _python_function(full, value, True)
            else:
                continue
            if public:
                found = [e for e in found if e["method_name"] != full] + [entry]
    return found


def methods() -> Dict[str, Any]:
    """The whole interface as data that is JSON: c, the functions of the library, and python, those
    of this package: [{method_name, parameters: [{name, type, default}], returns: [{name, type}]}],
    where a property says so. Also layers and formats: the types of layers and the formats of
    weights that the library has."""
    import welvet

    python: List[Dict[str, Any]] = []
    for module, prefix in ((welvet, ""), (welvet.cluster, "cluster."), (welvet.layers, "layers."),
                           (welvet.sinks, "sinks.")):
        for name in getattr(module, "__all__", None) or sorted(
                key for key, value in vars(module).items() if not key.startswith("_") and
                getattr(value, "__module__", "") == module.__name__):
            value = getattr(module, name)
            if inspect.isclass(value):
                python += _python_class(prefix + name, value)
            elif inspect.isfunction(value):
                python.append(_python_function(prefix + name, value, False))
    info = _call.call("info")
    return {"c": [_c_function(name) for name in raw.FUNCTIONS], "python": python,
            "layers": info["layers"], "formats": info["formats"]}
