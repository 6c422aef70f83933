"""WebGPU of the process that Loom is in: PyPI's wgpudawn, or the library of LOOM_WEBGPU_LIBRARY."""
import ctypes
import os
import subprocess
import sys
import unittest

import numpy as np

from source import ROOT
import welvet

try:
    from wgpudawn._lib import ffi, lib
except ImportError:
    ffi = lib = None

HOST = "the host's wgpuGetProcAddress"
SMALL = {"format": "loom-topology", "version": 3, "input": {"width": 96},
         "cells": [{"at": [0, 0, 0, 0], "type": "dense", "out": 1590}]}


def adapter():
    """Why there is none, or nothing."""
    try:
        welvet.audit(device="gpu")
    except welvet.Unsupported as error:
        return str(error)
    return ""


class HostsWebGPU(unittest.TestCase):
    def tearDown(self):
        welvet.use_webgpu(None)

    def computes(self):
        """On the host's device, with the CPU's bits."""
        missing = adapter()
        if missing:
            self.skipTest("no adapter: " + missing)
        gpu = welvet.audit(device="gpu")["gpus"][0]
        self.assertEqual((gpu["library"], gpu["numerics"]), (HOST, "portable"))
        network = welvet.Network(SMALL, seed=3)
        network.morph("i4")
        x = np.random.RandomState(1).randn(130, 96).astype(np.float32)
        here = welvet.Session(network, max_rows=130).run(x)
        there = welvet.Session(network, max_rows=130, device="gpu").run(x)
        self.assertEqual(here.tobytes(), there.tobytes())

    @unittest.skipIf(lib is None, "no wgpudawn")
    def test_through_wgpudawn(self):
        welvet.use_webgpu(ffi.addressof(lib, "wgpuGetProcAddress"))
        self.computes()

    @unittest.skipIf(lib is None, "no wgpudawn")
    def test_function_by_function(self):
        functions = {name: ffi.addressof(lib, name) for name in dir(lib)
                     if name.startswith("wgpu") and callable(getattr(lib, name))}
        welvet.use_webgpu(functions)
        self.computes()
        del functions["wgpuBufferMapAsync"]
        with self.assertRaisesRegex(welvet.Unsupported, "no function wgpuBufferMapAsync"):
            welvet.use_webgpu(functions)
        self.computes()  # the one before

    def test_through_the_library_of_the_environment(self):
        path = os.environ.get("LOOM_WEBGPU_LIBRARY")
        if not path:
            self.skipTest("no LOOM_WEBGPU_LIBRARY")
        library = ctypes.CDLL(path)
        welvet.use_webgpu(library.wgpuGetProcAddress)
        self.computes()
        welvet.use_webgpu(ctypes.cast(library.wgpuGetProcAddress, ctypes.c_void_p).value)
        self.computes()
        welvet.use_webgpu(None)
        self.assertEqual(welvet.audit(device="gpu")["gpus"][0]["library"], path)

    def products(self, *arguments):
        """What the sweep of kernels prints."""
        tool = ROOT / "tools/bench/gpu_products.py"
        ran = subprocess.run([sys.executable, str(tool), *arguments], capture_output=True,
                             text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout

    @unittest.skipIf(lib is None, "no wgpudawn")
    def test_kernels_for_matrix_units_compile(self):
        """On no adapter at all: few have such units."""
        printed = self.products("--compile", "--kinds", "units", "--formats", "i4:a4,i8")
        self.assertIn("units, 64 k compiles", printed)

    @unittest.skipIf(lib is None, "no wgpudawn")
    def test_kernels_for_matrix_units_compute(self):
        """The same with plain loops in place of the units."""
        welvet.use_webgpu(ffi.addressof(lib, "wgpuGetProcAddress"))
        missing = adapter()
        if missing:
            self.skipTest("no adapter: " + missing)
        printed = self.products("--check", "--kinds", "emulated units", "--formats", "i4:a4",
                                "--rows", "70")
        self.assertGreater(printed.count("  equal"), 20)
        self.assertNotIn("DIFFERS", printed)

    def test_refusals(self):
        for wrong in ("wgpuGetProcAddress", 1.5, True, [1]):
            with self.assertRaisesRegex(TypeError, "use_webgpu: expects the address"):
                welvet.use_webgpu(wrong)
        with self.assertRaisesRegex(welvet.Unsupported, "no function wgpuCreateInstance"):
            welvet.use_webgpu({})
