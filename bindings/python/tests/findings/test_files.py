"""Lines C1, C3, C6 and G9 of the findings as Python sees them: what is saved, and texts that fill
the context."""
import os
import pathlib
import stat
import tempfile
import unittest

import numpy as np

from source import ROOT
import welvet
from welvet import Data, Network, Trainer, Transformer

TINY = ROOT / "tests/cases/data/tiny.entity"
SMALL = {"format": "loom-topology", "version": 1, "layers_per_cell": 1, "input": {"width": 3},
         "cells": [
    {"at": [0, 0, 0, 0], "type": "dense", "out": 2}]}


class Findings(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def savers(self):
        network = Network(SMALL)
        data = Data.values(np.zeros((4, 3), np.float32), np.zeros((4, 2), np.float32))
        trainer = Trainer(network, data, {"loss": "mse", "steps": 2, "batch": 2})
        model = Transformer(TINY)
        for closing in (trainer, data, network, model):
            self.addCleanup(closing.close)
        return network.save, trainer.save, model.save

    def test_C1_C3_what_no_file_can_replace_is_refused_and_stays(self):
        fifo, old, read_only = self.folder / "fifo", self.folder / "old", self.folder / "read-only"
        os.mkfifo(fifo)
        old.write_bytes(b"old")
        read_only.write_bytes(b"old")
        read_only.chmod(0o444)
        for save in self.savers():
            for path, part in ((self.folder / "missing" / "x", "missing does not exist"),
                               (self.folder, "it is a folder"), (fifo, "it is a FIFO"),
                               (read_only, "read-only")):
                with self.subTest(save=save, path=path), self.assertRaisesRegex(welvet.LoomError,
                        part):
                    save(path)
        self.assertTrue(stat.S_ISFIFO(os.lstat(fifo).st_mode))
        self.assertEqual((old.read_bytes(), read_only.read_bytes()), (b"old", b"old"))

    def test_C3_links_and_modes_stay(self):
        target, link = self.folder / "target", self.folder / "link"
        link.symlink_to("target")
        for save in self.savers():
            target.write_bytes(b"old")
            target.chmod(0o600)
            save(link)
            self.assertTrue(link.is_symlink())
            self.assertNotEqual(target.read_bytes(), b"old")
            self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o600)

    def test_C6_a_full_context_ends_a_text_with_what_fits(self):
        with Transformer(TINY, context=16) as model:
            answer = model.generate([1, 2, 3], max_tokens=100000, temperature=0, ignore_eos=True)
            self.assertEqual((len(answer.tokens), answer.finish), (14, "length"))
            self.assertEqual(
                "".join(model.generate_stream([1, 2, 3], max_tokens=100000, temperature=0,
                                              ignore_eos=True)), answer)
            with self.assertRaisesRegex(welvet.OutOfRange,
                                        "the text has 17 tokens, the context holds 16"):
                model.generate([1] * 17)
        with Transformer(TINY) as model:
            most = model.info["max_positions"]
        with Transformer(TINY, context=most + 1) as model, self.assertRaisesRegex(welvet.OutOfRange,
                str(most)):
            model.generate([1])

    def test_G9_a_model_keeps_its_parts_through_its_network(self):
        """Loaded as a network, and saved as one: tokenizer and configuration are still there."""
        with Network.load(TINY) as network:
            network.save(self.folder / "again.entity")
        self.assertEqual((self.folder / "again.entity").read_bytes(), TINY.read_bytes())
