"""The layers of the Python package. What a setting is stands in the field lists; how Python spells
a type and in which order its arguments come is said here."""
import importlib.util
import json
import keyword
import pathlib
import re
import textwrap

from description import NOTE, condition_text, range_text

# File of the package: its heading, then type: class in Python.
FILES = {
    "linear": ("Products of a row and weights", {
        "dense": "Linear", "embedding": "Embedding", "swiglu": "SwiGLU",
        "genome": "Genome", "trees": "Trees"}),
    "convolutions": ("Convolutions, channels first", {
        "conv1d": "Conv1d", "conv2d": "Conv2d", "conv3d": "Conv3d",
        "conv_transpose1d": "ConvTranspose1d", "conv_transpose2d": "ConvTranspose2d",
        "conv_transpose3d": "ConvTranspose3d"}),
    "pools": ("Pools, channels first", {
        "max_pool1d": "MaxPool1d", "max_pool2d": "MaxPool2d", "max_pool3d": "MaxPool3d",
        "avg_pool1d": "AvgPool1d", "avg_pool2d": "AvgPool2d", "avg_pool3d": "AvgPool3d"}),
    "attention": ("Attention, and positions", {
        "attention": "Attention", "cross_attention": "CrossAttention", "positions": "Positions"}),
    "recurrent": ("Recurrent layers and pools over (steps, features)", {
        "rnn": "RNN", "gru": "GRU", "lstm": "LSTM", "pool_steps": "PoolSteps"}),
    "norms": ("Norms and noise", {
        "layer_norm": "LayerNorm", "rms_norm": "RMSNorm", "batch_norm": "BatchNorm",
        "group_norm": "GroupNorm", "instance_norm": "InstanceNorm", "standardize": "Standardize",
        "dropout": "Dropout"}),
    "shapes": ("Shapes and branches", {
        "flatten": "Flatten", "reshape": "Reshape", "parallel": "Parallel",
        "time_distributed": "TimeDistributed", "part": "Part"}),
    "probabilities": ("Probabilities", {
        "softmax": "Softmax", "log_softmax": "LogSoftmax", "adaptive_softmax": "AdaptiveSoftmax",
        "mixture_of_softmaxes": "MixtureOfSoftmaxes", "kmeans": "KMeans"}),
    "functions": ("Functions of whole rows, as ONNX graphs become them", {
        "activation": "Activation", "unary": "Unary", "binary": "Binary", "select": "Select",
        "reduce": "Reduce", "permute": "Permute", "index_select": "IndexSelect",
        "batched_matmul": "BatchedMatmul"}),
    # What stands in none of these: soft_gate is SoftGate.
    "others": ("Further layers", {}),
}
PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "bindings/python/welvet/layers"
BY_HAND = ("sequential", "residual", "custom", "metacognition")  # containers.py
HAND_MADE = ("containers", "equivalents", "model")  # what else the package exports
BY_CALL = "takes"  # said where a layer is called: LSTM(8)(x, lengths=n)
BY_NAME = "By name, when called"
# The package itself needs NumPy, its names do not.
_SPEC = importlib.util.spec_from_file_location("welvet_names", PACKAGE / "_names.py")
NAMES = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(NAMES)
# Arguments that come first, where the list has another order and PyTorch none.
FIRST = {"index_select": ("dims", "runs"), "binary": ("op", "shapes"), "permute": ("order",),
         "kmeans": ("clusters",), "reduce": ("op", "axes")}
VARIADIC = {"reshape": "dims"}
CHILDREN = {"parallel": "*branches: Layer", "time_distributed": "layer: Layer"}
TYPES = {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "enum": "str",
         "strings": "Sequence[str]", "integer lists": "Sequence[Sequence[int]]"}
COMMON = (("dtype", "str"), ("name", "str"), ("enabled", "bool"), ("tie", "str"),
          ("fixed", "Sequence[str]"))
