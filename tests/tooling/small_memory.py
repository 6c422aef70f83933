"""A network whose file is larger than the memory of its process runs, with the same bits: packed
weights are read from the mapped file, page by page.

    python tests/tooling/small_memory.py

Makes a file of 400 MB and runs it in a control group with 200 MB (Linux, as root). Ends with 77
where there is no such group.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

LIMIT = 200 << 20
LAYERS, WIDTH = 24, 4096
RUN = """
import sys, numpy, welvet
network = welvet.Network.load(sys.argv[1])
x = numpy.ones((1, %d), numpy.float32)
for _ in range(2):
    print(network(x).tobytes().hex())
""" % WIDTH


def group():
    """A new control group of memory and the name of its limit; ends where there is none."""
    root = pathlib.Path("/sys/fs/cgroup")
    for parent, limit in ((root / "memory", "memory.limit_in_bytes"), (root, "memory.max")):
        made = parent / ("loom-%d" % os.getpid())
        try:
            made.mkdir()
            (made / limit).write_text(str(LIMIT))
            return made
        except OSError:
            if made.exists():
                made.rmdir()
    print("needs a control group of memory that may be made here")
    sys.exit(77)


def run(path, group_of=None):
    """The bits of two runs in a process of their own."""
    def enter():
        (group_of / "cgroup.procs").write_text(str(os.getpid()))
    done = subprocess.run([sys.executable, "-c", RUN, path], stdout=subprocess.PIPE, check=True,
                          preexec_fn=enter if group_of else None, text=True)
    return done.stdout.split()


def main():
    import numpy as np

    from welvet import Network, layers
    small = group()
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "large.entity")
            network = Network(layers.Sequential(layers.Input(WIDTH), *[
                layers.Linear(WIDTH) for _ in range(LAYERS)]), seed=None)
            values = np.random.default_rng(0).normal(size=WIDTH * WIDTH).astype(np.float32) / 64
            for layer in range(LAYERS):
                network.set("0.0.0.%d:weight" % layer, np.roll(values, layer).reshape(WIDTH, WIDTH))
            network.pack("i8")
            network.save(path)
            network.close()
            size = os.path.getsize(path)
            assert size > 1.9 * LIMIT, size
            free = run(path)
            # Pages count for the group that reads them first.
            with open(path, "rb+") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            held = run(path, small)
        for name in ("memory.max_usage_in_bytes", "memory.peak"):
            if (small / name).exists():
                assert int((small / name).read_text()) > 0.9 * LIMIT, "the limit was not felt"
        assert len(set(free + held)) == 1, "the bits differ"
        print("%d MB run in %d MB" % (size >> 20, LIMIT >> 20))
    finally:
        small.rmdir()


if __name__ == "__main__":
    main()
