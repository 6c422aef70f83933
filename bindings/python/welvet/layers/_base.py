"""What every layer is: a dict with a cell's settings, whose class says how Python spells them."""
from __future__ import annotations

import functools
import inspect
import operator
from typing import (
    TYPE_CHECKING, Any, Callable, ClassVar, Dict, List, Optional, Sequence, Tuple, Type, TypeVar,
    Union, cast,
)

import numpy as np

from ._names import instead, key_of, only, spelled

Size = Union[int, Sequence[int]]  # one number for all dimensions, or one for each
_Init = TypeVar("_Init", bound=Callable[..., None])
# Settings of every layer.
_COMMON = {"dtype": "Optional[str]", "name": "Optional[str]", "enabled": "Optional[bool]",
           "tie": "Optional[str]", "fixed": "Optional[Sequence[str]]"}


def checked(init: _Init) -> _Init:
    """An __init__ that refuses what a layer cannot be, by the argument's name: values of another
    type than is annotated, what of PyTorch has one value here, and unknown names."""
    code, notes = init.__code__, init.__annotations__
    given = code.co_argcount + code.co_kwonlyargcount
    names, places = code.co_varnames[1:given], code.co_varnames[1:code.co_argcount]
    several = bool(code.co_flags & inspect.CO_VARARGS)
    rest = code.co_varnames[given] if several else ""
    if code.co_flags & inspect.CO_VARKEYWORDS:
        names, notes = (*names, *_COMMON), {**_COMMON, **notes}

    @functools.wraps(init)
    def made(self: "Layer", *args: Any, **named: Any) -> None:
        if len(args) > len(places) and not several:
            raise TypeError("%s: takes %s by place, got %d; %s"
                            % (_name(self), " and ".join(places) or "nothing", len(args),
                               _TOO_MANY))
        for name in named:
            if name not in names:
                raise TypeError(_unknown(self, name, names))
        by_place = [_value(self, name, value, notes[name]) for name, value in zip(places, args)]
        by_name = {name: _value(self, name, value, notes[name]) for name, value in named.items()}
        for value in args[len(places):]:
            by_place.append(_value(self, rest, value, notes[rest]))
        init(self, *by_place, **by_name)

    made._signature = inspect.signature(init)  # type: ignore[attr-defined]
    return cast(_Init, made)


_TOO_MANY = "leave out the sizes of the input, which are inferred, and give other settings by name"


def _name(layer: "Layer") -> str:
    return type(layer).__name__


def _unknown(layer: "Layer", name: str, known: Sequence[str]) -> str:
    said = instead(layer._kind, name)
    return "%s: no setting %r: %s" % (
        _name(layer), name, said or "known are " + ", ".join(k for k in known if k != "self"))


_WORDS = {"int": "an integer", "float": "a number", "bool": "True or False", "str": "a text",
          "Size": "an integer, or one for each dimension"}


def _is(value: Any, note: str) -> bool:
    truth, whole = isinstance(value, (bool, np.bool_)), isinstance(value, (int, np.integer))
    if note == "bool":
        return truth
    if note == "int":
        return whole and not truth
    if note == "float":
        return (whole or isinstance(value, (float, np.floating))) and not truth
    if note == "str":
        return isinstance(value, str)
    if note in ("Size", "Sequence[int]"):
        many = isinstance(value, (list, tuple, np.ndarray)) and all(_is(one, "int")
                                                                    for one in value)
        return many or (note == "Size" and _is(value, "int"))
    return True


def _value(layer: "Layer", name: str, value: Any, note: str) -> Any:
    """The value of an argument in Python's own types. Raises TypeError for one of another type, and
    ValueError where PyTorch has what is not here."""
    while note.startswith(("Optional[", "Union[")):
        if value is None and note.startswith("Optional["):
            return None
        note = note[note.index("[") + 1:-1]
        if note == "Size, str":
            note = "str" if isinstance(value, str) else "Size"
    single = only(layer._kind, name)
    if single is not None and not any(value is v or (value == v and type(value) is type(v))
                                      for v in single[1]):
        raise ValueError("%s: %s=%r: only %r is supported: %s"
                         % (_name(layer), name, value, single[1][0], single[2]))
    size = name == "eps" and isinstance(value, int)  # of the input, as BatchNorm2d(16) has it
    if not _is(value, note) or size:
        raise TypeError("%s: %s: expects %s, got %r%s" % (
            _name(layer), name, _WORDS.get(note, "integers"), value,
            "; " + _TOO_MANY if note == "bool" or size or name == "nonlinearity" else ""))
    if note == "int" or (note == "Size" and _is(value, "int")):
        return operator.index(value)
    if note in ("Size", "Sequence[int]"):
        return [operator.index(one) for one in value]
    if note == "float":
        return float(value) if isinstance(value, np.floating) else value
    return bool(value) if note == "bool" else value


_CLASSES: Dict[str, Type["Layer"]] = {}  # by type in a topology


