"""welvet.layers as a user of PyTorch meets them: signatures, printing, copies, and what is
refused."""
import copy
import inspect
import pickle
import unittest

import numpy as np

from welvet import Network, layers as L
from welvet.layers._names import only

try:
    from torch import nn
except ImportError:
    nn = None

# A class here: that of PyTorch's whose arguments it has, less those of sizes that arrive, which a
# Lazy module does not take (Embedding, recurrent and norms have no Lazy module).
SAME = {
    "Linear": "LazyLinear", "Conv1d": "LazyConv1d", "Conv2d": "LazyConv2d",
    "Conv3d": "LazyConv3d", "ConvTranspose1d": "LazyConvTranspose1d",
    "ConvTranspose2d": "LazyConvTranspose2d", "ConvTranspose3d": "LazyConvTranspose3d",
    "BatchNorm1d": "LazyBatchNorm1d", "BatchNorm2d": "LazyBatchNorm2d",
    "BatchNorm3d": "LazyBatchNorm3d",
    **{name: name for name in (
        "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d",  # lazy ones have another `affine`
        "MaxPool1d", "MaxPool2d", "MaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
        "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
        "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "Flatten", "Dropout", "Softmax", "LogSoftmax",
        "Identity", "ReLU", "LeakyReLU", "ELU", "CELU", "SELU", "GELU", "SiLU", "Mish", "Tanh",
        "Sigmoid", "Softplus", "Softsign", "ReLU6", "Hardtanh", "Hardsigmoid", "Hardswish")},
    "AdaptiveSoftmax": "AdaptiveLogSoftmaxWithLoss", "LayerNorm": "LayerNorm",
    "GroupNorm": "GroupNorm", "Embedding": "Embedding",
}
ARRIVES = {"in_features", "in_channels", "input_size", "num_features", "num_channels",
           "normalized_shape", "num_embeddings", "embed_dim"}
ELSEWHERE = {"device", "dtype", "args", "kwargs"}  # no settings of the layer in PyTorch
# Arguments that nothing stands for here: only their absence would be a silent difference.
BEHIND = {"Hardtanh": {"min_value", "max_value"}, "Softplus": {"beta", "threshold"},
          "LayerNorm": {"eps", "elementwise_affine"}, "GroupNorm": {"eps", "affine"},
          "Embedding": {"padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse",
                        "_weight", "_freeze"}}
# Defaults that PyTorch has otherwise, said in the docstrings.
OTHER = {("Softmax", "dim"), ("LogSoftmax", "dim")}

EVERY = [
    L.Linear(10, activation="relu"), L.Linear(3, False, name="head"), L.Embedding(16, std=0.5),
    L.Conv2d(8, 3, padding="same"), L.Conv2d(8, (3, 5), stride=2, groups=2, bias=False),
    L.Conv1d(4, 4, padding="same"), L.ConvTranspose2d(4, 2, 2, 0, 1), L.MaxPool2d(2),
    L.AvgPool2d(3, 2, 1, True, False), L.LSTM(8, 2, bidirectional=True, output="last"),
    L.RNN(5, 1, "relu"), L.GRU(4, linear_before_reset=False), L.PoolSteps("max"),
    L.LayerNorm(eps=1e-6), L.RMSNorm(), L.BatchNorm(1e-3, 0.2), L.GroupNorm(2, affine=False),
    L.Dropout(0.2), L.Flatten(), L.Reshape(2, -1), L.Permute([1, 0]), L.Softmax(kind="sparsemax"),
    L.LogSoftmax(-1), L.AdaptiveSoftmax(10, [2, 5]), L.KMeans(3), L.SwiGLU(6), L.Attention(4, 2),
    L.CrossAttention(2), L.MultiheadAttention(num_heads=2, bias=False), L.Positions(count=3),
    L.Unary("exp"), L.Binary("add", [[2], [2]]), L.Select(), L.Reduce("sum", [1]),
    L.Activation("mish"), L.ReLU(), L.GELU("tanh"), L.LeakyReLU(0.2), L.Hardtanh(-2, 2),
    L.AdaptiveAvgPool2d(1), L.AdaptiveMaxPool1d((1,)), L.Input(1, 28, 28), L.Input(40, ids=512),
    L.Input(5, name="table"), L.Custom("acme.scale", config={"by": 2}), L.Residual(), L.Part("x"),
    L.IndexSelect([2], [0, 1, 2]), L.BatchedMatmul(), L.Standardize(True),
    L.MixtureOfSoftmaxes(4, 2), L.InstanceNorm(affine=True),
]


