"""Network.train(..., streams=): epochs, what is refused, resuming.
tests/parity/pytorch/torch_streams.py compares with PyTorch."""
import unittest

import numpy as np

import welvet
from welvet import layers as L


def network(seed=1):
    return welvet.Network(L.Sequential(L.Input(ids=8), L.Embedding(6), L.LSTM(12), L.Linear(8)),
                          seed=seed)


class Streams(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(1)
        self.text = np.cumsum(rng.integers(1, 3, 500)) % 8
        self.data = welvet.Data.tokens(self.text, length=10)

    def test_an_epoch_is_the_windows_of_a_lane(self):
        history = network().train(self.data, streams=4, epochs=3, lr=0.02)
        self.assertEqual(history["step"], [13, 26, 39])
        self.assertEqual(history["epoch"], [1, 2, 3])
        self.assertLess(history["loss"][2], history["loss"][0])
        spec = {"streams": 4, "epochs": 3, "loss": "cross_entropy"}
        with welvet.Trainer(network(), self.data, spec) as trainer:
            self.assertEqual(trainer.info["streams"],
                             {"rows": 124, "window": 10, "windows": 13, "left_out": 3})
            self.assertEqual(trainer.info["spec"]["batch"], 4)
            self.assertFalse(trainer.info["spec"]["shuffle"])

    def test_resumes_within_an_epoch(self):
        spec = {"streams": 4, "steps": 20, "loss": "cross_entropy"}
        trainers = [welvet.Trainer(network(), self.data, spec) for _ in range(3)]
        trainers[0].step(20)
        trainers[1].step(7)
        trainers[2].resume(trainers[1].to_bytes())
        trainers[2].step(13)
        self.assertEqual(trainers[2].digest(), trainers[0].digest())
        # Documents shorter than a window: their cut is the same, that of the windows is not.
        documents = [self.text[i:i + 7] for i in range(0, 490, 7)]
        first, second = (welvet.Trainer(network(), welvet.Data.tokens(documents, length=n), spec)
                         for n in (10, 20))
        with self.assertRaisesRegex(welvet.InvalidArgument, "other data"):
            second.resume(first.to_bytes())

    def test_refuses_by_name(self):
        def refused(pattern, kind=welvet.InvalidArgument, net=None, **settings):
            settings = {"streams": 4, "epochs": 1, **settings}
            with self.assertRaisesRegex(kind, pattern):
                (net or network()).train(self.data, **settings)

        refused('each of 4 "streams", "batch" says 3', batch_size=3)
        refused('"shuffle"', shuffle=True)
        refused("as many rows, the data has 499", streams=500)
        refused("nothing is held back", ValueError, validation=0.1)
        refused('did you mean "streams"', **{"streams": 0, "stream": 4})
        attention = welvet.Network(L.Sequential(L.Input(ids=8), L.Embedding(8), L.Attention(2),
                                                L.Linear(8)), seed=1)
        refused("attention at 0.0.0.1", net=attention)
        with self.assertRaisesRegex(ValueError, "'streams' is not for batches"):
            attention.train(iter([]), streams=4, steps=1)

    def test_sequences_in_rows_go_on_where_a_layer_carries(self):
        series = np.sin(np.arange(600) / 7).reshape(-1, 6, 1)

        def losses(carry, **settings):
            net = welvet.Network(L.Sequential(
                L.Input(6, 1), L.LSTM(12, output="last", stateful=carry), L.Linear(1)), seed=1)
            return net.train(series[:-1], series[1:, 0], epochs=2, **settings).losses

        self.assertEqual(len(losses(True, streams=4)), 2 * 24)
        self.assertNotEqual(losses(True, streams=4)[1],
                            losses(True, batch_size=4, shuffle=False)[1])
        with self.assertRaisesRegex(welvet.InvalidArgument, "nothing is carried"):
            losses(False, streams=4)
