#!/usr/bin/env python3
"""Speed of language models on a GPU beside llama.cpp's CUDA build, from the same Q4_0 files, and of
training beside PyTorch on CUDA; run by ./dev bench gpu-peers, by hand, not in CI.

    ./dev bench gpu-peers --pack     # where there is a network: all that is needed, build/gpu-peers
    ./dev bench gpu-peers            # where the GPU is; packs first what is missing

The pack (29 MB) holds llama.cpp's source without what the benchmark does not need, the libraries
that NVIDIA's Vulkan driver loads, a current Dawn (PyPI's wgpudawn) and libloom.so, so that the
machine of the GPU needs nvcc, CMake, Python with NumPy, and no network. llama.cpp is built there
for that GPU. Loom and llama.cpp run in turn, --pairs times each; what is printed is the median of
the pairs' ratios, with the extremes. --check runs a tiny model here: llama.cpp on the CPU, Loom on
whatever adapter there is.
"""
import argparse, json, os, pathlib, shutil, statistics, subprocess, sys, tempfile

import peers

ROOT = peers.ROOT
PACK = ROOT / "build" / "gpu-peers"
LLAMA = PACK / "llama"  # the build with CUDA
SHAPES = {
    "135m": (*peers.SHAPES["smollm2-135m"], True),
    "1.5b": ("qwen2", 1536, 8960, 28, 12, 2, 151936, 1e6, 1e-6, True),
    "7b": ("qwen2", 3584, 18944, 28, 28, 4, 152064, 1e6, 1e-6, False),
    "tiny": ("qwen2", 128, 256, 2, 2, 1, 512, 1e6, 1e-6, False),
}
# Of llama.cpp: what llama-bench with CUDA is built of.
PARTS = ("CMakeLists.txt", "LICENSE", "cmake", "common", "ggml", "include", "src", "vendor",
         "tools/CMakeLists.txt", "tools/llama-bench")
BACKENDS = ("ggml-cpu", "ggml-cuda")  # of ggml/src/ggml-*
# What libEGL_nvidia, the driver's Vulkan part, loads.
X_PACKAGES = ("libvulkan1 libglx0 libglvnd0 libx11-6 libxext6 libxcb1 libxau6 libxdmcp6 libbsd0 "
              "libmd0").split()
DRAWS = {"decode, temperature 0.8": 1.0, "decode, temperature 0.8, top_p 0.9": 0.9}  # top_p
PYTHON = "3.12"  # of the machine with the GPU


# ---- the pack

def pack_source():
    archive = PACK / "llama.tar.xz"
    if archive.exists():
        return
    folder = peers.source()
    with tempfile.TemporaryDirectory() as scratch:
        for part in PARTS:
            target = pathlib.Path(scratch) / "llama.cpp" / part
            target.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (folder / part).is_dir() else shutil.copy
            copy(folder / part, target)
        top = pathlib.Path(scratch) / "llama.cpp"
        for path in list(top.glob("ggml/src/ggml-*")):
            if path.is_dir() and path.name not in BACKENDS:
                shutil.rmtree(path)
        (top / "tools" / "CMakeLists.txt").write_text("add_subdirectory(llama-bench)\n")
        subprocess.run(["tar", "-C", scratch, "-cJf", archive, "llama.cpp"], check=True)


def pack_libraries():
    folder = PACK / "lib"
    if folder.exists():
        return
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["apt-get", "download", *X_PACKAGES], cwd=scratch, check=True,
                       stdout=subprocess.DEVNULL)
        for package in pathlib.Path(scratch).glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, scratch], check=True)
        folder.mkdir()
        for library in pathlib.Path(scratch).glob("usr/lib/*/*.so*"):
            if library.is_symlink():  # the name that others ask for
                shutil.copy(library, folder / library.name)


def pack_python():
    folder = PACK / "py"
    if folder.exists():
        return
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:",
                        "--python-version", PYTHON, "--implementation", "cp",
                        *(f"--platform=manylinux{n}_x86_64" for n in ("_2_28", "_2_17", "2014")),
                        "--no-deps", "-d", scratch, "wgpudawn", "cffi", "pycparser"], check=True)
        for wheel in pathlib.Path(scratch).glob("*.whl"):
            shutil.unpack_archive(wheel, folder, "zip")