def by_place(signature):
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD,)
    return [p for p in signature.parameters.values() if p.kind in kinds]


class PyTorch(unittest.TestCase):
    @unittest.skipIf(nn is None, "no PyTorch")
    def test_names_by_place_are_those_of_lazy_modules_in_their_order(self):
        for name, theirs in SAME.items():
            with self.subTest(name):
                module = getattr(nn, theirs)
                said = [p for p in inspect.signature(module.__init__).parameters.values()
                        if p.name != "self" and p.name not in ARRIVES | ELSEWHERE]
                own = by_place(inspect.signature(getattr(L, name)))
                behind = BEHIND.get(name, set())
                names = [p.name for p in own]
                self.assertEqual(names, [p.name for p in said if p.name not in behind])
                for mine, other in zip(own, said):
                    if (name, mine.name) in OTHER or mine.default is mine.empty:
                        continue
                    self.assertEqual(mine.default, other.default, mine.name)

    @unittest.skipIf(nn is None, "no PyTorch")
    def test_recurrent_layers_have_its_order(self):
        given = {"hidden_size": 4, "num_layers": 2, "bias": False, "batch_first": True,
                 "dropout": 0.0, "bidirectional": True}
        for name in ("LSTM", "GRU"):
            theirs, own = getattr(nn, name)(3, *given.values()), getattr(L, name)(*given.values())
            for key, value in given.items():
                self.assertEqual((getattr(theirs, key), getattr(own, key)), (value, value), key)
        self.assertEqual(L.RNN(4, 1, "relu").nonlinearity, "relu")
        with self.assertRaisesRegex(TypeError, "nonlinearity: expects a text"):
            L.RNN(4, 1, True)  # PyTorch before 2.0 has bias there

    def test_what_pytorch_has_and_is_not_here_is_refused_by_name(self):
        for make, kind, said in (
            (lambda: L.Linear(784, 128), TypeError, "bias: expects True or False, got 128; leave"),
            (lambda: L.Linear(784, 128, True), TypeError, "takes out_features and bias by place"),
            (lambda: L.Linear(in_features=3, out_features=2), TypeError, "'in_features': leave"),
            (lambda: L.Linear(3, device="cuda"), TypeError, "'device': leave it out"),
            (lambda: L.Linear(3, activaton="relu"), TypeError, "known are out_features, bias"),
            (lambda: L.Linear(3, out=4), TypeError, "write out_features"),
            (lambda: L.Linear("3"), TypeError, "out_features: expects an integer, got '3'"),
            (lambda: L.Linear(3, dtype=np.float32), TypeError, "dtype: expects a text"),
            (lambda: L.Conv2d(8, 3, padding_mode="reflect"), ValueError, "only 'zeros'"),
            (lambda: L.Conv2d(8, 3, 2, "same"), ValueError, "for a stride of 1"),
            (lambda: L.Conv2d(8, 3, padding="full"), ValueError, '"same" or "valid"'),
            (lambda: L.LSTM(8, batch_first=False), ValueError, "only True is supported"),
            (lambda: L.LSTM(8, dropout=0.1), ValueError, "put Dropout"),
            (lambda: L.LSTM(8, proj_size=2), ValueError, "put a Linear behind"),
            (lambda: L.Embedding(512, 16), TypeError, "takes embedding_dim by place"),
            (lambda: L.Embedding(16, padding_idx=0), TypeError, "use lengths"),
            (lambda: L.LayerNorm(64), TypeError, "takes nothing by place"),
            (lambda: L.MultiheadAttention(256, 8), TypeError, "takes nothing by place"),
            (lambda: L.MaxPool2d(2, return_indices=True), ValueError, "only False"),
            (lambda: L.AdaptiveAvgPool2d(7), ValueError, "only 1 is supported"),
            (lambda: L.BatchNorm2d(track_running_stats=False), ValueError, "only True"),
            (lambda: L.BatchNorm2d(momentum=None), TypeError, "momentum: expects a number"),
            (lambda: L.InstanceNorm2d(momentum=0.2), ValueError, "no running statistics"),
            (lambda: L.Softmax(1), ValueError, "over the last dimension"),
            (lambda: L.ReLU(inplace=True), ValueError, "leave it out"),
            (lambda: L.GELU("sigmoid"), ValueError, 'expects "none" or "tanh"'),
            (lambda: L.Flatten(0), ValueError, "only 1 is supported"),
        ):
            with self.subTest(said), self.assertRaisesRegex(kind, said):
                make()

    def test_its_words_elsewhere_say_what_is_here(self):
        network = Network(L.Sequential(L.Input(3), L.Linear(2)), seed=1)
        x, y = np.zeros((4, 3)), np.zeros(4, int)
        for make, kind, said in (
            (lambda: L.ModuleList, AttributeError, "use a Python list"),
            (lambda: L.LazyConv2d, AttributeError, "use layers.Conv2d"),
            (lambda: L.CrossEntropyLoss, AttributeError, 'loss="cross_entropy"'),
            (lambda: L.NoSuchThing, AttributeError, "lists what there is"),
            (lambda: L.BatchNorm2d(16), TypeError, "leave out the sizes"),
            (lambda: network.state_dict, AttributeError, "use parameters, and get"),
            (lambda: network.fit, AttributeError, r"use train\(x, y\)"),
            (lambda: network.no_such_thing, AttributeError, "'no_such_thing'$"),
            (lambda: network.train(x, y, optimizer=np.float32), TypeError, "expects a name"),
            (lambda: network.train(x, y, loss=abs), TypeError, "loss: expects a name"),
            (lambda: Network(L.Linear(10)), TypeError, r"got the layer Linear\(10\)"),
            (lambda: L.Linear(3)(x), TypeError, "Linear: expects an Input"),
        ):
            with self.subTest(said), self.assertRaisesRegex(kind, said):
                make()
        self.assertFalse(hasattr(L, "__no_such__"))

    def test_its_words_for_padding(self):
        self.assertEqual(L.Conv2d(4, 3, padding="same"), L.Conv2d(4, 3, padding=1))
        self.assertEqual(L.Conv2d(4, (1, 5), padding="same").padding, [0, 2])
        self.assertEqual(L.Conv1d(4, 4, dilation=3, padding="same").padding, [4, 5])
        self.assertEqual(L.Conv3d(4, 3, padding="valid").padding, 0)
        network = Network(L.Sequential(L.Input(2, 7, 6), L.Conv2d(3, (4, 2), padding="same")))
        self.assertEqual(network.info["output"]["dims"], [3, 7, 6])


