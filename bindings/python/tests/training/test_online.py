"""Learning beside answers."""
import math
import time
import unittest

import numpy as np

import welvet
from welvet import Data, Network, Online, layers


def network(seed=1, out=3):
    return Network(layers.Sequential(layers.Input(4), layers.Linear(24, activation="relu"),
                                     layers.Linear(out)), seed=seed)


def stream(n, task=0, seed=0):
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, (n, 4)).astype(np.float32)
    return x, (np.argmax(x[:, :3], axis=1) + task) % 3


class OnlineTest(unittest.TestCase):
    def learn(self, online, x, y, steps=2):
        for row, target in zip(x, y):
            online.answer(row)
            online.feedback(target)
            online.learn(steps=steps)

    def test_three_tasks(self):
        online = network().online(loss="cross_entropy", lr=0.01, deadline_ms=1000)
        for task in range(3):
            self.learn(online, *stream(400, task, seed=task))
        report = online.report
        self.assertEqual([t["source"] for t in report["tasks"]], ["start", "detector", "detector"])
        for number, task in enumerate(report["tasks"]):
            self.assertLess(abs(task["output"] - 400 * number), 15)
            self.assertLess(task["recovered"]["outputs"], 300)
        self.assertEqual(report["outputs"], 1200)
        self.assertEqual(report["judged"], 1200)
        self.assertEqual(report["latency"]["late"], 0)
        self.assertEqual(report["latency"]["deadline_ms"], 1000)
        self.assertEqual(sum(w["outputs"] for w in report["windows"]), 1200)
        self.assertEqual(online.info["task"], "2")
        self.assertIn("task='2'", repr(online))

    def test_steps_are_reproducible(self):
        def run(slices):
            net = network()
            online = net.online(loss="cross_entropy", lr=0.01, seed=3)
            x, y = stream(60)
            for row, target in zip(x, y):
                online.answer(row)
                online.feedback(target)
                if slices:
                    while online.learn(seconds=2e-6, steps=1) == 0:
                        pass
                else:
                    online.learn(steps=1)
            online.publish()
            online.commit()
            return net(x)

        np.testing.assert_array_equal(run(False), run(True))

    def test_rows_values_and_later_feedback(self):
        online = network(out=2).online(lr=0.01, tolerance=0.25, batch_size=8)
        random = np.random.default_rng(1)
        for _ in range(300):
            x = random.uniform(-1, 1, (3, 4)).astype(np.float32)
            y = online.answer(x)
            self.assertEqual(y.shape, (3, 2))
            first = online.last
            online.answer(x[0])
            online.feedback(x[:, :2] * 0.5, answer=first)
            online.learn(steps=2)
        self.assertGreater(online.info["accuracy"], 0.9)
        self.assertEqual(online.info["judged"], 900)
        with self.assertRaises(welvet.NotFound):
            online.feedback(x[:, :2], answer=first)
        with self.assertRaises(ValueError):
            online.feedback(x[:, :2])  # three for one answer
        with self.assertRaises(welvet.NotFound):
            online.feedback(x[:1, :2], answer=10 ** 6)

    def test_measures_forgetting_and_tasks(self):
        online = network().online(loss="cross_entropy", lr=0.01, detector="none", task="left")
        held = {name: stream(200, task, seed=9) for task, name in enumerate(("left", "right"))}
        self.learn(online, *stream(300, 0))
        self.assertGreater(online.measure(*held["left"]), 0.9)
        online.change_task("right")
        self.learn(online, *stream(300, 1))
        self.assertGreater(online.measure(*held["right"]), 0.9)
        self.assertLess(online.measure(Data.classes(*held["left"]), task="left"), 0.5)
        report = online.report
        left, right = report["forgetting"]
        self.assertEqual((left["task"], right["task"]), ("left", "right"))
        self.assertGreater(left["forgetting"], 0.4)
        self.assertEqual(right["forgetting"], 0)
        self.assertEqual([m["task"] for m in report["measurements"]], ["left", "right", "left"])

    def test_learns_for_a_time(self):
        online = network().online(loss="cross_entropy")
        x, y = stream(50)
        online.add(x, y)
        begin = time.perf_counter()
        steps = online.learn(seconds=0.05)
        self.assertGreater(steps, 0)
        self.assertLess(time.perf_counter() - begin, 5)
        self.assertEqual(online.info["steps"], steps)
        self.assertEqual(online.info["recent"], 50)
        self.assertTrue(math.isfinite(online.info["loss"]))

    def test_cancel(self):
        online = network().online(loss="cross_entropy")
        online.add(*stream(50))
        online.cancel()
        with self.assertRaises(welvet.Cancelled):
            online.learn(steps=5)
        self.assertEqual(online.learn(steps=5), 5)

    def test_refusals(self):
        net = network()
        with self.assertRaisesRegex(welvet.InvalidArgument, "epochs"):
            net.online(spec={"epochs": 3})
        with self.assertRaisesRegex(welvet.InvalidArgument, "recnt.*recent"):
            net.online(recnt=3)
        with self.assertRaisesRegex(welvet.LoomError, "recent"):
            net.online(recent=0)
        with self.assertRaises(TypeError):
            Online("net")
        online = net.online(loss="cross_entropy")
        with self.assertRaises(TypeError):
            online.learn()
        for wrong in ({"seconds": -1}, {"steps": 0}, {"seconds": math.nan}):
            with self.assertRaises(ValueError):
                online.learn(**wrong)
        with self.assertRaises(ValueError):
            online.answer(np.zeros(5, np.float32))
        with self.assertRaises(TypeError):
            online.add(np.zeros((2, 4)))
        online.answer(np.full(4, np.nan, np.float32))
        with self.assertRaisesRegex(welvet.InvalidArgument, "finite"):
            online.feedback(1)
        online.close()
        with self.assertRaises(welvet.InvalidHandle):
            online.learn(steps=1)

    def test_commit_after_another_topology(self):
        net = network()
        online = net.online(loss="cross_entropy", spec={"quantize": {"dtype": "i8"}})
        x, y = stream(50)
        online.add(x, y)
        online.learn(steps=20)
        online.commit()
        np.testing.assert_array_equal(net(x[0]), online.answer(x[0]))
        online.learn(steps=1)
        online.commit()
        net.morph("i4")
        with self.assertRaises(welvet.InvalidArgument):
            online.commit()
