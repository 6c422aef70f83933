"""How Python spells the layers: PyTorch's names in the order of its Lazy modules, which are told no
sizes of what arrives. tools/generate makes the classes by these tables; files have the topology's
own names (docs/reference/layers.md)."""
import re

_OF_ALL = {"filters": "out_channels", "kernel": "kernel_size"}
_OF_ONE = {
    ("dense", "out"): "out_features",
    ("embedding", "out"): "embedding_dim",
    ("attention", "heads"): "num_heads",
    ("attention", "kv_heads"): "num_kv_heads",
    ("cross_attention", "heads"): "num_heads",
    ("rnn", "hidden"): "hidden_size",
    ("rnn", "activation"): "nonlinearity",
    ("gru", "hidden"): "hidden_size",
    ("lstm", "hidden"): "hidden_size",
    ("group_norm", "groups"): "num_groups",
    ("dropout", "rate"): "p",
    ("adaptive_softmax", "out"): "n_classes",
    ("adaptive_softmax", "divide"): "div_value",
    ("adaptive_softmax", "bias"): "head_bias",
    ("mixture_of_softmaxes", "out"): "n_classes",
}


def spelled(kind: str, key: str) -> str:
    """The name in Python of a setting `key` of the layer type `kind`."""
    return _OF_ONE.get((kind, key), _OF_ALL.get(key, key))


def key_of(kind: str, name: str) -> str:
    """The key in a topology of what Python calls `name`."""
    for key, other in [*((k, n) for (t, k), n in _OF_ONE.items() if t == kind), *_OF_ALL.items()]:
        if other == name:
            return key
    return name


_CONV = ("out_channels", "kernel_size", "stride", "padding", "dilation", "groups", "bias",
         "padding_mode")
_CONV_TRANSPOSE = ("out_channels", "kernel_size", "stride", "padding", "output_padding", "groups",
                   "bias", "dilation", "padding_mode")
_MAX_POOL = ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode")
_AVG_POOL = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")
_RECURRENT = ("bias", "batch_first", "dropout", "bidirectional")
_BATCH_NORM = ("eps", "momentum", "affine", "track_running_stats")

# Arguments that may be given by place, in PyTorch's order; all others are given by name. Types that
# are not here have no counterpart there: all of theirs may be given by place.
PLACES = {
    "dense": ("out_features", "bias"),
    "embedding": ("embedding_dim",),
    "attention": ("num_heads", "num_kv_heads", "head_dim"),
    "cross_attention": ("num_heads", "head_dim"),
    "conv1d": _CONV, "conv2d": _CONV, "conv3d": _CONV,
    "conv_transpose1d": _CONV_TRANSPOSE, "conv_transpose2d": _CONV_TRANSPOSE,
    "conv_transpose3d": _CONV_TRANSPOSE,
    "max_pool1d": _MAX_POOL, "max_pool2d": _MAX_POOL, "max_pool3d": _MAX_POOL,
    "avg_pool1d": _AVG_POOL, "avg_pool2d": (*_AVG_POOL, "divisor_override"),
    "avg_pool3d": (*_AVG_POOL, "divisor_override"),
    "rnn": ("hidden_size", "num_layers", "nonlinearity", *_RECURRENT),
    "gru": ("hidden_size", "num_layers", *_RECURRENT),
    "lstm": ("hidden_size", "num_layers", *_RECURRENT, "proj_size"),
    "layer_norm": (), "rms_norm": (), "group_norm": ("num_groups",),
    "batch_norm": _BATCH_NORM, "instance_norm": _BATCH_NORM,
    "dropout": ("p", "inplace"),
    "flatten": ("start_dim", "end_dim"),
    "softmax": ("dim",), "log_softmax": ("dim",),
    "adaptive_softmax": ("n_classes", "cutoffs", "div_value", "head_bias"),
    "mixture_of_softmaxes": ("n_classes", "mixtures"),
}
# Arguments that must be given in Python, as in PyTorch, though a topology may leave them out.
NEEDED = {"kernel_size", "num_groups", "num_heads"}
# Settings of a topology that another class of Python's stands for: AdaptiveAvgPool2d(1).
HIDDEN = {"global"}