class Objects(unittest.TestCase):
    def test_prints_as_one_writes_it(self):
        self.assertEqual(repr(L.Linear(10, activation="relu")), "Linear(10, activation='relu')")
        self.assertEqual(repr(L.Dense(10)), "Linear(10)")
        self.assertEqual(repr(L.Conv2d(8, 3, padding=1)), "Conv2d(8, 3, padding=1)")
        for layer in EVERY:
            with self.subTest(repr(layer)):
                made = eval(repr(layer), vars(L))
                self.assertEqual((made, type(made)), (layer, type(layer)))
        self.assertEqual(repr(L.Sequential(L.Input(4), L.Residual(L.Linear(4), L.ReLU()))), """\
Sequential(
  (0): Input(4)
  (1): Residual(
    (0): Sequential(
      (0): Linear(4)
      (1): ReLU()
    )
  )
)""")

    def test_is_a_class_with_its_settings(self):
        layer = L.Linear(10, activation="relu")
        self.assertIsInstance(layer, L.Linear)
        self.assertIsInstance(layer, dict)
        self.assertIs(L.Dense, L.Linear)
        self.assertEqual((layer.out_features, layer.bias, layer.activation, layer.name),
                         (10, True, "relu", None))
        layer.out_features = 12
        self.assertEqual(layer, L.Linear(12, activation="relu"))
        with self.assertRaisesRegex(TypeError, "expects an integer"):
            layer.out_features = "12"
        for wrong, said in (("weight", "weights are those of a network"), ("out", "no setting")):
            with self.assertRaisesRegex(AttributeError, said):
                getattr(layer, wrong)
        with self.assertRaisesRegex(AttributeError, "write out_features"):
            layer.out = 3
        with self.assertRaisesRegex(ValueError, "only True"):
            L.LSTM(3).batch_first = False
        self.assertIn("out_features", dir(layer))
        self.assertEqual(L.Sequential(L.Input(3), layer)[1].out_features, 12)
        self.assertEqual(L.LeakyReLU(0.2).negative_slope, 0.2)
        self.assertEqual(L.Linear(np.int64(3)), L.Linear(3))

    def test_copies_and_pickles(self):
        for layer in [*EVERY, L.Sequential(L.Input(2), L.Linear(3)), L.Parallel(L.Linear(2))]:
            copies = (copy.copy(layer), copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)))
            for made in copies:
                self.assertEqual((made, type(made), repr(made)), (layer, type(layer), repr(layer)))
        self.assertNotEqual(L.Input(3), L.Input(4))

    def test_a_class_of_ones_own(self):
        class Block(L.Sequential):
            def __init__(self, width):
                super().__init__(L.Linear(width, activation="relu"), L.Linear(width))

        block = Block(4)
        self.assertTrue(repr(block).startswith("Block(\n  (0): Linear(4, "))
        network = Network(L.Sequential(L.Input(3), block), seed=1)
        self.assertEqual(network(np.zeros((2, 3))).shape, (2, 4))

    def test_a_network_prints_its_layers(self):
        shared = L.Linear(3)
        network = Network(L.Sequential(
            L.Input(1, 4, 4), L.Conv2d(2, 3), L.ReLU(), L.AdaptiveAvgPool2d(1), L.Flatten(),
            L.Parallel(L.Linear(2), L.Linear(1)), shared, shared), seed=1)
        self.assertEqual(str(network), """\
Network(
  # 16 -> 3, 41 parameters
  (input): Input(1, 4, 4)
  (0.0.0.0): Conv2d(2, 3)  # -> (2, 2, 2), weight (2, 9), bias (1, 2), 20 parameters
  (0.0.0.1): ReLU()  # -> (2, 2, 2)
  (0.0.0.2): AdaptiveAvgPool2d(1)  # -> (2, 1, 1)
  (0.0.0.3): Flatten()  # -> (2,)
  (0.0.0.4): Parallel(  # -> (3,), 9 parameters
    (0): Linear(2)
    (1): Linear(1)
  )
  (0.0.0.5): Linear(3)  # -> (3,), weight (3, 3), bias (1, 3), 12 parameters
  (0.0.0.6): # run 0.0.0.5 -> (3,)
  (output): (3,)
)""")
        x = L.Input(4, 6)
        h = L.MultiheadAttention(num_heads=2)(x)
        shown = str(Network(L.Model(x, L.Linear(1)(x + h)), seed=1)).splitlines()
        self.assertIn("(0.0.0.1): MultiheadAttention(num_heads=2)  # -> (4, 6), q (6, 6)", shown[3])
        self.assertEqual(shown[4], "  (0.0.0.2): # add of 0.0.0.0, 0.0.0.1 -> (4, 6)")
        words, lengths = L.Input(5, ids=8, name="words"), L.Input(ids=6, name="lengths")
        pooled = L.PoolSteps("mean")(L.Embedding(3)(words), lengths=lengths)
        shown = str(Network(L.Model([words, lengths], L.Linear(2)(pooled)), seed=1))
        self.assertIn("Embedding(3)  # -> (5, 3), ", shown)
        self.assertIn("of='words')  # -> (5,)", shown)
        self.assertIn("of='lengths')  # read 0.0.0.0, -> (1,)", shown)
        network.close()
        self.assertEqual(repr(network), "<welvet.Network closed>")

    def test_equivalents_compute_as_their_names_say(self):
        x = np.linspace(-4, 4, 33, dtype=np.float32)[:, None]
        e = np.exp(x.astype(np.float64))
        for layer, y in (
            (L.ReLU(), np.maximum(x, 0)), (L.LeakyReLU(0.2), np.where(x > 0, x, 0.2 * x)),
            (L.ELU(2.0), np.where(x > 0, x, 2 * (e - 1))), (L.Identity(), x),
            (L.CELU(2.0), np.where(x > 0, x, 2 * (np.exp(x / 2) - 1))), (L.Tanh(), np.tanh(x)),
            (L.SELU(), 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (e - 1))),
            (L.SiLU(), x * e / (1 + e)), (L.Sigmoid(), e / (1 + e)), (L.Softplus(), np.log1p(e)),
            (L.Mish(), x * np.tanh(np.log1p(e))), (L.Softsign(), x / (1 + abs(x))),
            (L.ReLU6(), np.clip(x, 0, 6)), (L.Hardtanh(-2, 1), np.clip(x, -2, 1)),
            (L.Hardsigmoid(), np.clip(x / 6 + 0.5, 0, 1)),
            (L.Hardswish(), x * np.clip(x / 6 + 0.5, 0, 1)),
            (L.GELU("tanh"), 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
        ):
            with self.subTest(repr(layer)):
                got = Network(L.Sequential(L.Input(1), layer))(x)
                np.testing.assert_allclose(got, y, rtol=1e-5, atol=1e-6)

    @unittest.skipIf(nn is None, "no PyTorch")
    def test_multihead_attention_is_pytorchs(self):
        import torch

        torch.manual_seed(0)
        theirs = nn.MultiheadAttention(8, 2, batch_first=True)
        with torch.no_grad():
            theirs.in_proj_bias.uniform_(-1, 1)
            theirs.out_proj.bias.uniform_(-1, 1)
        own = Network(L.Sequential(L.Input(5, 8), L.MultiheadAttention(num_heads=2)), seed=0)
        weights, biases = theirs.in_proj_weight.detach().numpy(), theirs.in_proj_bias.detach()
        for i, role in enumerate("qkv"):
            own.set("0.0.0.0:" + role, weights[8 * i:8 * i + 8])
            own.set("0.0.0.0:%s_bias" % role, biases.numpy()[8 * i:8 * i + 8])
        own.set("0.0.0.0:o", theirs.out_proj.weight.detach().numpy())
        own.set("0.0.0.0:o_bias", theirs.out_proj.bias.detach().numpy())
        x = torch.randn(3, 5, 8)
        with torch.no_grad():
            want = theirs(x, x, x)[0].numpy()
        np.testing.assert_allclose(own(x), want, atol=1e-5)

    def test_only_says_what_a_class_takes(self):
        for name in L.__all__:
            cls = getattr(L, name)
            if inspect.isclass(cls) and issubclass(cls, L.Layer):
                for p in cls._arguments().values():
                    single = only(cls._kind, p.name)
                    if single is not None and p.default is not p.empty:
                        self.assertIn(p.default, single[1], (name, p.name))
