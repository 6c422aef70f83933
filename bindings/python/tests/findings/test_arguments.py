"""Arguments as users of llama-cpp-python and pandas give them (findings E)."""

import inspect
import os
import pathlib
import tempfile
import unittest

import numpy as np

from source import ROOT
from welvet import Data, InvalidArgument, LoomError, Network, Transformer, layers

TINY = ROOT / "tests/cases/data/tiny.entity"
MESSAGES = [{"role": "user", "content": "a"}]


class Writing(unittest.TestCase):
    def setUp(self):
        self.model = Transformer(TINY, threads=1)

    def test_E_none_is_the_default_of_stop_and_seed(self):
        want = self.model.generate("Once", max_tokens=6, seed=0, stop=(), temperature=1.0)
        for settings in (
            {"seed": None},
            {"stop": None},
            {"seed": None, "stop": None},
            {"stop": []},
            {},
        ):
            with self.subTest(settings):
                got = self.model.generate("Once", max_tokens=6, temperature=1.0, **settings)
                self.assertEqual((got, got.fingerprint), (want, want.fingerprint))
                self.assertEqual(
                    "".join(
                        self.model.generate_stream(
                            "Once", max_tokens=6, temperature=1.0, **settings
                        )
                    ),
                    want,
                )
        self.assertNotEqual(
            self.model.generate("Once", max_tokens=6, seed=1, temperature=1.0).fingerprint,
            want.fingerprint,
        )
        # A text that does end it: up to where it stands.
        first = next(
            piece
            for piece in self.model.generate_stream("Once", max_tokens=6, temperature=1.0)
            if piece
        )
        stopped = self.model.generate("Once", max_tokens=6, temperature=1.0, stop=str(first))
        self.assertEqual((stopped, stopped.finish), ("", "stop"))
        for name in ("generate", "generate_stream", "chat", "chat_stream"):
            parameters = inspect.signature(getattr(Transformer, name)).parameters
            self.assertEqual(
                (parameters["stop"].default, parameters["seed"].default), (None, None), name
            )

    def test_E_a_list_of_ids_is_a_prompt(self):
        want = self.model.generate(np.array([1, 2, 3], np.int32), max_tokens=4, temperature=0)
        self.assertGreater(len(want.tokens), 0)
        for prompt in ([1, 2, 3], (1, 2, 3), range(1, 4), np.array([1, 2, 3]), [np.int64(1), 2, 3]):
            with self.subTest(repr(prompt)):
                got = self.model.generate(prompt, max_tokens=4, temperature=0)
                self.assertEqual((got.tokens, got.fingerprint), (want.tokens, want.fingerprint))
        ids = self.model.tokenizer.encode("Once upon")
        self.assertEqual(
            self.model.generate(ids, max_tokens=4, temperature=0).tokens,
            self.model.generate("Once upon", max_tokens=4, temperature=0).tokens,
        )
        with self.assertRaisesRegex(TypeError, "^ids: expects whole numbers"):
            self.model.generate(["Once", "upon"])


