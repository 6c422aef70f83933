"""Compares the packed matrices that Loom writes with what read_packed.py makes of them: python3
tools/check/kernels/packing.py BUILD_DIR

Builds and runs BUILD_DIR's dump_packed (every weight format, odd sizes) and wants equality to the
bit.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "readers"))
import read_packed


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    build = parser.parse_args().build
    subprocess.run(["cmake", "--build", build, "--target", "dump_packed"], check=True,
                   stdout=subprocess.DEVNULL)
    bad = 0
    formats = set()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([build / "tools" / "dump_packed", folder], check=True)
        matrices = [line.split() for line in (folder / "manifest.txt").read_text().splitlines()]
        for name, rows, cols, stem in matrices:
            rows, cols = int(rows), int(cols)
            want = np.fromfile(folder / f"{stem}.f64", "<f8").reshape(rows, cols)
            got = read_packed.read(name, rows, cols, (folder / f"{stem}.packed").read_bytes())
            formats.add(name)
            if not np.array_equal(got, want):
                bad += 1
                r, c = np.argwhere(got != want)[0]
                print(f"{name} {rows} x {cols}: row {r}, column {c}: Loom decodes {want[r, c]!r}, "
                      f"the reader {got[r, c]!r}")
    print(f"{len(matrices)} matrices in {len(formats)} formats, {bad} differ")
    return 1 if bad or not matrices else 0


if __name__ == "__main__":
    sys.exit(main())