# What of PyTorch's differs by default: said where the class is.
DIFFERS = {
    "dense": "Weights begin normal with the deviation 1 / sqrt(in), sqrt(2 / in) before "
             "relu and its like, the bias as 0: PyTorch's are uniform within 1 / sqrt(in).",
    "embedding": "The table begins with a deviation of 0.02, PyTorch's with 1.",
    "rms_norm": "`eps` is 1e-05, where PyTorch's None is 1.2e-07 for float32.",
    "instance_norm": "Its defaults are those of `torch.nn.InstanceNorm2d`, not of its Lazy form.",
    "softmax": "`dim` is -1, where PyTorch guesses if nothing is said.",
    "log_softmax": "`dim` is -1, where PyTorch guesses if nothing is said.",
    "rnn": "`batch_first` is true, the only order here, and false by default in PyTorch.",
    "gru": "`batch_first` is true, the only order here, and false by default in PyTorch.",
    "lstm": "`batch_first` is true, the only order here, and false by default in PyTorch.",
}


class Argument:
    """An argument of a class's __init__: a setting, or a name of PyTorch's that has one value."""

    def __init__(self, layer, name, field=None):
        self.layer, self.name, self.field = layer, name, field
        assert not keyword.iskeyword(name), "%s: say in _names.py how Python spells it" % name
        self.single = None if field else NAMES.only(layer["type"], name)
        assert field or self.single, "%s: %s is no setting: say in _names.py ONLY" % (
            layer["type"], name)
        self.needed = bool(field) and "only" not in field and (
            field.get("required", False) or name in NAMES.NEEDED)
        self.variadic = VARIADIC.get(layer["type"]) == name

    @property
    def key(self):
        return self.field["key"]

    @property
    def type(self):
        if self.single:
            return self.single[0]
        if self.stride:
            return "Optional[Size]"
        if self.field["type"] == "integers":
            single = isinstance(self.field["default"], int)
            if self.layer["type"].startswith("conv") and self.key == "padding" and self.forward:
                return "Union[Size, str]"
            return "Size" if single else "Sequence[int]"
        return TYPES[self.field["type"]]

    @property
    def forward(self):
        return "transpose" not in self.layer["type"]

    @property
    def stride(self):
        """Of a pool: None is its kernel, as in PyTorch."""
        return self.field and self.key == "stride" and self.field["default"] == 0

    @property
    def default(self):
        if self.single:
            value = self.single[1][0]
        else:
            value = None if self.stride else self.field["default"]
        return '"%s"' % value if isinstance(value, str) else repr(
            tuple(value) if isinstance(value, list) else value)

    def signature(self):
        if self.variadic:
            return "*%s: int" % self.name
        text = "%s: %s" % (self.name, self.type)
        if self.needed:
            return text
        if self.type == "Sequence[int]":
            return "%s: Optional[Sequence[int]] = ()" % self.name
        return text + " = " + self.default

    def value(self):
        if self.type == "Sequence[int]":
            return "numbers(%s)" % self.name
        if self.field["type"] == "integer lists":
            return "[list(s) for s in %s]" % self.name
        if "only" in self.field and self.field["type"] == "integer":
            return "%s or None" % self.name
        if self.type == "Union[Size, str]":
            return 'padding_of("%s", padding, kernel_size, stride, dilation)' % (
                self.layer["python"])
        return self.name

    def annotation(self):
        kind = {"Sequence[int]": "List[int]", "Union[Size, str]": "Size"}.get(self.type, self.type)
        return "    %s: %s\n" % (self.name, "List[int]" if self.variadic else kind)

    def sentence(self):
        if self.single:
            written = self.single[1][0]
            value = json.dumps(written) if isinstance(written, str) else repr(written)
            return "`%s`: only %s: %s." % (self.name, value, self.single[2])
        words = "`%s`: %s" % (self.name, self.field["doc"])
        words = words.replace("0: the kernel", "None: the kernel")
        rest = [condition_text(self.field), range_text(self.field)]
        if self.type == "Union[Size, str]":
            words = words.replace("and then all ends", 'and then all ends; "same", for a stride of '
                                  '1, or "valid", none')
        if self.field["type"] == "string" and "names" in self.field and "`" not in self.field[
            "doc"]:
            rest.append("one of " + ", ".join(self.field["names"]))
        if self.stride:
            rest = []
        return "; ".join([words] + [r for r in rest if r]) + "."