class Layer(Dict[str, Any]):
    """A layer of a network: a plain dict, the cell as docs/reference/layers.md has it, whose
    settings are attributes by their names in Python: `Linear(10).out_features`. Two are equal where
    their settings are. The same object in two places is one set of weights."""

    _kind: ClassVar[str] = ""  # type in a topology
    _called = False  # with values, whose names it then keeps

    def __init_subclass__(cls) -> None:
        if "_kind" in cls.__dict__:
            _CLASSES.setdefault(cls._kind, cls)

    def __init__(self, type: str, settings: Optional[Dict[str, Any]] = None,
                 common: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(type=type)
        for key, value in {**(settings or {}), **(common or {})}.items():
            if value is not None:
                self[key] = list(value) if isinstance(value, tuple) else value

    def __call__(self, *values: Any, **named: Any) -> Any:
        """What the layer gives for an Input, or for what another layer gave; several are its
        operands (layers.Model). By name those that it `takes`: LSTM(8)(x, lengths=n)."""
        from .model import call

        return call(self, values, named)

    # ---- settings by name

    @classmethod
    def _arguments(cls) -> Dict[str, inspect.Parameter]:
        """Those of the class, or, of a subclass with an __init__ of its own, of the class below."""
        for base in cls.__mro__:
            signature = getattr(base.__dict__.get("__init__"), "_signature", None)
            if signature is not None:
                shown = list(signature.parameters.items())[1:]
                return {k: v for k, v in shown if v.kind is not v.VAR_KEYWORD}
        return {}

    def _setting(self, argument: inspect.Parameter) -> Any:
        """What an argument was: of one that is not in the dict the default."""
        if isinstance(getattr(type(self), argument.name, None), property):
            return getattr(self, argument.name)
        return self.get(key_of(self._kind, argument.name), argument.default)

    if not TYPE_CHECKING:  # it knows the settings from the classes

        def __getattr__(self, name: str) -> Any:
            for cls in () if name.startswith("_") else type(self).__mro__:
                argument = cls._arguments().get(name) if issubclass(cls, Layer) else None
                if argument is not None:
                    return self._setting(argument)
            if name in _COMMON:
                return self.get(name)
            if name in ("weight", "parameters", "state_dict"):
                raise AttributeError("%s: weights are those of a network: network.parameters, "
                                     "network.get(name)" % _name(self))
            raise AttributeError("%s: no setting %r: known are %s"
                                 % (_name(self), name, ", ".join(self._arguments())))

    def __setattr__(self, name: str, value: Any) -> None:
        arguments = self._arguments()
        if name.startswith("_") or name not in arguments:
            if not name.startswith("_") and not hasattr(type(self), name):
                raise AttributeError(_unknown(self, name, list(arguments)))
            super().__setattr__(name, value)
            return
        value = _value(self, name, value, str(arguments[name].annotation))
        if only(self._kind, name) is None:
            self.pop(key_of(self._kind, name), None)
            if value is not None:
                self[key_of(self._kind, name)] = value

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self._arguments()})

    # ---- as one would write it

    def __repr__(self) -> str:
        if type(self) is Layer:
            return "Layer(%r, %r)" % (self["type"], {k: v for k, v in self.items() if k != "type"})
        said: List[str] = []
        for argument in self._arguments().values():
            value = self._setting(argument)
            if argument.kind is argument.VAR_POSITIONAL:
                said += map(repr, value)
            elif argument.default is argument.empty:
                by_name = "%s=" % argument.name if argument.kind is argument.KEYWORD_ONLY else ""
                said.append(by_name + repr(value))
            elif _plain(value) != _plain(argument.default):
                said.append("%s=%r" % (argument.name, value))
        return "%s(%s)" % (_name(self), ", ".join(said))


def numbers(values: Optional[Sequence[int]]) -> Optional[List[int]]:
    """A setting that is a list; None, which is left out, where it has none."""
    return None if values is None else list(values) or None


