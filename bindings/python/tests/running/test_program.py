"""Saved programs: the bits of sessions and meshes, and what is refused."""
import unittest

import numpy as np

import welvet
from welvet import Network, Program, StepMesh, layers as L

S = L.Sequential


class Programs(unittest.TestCase):
    def test_have_the_bits_of_sessions(self):
        random = np.random.default_rng(0)
        networks = [
            S(L.Input(7), L.Linear(9, activation="gelu"), L.LayerNorm(), L.Linear(3, dtype="i8")),
            S(L.Input(2, 8, 8), L.Conv2d(3, 3), L.ReLU(), L.Flatten(), L.Linear(2, dtype="bf16")),
            S(L.Input(6, 5, axis="steps"), L.LSTM(4), L.Linear(2)),
            S(L.Input(5), L.Linear(3, dtype="f64"))]
        for layers in networks:
            network = Network(layers, seed=3)
            program = Program(network, network.save_program(max_rows=8), threads=1)
            width = network.info["input"]["width"]
            for rows in (1, 8, 3):
                x = random.normal(size=(rows, width))
                x = x if layers is networks[-1] else x.astype(np.float32)
                want = np.asarray(network(x.reshape(rows, *layers[0].dims))).reshape(rows, -1)
                np.testing.assert_array_equal(program(x=x)["y"], want)

    def test_of_a_mesh_continues_where_it_was(self):
        network = Network({
            "format": "loom-topology", "version": 3, "depth": 40, "step_mesh": True,
            "input": {"width": 3}, "cells": [
                {"at": [i, 0, 0, 0], "type": "dense", "out": 3, "activation": "tanh", "shape": [3],
                 **({"links": [{"read": [39, 0, 0, 0]}], "keep_previous": True, "merge": "add"}
                    if i == 0 else {})} for i in range(40)]}, seed=2)
        mesh = StepMesh(network, streams=2)
        program = Program(network, mesh.save_program(5))
        x = np.random.default_rng(1).normal(size=(2, 100, 3)).astype(np.float32)
        want = mesh.run(x)
        got = [program(x=x[:, t:t + 5])["y"].reshape(2, 5, 3) for t in range(0, 100, 5)]
        np.testing.assert_array_equal(np.concatenate(got, axis=1), want)
        np.testing.assert_array_equal(program.read("7.0.0.0:value")[1], mesh.value(7, 1))
        # Weights that change count from the next run on, and the states stay.
        weight = network.get("0.0.0.0:weight")
        network.set("0.0.0.0:weight", weight / 2)
        np.testing.assert_array_equal(program(x=x[:, :5])["y"].reshape(2, 5, 3),
                                      mesh.run(x[:, :5]))

    def test_states_stay_where_a_cell_is_morphed_and_back(self):
        network = Network(S(L.Input(3), L.Linear(3)), seed=1)
        program = Program(network, network.save_program(max_rows=2))
        x = np.ones((2, 3), np.float32)
        want = program(x=x)["y"]
        network.morph("i8")
        with self.assertRaisesRegex(welvet.InvalidArgument, "0.0.0.0"):
            program(x=x)
        network.morph("f32")
        np.testing.assert_array_equal(program(x=x)["y"], want)

    def test_of_a_language_model_has_the_bits_of_its_session(self):
        network = welvet.Transformer.load_model("embedded").network
        program = Program(network, network.save_program(max_rows=4, max_head_rows=4,
                                                        max_positions=16), threads=1)
        session = network.session(max_rows=4, max_head_rows=4, max_positions=16)
        for positions in ([0, 1, 2], [3]):  # caches are states
            ids = [5 * p + 7 for p in positions]
            rows = list(range(len(ids)))
            got = program(ids=ids, positions=positions, sequences=[0] * len(ids),
                          head_rows=rows)["y"]
            np.testing.assert_array_equal(got, session.run_tokens(ids, positions, head=rows))
        program.write("ids", [1, 2])
        with self.assertRaisesRegex(welvet.InvalidArgument, "has 1 rows: write 2"):
            program.run()

    def test_what_is_refused(self):
        network = Network(S(L.Input(3), L.Linear(2)), seed=1)
        saved = network.save_program()
        for cut in range(0, len(saved), 7):
            with self.assertRaises(welvet.LoomError):
                Program(network, saved[:cut])
        random = np.random.default_rng(5)
        for _ in range(300):  # damaged bytes are refused, or run
            damaged = bytearray(saved)
            for at in random.integers(8, len(damaged), 3):
                damaged[at] = random.integers(256)
            try:
                Program(network, bytes(damaged))(x=np.ones((1, 3), np.float32))
            except (welvet.LoomError, KeyError, ValueError):
                pass
        program = Program(network, saved)
        with self.assertRaisesRegex(KeyError, "the program has x"):
            program(z=[1])
        with self.assertRaisesRegex(ValueError, r"x: expects rows of 3 .*got .*\(1, 4\)"):
            program(x=np.ones((1, 4)))
        with self.assertRaisesRegex(welvet.InvalidArgument, "set the register"):
            Program(network, saved).run()
        with self.assertRaisesRegex(TypeError, "program: expects bytes, got int"):
            Program(network, 3)