# PyTorch's arguments that have one meaning here: how its type is written, the values that say it
# (the first is the default), and what to do for another.
ONLY = {
    "padding_mode": ("str", ("zeros",), "padding is with zeros: pad the samples themselves"),
    "batch_first": ("bool", (True,), "x is (samples, steps, features)"),
    "dropout": ("float", (0.0,), "put Dropout(p) between layers: Sequential(LSTM(8), Dropout(0.1), "
                "LSTM(8))"),
    "proj_size": ("int", (0,), "put a Linear behind it"),
    "return_indices": ("bool", (False,), "there is no unpooling that takes them"),
    "divisor_override": ("Optional[int]", (None,), "leave it out"),
    "track_running_stats": ("bool", (True,), "BatchNorm runs by running statistics; GroupNorm and "
                            "InstanceNorm have none"),
    "inplace": ("bool", (False,), "leave it out: memory is planned for the whole network"),
    "start_dim": ("int", (1,), "a whole sample becomes flat: Reshape(...) gives other dimensions"),
    "end_dim": ("int", (-1,), "a whole sample becomes flat: Reshape(...) gives other dimensions"),
    "dim": ("Optional[int]", (-1, None), "it is over the last dimension, -1: Permute others there"),
    "output_size": ("Size", (1, (1,), (1, 1), (1, 1, 1)),
                    "a size of 1 alone: MaxPool and AvgPool have a kernel_size"),
}
ONLY_OF = {
    ("instance_norm", "momentum"): ("float", (0.1,),
                                    "there are no running statistics that it is of"),
    ("instance_norm", "track_running_stats"): (
        "bool", (False,), "BatchNorm has running statistics, InstanceNorm none"),
}


def only(kind: str, name: str):  # type: ignore[no-untyped-def]
    """What ONLY says of an argument of the layer type `kind`, None for a setting."""
    if name == "dropout" and kind not in ("rnn", "gru", "lstm"):
        return None
    return ONLY_OF.get((kind, name), ONLY.get(name))


_ARRIVES = "leave it out: it follows from what arrives"
_WHERE = "leave it out: a Session, or train(mode=...), says where a network computes"
# Names that PyTorch or Keras has, and layers here have not: what is right.
_ELSEWHERE = {
    **dict.fromkeys(("in_features", "in_channels", "input_size", "num_features", "num_channels",
                     "normalized_shape", "embed_dim", "input_shape", "input_dim"), _ARRIVES),
    "num_embeddings": "leave it out: the Input says how many ids there are, Input(40, ids=512)",
    "device": _WHERE,
    "padding_idx": "use lengths, which layers take by name, for steps that do not count",
    "max_norm": "weights are not limited", "norm_type": "weights are not limited",
    "scale_grad_by_freq": "leave it out", "sparse": "leave it out",
    "elementwise_affine": "leave it out: gain and bias are learned",
    "units": "write out_features", "use_bias": "write bias", "rate": "write p",
    "return_sequences": 'write output="all" or output="last"',
    "go_backwards": "write bidirectional",
    "kdim": _ARRIVES, "vdim": _ARRIVES, "add_bias_kv": "leave it out",
    "add_zero_attn": "leave it out",
}


def instead(kind: str, name: str) -> str:
    """What to write in place of an argument that the layer type `kind` has not; "" for unknown."""
    if spelled(kind, name) != name:
        return "write " + spelled(kind, name)
    if name in ("global", "global_pool"):
        return "write " + re.sub(r"^(max|avg)_pool", r"Adaptive\1Pool", kind).replace(
            "max", "Max").replace("avg", "Avg") + "(1)"
    return _ELSEWHERE.get(name, "")


# Classes of PyTorch's that layers has not: what there is.
_CLASSES = {
    **dict.fromkeys(("CrossEntropyLoss", "NLLLoss"), 'train(..., loss="cross_entropy")'),
    **dict.fromkeys(("BCELoss", "BCEWithLogitsLoss"), 'train(..., loss="bce"), of logits'),
    "MSELoss": 'train(..., loss="mse")', "L1Loss": 'train(..., loss="mae")',
    **dict.fromkeys(("HuberLoss", "SmoothL1Loss"), 'train(..., loss="huber")'),
    "Module": "a function that returns layers, or a subclass of Sequential; Model for a graph",
    "ModuleList": "a Python list of layers", "ModuleDict": "a Python dict of layers",
    "Unflatten": "Reshape", "Upsample": "ConvTranspose2d", "PReLU": "LeakyReLU, whose slope is set",
    "Bilinear": "Model, with x * y", "EmbeddingBag": "Sequential(Embedding(16), PoolSteps())",
    "TransformerEncoderLayer": "Residual(Sequential(LayerNorm(), MultiheadAttention(num_heads=4)))"
                               " and Residual(...) of two Linear",
    **dict.fromkeys(("Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout"), "Dropout"),
    "Parameter": "Binary, with a learned `constant`",
}


def missing(name: str) -> str:
    """What a module without the attribute `name` says."""
    there = name[4:] if name.startswith("Lazy") else ""
    found = _CLASSES.get(name, there and "layers." + there)
    return "welvet.layers has no %r%s" % (name, ": use " + found if found else
                                          ": help(welvet.layers) lists what there is")
