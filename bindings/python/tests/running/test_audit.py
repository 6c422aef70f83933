"""What a machine offers to Loom, beside what Python knows of it."""
import os
import unittest

import welvet


class Audit(unittest.TestCase):
    def test_agrees_with_this_process(self):
        report = welvet.audit(device="cpu")
        self.assertEqual(report["os"]["architecture"], os.uname().machine)
        self.assertEqual(report["memory"]["page_size"], os.sysconf("SC_PAGE_SIZE"))
        self.assertEqual(report["cpu"]["isa"], welvet.info()["isa"])
        if hasattr(os, "sched_getaffinity"):
            self.assertEqual(report["cpu"]["affinity_cores"], len(os.sched_getaffinity(0)))
        if report["os"]["name"] == "linux":
            self.assertEqual(report["os"]["kernel"], os.uname().release)
            self.assertEqual(report["cpu"]["logical_cores"], os.cpu_count())
            self.assertLess(report["memory"]["resident"], report["memory"]["total"])

    def test_a_null_has_a_reason(self):
        report = welvet.audit(device="cpu")
        self.assertIsNone(report["gpus"])
        unknown = report["unknown"]
        nulls = [key for key, value in report.items() if value is None]
        for section in ("os", "cpu", "memory", "loom"):
            nulls += [section + "." + k for k, v in report[section].items() if v is None]
        self.assertEqual(sorted(nulls), sorted(unknown))
        self.assertTrue(all(unknown.values()))

    def test_measures_on_request(self):
        speeds = welvet.audit(device="cpu", measure=True)["measured"]
        self.assertGreater(speeds["read_bytes_per_second"], 1e6)
        self.assertGreater(speeds["f32_flops"], 1e6)

    def test_refuses_other_devices(self):
        with self.assertRaisesRegex(welvet.InvalidArgument, "device.*cpu, gpu, auto.*abacus"):
            welvet.audit(device="abacus")
        with self.assertRaises(welvet.InvalidArgument):
            welvet.audit(measure="yes")