def arguments(layer):
    """Those by place, and those by name alone."""
    kind = layer["type"]
    fields = [f for f in layer["fields"] if f["key"] != BY_CALL and f["key"] not in NAMES.HIDDEN]
    by_name = {NAMES.spelled(kind, f["key"]): f for f in fields}
    first = FIRST.get(kind, ())
    own = [Argument(layer, name, field) for name, field in by_name.items()]
    rank = {key: i for i, key in enumerate(first)}
    own.sort(key=lambda a: (rank.get(a.key, len(first)), not a.needed))
    last = max([i for i, a in enumerate(own) if a.needed], default=0)
    if kind not in NAMES.PLACES:
        for argument in own[:last]:  # before one without a default
            argument.needed = True
        return (own, []) if kind not in CHILDREN else ([], own)
    places = [Argument(layer, name, by_name.get(name)) for name in NAMES.PLACES[kind]]
    return places, [a for a in own if a.name not in NAMES.PLACES[kind]]


def wrapped(text, first, rest):
    return "\n".join(textwrap.wrap(text, 100, initial_indent=first, subsequent_indent=rest,
                                   break_long_words=False, break_on_hyphens=False)) + "\n"


def listed(items, first, rest, end):
    """Items joined by commas; no line ends within one."""
    text = ", ".join(item.replace(" ", "\0") for item in items) + end.replace(" ", "\0")
    return wrapped(text, first, rest).replace("\0", " ")


def documentation(layer, every):
    about = layer["about"].replace("[", "(").replace("]", ")")
    doc = textwrap.wrap(about + (" " + DIFFERS[layer["type"]] if layer["type"] in DIFFERS else ""),
                        92)
    lines = [wrapped(a.sentence(), "    * ", "      ") for a in every]
    for field in layer["fields"]:
        if field["key"] == BY_CALL:
            said = field["doc"].replace("operands behind the first, in their order", BY_NAME)
            said = said.replace("operands behind the second, in their order", BY_NAME)
            lines.append(wrapped(said + ".", "    * ", "      "))
    text = '    """' + "\n    ".join(doc)
    return text + ('\n\n' + "".join(lines) + '    """\n' if lines else '"""\n')


def one_class(layer, name):
    layer = {**layer, "python": name}
    children = CHILDREN.get(layer["type"], "*layers: Layer" if layer["container"] else None)
    places, named = arguments(layer)
    every = places + named
    given = [children] if children else []
    given += [a.signature() for a in places]
    if not any(g.startswith("*") for g in given):
        given.append("*")
    given += [a.signature() for a in named]
    given += ["%s: Optional[%s] = None" % common for common in COMMON]
    head = "    def __init__("
    base = "Container" if children else "Layer"
    text = "class %s(%s):\n" % (name, base) + documentation(layer, every) + "\n"
    text += "".join(a.annotation() for a in every)
    text += '    _kind = "%s"\n\n    @checked\n' % layer["type"]
    text += listed(["self"] + given, head, " " * len(head), ") -> None:")
    settings = ['"%s": %s' % (a.key, a.value()) for a in every if a.field]
    if children:
        one = children.split(":")[0]
        settings.insert(0, '"layers": %s' % ("list(%s)" % one[1:] if "*" in one else "[%s]" % one))
    common = "{%s}" % ", ".join('"%s": %s' % (n, n) for n, _ in COMMON)
    call = '        super().__init__("%s", {%s}, %s)\n' % (
        layer["type"], ", ".join(settings), common)
    if len(call) > 101:
        call = '        super().__init__("%s", {\n' % layer["type"]
        call += listed(settings, " " * 12, " " * 12, "},") + " " * 12 + common + ")\n"
    return text + call


def others(described):
    """Types that stand in no file: their names in Python."""
    placed = {t for _, section in FILES.values() for t in section} | set(BY_HAND)
    return {layer["type"]: "".join(w.capitalize() for w in layer["type"].split("_"))
            for layer in described["layers"] if layer["type"] not in placed}


