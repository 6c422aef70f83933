"""Distillation: welvet.distill and the loss soft_cross_entropy."""
import json
import pathlib
import tempfile
import unittest

import numpy as np

import welvet
from welvet import Network, layers

try:
    import torch
except ImportError:  # not needed by what is tested without it
    torch = None


def spirals(count, classes=4, seed=0):
    """Points of interleaved arms, which few samples do not show."""
    random = np.random.RandomState(seed)
    y = random.randint(0, classes, count)
    r = random.rand(count)
    angle = 2 * np.pi * (y / classes + 0.7 * r) + 0.12 * random.randn(count)
    x = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1)
    return x.astype(np.float32), y


def network(hidden, classes=4, seed=1, inputs=2):
    return Network(layers.Sequential(layers.Input(inputs), layers.Linear(hidden, activation="tanh"),
                                     layers.Linear(hidden, activation="tanh"),
                                     layers.Linear(classes)), seed=seed)


def softmax(logits, axis=-1):
    e = np.exp(logits - logits.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def accuracy(net, x, y):
    return float((net(x).argmax(axis=1) == y).mean())


class SoftCrossEntropy(unittest.TestCase):
    def test_with_certain_targets_it_is_cross_entropy(self):
        x, y = spirals(64)
        hard, soft = network(9), network(9)
        a = hard.train(x, y, epochs=3, lr=0.01, validation=(x, y))
        b = soft.train(x, np.eye(4)[y], loss="soft_cross_entropy", epochs=3, lr=0.01,
                       validation=(x, np.eye(4)[y]))
        np.testing.assert_allclose(a.losses, b.losses, rtol=1e-6)
        for key in ("validation_loss", "validation_accuracy"):
            np.testing.assert_allclose(a[key], b[key], rtol=1e-6)

    def test_validation_and_evaluation_are_of_the_loss_that_is_learned(self):
        x, _ = spirals(40)
        p = softmax(np.random.RandomState(2).randn(40, 4))
        history = network(7).train(x, p, loss="soft_cross_entropy", temperature=2.5, epochs=6,
                                   batch_size=40, shuffle=False, validation=(x, p))
        np.testing.assert_allclose(history["validation_loss"][:-1], history.losses[1:], rtol=1e-5)

    def test_places_of_sequences_and_images(self):
        random = np.random.RandomState(3)
        for layer, inputs, shape, axis in (
                (layers.Linear(5), (3, 4), (3, 5), -1),
                (layers.Conv2d(5, kernel_size=3, padding=1), (2, 3, 4), (5, 3, 4), 1)):
            net = Network(layers.Sequential(layers.Input(*inputs), layer), seed=2)
            x = random.rand(20, *inputs).astype(np.float32)
            p = softmax(random.randn(20, *shape), axis=axis)
            out = np.moveaxis(net(x).astype(np.float64), axis, -1)
            logs = np.log(softmax(out))
            want = -(np.moveaxis(p, axis, -1) * logs).sum(axis=-1).mean()
            history = net.train(x, p, loss="soft_cross_entropy", epochs=1, batch_size=20)
            self.assertAlmostEqual(history.losses[0] / want, 1, delta=1e-5)

    def test_every_method_learns_it(self):
        x, y = spirals(200)
        teacher = network(24, seed=5)
        teacher.train(x, y, epochs=60, lr=0.02)
        for method in ("target_propagation", "mono_forward", "direct_feedback_alignment",
                       "difference_target_propagation",
                       {"type": "target_propagation", "mode": "layer_wise"}):
            student = network(12)
            history = welvet.distill(teacher, student, x, temperature=2, method=method, epochs=20,
                                     lr=0.01)
            self.assertLess(history["loss"][-1], 0.95 * history["loss"][0], method)

    @unittest.skipUnless(torch, "PyTorch is absent")
    def test_gradients_are_those_of_pytorch(self):
        random = np.random.RandomState(4)
        x, t = random.randn(9, 6), 3.0
        for places, dims in ((1, (6,)), (2, (2, 3))):
            p = softmax(random.randn(9, places, 70) * 3)
            net = Network(layers.Sequential(layers.Input(*dims), layers.Linear(70), dtype="f64"),
                          seed=1)
            names = [one.name for one in net.parameters]
            before = [torch.tensor(np.asarray(net.get(name), np.float64), requires_grad=True)
                      for name in names]
            out = torch.tensor(x.reshape(9, places, -1)) @ before[0].T + before[1]
            loss = torch.nn.functional.cross_entropy(
                out.movedim(2, 1) / t, torch.tensor(p).movedim(2, 1)) * t * t
            loss.backward()
            history = net.train(x.reshape(9, *dims), p if places > 1 else p[:, 0],
                                loss="soft_cross_entropy", temperature=t, optimizer="sgd", lr=1,
                                steps=1, batch_size=9)
            self.assertAlmostEqual(history.losses[0], loss.item(), delta=1e-6)
            for name, weight in zip(names, before):
                np.testing.assert_allclose(
                    weight.detach().numpy() - np.asarray(net.get(name)).reshape(weight.shape),
                    weight.grad.numpy(), atol=3e-7)

    def test_refusals_say_what_is_wrong(self):
        x, _ = spirals(6)
        p = np.full((6, 4), 0.25)
        p[3, 2] = -0.25
        for targets, keywords, text in (
                (p, {}, "row 3, column 2 .from 0. is -0.25: \"soft_cross_entropy\" takes"),
                (np.abs(p)[:, :3], {}, "4 values per row, the data has 3"),
                (np.abs(p), {"temperature": 0}, "temperature"),
                (np.abs(p), {"loss": "mse", "temperature": 2}, "temperature"),
                (np.abs(p), {"loss": "soft_crossentropy"}, "soft_cross_entropy")):
            with self.assertRaisesRegex((ValueError, welvet.LoomError), text):
                network(3).train(x, targets, **{"loss": "soft_cross_entropy", **keywords})


class Distill(unittest.TestCase):
    def test_a_small_student_learns_more_from_a_teacher_than_from_few_labels(self):
        x, y = spirals(2000, seed=1)
        test_x, test_y = spirals(1000, seed=2)
        teacher = network(48, seed=3)
        teacher.train(x, y, epochs=60, lr=0.01, batch_size=64)
        few, unlabelled = slice(0, 40), x[:1000]
        labels, student = network(12), network(12)
        labels.train(x[few], y[few], steps=2000, lr=0.01, batch_size=40)
        history = welvet.distill(teacher, student, unlabelled, temperature=2, steps=2000, lr=0.01,
                                 batch_size=40)
        self.assertEqual(len(history.losses), 2000)
        by_labels, by_teacher = accuracy(labels, test_x, test_y), accuracy(student, test_x, test_y)
        self.assertGreater(accuracy(teacher, test_x, test_y), 0.9)
        self.assertGreater(by_teacher, by_labels + 0.05)

    def test_kept_streamed_and_every_kind_of_teacher_learn_the_same(self):
        x, _ = spirals(50)
        teacher = network(10, seed=9)
        graph = welvet.from_onnx(teacher.export_bytes("onnx"))
        shares = lambda batch: softmax(teacher(batch).astype(np.float64))  # noqa: E731
        students = []
        for given, keywords in ((teacher, {}), (teacher, {"keep": False}),
                                (teacher.forward, {"teacher_batch": 7}), (graph, {}),
                                (shares, {}), (shares, {"probabilities": True}),
                                (lambda batch: teacher(batch).tolist(), {})):
            students.append(network(5))
            welvet.distill(given, students[-1], x, temperature=3, epochs=2, batch_size=10,
                           shuffle=False, **keywords)
        for student in students[1:]:
            np.testing.assert_allclose(student(x), students[0](x), atol=2e-5)
        self.assertEqual(students[0].digest(), students[1].digest())
        again = network(5)
        welvet.distill(teacher, again, [x[at:at + 10] for at in range(0, 50, 10)].__iter__(),
                       temperature=3, steps=5)
        one = network(5)
        welvet.distill(teacher, one, x, temperature=3, epochs=1, batch_size=10, shuffle=False)
        self.assertEqual(again.digest(), one.digest())

    def test_streamed_batches_are_shuffled_by_the_seed(self):
        x, y = spirals(30)
        digests = []
        for seed in (1, 1, 2):
            student = network(5)
            welvet.distill(network(8, seed=4), student, x, y, keep=False, epochs=3, batch_size=7,
                           seed=seed)
            digests.append(student.digest())
        self.assertEqual(digests[0], digests[1])
        self.assertNotEqual(digests[0], digests[2])

    def test_labels_are_mixed_in(self):
        x, y = spirals(40)
        teacher, student = network(10, seed=9), network(6)
        out, t, alpha = student(x).astype(np.float64), 2.0, 0.25
        p = softmax(teacher(x).astype(np.float64) / t)
        soft = -(p * np.log(softmax(out / t))).sum(axis=1).mean() * t * t
        y[::4] = -100  # no label
        hard = -np.log(softmax(out))[np.arange(40), y.clip(0)][y >= 0].mean()
        history = welvet.distill(teacher, student, x, y, temperature=t, alpha=alpha, epochs=2,
                                 batch_size=40, validation=(x, y))
        want = alpha * soft + (1 - alpha) * hard
        self.assertAlmostEqual(history.losses[0] / want, 1, delta=1e-5)
        self.assertIn("validation_teacher_loss", history)
        self.assertIn("validation_labels_accuracy", history)

    def test_values(self):
        x, _ = spirals(60)
        teacher, student = network(10, classes=2, seed=9), network(8, classes=2)
        plain = student.copy()
        history = welvet.distill(teacher, student, x, loss="mse", epochs=30, lr=0.01)
        self.assertLess(history["loss"][-1], 0.5 * history["loss"][0])
        plain.train(x, teacher(x), epochs=30, lr=0.01)
        self.assertEqual(plain.digest(), student.digest())
        mixed = network(8, classes=2)
        out, y = mixed(x), np.random.RandomState(1).rand(60, 2).astype(np.float32)
        want = 0.6 * ((out - teacher(x)) ** 2).mean() + 0.4 * ((out - y) ** 2).mean()
        history = welvet.distill(teacher, mixed, x, y, loss="mse", alpha=0.6, epochs=1,
                                 batch_size=60)
        self.assertAlmostEqual(history.losses[0] / want, 1, delta=1e-4)

    def test_refusals_say_what_is_wrong(self):
        x, y = spirals(12)
        teacher, student = network(4, seed=2), network(3)
        for args, keywords, text in (
                ((None, student, x), {}, "the teacher is a NoneType"),
                ((lambda b: b, student, x), {}, "the teacher returns .2,. for a sample"),
                ((lambda b: b[:1], student, x), {}, "the shape .1, 2. for 12 samples"),
                ((lambda b: np.full((len(b), 4), np.nan), student, x), {}, "not finite"),
                ((lambda b: (b, b), student, x), {}, "returned a tuple"),
                ((teacher, student, x), {"probabilities": True}, "are no probabilities"),
                ((teacher, student, x), {"temperature": 0}, "temperature is above 0"),
                ((teacher, student, x), {"alpha": 0.5}, "give y"),
                ((teacher, student, x, y), {"alpha": 1}, "without effect"),
                ((teacher, student, x, y), {"alpha": 0}, "alpha is above 0"),
                ((teacher, student, x, y[:3]), {}, "x has 12 samples, y 3"),
                ((teacher, student, x), {"loss": "mse", "temperature": 2}, "temperature is of"),
                ((teacher, student, x), {"heads": []}, "'heads' does not go"),
                ((teacher, student, x[:0]), {}, "no samples"),
                ((teacher, student, x), {"keep": False, "validation": 0.2}, "held back"),
                ((teacher, student, x), {"validation": (x, y)}, "x of others")):
            with self.assertRaisesRegex((ValueError, TypeError), text):
                if keywords.get("heads") == []:
                    keywords = {"heads": [{}]}
                welvet.distill(*args, **keywords)

    @unittest.skipUnless(torch, "PyTorch is absent")
    def test_follows_the_same_distillation_in_pytorch(self):
        x, y = spirals(50, seed=5)
        torch.manual_seed(0)
        teacher = torch.nn.Sequential(torch.nn.Linear(2, 20), torch.nn.Dropout(0.5),
                                      torch.nn.Tanh(), torch.nn.Linear(20, 4)).train()
        for temperature, alpha, labels in ((1.0, None, None), (4.0, None, None), (4.0, 0.7, y)):
            student = network(12)
            names = [p.name for p in student.parameters]
            twin = torch.nn.Sequential(torch.nn.Linear(2, 12), torch.nn.Tanh(),
                                       torch.nn.Linear(12, 12), torch.nn.Tanh(),
                                       torch.nn.Linear(12, 4)).double()
            with torch.no_grad():
                for parameter, name in zip(twin.parameters(), names):
                    parameter.copy_(torch.tensor(
                        np.asarray(student.get(name)).reshape(parameter.shape)))
            history = welvet.distill(teacher, student, x, labels, temperature=temperature,
                                     alpha=alpha, steps=50, batch_size=50, shuffle=False, lr=0.01,
                                     optimizer={"type": "sgd", "momentum": 0.9})
            self.assertTrue(all(part.training for part in teacher.modules()))
            optimizer = torch.optim.SGD(twin.parameters(), lr=0.01, momentum=0.9)
            inputs, classes = torch.tensor(x, dtype=torch.float64), torch.tensor(y)
            with torch.no_grad():
                logits = teacher.eval()(torch.tensor(x)).double()
            teacher.train()
            p = torch.softmax(logits / temperature, dim=1)
            for step in range(50):
                out = twin(inputs)
                loss = torch.nn.functional.cross_entropy(out / temperature, p) * temperature ** 2
                if labels is not None:
                    loss = alpha * loss + (1 - alpha) * torch.nn.functional.cross_entropy(
                        out, classes)
                self.assertAlmostEqual(history.losses[step] / loss.item(), 1, delta=1e-4)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            np.testing.assert_allclose(student(x), twin(inputs).detach().numpy(), atol=1e-4)


class FromFiles(unittest.TestCase):
    """Training with the option `teacher`, as `loom train --teacher` does it, has distill's bits."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def both(self, columns, teacher, file, x, y, labels, spec, words, loss=None):
        """The networks of a training from files, and of distill."""
        rows = np.concatenate([x, np.asarray(y).reshape(len(x), -1)], axis=1)
        names = ["x%d" % i for i in range(x.shape[1])] + columns
        data = self.path / "data.csv"
        data.write_text("\n".join([",".join(names)] + [
            ",".join(repr(float(v)) for v in row) for row in rows]) + "\n")
        student = network(6, y.shape[1] if y.ndim > 1 else 4, inputs=x.shape[1])
        given = self.path / "spec.json"
        about = {"targets": columns} if y.ndim > 1 else {"class": columns[0]}
        given.write_text(json.dumps({
            "format": "loom-training", "version": 2, "network": student.topology, **spec,
            "data": {"type": "table", **about}, "loss": loss or "cross_entropy"}))
        start = welvet.fit(data, spec=given, threads=1, on_step=lambda report: False).network
        student.initialize(spec["seed"])
        fitted = welvet.fit(data, spec=given, teacher=file, threads=1, **words)
        welvet.distill(teacher, student, x, y if labels else None, **words, **(
            {"loss": loss} if loss else {}), **self.keywords(spec))
        self.assertNotEqual(start.digest(), student.digest())
        return fitted, student

    def keywords(self, spec):
        named = {"batch": "batch_size"}
        return {named.get(key, key): value for key, value in spec.items() if key != "log_every"}

    SPEC = {"optimizer": {"type": "adamw"}, "schedule": {"type": "constant", "lr": 0.01},
            "steps": 30, "batch": 16, "seed": 5, "log_every": 1}

    def test_classes(self):
        x, y = spirals(90)
        teacher = network(16)
        teacher.train(x, y, epochs=5, lr=0.01)
        teacher.save(self.path / "t.entity")
        teacher.export(self.path / "t.onnx")
        for name in ("t.entity", "t.onnx"):
            for words in ({"temperature": 2.0}, {"alpha": 0.5}, {"alpha": 1.0, "temperature": 3.0}):
                with self.subTest(name, words=words):
                    fitted, student = self.both(
                        ["kind"], teacher if name == "t.entity" else welvet.from_onnx(
                            self.path / name), self.path / name, x, y,
                        words.get("alpha") != 1, self.SPEC, words)
                    self.assertEqual(fitted.network.digest(), student.digest())

    def test_a_teacher_of_probabilities(self):
        x, y = spirals(90)
        teacher = Network(layers.Sequential(
            layers.Input(2), layers.Linear(16, activation="tanh"), layers.Linear(4),
            layers.Softmax()), seed=4)
        teacher.inputs = {"labels": [0, 1, 2, 3], "answers": "probabilities"}
        teacher.save(self.path / "t.entity")
        fitted, student = self.both(["kind"], teacher, self.path / "t.entity", x, y, True,
                                    self.SPEC, {"temperature": 2.0})
        self.assertEqual(fitted.network.digest(), student.digest())
        self.assertIn("probabilities at temperature 2", fitted.notes[-1])

    def test_values(self):
        x, _ = spirals(90)
        y = np.stack([x[:, 0] * x[:, 1], x[:, 0]], axis=1).astype(np.float32)
        teacher = network(16, 2)
        teacher.save(self.path / "t.entity")
        for loss in ("mse", "huber"):
            fitted, student = self.both(["a", "b"], teacher, self.path / "t.entity", x, y, True,
                                        self.SPEC, {"alpha": 0.75}, loss)
            self.assertEqual(fitted.network.digest(), student.digest())
        with self.assertRaisesRegex(welvet.InvalidArgument, "temperature: is of classes"):
            self.both(["a", "b"], teacher, self.path / "t.entity", x, y, True, self.SPEC,
                      {"temperature": 2.0}, "mse")