def pack():
    PACK.mkdir(parents=True, exist_ok=True)
    pack_source()
    pack_libraries()
    pack_python()
    # Stripped: what travels is the code alone.
    subprocess.run(["strip", "-o", PACK / "libloom.so", ROOT / "build/release/libloom.so"],
                   check=True)
    size = sum(p.stat().st_size for name in ("llama.tar.xz", "lib", "py", "libloom.so")
               for p in ([PACK / name] if (PACK / name).is_file() else (PACK / name).rglob("*"))
               if p.is_file())
    print(f"{PACK.relative_to(ROOT)}: {size / 1e6:.1f} MB")


# ---- where the GPU is

def build_llama():
    if (LLAMA / "bin" / "llama-bench").exists():
        return
    subprocess.run(["tar", "-C", PACK, "-xJf", PACK / "llama.tar.xz"], check=True)
    options = [*peers.OPTIONS, "GGML_CUDA=ON", "CMAKE_CUDA_ARCHITECTURES=native",
               "LLAMA_BUILD_TOOLS=ON",
               "LLAMA_BUILD_APP=OFF"]
    subprocess.run(["cmake", "-S", PACK / "llama.cpp", "-B", LLAMA,
                    *(["-G", "Ninja"] if shutil.which("ninja") else []),
                    *("-D" + o for o in options)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", LLAMA, "--target", "llama-bench", "-j",
                    str(os.cpu_count())], check=True, stdout=subprocess.DEVNULL)


def environment():
    """Of the program that runs Loom: the driver's libraries, and where it finds the driver."""
    env = dict(os.environ, LOOM_LIBRARY=str(PACK / "libloom.so"))
    paths = [str(ROOT / "bindings" / "python")]
    if sys.version_info[:2] == tuple(int(n) for n in PYTHON.split(".")):
        paths.append(str(PACK / "py"))
    env["PYTHONPATH"] = os.pathsep.join(paths + [p for p in [env.get("PYTHONPATH")] if p])
    if shutil.which("nvidia-smi") and "VK_ICD_FILENAMES" not in env:
        driver = PACK / "nvidia_icd.json"
        driver.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": {
            "library_path": "libEGL_nvidia.so.0", "api_version": "1.3.277"}}))
        env["VK_ICD_FILENAMES"] = str(driver)
        env["LD_LIBRARY_PATH"] = os.pathsep.join(
            [str(PACK / "lib")] + [p for p in [env.get("LD_LIBRARY_PATH")] if p])
        env.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    return env


RUNS = r"""
import json, sys
import welvet
try:
    from wgpudawn._lib import ffi, lib
    welvet.use_webgpu(ffi.addressof(lib, "wgpuGetProcAddress"))
except ImportError:
    pass  # LOOM_WEBGPU_LIBRARY, or Dawn where the system has it
device = welvet.audit(device="gpu")["gpus"]
if not device:
    sys.exit("Loom finds no adapter: docs/reference/modes.md, The library of WebGPU")
print(json.dumps({"device": device[0]["name"], "numerics": device[0]["numerics"]}), flush=True)
model = welvet.Transformer(sys.argv[1], sys.argv[2], context=1024, mode="gpu-mc")
vocabulary = model.info["vocab_size"]
for run, line in enumerate(sys.stdin):
    prompt, new, temperature, top_p = json.loads(line)
    # No text begins as the one before it did: nothing of a prompt is remembered.
    ids = [(run + 7919 * i) % vocabulary for i in range(prompt)]
    text = model.generate(ids, max_tokens=new, temperature=temperature, top_p=top_p,
                          seed=1)
    info = text.info
    print(json.dumps({"prefill": info["prefill_tokens"] / info["prefill_seconds"],
                      "decode": info["decode_tokens"] / max(info["decode_seconds"], 1e-9),
                      "ids": text.tokens[:8]}), flush=True)
"""


