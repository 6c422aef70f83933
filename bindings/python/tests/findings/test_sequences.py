"""Ids with two dimensions are several sequences, not one long one (finding B9)."""

import unittest

import numpy as np

from source import ROOT
from welvet import Data, Network, Session, Trainer, Transformer, layers

TINY = ROOT / "tests/cases/data/tiny.entity"
IDS = np.array([[1, 2, 3, 4], [5, 6, 7, 0], [2, 4, 6, 1]])


class Foreign:
    """Speaks DLPack, and nothing else."""

    def __init__(self, a):
        self.a = a

    def __dlpack__(self, **options):
        return self.a.__dlpack__()

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


class Sequences(unittest.TestCase):
    def setUp(self):
        self.network = Network(
            layers.Sequential(
                layers.Input(ids=8), layers.Embedding(4), layers.Attention(2), layers.Linear(8)
            ),
            seed=1,
        )
        self.model = Transformer(TINY, threads=1)

    def test_B9_a_row_of_tokens_is_a_document(self):
        documents = Data.tokens([row.tolist() for row in IDS], length=8)
        stream = Data.tokens(IDS.reshape(-1), length=8)
        self.assertNotEqual(documents.info["sha256"], stream.info["sha256"])
        for ids in (
            IDS,
            IDS.astype(np.int32),
            IDS.tolist(),
            list(IDS),
            tuple(map(tuple, IDS)),
            np.asfortranarray(IDS),
            Foreign(IDS),
        ):
            with self.subTest(type(ids).__name__):
                data = Data.tokens(ids, length=8)
                self.assertEqual(data.info["sha256"], documents.info["sha256"])
                self.assertEqual(data.info["samples"], 3)
        self.assertEqual(Data.tokens(IDS[:1], length=8).info["samples"], 1)
        # The same by what it learns: a stream has targets from one row to the next.
        digests = []
        for data in (Data.tokens(IDS, length=8), documents, stream):
            network = self.network.copy()
            trainer = Trainer(
                network, data, {"steps": 3, "batch": 1, "loss": "cross_entropy"}, threads=1
            )
            trainer.run()
            digests.append(network.digest())
        self.assertEqual(digests[0], digests[1])
        self.assertNotEqual(digests[0], digests[2])

    def test_B9_more_dimensions_are_refused(self):
        for ids in (IDS.reshape(3, 2, 2), IDS.reshape(3, 2, 2).tolist()):
            with self.assertRaisesRegex(ValueError, r"^ids: expects \(n,\)"):
                Data.tokens(ids)

    def test_B9_several_sequences_are_not_run_as_one(self):
        said = (
            r"^ids: expects one sequence, \(n,\), got the shape \(3, 4\): give one row at a time, "
            r".*Session\(network, sequences=3\)"
        )
        for ids in (IDS, IDS.tolist(), IDS.astype(np.float32)):
            for name, call in (
                ("generate", lambda v: self.model.generate(v, max_tokens=1)),
                ("stream", lambda v: list(self.model.generate_stream(v, max_tokens=1))),
                ("logits", self.model.logits),
                ("forward_tokens", self.network.forward_tokens),
                ("forward", self.network),
            ):
                with self.subTest(name, of=type(ids).__name__):
                    with self.assertRaisesRegex(TypeError, said):
                        call(ids)

    def test_B9_the_session_of_the_message_runs_them(self):
        session = Session(self.network, sequences=3, max_rows=12, max_head_rows=12, max_positions=4)
        y = session.run_tokens(
            IDS.reshape(-1), np.tile(np.arange(4), 3), np.repeat(np.arange(3), 4), np.arange(12)
        ).reshape(3, 4, 8)
        for row, out in zip(IDS, y):
            np.testing.assert_array_equal(self.network.forward_tokens(row), out)

    def test_A9_single_ids_are_not_learned_from_arrays(self):


        with self.assertRaisesRegex(TypeError, "one id per row.*Data.tokens"):
            self.network.train(IDS, np.array([0, 1, 0]), epochs=1, progress=False)
        with self.assertRaisesRegex(TypeError, "one id per row"):
            self.network.trainer(IDS, np.array([0, 1, 0]))

    def test_B3_a_class_for_every_step_and_one_for_the_row(self):


        tagger = Network(
            layers.Sequential(
                layers.Input(4, ids=8), layers.Embedding(4), layers.GRU(6), layers.Linear(8)
            ),
            seed=1,
        )
        self.assertEqual(tagger(IDS).shape, (3, 4, 8))
        history = tagger.train(IDS, IDS, epochs=30, lr=0.05, progress=False)
        self.assertLess(history["loss"][-1], 0.5 * history["loss"][0])
        with self.assertRaisesRegex(ValueError, r"classes of the shape \(samples, 4\)"):
            tagger.train(IDS, np.array([0, 1, 0]), epochs=1, progress=False)
        with self.assertRaisesRegex(ValueError, r"x: expects \(..., 4\), got the shape \(3, 3\)"):
            tagger(IDS[:, :3])
