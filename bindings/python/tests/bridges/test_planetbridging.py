"""planetbridging's bedrocks, streams and earlier surface. What needs a framework is skipped, by
name, where it is not installed; tests/parity/bridges/bedrocks.py has the whole table."""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np

import planetbridging as pb
import welvet
from planetbridging import absorb, engines
from planetbridging._binary import find_loom_stream, repo_root, run_loom_stream
from planetbridging._fixtures import load_fixture_arrays, make_fixture
from planetbridging.bedrocks import (ALL_BEDROCK_IDS, MODELS, STREAM_LAYER_COUNTS,
                                     model_of)
from planetbridging.layers.dense import LayerSpec, layers_from_specs
from planetbridging.stream import stream_dense


def needs(planet):
    return unittest.skipUnless(planet in engines.installed_planets(), planet + " is not installed")


FIXTURES = tempfile.TemporaryDirectory()  # made once for all tests


def tearDownModule():
    FIXTURES.cleanup()


class InFolder(unittest.TestCase):
    """Every test has a data folder of its own, but for the fixtures."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        patch = mock.patch.dict(os.environ, {"PLANETBRIDGING_ROOT": folder.name,
                                             "PLANETBRIDGING_FIXTURES_CACHE": FIXTURES.name})
        patch.start()
        self.addCleanup(patch.stop)
        os.environ.pop("PLANETBRIDGING_LOOM_STREAM", None)


def dense_payload(**more):
    layer = {"kind": "dense", "index": 0, "input_dim": 2, "output_dim": 2, "activation": "linear",
             "weights": [1, 2, 3, 4], "bias": [0.5, 0.25]}
    layer.update(more)
    return {"planet": "x", "model_id": "m", "input_dim": 2, "layers": [layer]}


class Requests(InFolder):
    """loom-stream: JSON on stdin, JSON on stdout."""

    def ask(self, payload, bedrock="dense", **more):
        return pb.loom_stream({"bedrock": bedrock, "root": str(self.folder), "payload": payload,
                               **more})

    def test_answers_as_the_program_of_planetbridging_did(self):
        path = self.folder / "o.entity"
        reply = self.ask(dense_payload(), inputs=[[1, 2], [3, 4]], output_path=str(path))
        self.assertEqual(reply, {
            "status": "ok", "entity_path": str(path), "layer_count": 1, "weight_bytes": 24,
            "output_dim": 2, "sample_count": 2, "outputs": [[5.5, 11.25], [11.5, 25.25]]})
        self.assertEqual(welvet.Network.load(path)([[1.0, 2.0]]).tolist(), [[5.5, 11.25]])

    def test_writes_under_the_root_where_no_path_is_given(self):
        reply = self.ask(dense_payload(), skip_infer=True)
        self.assertEqual(reply["entity_path"],
                         str(self.folder / "python/dense/models/x/m/m.stream.entity"))
        self.assertNotIn("outputs", reply)

    def test_compares_with_native_outputs(self):
        reply = self.ask(dense_payload(), inputs=[[1, 2]], native_outputs=[[5.5, 11.5]])
        self.assertEqual((reply["max_abs_diff"], reply["mean_abs_diff"], reply["exact_match"]),
                         (0.25, 0.125, False))

    def test_refuses_by_layer_and_key(self):
        inputs = [[1, 2]]
        for payload, text in (
                (dense_payload(weights=[1, 2, 3]), "layer 0 (dense): weights has 3 numbers, "
                                                   "expects 4"),
                (dense_payload(weights=[1, 2, 3, float("nan")]), "not finite"),
                (dense_payload(weights=[1, 2, 3, 1e300]), "not finite in f32"),
                (dense_payload(weights=["a"]), "no list of numbers"),
                (dense_payload(weights=None), "weights is missing"),
                (dense_payload(activation="bogus"), "activation is 'bogus'"),
                (dense_payload(output_dim=0), "output_dim is 0"),
                (dense_payload(output_dim=True), "output_dim is True"),
                (dense_payload(index=1), "indices count from 0"),
                (dense_payload(kind="dance"), "unknown kind 'dance'"),
                (dense_payload(wieghts=[1]), "unknown keys wieghts"),
                (dict(dense_payload(), layers=[]), "layers required"),
                (dict(dense_payload(), input_dim=3), "the payload's input_dim is 3"),
                (dict(dense_payload(), output_dim=9), "output_dim is 9"),
                (dict(dense_payload(), colour=1), "unknown keys of a payload: colour"),
                (dict(dense_payload(), planet="../x"), "no name of a folder")):
            reply = self.ask(payload, inputs=inputs)
            self.assertEqual(reply["status"], "error", payload)
            self.assertIn(text, reply["message"])
        self.assertFalse((self.folder / "python").exists())  # what is refused leaves no file

    def test_refuses_requests(self):
        for request, text in (
                ([], "a request is an object"), ({}, "payload required"),
                ({"bedrock": "nope", "payload": {}}, 'unknown bedrock "nope"'),
                ({"bedrock": "dense", "payload": dense_payload(), "inputs": [[1]]}, "inputs"),
                ({"bedrock": "dense", "payload": dense_payload(), "inputs": [[1], [1, 2]]},
                 "inputs"),
                ({"bedrock": "dense", "payload": dense_payload(), "inputs": []}, "inputs"),
                ({"bedrock": "dense", "payload": dense_payload()}, "fixture or inputs required"),
                ({"bedrock": "dense", "payload": dense_payload(), "fixture_version": "other"},
                 "other.npz"),
                ({"bedrock": "dense", "payload": dense_payload(), "colour": 1}, "colour")):
            reply = pb.loom_stream(request)
            self.assertEqual(reply["status"], "error")
            self.assertIn(text, reply["message"])

    def test_ids_are_whole_numbers_of_the_table(self):
        layer = {"kind": "embedding", "index": 0, "vocab_size": 3, "embedding_dim": 1,
                 "weights": [5, 6, 7]}
        payload = {"planet": "x", "model_id": "m", "seq_len": 2, "layers": [layer]}
        self.assertEqual(self.ask(payload, "embedding", inputs=[[2, 0]])["outputs"], [[7.0, 5.0]])
        for ids in ([3, 0], [-1, 0], [0.5, 0]):
            self.assertIn("no id below 3", self.ask(payload, "embedding", inputs=[ids])["message"])

    def test_earlier_attention_is_causal_with_rotary_positions(self):
        rng = np.random.default_rng(3)
        layer = {"kind": "mha", "index": 0, "d_model": 4, "num_heads": 2, "num_kv_heads": 1,
                 "head_dim": 2, "seq_len": 3}
        for role, n in (("q", 16), ("k", 8), ("v", 8), ("o", 16)):
            layer[role + "_weights"] = rng.standard_normal(n).astype(np.float32).tolist()
        payload = {"planet": "x", "model_id": "m", "d_model": 4, "seq_len": 3, "layers": [layer]}
        x = rng.standard_normal((1, 12))
        y = np.array(self.ask(payload, "mha", inputs=x.tolist())["outputs"])[0].reshape(3, 4)
        changed = x.copy()
        changed[0, 8:] += 1  # the last step
        again = np.array(self.ask(payload, "mha", inputs=changed.tolist())["outputs"])[0]
        np.testing.assert_array_equal(again.reshape(3, 4)[:2], y[:2])
        layer.update(causal=False, rope=False)
        apart = np.array(self.ask(payload, "mha", inputs=x.tolist())["outputs"])[0]
        self.assertGreater(np.abs(apart.reshape(3, 4)[:2] - y[:2]).max(), 1e-3)

    def test_the_program(self):
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
        for stdin, code in ((json.dumps({"bedrock": "dense", "payload": dense_payload(),
                                         "inputs": [[1, 2]]}), 0), ("{", 1), ("[]", 1)):
            done = subprocess.run([sys.executable, "-m", "planetbridging.protocol"], input=stdin,
                                  capture_output=True, text=True, env=env)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(json.loads(done.stdout)["status"], "error" if code else "ok")


class Program(InFolder):
    def test_environment_names_another_program(self):
        path = self.folder / "other"
        path.write_text("#!%s\nimport json, sys\nr = json.load(sys.stdin)\nprint(json.dumps({"
                        "'status': 'ok', 'outputs': [[9.0]], 'entity_path': '', 'layer_count': 7, "
                        "'weight_bytes': len(r['payload']['layers'])}))\n" % sys.executable)
        path.chmod(0o755)
        with mock.patch.dict(os.environ, {"PLANETBRIDGING_LOOM_STREAM": str(path)}):
            self.assertEqual(find_loom_stream(), path.resolve())
            made = pb.stream_bedrock("dense", dense_payload(), inputs=[[1, 2]])
        self.assertEqual((made.layer_count, made.weight_bytes, made.outputs.tolist()),
                         (7, 1, [[9.0]]))

    def test_missing_programs_and_roots_are_refused(self):
        with mock.patch.dict(os.environ, {"PLANETBRIDGING_LOOM_STREAM": "/nowhere/loom-stream"}):
            self.assertRaisesRegex(FileNotFoundError, "PLANETBRIDGING_LOOM_STREAM",
                                   find_loom_stream)
        self.assertRaises(FileNotFoundError, find_loom_stream, "/nowhere/loom-stream")
        with mock.patch.dict(os.environ, {"PLANETBRIDGING_ROOT": "/nowhere/root"}):
            self.assertRaisesRegex(FileNotFoundError, "PLANETBRIDGING_ROOT", repo_root)

    def test_failures_say_what_the_program_said(self):
        with self.assertRaisesRegex(RuntimeError, "weights has 1 numbers"):
            run_loom_stream(binary=None, envelope={"bedrock": "dense", "inputs": [[1, 2]]},
                            payload=dense_payload(weights=[1]))
        self.assertRaisesRegex(ValueError, "layers required", pb.stream_bedrock, "dense", {})
        self.assertRaisesRegex(ValueError, "layers required", stream_dense, planet="x",
                               model_id="m", layers=[], input_dim=2)


class Tables(InFolder):
    def test_names_stay(self):
        for name in pb.__all__:
            if not name.startswith("from_"):
                self.assertTrue(hasattr(pb, name), name)
        self.assertEqual(len(pb.BEDROCK_IDS), 13)
        self.assertEqual(pb.BEDROCKS["mixer"].layer_count, 16)
        self.assertEqual(pb.BEDROCKS["dense"].smoke_model_id, pb.STREAM_MODEL_IDS["dense"])
        self.assertEqual(pb.BEDROCKS["dense"].fixture_version, "dense_bedrock_v2")
        self.assertEqual(pb.BEDROCK_PLANETS["dense"], ("pytorch", "tensorflow", "jax", "sklearn"))
        self.assertEqual(pb.WELVET_RELOAD_BEDROCKS, frozenset(pb.BEDROCK_IDS))
        self.assertEqual(pb.WELVET_RELOAD_SKIP, frozenset())
        self.assertIs(pb.import_welvet(), welvet.Network)
        self.assertRaises(AttributeError, getattr, pb, "from_nothing")

    def test_models(self):
        self.assertEqual(len(MODELS["dense"]), 12)
        for bedrock in ALL_BEDROCK_IDS:
            scored = [m for m in MODELS[bedrock] if m.scored]
            self.assertEqual(len(scored), {"dense": 12, "mixer": 2}.get(bedrock, 4))
            self.assertEqual(pb.BEDROCKS[bedrock].layer_count, len(model_of(bedrock).layers))
        self.assertEqual([layer["kind"] for layer in model_of("mixer", "mixer_all_v1").layers],
                         ["cnn3", "dense", "cnn2", "dense", "cnn1", "dense", "mha", "rnn", "lstm",
                          "dense"])
        self.assertRaisesRegex(ValueError, "unknown model", model_of, "dense", "nothing")
        self.assertRaisesRegex(ValueError, "unknown bedrock", model_of, "nothing")

    def test_fixtures_are_those_of_seed_42(self):
        data = make_fixture("dense")
        drawn = np.random.default_rng(42).standard_normal((5100, 128))
        np.testing.assert_array_equal(data["x_train"], drawn[:5000])
        np.testing.assert_array_equal(data["x_test"], drawn[5000:])
        np.testing.assert_array_equal(
            data["y_test"][:, 0], np.sin(drawn[5000:, 0]) + 0.25 * np.cos(drawn[5000:, 1]))
        for bedrock in ("mha", "embedding", "residual", "mixer", "softmax", "convt2"):
            data = load_fixture_arrays(bedrock, self.folder)
            self.assertTrue({"x_train", "y_train", "x_test", "y_test"} <= set(data), bedrock)
            self.assertEqual((data["x_test"].shape[0], data["x_test"].dtype), (100, np.float64))
        self.assertRaises(FileNotFoundError, load_fixture_arrays, "mha", self.folder, "other_v9")


class Reference(InFolder):
    """Without any framework: NumPy, stream, file read again."""

    def test_smokes(self):
        made = pb.run_all_bedrock_smokes(out_dir=self.folder / "smoke")
        self.assertEqual([r.bedrock for r in made], list(pb.BEDROCK_IDS))
        for r in made:
            self.assertEqual(r.compare_label, "EXACT" if r.bedrock == "embedding" else "PASS",
                             r.entity_path)
            self.assertEqual(r.layer_count, STREAM_LAYER_COUNTS[r.bedrock])

    def test_ladders(self):
        for r in pb.run_all_bedrock_ladders():
            self.assertIn(r.native_vs_loom, ("PASS", "EXACT"), r.entity_path)
            self.assertIn(r.native_vs_welvet, ("PASS", "EXACT"))
            self.assertEqual((r.loom_vs_welvet, len(r.native)), ("EXACT", 5))

    def test_every_model(self):
        for bedrock in ALL_BEDROCK_IDS:
            if bedrock in ("cnn2", "cnn3"):
                continue  # their fixtures take seconds; the smokes have them
            for model in MODELS[bedrock]:
                r = engines.ladder(bedrock, model_id=model.id, max_samples=3)
                self.assertIn(r.native_vs_loom, ("PASS", "EXACT"), model.id)
                self.assertEqual(r.loom_vs_welvet, "EXACT", model.id)

    def test_a_ladder_that_fails_is_a_result(self):
        made = pb.run_all_bedrock_ladders(model_id="nothing")
        self.assertEqual({r.native_vs_loom for r in made}, {"ERROR"})
        self.assertEqual({r.compare_label for r in pb.run_all_bedrock_smokes(model_id="nothing")},
                         {"ERROR"})
        self.assertEqual(pb.run_bedrock_ladder("rnn", try_welvet=False).welvet_note,
                         "welvet not requested")

    def test_files_run_again(self):
        made = pb.run_bedrock_ladder("mixer", model_id="mixer_all_v1")
        volumes = load_fixture_arrays("mixer", self.folder)["x_test"][:5]
        again = pb.infer_mixer_v1_entity(made.entity_path, volumes)
        np.testing.assert_array_equal(again, made.loom_stream)
        np.testing.assert_array_equal(pb.infer_mixer_v1_entity(made.entity_path, volumes[0]),
                                      made.loom_stream[:1])
        self.assertIsNone(pb.try_infer_bedrock_entity("mixer", "/nowhere", volumes, output_dim=8))
        self.assertRaises(ValueError, pb.infer_bedrock_entity, "mixer", made.entity_path,
                          volumes[:, :, :1], output_dim=8)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            pb.print_compare_ladder(title="mixer", native=made.native,
                                    loom_stream=made.loom_stream, welvet_out=made.welvet)
        self.assertEqual(out.getvalue().count("max="), 3)
        self.assertIn("loom-stream → welvet:  EXACT", out.getvalue())


class Compare(unittest.TestCase):
    def test_outputs_and_labels(self):
        largest, mean, exact = pb.compare_outputs([1.0, 2.0, 3.0], [1.0, 2.0, 3.3])
        self.assertAlmostEqual(largest, 0.3)
        self.assertAlmostEqual(mean, 0.1)
        self.assertFalse(exact)
        self.assertEqual([pb.diff_label(0.0), pb.diff_label(9e-6), pb.diff_label(1e-5),
                          pb.diff_label(1.0, exact=True), pb.diff_label(float("inf"))],
                         ["EXACT", "PASS", "DIFF", "EXACT", "DIFF"])
        nan = float("nan")
        self.assertEqual(pb.compare_outputs([nan, np.inf], [nan, np.inf]), (0.0, 0.0, True))
        self.assertEqual(pb.compare_outputs([nan, 1.0], [0.0, 1.0])[0], np.inf)
        self.assertRaisesRegex(ValueError, "shape mismatch", pb.compare_outputs, [1.0], [1.0, 2.0])
        self.assertRaisesRegex(ValueError, "nothing to compare", pb.compare_outputs, [], [])


def stack(widths, seed=1, width=4):
    from welvet import layers as L
    parts = [L.Input(width)]
    for i, out in enumerate(widths):
        parts.append(L.Linear(out, name="layer%d" % i))
    return welvet.Network(L.Sequential(*parts), seed=seed)


class Merging(unittest.TestCase):
    def setUp(self):
        self.x = np.random.default_rng(1).standard_normal((6, 4)).astype(np.float32)
        self.a, self.b = stack((5, 3), 1), stack((7, 3), 2)

    def test_branches(self):
        both = pb.merge([self.a, self.b])
        np.testing.assert_array_equal(both(self.x), np.concatenate(
            [self.a(self.x), self.b(self.x)], 1))
        added = pb.merge([self.a, self.b], combine="add")
        np.testing.assert_array_equal(added(self.x), self.a(self.x) + self.b(self.x))

    def test_sequence(self):
        c = stack((6, 2), 3, width=3)
        chain = pb.merge([self.a, c, stack((5,), 4, width=2)], how="sequence")
        np.testing.assert_array_equal(chain(self.x), stack((5,), 4, width=2)(c(self.a(self.x))))
        with self.assertRaisesRegex(ValueError, "network 1 takes 4 numbers, network 0 makes 3"):
            pb.merge([self.a, self.b], how="sequence")

    def test_experts_begin_with_equal_shares_and_learn(self):
        experts = pb.merge([self.a, self.b], how="experts")
        np.testing.assert_allclose(experts(self.x), (self.a(self.x) + self.b(self.x)) / 2,
                                   atol=1e-6)
        for merged in (experts, pb.merge([self.a, self.b]),
                       pb.merge([self.a, stack((6, 3), 3, width=3)], how="sequence")):
            y = np.tile(np.sin(self.x[:, :1]), (1, merged.info["output"]["width"]))
            report = merged.train(self.x, y, epochs=30, batch_size=6, lr=0.05)
            self.assertLess(report.losses[-1], report.losses[0])

    def test_a_sequence_learns_by_targets_and_branches_refuse(self):
        y = np.tile(np.sin(self.x[:, :1]), (1, 3))
        for method in ("target_propagation", {"type": "target_propagation", "mode": "layer_wise"},
                       "difference_target_propagation"):
            merged = pb.merge([self.a, stack((6, 3), 3, width=3)], how="sequence")
            again = merged.copy()
            settings = dict(method=method, epochs=60, batch_size=6, lr=0.02, seed=1)
            losses = merged.train(self.x, y, **settings).losses
            self.assertLess(losses[-1], 0.8 * losses[0], method)
            again.train(self.x, y, threads=1, **settings)
            self.assertEqual(again.digest(), merged.digest())
            for how in ("branches", "experts"):
                both = pb.merge([self.a, self.b], how)
                with self.assertRaisesRegex(welvet.Unsupported, "cell 1.0.0.0 has links"):
                    both.train(self.x, np.tile(y, (1, 2)) if how == "branches" else y, **settings)

    def test_refuses(self):
        for items, how, options, error in (
                ([self.a], "branches", {}, "two networks"),
                ([self.a, self.b], "mix", {}, "expects one of"),
                ([self.a, 3], "branches", {}, "item 1 is a int"),
                ([self.a, self.b], "sequence", {"stitch": True}, "no options"),
                ([self.a, self.b], "experts", {"combine": "add"}, "their gate"),
                ([self.a, self.b], "branches", {"combine": "gated"}, "experts"),
                ([self.a, stack((3,), width=5)], "branches", {}, "takes")):
            with self.assertRaisesRegex((ValueError, TypeError), error):
                pb.merge(items, how, **options)

    def test_layers_are_compared_by_name(self):
        from planetbridging.layer_compare import cell_outputs
        places = {cell["name"]: tuple(cell["at"]) for cell in self.a.topology["cells"]}
        native = cell_outputs(self.a, places, self.x)
        made = pb.compare_layers(native, self.a, self.x)
        self.assertEqual((made.label, made.first, len(made.layers)), ("EXACT", None, 2))
        native["layer0"] = native["layer0"] + np.float32(1e-6)
        self.assertEqual(pb.compare_layers(native, self.a, self.x).label, "PASS")
        native["layer1"] = native["layer1"] + 1
        native["other"] = native["layer1"]
        native["layer0.inner"] = native["layer0"][:, :2]
        made = pb.compare_layers(native, self.a, self.x)
        self.assertEqual((made.label, made.first.name, made.missing),
                         ("DIFF", "layer1", ["other", "layer0.inner"]))
        self.assertIn("layer1  DIFF", str(made))
        self.assertEqual(json.loads(json.dumps(made.to_dict()))["first"], "layer1")
        self.assertRaisesRegex(ValueError, "no cell", pb.compare_layers, {"z": self.x}, self.a,
                               self.x)


class Dense(InFolder):
    """Stacks of dense layers, without a framework."""

    def test_streams_layers(self):
        specs = (LayerSpec(2, "relu"), LayerSpec(1, "linear"))
        w0, w1 = np.array([[.1, .2, .3, .4], [.5, .6, .7, .8]]), np.array([[1.0, 0.0]])
        b0, b1 = np.array([0.01, 0.02]), np.array([0.5])
        layers = layers_from_specs(input_dim=4, specs=specs, kernels=[w0, w1], biases=[b0, b1])
        x = load_fixture_arrays("dense", self.folder)["x_test"][:, :4]
        native = np.maximum(x @ w0.T + b0, 0.0) @ w1.T + b1
        made = stream_dense(planet="showcase", model_id="synthetic_mlp", layers=layers,
                            input_dim=4, fixture_version="dense_bedrock_v2",
                            output_path=self.folder / "s.entity", root=repo_root(),
                            native_outputs=native)
        self.assertEqual((made.compare_label, made.layer_count, made.output_dim), ("PASS", 2, 1))
        np.testing.assert_array_equal(pb.infer_dense_entity(made.entity_path, x), made.outputs)
        self.assertRaisesRegex(ValueError, "layer 0: a kernel", layers_from_specs, input_dim=5,
                               specs=specs, kernels=[w0, w1], biases=[b0, b1])
        self.assertRaisesRegex(ValueError, "a bias of 1", layers_from_specs, input_dim=4,
                               specs=specs, kernels=[w0, w1], biases=[b1, b1])

    def test_flax_parameters_are_named(self):
        params = {"Dense_0": {"kernel": np.ones((3, 2)), "bias": np.zeros(2)}}
        made = absorb.jax(params, input_dim=3, layer_units=(2,), activation="linear",
                          inputs=[[1, 2, 3]], output_path=self.folder / "j.entity")
        self.assertEqual(made.outputs.tolist(), [[6.0, 6.0]])
        self.assertRaisesRegex(ValueError, "no block Dense_1", absorb.jax, params, input_dim=3,
                               layer_units=(2, 1))
        self.assertRaisesRegex(ValueError, "the specs are 0", absorb.jax, params, input_dim=3,
                               layer_specs=())
        self.assertRaisesRegex(ValueError, "has a bias", absorb.jax, {
            "Dense_0": {"kernel": np.ones((3, 2)), "bias": np.ones(2)}}, input_dim=3,
            layer_specs=[LayerSpec(2, "linear", bias=False)])
        self.assertRaisesRegex(ValueError, "module and inputs", absorb.jax, params)


class Engines(InFolder):
    def test_what_there_is_not(self):
        self.assertRaisesRegex(ValueError, "unknown bedrock", engines.available_planets, "nothing")
        self.assertRaisesRegex(ValueError, "not enabled", engines.stream, "rnn", "sklearn")
        self.assertEqual(engines.available_planets("cnn1"), ("pytorch", "tensorflow", "jax"))
        self.assertLessEqual(set(engines.installed_planets("cnn1")), {"pytorch", "tensorflow",
                                                                      "jax"})
        with mock.patch("planetbridging.engines.planet_installed", return_value=False):
            self.assertRaises(ImportError, engines.stream, "rnn", "pytorch")
            self.assertRaises(ImportError, engines.stream_all_bedrocks, "pytorch")
            self.assertEqual(engines.stream_all_planets("rnn"), [])

    def check(self, planet):
        """One model of each bedrock of a framework, and its files."""
        for bedrock in ALL_BEDROCK_IDS:
            if planet not in engines.available_planets(bedrock) or bedrock in ("cnn3", "convt3"):
                continue
            r = engines.stream(bedrock, planet, samples=3, try_welvet=True)
            self.assertIn(r.native_vs_loom, ("EXACT", "PASS"), bedrock)
            self.assertIn(r.native_vs_welvet, ("EXACT", "PASS"), bedrock)
            self.assertEqual(r.loom_vs_welvet, "EXACT", bedrock)
            self.assertTrue(r.framework)

    @needs("pytorch")
    def test_pytorch(self):
        self.check("pytorch")

    @needs("tensorflow")
    def test_tensorflow(self):
        self.check("tensorflow")

    @needs("jax")
    def test_jax(self):
        self.check("jax")

    @needs("sklearn")
    def test_sklearn(self):
        for epochs in (0, 2):
            r = engines.stream("dense", "sklearn", samples=3, try_welvet=True, epochs=epochs)
            self.assertEqual((r.native_vs_loom, r.loom_vs_welvet), ("PASS", "EXACT"))


@needs("pytorch")
class Examples(InFolder):
    """What the examples of planetbridging 0.7.3 show, and its README."""

    def test_01_hello_stream(self):
        for bedrock in ("dense", "mha"):
            for samples, count in ((3, 3), (None, 100)):
                r = engines.stream(bedrock, "pytorch", samples=samples)
                self.assertEqual((r.native_vs_loom, len(r.native)), ("PASS", count))

    def test_02_all_layer_types(self):
        results = engines.stream_all_bedrocks("pytorch")
        self.assertEqual([r.bedrock for r in results], list(pb.BEDROCK_IDS))
        for r in results:
            self.assertIn(r.native_vs_loom, ("PASS", "EXACT"), r.entity_path)
            self.assertEqual(STREAM_LAYER_COUNTS[r.bedrock], r.layer_count)

    def test_03_cross_engine(self):
        results = engines.stream_all_planets("layernorm")
        self.assertEqual(tuple(r.planet for r in results), engines.installed_planets("layernorm"))
        for r in results:
            self.assertIn(r.native_vs_loom, ("PASS", "EXACT"), r.entity_path)

    def test_04_multi_layer_models(self):
        for bedrock, layers, model_id in (("dense", 4, "mlp_32_64_32_16_8_relu"),
                                          ("cnn1", 2, "conv1_32_8_4_2layer"),
                                          ("cnn2", 2, "conv2_8_4_2layer"),
                                          ("cnn3", 2, "conv3_4_4_2layer"),
                                          ("mixer", 16, "mixer_all_v2")):
            self.assertEqual(pb.STREAM_MODEL_IDS[bedrock], model_id)
            r = engines.stream(bedrock, "pytorch", model_id=model_id)
            self.assertEqual((r.layer_count, r.native_vs_loom), (layers, "PASS"))

    def test_05_welvet_ladder(self):
        pb.import_welvet()
        for bedrock in sorted(pb.WELVET_RELOAD_BEDROCKS):
            self.assertNotIn(bedrock, pb.WELVET_RELOAD_SKIP)
            r = engines.stream(bedrock, "pytorch", try_welvet=True)
            n = len(r.welvet)
            with contextlib.redirect_stdout(io.StringIO()):
                pb.print_compare_ladder(title=bedrock, native=r.native[:n],
                                        loom_stream=r.loom_stream[:n], welvet_out=r.welvet)
            self.assertEqual((n, r.loom_vs_welvet, r.welvet_note), (3, "EXACT", None))

    def test_06_showcase(self):
        binary, out = find_loom_stream(), self.folder / "out"
        self.assertEqual(find_loom_stream(binary), binary)
        for bedrock in ("dense", "mha", "layernorm"):
            smoke = pb.run_bedrock_smoke(bedrock, root=repo_root(), binary=binary,
                                         out_dir=out / "smoke" / bedrock)
            self.assertEqual(smoke.compare_label, "PASS")
            r = pb.run_bedrock_ladder(bedrock, root=repo_root(), binary=binary, out_dir=out,
                                      try_welvet=True)
            self.assertEqual((r.native_vs_loom, r.native_vs_welvet), ("PASS", "PASS"))
        for function in (engines.stream, absorb.stream):
            r = function("swiglu", "pytorch", root=repo_root(), binary=binary, out_dir=out)
            self.assertEqual((r.native_vs_loom, pathlib.Path(r.entity_path).name),
                             ("PASS", "swiglu_8_16_4.entity"))
        self.assertEqual(absorb.stream_all_planets("rnn", root=repo_root(), binary=binary)[0]
                         .native_vs_loom, "PASS")
        r = engines.ladder("mha", "numpy", root=repo_root(), binary=binary, try_welvet=True)
        self.assertEqual(r.native_vs_loom, "PASS")

    def test_06_absorbs_live_modules(self):
        import torch
        net = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
        with torch.no_grad():
            for module in net:
                if hasattr(module, "weight"):
                    module.weight.fill_(0.1)
                    module.bias.zero_()
        x = load_fixture_arrays("dense", self.folder)["x_test"][:5, :4].astype(np.float32)
        native = net(torch.from_numpy(x)).detach().numpy()
        made = absorb.pytorch(net, input_dim=4, layer_units=(2, 1), inputs=x,
                              native_outputs=native, model_id="absorb_demo",
                              fixture_version="dense_bedrock_v2", root=repo_root(),
                              binary=find_loom_stream(),
                              output_path=self.folder / "absorb" / "absorb_demo.entity")
        # layer_units give each layer the one activation, the last one too, as before.
        np.testing.assert_allclose(made.outputs, np.maximum(native, 0), atol=1e-6)
        made = absorb.pytorch(net, input_dim=4, inputs=x, native_outputs=native, layer_specs=[
            LayerSpec(2, "relu"), LayerSpec(1, "linear")])
        self.assertIn(made.compare_label, ("PASS", "EXACT"))

    def test_absorbs_any_module(self):
        import torch
        if not hasattr(torch, "export"):
            self.skipTest("from_torch needs PyTorch 2.1 or later")
        net = torch.nn.Sequential(torch.nn.Conv1d(2, 3, 3), torch.nn.Tanh(), torch.nn.Flatten(),
                                  torch.nn.Linear(18, 2))
        x = np.random.default_rng(2).standard_normal((3, 2, 8)).astype(np.float32)
        made = absorb.pytorch(net, inputs=x, native_outputs=net(torch.from_numpy(x)).detach(),
                              output_path=self.folder / "any.entity")
        self.assertIn(made.compare_label, ("PASS", "EXACT"))
        self.assertTrue(pathlib.Path(made.entity_path).is_file())
        absorbed = pb.from_torch(net, (torch.from_numpy(x),))
        self.assertIn(pb.compare_layers(net, absorbed, x).label, ("PASS", "EXACT"))
        self.assertRaises(ValueError, absorb.pytorch, net)
        self.assertRaisesRegex(TypeError, "binary", absorb.pytorch, net, inputs=x, binary="x")
        class Recurrent(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm, self.out = torch.nn.LSTM(3, 4, batch_first=True), torch.nn.Linear(4, 2)

            def forward(self, x):
                return self.out(self.lstm(x)[0][:, -1])

        recurrent, steps = Recurrent(), np.ones((2, 5, 3), np.float32)
        made = pb.compare_layers(recurrent, pb.from_torch(recurrent, (torch.ones(2, 5, 3),)), steps)
        self.assertEqual((made.first, len(made.layers) + len(made.missing)), (None, 2))
        merged = pb.merge([absorbed, absorbed.network()], how="experts")
        np.testing.assert_allclose(merged(x), absorbed.predict(x), atol=1e-6)


@needs("sklearn")
class Sklearn(InFolder):
    def test_absorbs_a_perceptron(self):
        import warnings
        from sklearn.neural_network import MLPRegressor
        x = np.random.default_rng(1).standard_normal((40, 3)).astype(np.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reg = MLPRegressor(hidden_layer_sizes=(5,), max_iter=20, random_state=1)
            reg.fit(x, x[:, :2])
        made = absorb.sklearn(reg, input_dim=3, inputs=x, native_outputs=reg.predict(x),
                              layer_specs=[LayerSpec(5, "relu"), LayerSpec(2, "linear")],
                              output_path=self.folder / "s.entity")
        self.assertEqual(made.compare_label, "PASS")
        self.assertRaisesRegex(ValueError, "the specs are 1", absorb.sklearn, reg, input_dim=3,
                               layer_units=(5,))


@needs("tensorflow")
class Keras(InFolder):
    def test_absorbs_a_stack(self):
        from planetbridging.native.keras_layers import keras
        net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, "tanh"),
                                keras.layers.Dense(2)])
        x = np.random.default_rng(1).standard_normal((5, 3)).astype(np.float32)
        made = absorb.keras(net, input_dim=3, inputs=x, native_outputs=net.predict(x, verbose=0),
                            layer_specs=[LayerSpec(4, "tanh"), LayerSpec(2, "linear")],
                            output_path=self.folder / "k.entity")
        self.assertIn(made.compare_label, ("PASS", "EXACT"))
