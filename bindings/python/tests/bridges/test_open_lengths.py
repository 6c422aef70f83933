"""Open lengths of PyTorch's modules: planetbridging.from_torch with dynamic_shapes."""
import unittest

import numpy as np

try:
    import torch
    from torch import nn
    from torch.export import Dim
except ImportError:
    torch = None
import planetbridging as pb


class Model(nn.Module if torch else object):
    """An encoder over ids, which are also positions, then convolutions and a recurrent layer."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(12, 8), nn.Embedding(20, 8)
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.conv = nn.Conv1d(8, 8, 3, padding=1)
        self.lstm = nn.LSTM(8, 6, batch_first=True, bidirectional=True)

    def forward(self, ids):
        h = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        h = self.encoder(h, src_key_padding_mask=ids == 3)
        h = self.conv(h.transpose(1, 2)).transpose(1, 2)
        h, (last, _) = self.lstm(h)
        return h, h.mean(1), h[:, -1], last


class Function(nn.Module if torch else object):
    def __init__(self, function, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        self.function = function

    def forward(self, *x):
        return self.function(self, *x)


@unittest.skipUnless(torch is not None and hasattr(torch, "export"), "needs PyTorch 2.1 or later")
class OpenLengths(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def agrees(self, module, absorbed, *arrays):
        module.eval()
        with torch.no_grad():
            want = module(*[torch.from_numpy(a) for a in arrays])
        got = absorbed.predict(*arrays)
        want, got = ((t,) if not isinstance(t, tuple) else t for t in (want, got))
        for w, g in zip(want, got):
            self.assertEqual(tuple(w.shape), np.shape(g))
            np.testing.assert_allclose(g, w.numpy(), atol=1e-5)

    def test_a_model_at_every_length(self):
        module = Model()
        absorbed = pb.from_torch(module, (torch.randint(0, 12, (2, 6)),),
                                 dynamic_shapes={"ids": {0: Dim("b"), 1: Dim("length", max=17)}})
        rng = np.random.default_rng(1)
        for n in (1, 2, 3, 8, 16, 17):
            for batch in (1, 3):
                ids = rng.integers(4, 12, (batch, n))
                ids[:, 1:][rng.random((batch, n - 1)) < 0.2] = 3
                self.agrees(module, absorbed, ids)
        for n, text in ((18, "ids: axis 1 of .2, 18. is 18: length goes up to 17"),
                        (0, "length begins at 1")):
            self.assertRaisesRegex(ValueError, text, absorbed.predict, np.zeros((2, n), int))

    def test_rows_of_unequal_lengths(self):
        module = Model().eval()
        absorbed = pb.from_torch(module, (torch.randint(0, 12, (2, 6)),),
                                 dynamic_shapes=({1: Dim("length", max=9)},))
        texts = [np.arange(4, 4 + n) for n in (1, 8, 5)]
        rows = absorbed.network()({
            "ids": np.array([np.pad(t, (0, 9 - len(t))) for t in texts], np.int32),
            "lengths": np.array([[len(t)] for t in texts], np.int32)})
        for i, ids in enumerate(texts):
            with torch.no_grad():
                steps, mean, last, _ = module(torch.from_numpy(ids)[None])
            np.testing.assert_allclose(rows["output_0"][i].reshape(9, -1)[:len(ids)], steps[0],
                                       atol=1e-5)
            self.assertFalse(rows["output_0"][i].reshape(9, -1)[len(ids):].any())
            np.testing.assert_allclose(rows["output_1"][i].ravel(), mean[0], atol=1e-5)
            np.testing.assert_allclose(rows["output_2"][i].ravel(), last[0], atol=1e-5)

    def test_images_of_any_sides(self):
        module = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.MaxPool2d(2),
                               nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
        absorbed = pb.from_torch(module, (torch.randn(2, 3, 8, 10),), dynamic_shapes=(
            {2: Dim("height", min=4, max=12), 3: Dim("width", min=4, max=11)},))
        for height, width in ((4, 4), (12, 11), (7, 5)):
            self.agrees(module, absorbed,
                        torch.randn(2, 3, height, width).numpy())
        self.assertRaisesRegex(ValueError, "is 3: height begins at 4", absorbed.predict,
                               np.zeros((1, 3, 3, 5), np.float32))

    def test_two_inputs_of_one_length_and_of_others(self):
        def attends(m, query, keys):
            return m.attention(query, keys, keys, need_weights=False)[0]

        module = Function(attends, attention=nn.MultiheadAttention(8, 2, batch_first=True))
        absorbed = pb.from_torch(module, (torch.randn(2, 3, 8), torch.randn(2, 5, 8)),
                                 dynamic_shapes=None, dynamic=0)
        self.assertIsNone(absorbed.lengths)
        both = Function(lambda m, x, y: (x * y).sum(1))
        length = Dim("length", max=6)
        absorbed = pb.from_torch(both, (torch.randn(2, 3, 8), torch.randn(2, 3, 8)),
                                 dynamic_shapes={"x_0": {1: length}, "x_1": {1: length}})
        x = np.ones((2, 4, 8), np.float32)
        self.agrees(both, absorbed, x, x)
        self.assertRaisesRegex(ValueError, "x_0 has the same length, and 4", absorbed.predict, x,
                               x[:, :3])

    def test_refusals(self):
        x = torch.randn(2, 6, 4)
        length = {1: Dim("length", max=16)}
        flat = nn.Sequential(nn.Linear(4, 4), nn.Flatten(), nn.Linear(24, 2))
        merged = Function(lambda m, x: x.transpose(1, 2).flatten(1).relu())
        for module, shapes, error, text in (
                (flat, (length,), pb.Unmapped, "^2: a fixed size .* length = 6"),
                (merged, (length,), pb.Unmapped, "behind an open dimension"),
                (Function(lambda m, x: x.shape[1] * 2 + 0 * x.sum((1, 2))[:0].shape[0]), (length,),
                 pb.Unmapped, "length as an output|no tensor"),
                (nn.Linear(4, 2), ({1: Dim("length")},), pb.Unmapped, "needs a maximum"),
                (nn.Linear(4, 2), ({1: Dim.AUTO},), pb.Unmapped, "a name and a maximum"),
                (nn.Linear(4, 2), ({0: Dim("b", max=8)},), ValueError, "counts samples"),
                (nn.Linear(4, 2), ({5: Dim("b", max=8)},), ValueError, "no axis 5"),
                (nn.Linear(4, 2), {"y": {}}, ValueError, "the inputs are input"),
                (nn.Linear(4, 2), ({1: Dim("length", max=5)},), ValueError, "goes up to 5")):
            with self.subTest(text):
                self.assertRaisesRegex(error, text, pb.from_torch, module, (x,),
                                       dynamic_shapes=shapes)

    def test_trains(self):
        module = Function(lambda m, x: m.out(m.lstm(x)[0].mean(1)),
                          lstm=nn.LSTM(3, 5, batch_first=True), out=nn.Linear(5, 2))
        loss = nn.CrossEntropyLoss()
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        absorbed = pb.from_torch(module, (torch.randn(2, 4, 3),), dynamic_shapes=(
            {1: Dim("length", max=9)},), optimizer=optimizer, loss=loss)
        x, y = torch.randn(8, 5, 3), torch.randint(0, 2, (8,))
        trainer = absorbed.trainer(absorbed.rows(x.numpy()), y.numpy(), batch_size=8, steps=5,
                                   shuffle=False)
        got = [trainer.step().loss for _ in range(5)]
        module.train()
        for one in got:
            optimizer.zero_grad()
            now = loss(module(x), y)
            now.backward()
            optimizer.step()
            self.assertAlmostEqual(float(now), one, places=5)

    def test_sizes_of_two_times_a_length(self):
        module = nn.Conv1d(3, 4, 2, 2)
        absorbed = pb.from_torch(module, (torch.randn(2, 3, 6),), dynamic_shapes=(
            {2: 2 * Dim("length", max=8)},))
        self.agrees(module, absorbed, torch.randn(2, 3, 10).numpy())
        self.assertRaisesRegex(ValueError, "is 7, which no length from 1 to 8 makes",
                               absorbed.predict, np.zeros((2, 3, 7), np.float32))

    def test_known_numbers_of_the_length(self):
        cases = (lambda m, x: x.sum(1) / torch.ones_like(x).sum(1),
                 lambda m, x: x + m.table.weight[20 - x.shape[1]:],
                 lambda m, x: x[:, torch.arange(x.shape[1]) - 1],
                 lambda m, x: x[torch.arange(x.shape[0]), (x[:, 0, 0] * 0).long() - 1],
                 lambda m, x: torch.cat([x, m.table.weight[:2].expand(x.shape[0], 2, 4), x], 1),
                 lambda m, x: (x / x.norm(dim=-1, keepdim=True)).mean(1))
        for i, function in enumerate(cases):
            with self.subTest(i):
                module = Function(function, table=nn.Embedding(20, 4))
                absorbed = pb.from_torch(module, (torch.randn(2, 6, 4),), dynamic_shapes=(
                    {1: Dim("length", max=9)},))
                for n in (1, 5, 9):
                    self.agrees(module, absorbed, torch.randn(2, n, 4).numpy())


@unittest.skipUnless(torch is not None and hasattr(torch, "export"), "needs PyTorch 2.1 or later")
class ComputedIds(unittest.TestCase):
    def test_agree(self):
        edges = torch.tensor([-1.0, 0.0, 1.0])
        ids = torch.randint(0, 10, (40, 5))
        numbers = torch.randn(40, 5)
        for i, (function, x) in enumerate((
                (lambda m, x: m.e(x) + m.e(torch.arange(5) + 2), ids),
                (lambda m, x: m.e(x + 2), ids),
                (lambda m, x: m.e((x * 3).clamp(1, 9)), ids),
                (lambda m, x: m.e(x) + m.other(x), ids),
                (lambda m, x: m.e.weight[x - 3], ids),
                (lambda m, x: m.e(x.unsqueeze(-1).expand(-1, -1, 4).argmax(-1)), numbers),
                (lambda m, x: m.e(torch.bucketize(x, edges)), numbers),
                (lambda m, x: m.e(torch.bucketize(x.round(), edges, right=True)), numbers),
                (lambda m, x: m.e(torch.searchsorted(edges, x.round())), numbers),
                (lambda m, x: nn.functional.one_hot(x, 10).float() @ m.e.weight[:10], ids))):
            with self.subTest(i):
                torch.manual_seed(i)
                module = Function(function, e=nn.Embedding(12, 3), other=nn.Embedding(10, 3)).eval()
                got = pb.from_torch(module, (x[:2],)).predict(x.numpy())
                np.testing.assert_allclose(got, module(x).detach().numpy(), atol=1e-6)

    def test_learned_queries(self):
        module = Function(lambda m, x: m.attention(
            m.queries.weight[None].expand(x.shape[0], -1, -1), x, x, need_weights=False)[0],
            attention=nn.MultiheadAttention(8, 2, batch_first=True), queries=nn.Embedding(3, 8))
        module.eval()
        x = torch.randn(3, 5, 8)
        got = pb.from_torch(module, (x,)).predict(x.numpy())
        np.testing.assert_allclose(got, module(x).detach().numpy(), atol=1e-5)