def padding_of(layer: str, padding: Union[Size, str], kernel: Size, stride: Size,
               dilation: Size) -> Size:
    """PyTorch's words "same" and "valid" as numbers. Raises ValueError for others, and for "same"
    with a stride."""
    if not isinstance(padding, str):
        return padding
    if padding == "valid":
        return 0
    if padding != "same":
        raise ValueError('%s: padding: expects numbers, "same" or "valid", got %r'
                         % (layer, padding))
    dims = int(layer[-2])
    by_dim = [[size] * dims if isinstance(size, int) else list(size)
              for size in (kernel, stride, dilation)]
    if any(step != 1 for step in by_dim[1]):
        raise ValueError('%s: padding="same" is for a stride of 1, as in PyTorch: give numbers'
                         % layer)
    whole = [step * (size - 1) for size, step in zip(by_dim[0], by_dim[2])]
    begins, ends = [n // 2 for n in whole], [n - n // 2 for n in whole]
    if begins != ends:
        return begins + ends
    return begins[0] if len(set(begins)) == 1 else begins


def _plain(value: Any) -> Any:
    """Lists and tuples alike; one without numbers is as if nothing was said."""
    return (list(value) or None) if isinstance(value, (list, tuple)) else value


def tree(name: str, parts: Sequence[Tuple[str, str]], settings: Sequence[str] = ()) -> str:
    """Layers in a layer, as torch.nn prints them: a line each, indented."""
    lines = list(settings) + ["(%s): %s" % part for part in parts]
    if not lines:
        return name + "()"
    return "%s(\n%s\n)" % (name, "\n".join("  " + line.replace("\n", "\n  ") for line in lines))


def _spelled(given: Any) -> str:
    if callable(given):
        return "%s, which makes one: call it" % getattr(given, "__name__", given)
    return type(given).__name__


class Container(Layer):
    """A layer of layers, which prints as a tree."""

    def __init__(self, kind: str, settings: Dict[str, Any], common: Dict[str, Any]) -> None:
        inner = settings.get("layers", [])
        if len(inner) == 1 and isinstance(inner[0], (list, tuple)):  # as Keras has it
            inner = settings["layers"] = list(inner[0])
        for i, layer in enumerate(inner):
            if not isinstance(layer, dict):
                raise TypeError("%s: layer %d: expects a layer, got %s"
                                % (_name(self), i, _spelled(layer)))
        super().__init__(kind, settings, common)

    def __getitem__(self, key: Any) -> Any:
        """A setting by its name, or one of the layers by its place."""
        return super().__getitem__("layers")[key] if isinstance(key, (int, slice)) else \
            super().__getitem__(key)

    def __repr__(self) -> str:
        inside = ("layers", "layer", "branches", "block")
        settings = []
        for argument in self._arguments().values():
            value = None if argument.name in inside else self._setting(argument)
            if argument.name not in inside and _plain(value) != _plain(argument.default):
                settings.append("%s=%r" % (argument.name, value))
        parts = [("%d" % i, repr(layer)) for i, layer in enumerate(self.get("layers", ()))]
        return tree(_name(self), parts, settings)


# ---- weights, and objects in several places

# Types without weights: an object in several places is as many layers.
_WEIGHTLESS = {
    "activation", "avg_pool1d", "avg_pool2d", "avg_pool3d", "binary", "dropout", "flatten",
    "log_softmax", "max_pool1d", "max_pool2d", "max_pool3d", "part", "permute", "index_select",
    "pool_steps", "reduce", "reshape", "residual", "select", "softmax", "unary", "batched_matmul",
}


def has_weights(layer: Dict[str, Any]) -> bool:
    """Whether a layer, or one inside of it, may have weights."""
    kind = layer.get("type")
    if kind == "parallel" and (layer.get("combine") in ("gated", "filter") or layer.get("stitch")):
        return True
    if "layers" in layer:
        return any(has_weights(inner) for inner in layer["layers"])
    return kind not in _WEIGHTLESS or bool(layer.get("constant"))


def with_links(layers: List[Any], first: int = 0) -> List[Dict[str, Any]]:
    """The cells of layers on the top level, from the cell `first` on, with a link for each further
    use of an object: one object is one set of weights, whose gradients add up. Raises TypeError
    where the first of several uses is inside of another layer, for links lead to cells."""
    cells: Dict[int, int] = {}  # of objects on the top level
    nested: Dict[int, Any] = {}

    def placed(layer: Any, cell: int) -> Dict[str, Any]:
        if not has_weights(layer):
            return dict(layer)
        if id(layer) in cells:
            return {"links": [{"run": [0, 0, 0, cells[id(layer)]]}]}
        if id(layer) in nested:
            raise TypeError("%s is used more than once, the first time inside of another layer: "
                            "put it on the top level of the network before its other uses, or make "
                            "a layer for each" % described(layer))
        if cell >= 0:
            cells[id(layer)] = cell
        else:
            nested[id(layer)] = layer
        if "layers" not in layer:
            return dict(layer)
        return {**layer, "layers": [placed(inner, -1) for inner in layer["layers"]]}

    return [placed(layer, first + i) for i, layer in enumerate(layers)]


def described(layer: Dict[str, Any]) -> str:
    """A layer in messages: its name where it has one, else its settings."""
    if "name" in layer:
        return "the %s layer '%s'" % (layer["type"], layer["name"])
    settings = [item for item in layer.items() if item[0] not in ("type", "layers")]
    shown = ", ".join("%s=%r" % (spelled(layer["type"], key), value)
                      for key, value in settings[:3])
    return "the layer %s(%s)" % (layer["type"], shown)


# ---- cells of a network as layers

def layer_of(cell: Dict[str, Any]) -> Layer:
    """The layer of a cell, to be printed."""
    from .equivalents import ADAPTIVE, equivalent

    plain = {key: value for key, value in cell.items()
             if key not in ("at", "links", "merge", "takes")}
    known = equivalent(plain)
    if known is not None:
        return known
    cls = _CLASSES.get(plain.get("type", ""), Layer)
    if "pool" in plain.get("type", "") and plain.get("stride") == 0:
        del plain["stride"]  # None in Python: the kernel's
    if plain.get("global"):
        cls = ADAPTIVE[plain["type"]]
    made = cls.__new__(cls)
    made.update(plain)
    if "layers" in plain:
        made["layers"] = [layer_of(inner) for inner in plain["layers"]]
    return made