class Tables(unittest.TestCase):
    TEXT = "a,b,c\n1,2,3\n4,5,7\n2,9,1\n"

    def test_E_a_path_is_read(self):
        want = Data.table(self.TEXT, targets=["c"]).info
        self.assertEqual((want["samples"], want["width"]), (3, 2))
        with tempfile.TemporaryDirectory() as folder:
            for name in ("t.csv", "table", "T.CSV", "a,b"):
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8", newline="") as file:
                    file.write(self.TEXT)
                for given in (path, pathlib.Path(path)):
                    with self.subTest(name, given=type(given).__name__):
                        self.assertEqual(Data.table(given, targets=["c"]).info, want)
            with self.assertRaisesRegex(
                ValueError,
                r"^csv: there is no file '.*none\.csv': give the path of one that exists, or",
            ):
                Data.table(os.path.join(folder, "none.csv"), targets=["c"])
            with self.assertRaises(FileNotFoundError):
                Data.table(pathlib.Path(folder) / "none.csv", targets=["c"])
            # A text is a text, whatever files there are.
            here = os.getcwd()
            os.chdir(folder)
            try:
                with open("a,b\n1,2\n", "w", encoding="utf-8") as file:
                    file.write(self.TEXT)
                self.assertEqual(Data.table("a,b\n1,2\n", targets=["b"]).info["width"], 1)
            finally:
                os.chdir(here)
        self.assertEqual(Data.table(self.TEXT.encode(), targets=["c"]).info, want)

    def test_E_every_encoding_is_the_same_table(self):
        text = "a,gr\u00f6\u00dfe\n1,2\n4,5\n"
        want = Data.table(text, targets=["gr\u00f6\u00dfe"]).info
        for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
            with self.subTest(encoding):
                given = text.encode(encoding)
                self.assertEqual(Data.table(given, targets=["gr\u00f6\u00dfe"]).info, want)
        mixed = text.encode() + "5,\u00e4\n".encode("cp1252")
        with self.assertRaisesRegex(Exception, "line 4: is no UTF-8, while line 1 is"):
            Data.table(mixed, targets=["gr\u00f6\u00dfe"])
        with self.assertRaisesRegex(ValueError, "a header and no rows"):
            Data.table("a,b,c", targets=["c"])
        with self.assertRaises(LoomError):  # a text, as no name has a NUL
            Data.table("a\0b", targets=["c"])


class Sparse:  # what SciPy's matrices are known by
    nnz = 6

    def toarray(self):
        return np.ones((3, 2))


class Numbers(unittest.TestCase):
    """What NumPy turns into float32 without a word, though it is no real number."""

    def setUp(self):
        self.network = Network(layers.Sequential(layers.Input(2), layers.Linear(2)), seed=1)

    def test_texts_dates_and_complex_numbers_are_refused(self):
        for x, wanted in (
            (np.ones((3, 2)) + 1j, "x: expects numbers, got an array of complex128: give x.real"),
            (np.zeros((3, 2), "M8[D]"), "x: expects numbers, got an array of datetime64[D]"),
            (np.zeros((3, 2), "m8[s]"), "x: expects numbers, got an array of timedelta64[s]"),
            ([["1", "2"]], "x: expects numbers, got an array of <U1"),
            (Sparse(), "got a sparse matrix: x.toarray()"),
            (None, "x: expects numbers, got None"),
            ([[1.0, None]], "x: expects numbers, got None"),
        ):
            with self.subTest(wanted), self.assertRaises(TypeError) as caught:
                self.network(x)
            self.assertIn(wanted, str(caught.exception))
        with self.assertRaises(TypeError) as caught:
            self.network.train(np.ones((3, 2)), ["a", "b", "a"], epochs=1)
        self.assertIn("expects whole numbers", str(caught.exception))

    def test_a_seed_is_64_bits_and_nothing_is_cut_off(self):
        spec = layers.Sequential(layers.Input(2), layers.Linear(2))
        for seed in (2**64, -(2**63) - 1, 1.5, "1", None):
            with self.subTest(seed), self.assertRaises((ValueError, TypeError)):
                self.network.initialize(seed)
        self.assertEqual(Network(spec, seed=-1).digest(), Network(spec, seed=2**64 - 1).digest())
        with self.assertRaises(ValueError):
            self.network.train(np.ones((3, 2)), [0, 1, 0], epochs=1, seed=1.5)

    def test_a_setting_that_is_not_finite_is_named(self):
        for name, settings in (("rate", {"rate": float("nan")}),
                               ("delta", {"delta": float("inf")})):
            with self.subTest(name), self.assertRaises(ValueError) as caught:
                self.network.train(np.ones((3, 2)), [0, 1, 0], epochs=1, **settings)
            self.assertIn(name + ": expects finite numbers", str(caught.exception))

    def test_what_cannot_be_validation_is_refused_by_name(self):
        with self.assertRaises(TypeError) as caught:
            self.network.train(np.ones((3, 2)), [0, 1, 0], epochs=1, validation={"share": 0.5})
        self.assertIn("validation: expects a share", str(caught.exception))
        self.network.train(np.ones((3, 2)), [0, 1, 0], epochs=1, callbacks=None)

    def test_what_is_no_layer_is_refused_by_its_place(self):
        for wrong, text in ((None, "NoneType"), (3, "int"),
                            (layers.Linear, "Linear, which makes one: call it")):
            with self.subTest(text), self.assertRaises(TypeError) as caught:
                layers.Sequential(layers.Input(2), wrong)
            self.assertIn("Sequential: layer 1: expects a layer, got " + text,
                          str(caught.exception))
        with self.assertRaises(TypeError) as caught:
            layers.LSTM(3, layers=2)
        self.assertIn(
            "known are hidden_size, num_layers, bias, batch_first, dropout, bidirectional",
            str(caught.exception))
        listed = layers.Sequential([layers.Input(2), layers.Linear(2)])  # as in Keras
        self.assertEqual(Network(listed, seed=1).digest(), self.network.digest())
        with self.assertRaises(TypeError):  # two inputs, not an input and where the answer goes
            self.network(np.ones((3, 2)), np.ones((3, 2), np.float32))

    def test_ids_below_0_have_no_text(self):
        model = Transformer(TINY, threads=1)
        with self.assertRaises(LoomError):
            model.detokenize([3, -1])
        with self.assertRaises(LoomError):
            model.tokenizer.decoder().push(-1)
        with self.assertRaises(TypeError) as caught:
            model.generate(None, max_tokens=1)
        self.assertIn("prompt: expects a text", str(caught.exception))


