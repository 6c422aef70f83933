"""welvet.fit and welvet.evaluate: training from files, and measures of models."""
import gc
import pathlib
import pickle
import tempfile
import unittest

import numpy as np

from source import ROOT
import welvet
from welvet import Network, Transformer

DATA = ROOT / "tests/cases/data"
TINY = DATA / "tiny.entity"


class Fit(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.csv = pathlib.Path(self.folder.name) / "table.csv"
        rows = ["a,b,noise,class"]
        for i in range(120):
            a, b = i * 37 % 101 - 50, i * 53 % 97 - 48
            rows.append("%d,%d,%d,%s" % (a, b, i * 29 % 83, "up" if a + b > 0 else "down"))
        self.csv.write_text("\n".join(rows) + "\n")

    def tearDown(self):
        self.folder.cleanup()

    def test_learns_a_table(self):
        seen = []
        fitted = welvet.fit(self.csv, target="class", steps=60, threads=1, on_step=seen.append)
        self.assertIsInstance(fitted.network, Network)
        self.assertEqual(fitted.step, 60)
        self.assertGreater(fitted.figures["validation"]["accuracy"], 0.7)
        self.assertIn("kept: step", fitted.text)
        self.assertTrue(any("target: column 'class'" in note for note in fitted.notes))
        self.assertTrue(any("validation" in report for report in seen))
        self.assertEqual(fitted.network.info["output"]["width"], 2)

    def test_saves_stops_and_resumes_with_the_same_bits(self):
        out = pathlib.Path(self.folder.name) / "net.entity"
        whole = welvet.fit(self.csv, steps=40, threads=1)
        part = welvet.fit(self.csv, steps=40, threads=1, out=out,
                          on_step=lambda report: report["step"] < 20)
        self.assertLess(part.step, 40)
        self.assertTrue(out.exists())
        rest = welvet.fit(self.csv, threads=1, out=out, resume=True)
        self.assertEqual(rest.step, 40)
        self.assertEqual(rest.network.digest(), whole.network.digest())
        self.assertEqual(Network.load(out).digest(), whole.network.digest())

    def test_step_by_step_with_a_report(self):
        with welvet.Training(self.csv, steps=30, threads=1) as training:
            while not training.step(8)["ended"]:
                pass
            figures, text = training.judge()
            self.assertIn("accuracy", figures["validation"])
            self.assertIn("noise", training.report())
            self.assertTrue(training.report("svg").startswith("<svg"))
            training.cancel()
            with self.assertRaises(welvet.Cancelled):
                training.step()

    def test_refusals_name_the_option(self):
        for options, part in (({"task": "guess"}, "task"), ({"horizon": 3}, "horizon: "),
                              ({"out": str(self.csv)}, "out: "), ({"targets": "a"}, "targets"),
                              ({"resume": True}, "resume: ")):
            with self.assertRaises(welvet.InvalidArgument) as caught:
                welvet.fit(self.csv, **options)
            self.assertIn(part, str(caught.exception))
        with self.assertRaises(welvet.NotFound):
            welvet.fit("no such table.csv")

    def test_no_handles_are_lost(self):
        gc.collect()  # of other tests, whose objects may end at any time
        before = welvet.live_handles()
        fitted = welvet.fit(self.csv, steps=20, threads=1)
        fitted.network.close()
        self.assertEqual(welvet.live_handles(), before)


class Predict(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        rows = ["%s,%s,%s" % (size, city, "large" if size > 5 else "small")
                for size in (1.5, 9.5, 8.0, 2.0, 1.0, 9.0) for city in ("Oslo", "Rome")]
        (self.path / "rows.csv").write_text("size,city,kind\n" + "\n".join(rows) + "\n")
        (self.path / "x.csv").write_text("size,city\n1.5,Oslo\n9.5,Rome\n")

    def tearDown(self):
        self.folder.cleanup()

    def test_answers_rows_of_a_table(self):
        with welvet.Predictor(DATA / "table.entity", threads=1) as predictor:
            self.assertEqual(predictor.info()["labels"], ["large", "small"])
            answers = predictor.predict(self.path / "x.csv")
            self.assertEqual([a["class"] for a in answers], ["small", "large"])
            self.assertAlmostEqual(sum(answers[0]["probabilities"]), 1)
            with self.assertRaises(welvet.InvalidArgument):
                predictor.measure()  # no targets
            figures = predictor.measure(self.path / "rows.csv")
            self.assertEqual((figures["rows"], figures["accuracy"]), (12, 1))
            with self.assertRaises(welvet.NotFound):
                predictor.predict(self.path / "none.csv")
            with self.assertRaises(welvet.Unsupported):
                predictor.forecast()
            predictor.cancel()
            with self.assertRaises(welvet.Cancelled):
                predictor.measure()

    def test_plans_and_saves_other_formats(self):
        rows, out = self.path / "rows.csv", self.path / "small.entity"
        with welvet.Predictor(DATA / "table.entity", threads=1) as predictor:
            before = predictor.measure(rows)
            report = predictor.plan(bytes=12000, formats=["i8", "i4"])
            self.assertLessEqual(report["plan"]["bytes"], 12000)
            self.assertEqual({row["format"] for row in report["table"]}, {"f32", "i8", "i4"})
            predictor.save(out)
            with self.assertRaises(welvet.OutOfRange):
                predictor.plan(bytes=10, formats=["i8"])
            predictor.morph("f32")
            self.assertEqual(predictor.measure(), before)
        with welvet.Predictor(out) as small:
            self.assertLess(small.measure(rows)["bytes"], before["bytes"])

    def test_forecasts_a_series(self):
        with welvet.Predictor(DATA / "series.entity") as predictor:
            steps = predictor.forecast(3)
            self.assertEqual(len(steps), 3)
            for step in steps:
                self.assertTrue(step["low95"] <= step["low80"] <= step["forecast"]
                                <= step["high80"] <= step["high95"])


class Evaluate(unittest.TestCase):
    def test_loss_of_a_text(self):
        with Transformer.load_model(TINY) as model, Transformer.load_model(TINY, "i4") as coarse:
            ids = [3, 1, 4, 1, 5]
            alone = welvet.evaluate(model, ids, threads=1)
            self.assertEqual(alone["tokens"], 4)
            self.assertAlmostEqual(alone["perplexity"], float(np.exp(alone["loss"])), places=4)
            self.assertNotIn("kl", alone)
            both = welvet.evaluate(model, ids, coarse, threads=1, chunk=2)
            self.assertEqual(both["loss"], alone["loss"])
            self.assertGreater(both["kl"], 0)
            ids = model.tokenizer.encode("hello there")
            spoken = welvet.evaluate(model, "hello there", threads=1)
            self.assertEqual(spoken["tokens"], len(ids) - 1)
            with self.assertRaises(welvet.InvalidArgument):
                welvet.evaluate(model, [1])

    def test_activations_of_eight_bits_are_an_option(self):
        prompt = [3, 1, 4, 1, 5]
        fine = Transformer(TINY, "i4", threads=1, activations="q15").logits(prompt)
        with Transformer(TINY, "i4", threads=1, activations="i8") as model:
            coarse = model.logits(prompt)
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).logits(prompt), coarse)
            loss = welvet.evaluate(model, prompt)["loss"]
            self.assertEqual(loss, welvet.evaluate(model, prompt, activations="i8")["loss"])
            self.assertNotEqual(loss, welvet.evaluate(model, prompt, activations="q15")["loss"])
        np.testing.assert_array_equal(Transformer(TINY, "i4").logits(prompt), fine)
        self.assertLess(0, np.abs(coarse - fine).max())
        self.assertLess(np.abs(coarse - fine).max(), 0.1 * np.abs(fine).max())
        with self.assertRaisesRegex(welvet.InvalidArgument, "integer weights, and the network"):
            Transformer(TINY, "f32", activations="i8").logits(prompt)
        with self.assertRaisesRegex(welvet.InvalidArgument, "activations: expects q15, i8"):
            Transformer(TINY, activations="i4").logits(prompt)


class Convert(unittest.TestCase):
    def test_to_safetensors_with_a_report(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "tiny.safetensors"
            report = welvet.convert(TINY, out, dtype="bf16")
            self.assertTrue(out.exists())
            self.assertTrue(all(t["to"] == "bf16" for t in report["tensors"]))
            self.assertTrue(any("left out" in note for note in report["notes"]))
            with self.assertRaises(welvet.InvalidArgument):
                welvet.convert(TINY, pathlib.Path(folder) / "tiny.entity", dtype="none")

    def test_to_gguf_and_back(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "tiny.gguf"
            welvet.convert(TINY, out)
            text = []
            for path in (TINY, out):
                model = welvet.Transformer.load_model(path)
                text.append(model.generate("Once", max_tokens=12, temperature=0))
            self.assertEqual(text[0], text[1])
