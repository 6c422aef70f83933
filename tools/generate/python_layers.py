"""The layers of the Python package. What a setting is stands in the field lists; how Python spells
a type and in which order its arguments come is said here."""
import importlib.util
import keyword
import pathlib
import textwrap

from description import NOTE, condition_text, range_text

# Heading, then type: name of the function in Python.
SECTIONS = (
    ("products", {"dense": "Dense", "embedding": "Embedding", "swiglu": "SwiGLU",
                  "attention": "Attention", "cross_attention": "CrossAttention",
                  "positions": "Positions"}),
    ("convolutions and pools, channels first",
     {"conv1d": "Conv1d", "conv2d": "Conv2d", "conv3d": "Conv3d", "conv_transpose1d": "ConvTranspose1d",
      "conv_transpose2d": "ConvTranspose2d", "conv_transpose3d": "ConvTranspose3d",
      "max_pool1d": "MaxPool1d", "max_pool2d": "MaxPool2d", "max_pool3d": "MaxPool3d",
      "avg_pool1d": "AvgPool1d", "avg_pool2d": "AvgPool2d", "avg_pool3d": "AvgPool3d"}),
    ("recurrent, and pools, over (steps, features)",
     {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM", "pool_steps": "PoolSteps"}),
    ("norms and noise", {"layer_norm": "LayerNorm", "rms_norm": "RMSNorm",
                         "batch_norm": "BatchNorm", "group_norm": "GroupNorm",
                         "instance_norm": "InstanceNorm", "standardize": "Standardize",
                         "dropout": "Dropout"}),
    ("shapes and branches", {"flatten": "Flatten", "reshape": "Reshape", "parallel": "Parallel",
                             "time_distributed": "TimeDistributed", "part": "Part"}),
    ("probabilities", {"softmax": "Softmax", "log_softmax": "LogSoftmax",
                       "adaptive_softmax": "AdaptiveSoftmax",
                       "mixture_of_softmaxes": "MixtureOfSoftmaxes", "kmeans": "KMeans"}),
    ("functions of whole rows, as ONNX graphs become them",
     {"activation": "Activation", "unary": "Unary", "binary": "Binary", "select": "Select",
      "reduce": "Reduce", "permute": "Permute", "index_select": "IndexSelect", "batched_matmul": "BatchedMatmul"}),
)
APART = SECTIONS[1][0]  # in a file of its own, _convolutions.py
BY_HAND = ("sequential", "residual", "custom")  # _cells.py
BY_CALL = "takes"  # said where a layer is called: LSTM(8)(x, lengths=n)
BY_NAME = "By name, when called"
# The package itself needs NumPy, its names do not.
_FILE = pathlib.Path(__file__).resolve().parents[2] / "bindings/python/welvet/_names.py"
_SPEC = importlib.util.spec_from_file_location("welvet_names", _FILE)
NAMES = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(NAMES)
# Arguments that come first, where the list has another order; those before a required one have no
# default.
FIRST = {"dense": ("out", "activation"), "index_select": ("dims", "runs"), "binary": ("op", "shapes"),
         "attention": ("heads", "kv_heads", "head_dim", "window", "causal", "qkv_bias", "out_bias",
                       "qk_norm", "qk_norm_eps", "rope", "rope_theta", "rope_scaling",
                       "rope_factor", "rope_low_freq_factor", "rope_high_freq_factor",
                       "rope_original_positions", "sub_norm", "sub_norm_eps", "out_std")}
NEEDED = {"attention": ("heads",)}  # which a topology may leave out
VARIADIC = {"reshape": "dims"}
CHILDREN = {"parallel": "*branches: Layer", "time_distributed": "layer: Layer"}
TYPES = {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "enum": "str",
         "integer lists": "Sequence[Sequence[int]]"}


def spelled(layer, key):
    name = NAMES.spelled(layer["type"], key)
    assert not keyword.iskeyword(name), "%s: say in welvet/_names.py how Python spells it" % key
    return name


def type_of(field):
    if field["type"] == "integers":
        return "Size" if isinstance(field["default"], int) else "Sequence[int]"
    return TYPES[field["type"]]


def literal(field):
    value = field["default"]
    return '"%s"' % value if isinstance(value, str) else repr(tuple(value)) if isinstance(
        value, list) else repr(value)


def arguments(layer):
    """Fields in the order of Python's arguments, each with whether it must be given."""
    fields = [f for f in layer["fields"] if f["key"] != BY_CALL]
    first = FIRST.get(layer["type"], ())
    needed = [f for f in fields if f.get("required") and "only" not in f]
    needed += [f for f in fields if f["key"] in NEEDED.get(layer["type"], ())]
    rank = {key: i for i, key in enumerate(first)}
    ordered = sorted(fields, key=lambda f: (rank.get(f["key"], len(first)), f not in needed))
    last = max([i for i, f in enumerate(ordered) if f in needed], default=-1)
    return [(f, i <= last) for i, f in enumerate(ordered)]


def parameter(layer, field, needed):
    name = spelled(layer, field["key"])
    if VARIADIC.get(layer["type"]) == field["key"]:
        return "*%s: int" % name
    text = "%s: %s" % (name, type_of(field))
    if needed:
        return text
    if field["type"] == "integers" and not isinstance(field["default"], int):
        return "%s: Optional[Sequence[int]] = ()" % name
    return text + " = " + literal(field)


def value(layer, field):
    name = spelled(layer, field["key"])
    if type_of(field) == "Sequence[int]":
        return "_list(%s)" % name
    if field["type"] == "integer lists":
        return "[list(s) for s in %s]" % name
    if "only" in field and field["type"] == "integer":
        return "%s or None" % name
    return name


def sentence(layer, field):
    words = "`%s`: %s" % (spelled(layer, field["key"]), field["doc"])
    rest = [condition_text(field), range_text(field)]
    if field["type"] == "string" and "names" in field and "`" not in field["doc"]:
        rest.append("one of " + ", ".join(field["names"]))
    return "; ".join([words] + [r for r in rest if r]) + "."


def wrapped(text, first, rest):
    return "\n".join(textwrap.wrap(text, 96, initial_indent=first, subsequent_indent=rest,
                                   break_long_words=False, break_on_hyphens=False)) + "\n"


def listed(items, first, rest, end):
    """Items joined by commas; no line ends within one."""
    text = ", ".join(item.replace(" ", "\0") for item in items) + end.replace(" ", "\0")
    return wrapped(text, first, rest).replace("\0", " ")


def function(layer, name):
    children = CHILDREN.get(layer["type"], "*layers: Layer" if layer["container"] else None)
    given = [children] if children else []
    given += [parameter(layer, f, needed) for f, needed in arguments(layer)]
    head = "def %s(" % name
    signature = listed(given + ["**common: Any"], head, " " * len(head), ") -> Layer:")
    doc = textwrap.wrap(layer["about"].replace("[", "(").replace("]", ")"), 92)
    lines = [wrapped(sentence(layer, f), "    * ", "      ") for f, _ in arguments(layer)]
    lines += [wrapped(f["doc"].replace("operands behind the first, in their order", BY_NAME).replace(
                  "operands behind the second, in their order", BY_NAME) + ".", "    * ", "      ")
              for f in layer["fields"] if f["key"] == BY_CALL]
    text = '    """' + "\n    ".join(doc)
    text += '\n\n' + "".join(lines) + '    """\n' if lines else '"""\n'
    settings = ['"%s": %s' % (f["key"], value(layer, f)) for f, _ in arguments(layer)]
    if children:
        one = children.split(":")[0]
        settings.insert(0, '"layers": %s' % ("list(%s)" % one[1:] if "*" in one else "[%s]" % one))
    call = '    return Layer("%s", {%s}, common)' % (layer["type"], ", ".join(settings))
    if len(call) > 96:
        inner = listed(settings, " " * 8, " " * 8, "}, common)")
        call = '    return Layer("%s", {\n%s' % (layer["type"], inner)
    return signature + text + call.rstrip("\n") + "\n"


def sections(described):
    """SECTIONS, and behind them what stands in none: soft_gate is SoftGate."""
    placed = {t for _, section in SECTIONS for t in section} | set(BY_HAND)
    others = {layer["type"]: "".join(w.capitalize() for w in layer["type"].split("_"))
              for layer in described["layers"] if layer["type"] not in placed}
    return SECTIONS + ((("others", others),) if others else ())


def functions(described, section):
    by_type = {layer["type"]: layer for layer in described["layers"]}
    return "".join("\n\n" + function(by_type[kind], name)
                   for kind, name in section.items() if kind in by_type)


def convolutions(described, old):
    section = dict(SECTIONS)[APART]
    return ('"""%s.\n\n%s\n"""\nfrom __future__ import annotations\n\n'
            "from typing import Any\n\nfrom ._cells import Layer, Size\n"
            % ("C" + APART[1:], NOTE) + functions(described, section))


def layers(described, old):
    by_type = {layer["type"]: layer for layer in described["layers"]}
    names = [n for _, section in sections(described) for n in section.values()]
    every = sorted(names + ["Custom", "Input", "Layer", "Model", "Residual", "Sequential", "add",
                            "average", "concat"])
    twice = sorted({n for n in every if every.count(n) > 1})
    if twice:
        raise SystemExit("tools/generate/python_layers.py: in Python two layers are called "
                         + ", ".join(twice) + ": give one another name in SECTIONS")
    dense = by_type["dense"]["fields"]
    activations = next(f for f in dense if f["key"] == "activation")["names"]
    out = ['"""Layers in the field\'s terms: what builds a network\'s topology.\n\n'
           "    from welvet import Network, layers\n"
           "    network = Network(layers.Sequential(layers.Input(784),\n"
           "                                        layers.Dense(128, activation=\"relu\"),\n"
           "                                        layers.Dense(10)), seed=1)\n\n"
           "Every function gives a cell as docs/reference/layers.md has it, a plain dict; widths\n"
           "follow from what arrives. Common to all are `dtype` (how matrices are stored and\n"
           "multiplied: \"f32\", \"bf16\", \"i8\", ...), `name`, `enabled` and `tie`.\n"]
    out.append(wrapped("Activations: " + ", ".join(activations) + ".", "", ""))
    body = "".join("\n\n# ---- %s\n" % heading + functions(described, section)
                   for heading, section in sections(described) if heading != APART)
    out.append("\n" + NOTE + '\n"""\nfrom __future__ import annotations\n\n'
               "from typing import Any, List, Optional, Sequence\n\n"
               "from ._cells import Custom, Input, Layer, Residual, Sequential"
               + (", Size" if ": Size" in body else "") + "\n"
               "from ._convolutions import (\n"
               + wrapped(", ".join(dict(SECTIONS)[APART].values()) + ",", "    ", "    ")
               + ")\nfrom ._model import Model, add, average, concat\n\n__all__ = [\n")
    out.append(wrapped(", ".join('"%s"' % n for n in every) + ",", "    ", "    ") + "]\n")
    out.append("\n\ndef _list(values: Optional[Sequence[int]]) -> Optional[List[int]]:\n"
               "    return None if values is None else list(values) or None\n")
    return "".join(out) + body