class Silence(unittest.TestCase):
    """Variations of lines A8, C5 and E: what was taken without a word."""

    def network(self):
        return Network(layers.Sequential(layers.Input(3),
                                                       layers.Linear(1)), seed=0)

    def test_A8_what_numpy_makes_numbers_by_leaving_something_out_is_refused(self):
        rows, y = np.ones((4, 3)), np.zeros((4, 1))
        for x in (rows + 1j, rows.astype("U3"), rows.astype("S3"), rows.astype("M8[s]")):
            for call in (lambda: self.network().train(x, y, steps=1),
                         lambda: self.network()(x), lambda: Data.values(rows, x)):
                with self.assertRaisesRegex(TypeError, "expects numbers, got an array of"):
                    call()
        with self.assertRaisesRegex(ValueError, "x: has integers as large as 4611686018427387951"):
            self.network().train((2**62 + np.arange(48)).reshape(16, 3), np.zeros(16))
        self.network().train(rows > 0, y, steps=1)
        self.network().train(rows.astype(np.longdouble), y, steps=1)

    def test_C5_settings_of_another_kind_are_refused(self):
        x, y = np.ones((4, 3)), np.zeros((4, 1))
        with self.assertRaisesRegex(ValueError, "batch_size: expects a whole number"):
            self.network().train(x, y, batch_size=True)
        with self.assertRaises(ValueError):
            self.network().initialize(1.5)
        with self.assertRaisesRegex(InvalidArgument, "got 0 rows: give at least one sample"):
            self.network().train(x[:0], y[:0], steps=1)

    def test_C5_a_text_is_no_number(self):
        """A number became as many zero bytes."""
        network = self.network()
        for call in (lambda: network.morph(3), lambda: network.get(5), lambda: network.set(5, [1]),
                     lambda: network.blueprint(3), lambda: network.morph(None)):
            with self.assertRaisesRegex(TypeError, "expects a text.*, got (int|NoneType)"):
                call()

    def test_E_a_separator_is_one_character_and_a_table_has_one_kind_of_target(self):
        for options, said in (({"targets": ["b"], "separator": ",,"}, "one character"),
                              ({"targets": ["b"], "separator": ""}, "one character"),
                              ({"targets": ["b"], "class": "a"}, "either"), ({}, "either")):
            with self.assertRaisesRegex(InvalidArgument, said):
                Data.table("a,b\n1,2\n", **options)