class Loom:
    """A process that keeps the model on the device and runs what it is asked to."""

    def __init__(self, path, dtype, new):
        self.new = new  # ids of a text
        self.process = subprocess.Popen([sys.executable, "-c", RUNS, path, dtype],
                                        env=environment(), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"Loom ended with {self.process.wait()}")
        return json.loads(line)

    def run(self, prompt, new, temperature=0.0, top_p=1.0):
        self.process.stdin.write(json.dumps([prompt, new, temperature, top_p]) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def speeds(self):
        found = {f"prefill {n}": self.run(n, 1)["prefill"] for n in (128, 512)}
        found["decode"] = self.run(1, self.new)["decode"]
        for name, top_p in DRAWS.items():
            found[name] = self.run(1, self.new, 0.8, top_p)["decode"]
        return found


def run_llama(path, on_cpu, new):
    program = (peers.LLAMA if on_cpu else LLAMA) / "bin" / "llama-bench"
    options = ["-t", "2"] if on_cpu else ["-ngl", "99", "-fa", "1"]
    out = subprocess.run([program, "-m", path, *options, "-p", "128,512", "-n", str(new), "-r", "3",
                          "-o", "json"], capture_output=True, text=True, check=True).stdout
    found = {("decode" if r["n_gen"] else f"prefill {r['n_prompt']}"): r["avg_ts"]
             for r in json.loads(out)}
    return {**found, **dict.fromkeys(DRAWS, found["decode"])}  # it samples nothing


def compare(name, dtype, pairs, on_cpu, new):
    path = PACK / f"{name}-q4_0.gguf"
    *shape, tied = SHAPES[name]
    if not path.exists():
        peers.write_gguf(path, shape, peers.Q4_0, tied)
    loom = Loom(path, dtype, new)
    loom.speeds()  # pipelines are made, memory is taken
    rows = [(loom.speeds(), run_llama(path, on_cpu, new)) for _ in range(pairs)]
    size = path.stat().st_size - (18 * shape[1] * shape[6] // 32 if not tied else 0)
    print(f"{name}: Loom in {dtype} on {loom.about['device']} ({loom.about['numerics']}) / "
          f"llama.cpp in Q4_0 {'on two threads' if on_cpu else 'by CUDA'}, tokens/s, {pairs} pairs")
    for what in rows[0][0]:
        ratios = [ours[what] / theirs[what] for ours, theirs in rows]
        ours, theirs = (statistics.median(row[i][what] for row in rows) for i in (0, 1))
        read = f"   {ours * size / 1e9:.0f} GB/s of weights" if what == "decode" else ""
        print(f"  {what:34} {ours:9.1f} / {theirs:9.1f}   ratio {statistics.median(ratios):.2f} "
              f"({min(ratios):.2f} to {max(ratios):.2f}){read}", flush=True)


def train(on_cpu):
    """Six networks in one submission after another beside PyTorch, eager and as CUDA graphs; a
    decoder of 34 M parameters beside PyTorch in eager mode."""
    peer = ["--mode", "gpu-mc", "--torch", "cpu" if on_cpu else "cuda"]
    decoder = ["--layers", "1", "--vocab", "64", "--batch", "1", "--length", "16", "--rounds", "1"]
    if not on_cpu:
        decoder = ["--layers", "9", "--vocab", "4096", "--batch", "4", "--length", "256"]
    for tool, options in (("training.py", ["--rounds", "1", "dense"] if on_cpu else []),
                          ("lm_training.py", ["--threads", "1", *decoder])):
        subprocess.run([sys.executable, ROOT / "tools" / "bench" / tool, *peer, *options],
                       env=environment(), check=True)


def main():
    p = argparse.ArgumentParser(prog="./dev bench gpu-peers", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pack", action="store_true", help="make the pack and stop")
    p.add_argument("--models", nargs="+", default=["135m", "1.5b", "7b"], choices=list(SHAPES))
    p.add_argument("--dtype", default="i4", help="Loom's weights: i4, of as many bits as Q4_0, or "
                   "q4_0, the file's blocks as they are")
    p.add_argument("--pairs", type=int, default=5)
    p.add_argument("--ids", type=int, default=128, help="of a decoded text, up to 1023")
    p.add_argument("--no-training", action="store_true", help="language models alone")
    p.add_argument("--check", action="store_true", help="a tiny model, without CUDA")
    a = p.parse_args()
    if not 1 <= a.ids < 1024:
        p.error(f"--ids is from 1 to 1023, got {a.ids}")
    ready = all((PACK / name).exists() for name in ("llama.tar.xz", "lib", "py", "libloom.so"))
    if a.pack or not ready:
        pack()
    if a.pack:
        return
    if a.check:
        peers.build()
    else:
        build_llama()
    for name in ["tiny"] if a.check else a.models:
        compare(name, a.dtype, 1 if a.check else a.pairs, a.check, a.ids)
    if not a.no_training:
        train(a.check)


if __name__ == "__main__":
    main()