def module(file):
    """What makes a file of the package."""
    def made(described, old):
        heading, section = FILES[file]
        section = others(described) if file == "others" else section
        by_type = {layer["type"]: layer for layer in described["layers"]}
        body = "".join("\n\n" + one_class(by_type[kind], name)
                       for kind, name in section.items() if kind in by_type)
        if not body:
            return ""
        typing = [n for n in ("List", "Optional", "Sequence", "Union")
                  if re.search(r"\b%s\[" % n, body)]
        base = [n for n in ("Container", "Layer", "Size", "checked", "numbers", "padding_of")
                if re.search(r"\b%s\b" % n, re.sub(r'""".*?"""', "", body, flags=re.S))]
        return ('"""%s.\n\n%s\n"""\nfrom __future__ import annotations\n\n'
                "from typing import %s\n\nfrom ._base import %s\n"
                % (heading, NOTE, ", ".join(typing), ", ".join(base)) + body)
    return made


def by_hand(file):
    """Public classes and functions of a module that is written by hand."""
    text = (PACKAGE / (file + ".py")).read_text()
    names = re.findall(r"^(?:class|def) ([A-Za-z]\w*)", text, re.M)
    for line in re.findall(r"^((?:[A-Z]\w+ = )+)[A-Z]\w+$", text, re.M):
        names += line.rstrip(" =").split(" = ")
    return names


PRIVATE = ("Value", "InputValue", "values_of", "call", "equivalent")


def layers(described, old):
    files = {f: list((others(described) if f == "others" else s).values())
             for f, (_, s) in FILES.items()}
    files.update({file: [n for n in by_hand(file) if n not in PRIVATE] for file in HAND_MADE})
    files.update(_base=["Layer"], _names=["missing"])
    every = sorted([n for file, names in files.items() for n in names if file != "_names"]
                   + ["Dense"])
    twice = sorted({n for n in every if every.count(n) > 1})
    if twice:
        raise SystemExit("tools/generate/python_layers.py: in Python two layers are called "
                         + ", ".join(twice) + ": give one another name in FILES")
    dense = next(one for one in described["layers"] if one["type"] == "dense")["fields"]
    activations = next(f for f in dense if f["key"] == "activation")["names"]
    out = [INTRODUCTION, wrapped("Activations: " + ", ".join(activations) + ".", "", "")]
    out.append("\n" + NOTE + '\n"""\nfrom __future__ import annotations\n\n'
               "from typing import TYPE_CHECKING\n\n")
    for file in sorted(n for n in files if files[n]):
        line = "from .%s import %s\n" % (file, ", ".join(sorted(files[file])))
        if len(line) > 101:
            line = "from .%s import (\n%s)\n" % (
                file, listed(sorted(files[file]), "    ", "    ", ","))
        out.append(line)
    out.append("\nDense = Linear  # Keras' word, with the arguments of Linear\n\n__all__ = [\n")
    out.append(listed(['"%s"' % n for n in every], "    ", "    ", ",") + "]\n")
    out.append(MISSING)
    return "".join(out)


MISSING = '''
if not TYPE_CHECKING:

    def __getattr__(name):
        raise AttributeError(missing(name))
'''

INTRODUCTION = '''\
"""Layers with PyTorch's names in the order of its Lazy modules, which build a network's topology.

    from welvet import Network, layers
    network = Network(layers.Sequential(layers.Input(784),
                                        layers.Linear(128, activation="relu"),
                                        layers.Linear(10)), seed=1)

Input sizes are inferred from the Input. Arguments that PyTorch has may be given by place, in its
order; all others, as `activation`, go by name. What PyTorch accepts and Loom cannot do is refused
by name. A layer is a plain dict, the cell as docs/reference/layers.md has it; `repr` writes it as
one would, and containers print as a tree. Dense is Linear by Keras' name. Common to all are `dtype`
(how matrices are stored and multiplied: "f32", "bf16", "i8", ...), `name`, `enabled`, `tie` and
`fixed`.
'''
