#!/usr/bin/env python3
"""Speed of language models beside llama.cpp on this machine, same shapes, random weights; run by
./dev bench peers, by hand, not in CI.

Everything lies in build/peers: the source package of llama-cpp-python from PyPI, its llama.cpp
built for this CPU, the GGUF files. Both programs run in turn, --pairs times each; what is printed
is the median of the pairs' ratios, with the extremes (performance.md, 6).
"""
import argparse, json, pathlib, re, statistics, struct, subprocess, sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / "build" / "peers"
LLAMA = PEERS / "llama"
LOOM = ROOT / "build" / "release" / "loom"

# name: architecture, hidden, intermediate, layers, heads, kv heads, vocabulary, theta, eps
SHAPES = {
    "smollm2-135m": ("llama", 576, 1536, 30, 9, 3, 49152, 1e5, 1e-5),
    "qwen2.5-0.5b": ("qwen2", 896, 4864, 24, 14, 2, 151936, 1e6, 1e-6),
}
LOADS = "_tile_loadconfig("
FORMATS = ("q4_0", "q4_k_m")
OPTIONS = ["CMAKE_BUILD_TYPE=Release", "BUILD_SHARED_LIBS=OFF", "GGML_NATIVE=ON", "LLAMA_CURL=OFF",
           "LLAMA_OPENSSL=OFF", "LLAMA_BUILD_TESTS=OFF", "LLAMA_BUILD_EXAMPLES=OFF",
           "LLAMA_BUILD_SERVER=OFF", "LLAMA_BUILD_UI=OFF"]
F16, Q4_0 = (1, 2), (2, 18 / 32)  # the type's number in the format, bytes a value


def source():
    """The folder of llama.cpp's source, which comes with the package."""
    PEERS.mkdir(parents=True, exist_ok=True)
    if not any(PEERS.glob("llama_cpp_python-*.tar.gz")):
        subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary",
                        "llama-cpp-python", "-d", PEERS, "llama-cpp-python"], check=True)
    package = next(PEERS.glob("llama_cpp_python-*.tar.gz"))
    folder = PEERS / package.name.removesuffix(".tar.gz") / "vendor" / "llama.cpp"
    if not folder.exists():
        subprocess.run(["tar", "xzf", package, "-C", PEERS], check=True)
    return folder


def build():
    if (LLAMA / "bin" / "llama-quantize").exists() and (LLAMA / "bin" / "llama-bench").exists():
        return
    folder = source()
    # gcc 12 does not see that the instruction reads the shapes, and leaves out what wrote them.
    tiles = folder / "ggml/src/ggml-cpu/amx/mmq.cpp"
    text = tiles.read_text()
    if LOADS in text and "asm volatile" not in text:
        tiles.write_text(text.replace(LOADS, 'asm volatile("" ::: "memory"); ' + LOADS))
    subprocess.run(["cmake", "-S", folder, "-B", LLAMA, "-G", "Ninja",
                    *("-D" + o for o in OPTIONS)], check=True)
    subprocess.run(["nice", "-n", "19", "cmake", "--build", LLAMA, "-j2", "--target", "llama-bench",
                    "llama-quantize"], check=True)


def write_gguf(path, shape, form=F16, tied=True):
    """A GGUF file (version 3) without a tokenizer, its matrices in F16 or Q4_0: random values below
    0.05, of Philox(1)."""
    arch, hidden, wide, layers, heads, kv_heads, vocabulary, theta, eps = shape
    kv = hidden // heads * kv_heads
    tensors = [("token_embd.weight", (vocabulary, hidden))]
    for n in range(layers):
        sizes = {"attn_q": (hidden, hidden), "attn_k": (kv, hidden), "attn_v": (kv, hidden),
                 "attn_output": (hidden, hidden), "ffn_gate": (wide, hidden),
                 "ffn_up": (wide, hidden), "ffn_down": (hidden, wide)}
        tensors += [(f"blk.{n}.{name}.weight", size) for name, size in sizes.items()]
        tensors += [(f"blk.{n}.{name}_norm.weight", (hidden,)) for name in ("attn", "ffn")]
        if arch == "qwen2":
            tensors += [(f"blk.{n}.attn_{name}.bias", (size,)) for name,
                        size in (("q", hidden), ("k", kv), ("v", kv))]
    tensors.append(("output_norm.weight", (hidden,)))
    if not tied:
        tensors.append(("output.weight", (vocabulary, hidden)))
    text = lambda s: struct.pack("<Q", len(s)) + s.encode()
    u32 = lambda key, v: text(key) + struct.pack("<II", 4, v)
    f32 = lambda key, v: text(key) + struct.pack("<If", 6, v)
    string = lambda key, v: text(key) + struct.pack("<I", 8) + text(v)
    meta = [string("general.architecture", arch), string("tokenizer.ggml.model", "none"),
            u32(arch + ".vocab_size", vocabulary), u32(arch + ".context_length", 2048),
            u32(arch + ".embedding_length", hidden),
            u32(arch + ".block_count", layers), u32(arch + ".feed_forward_length", wide),
            u32(arch + ".attention.head_count", heads),
            u32(arch + ".attention.head_count_kv", kv_heads),
            u32(arch + ".rope.dimension_count", hidden // heads),
            f32(arch + ".rope.freq_base", theta),
            f32(arch + ".attention.layer_norm_rms_epsilon", eps)]
    table, at = b"", 0
    for name, size in tensors:
        number, value_bytes = form if len(size) == 2 else (0, 4)
        table += text(name) + struct.pack("<I", len(size))
        table += b"".join(struct.pack("<Q", n) for n in reversed(size))
        table += struct.pack("<IQ", number, at)
        at += (int(np.prod(size) * value_bytes) + 31) // 32 * 32
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(meta)) + b"".join(meta) + table
    random = np.random.Generator(np.random.Philox(1))
    with open(path, "wb") as f:
        f.write(head + bytes(-len(head) % 32))
        for name, size in tensors:
            if len(size) == 1:
                data = np.full(size, 1 if "norm" in name else 0, "<f4")
            elif form is Q4_0:  # a scale in f16, then codes, whose middle is 8
                data = random.integers(0, 256, (int(np.prod(size)) // 32, 18), np.uint8)
                data[:, :2] = np.frombuffer(np.float16(0.05 / 8).tobytes(), np.uint8)
            else:
                data = ((random.random(size, dtype=np.float32) - 0.5) * 0.1).astype("<f2")
            f.write(data.tobytes() + bytes(-data.nbytes % 32))


def model_file(name, form):
    path = PEERS / f"{name}-{form}.gguf"
    if not path.exists():
        full = PEERS / f"{name}-f16.gguf"
        if not full.exists():
            write_gguf(full, SHAPES[name])
        command = [LLAMA / "bin" / "llama-quantize", *(["--pure"] if form == "q4_0" else []), full,
                   path, form.upper(), "2"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"llama-quantize {name} {form} failed:\n{done.stderr[-2000:]}")
    return path


def run_llama(path, threads):
    out = subprocess.run(
        [LLAMA / "bin" / "llama-bench", "-m", path, "-t", str(threads), "-p", "128,512", "-n", "64",
         "-r", "2", "-o", "json"], capture_output=True, text=True, check=True).stdout
    rows = json.loads(out)
    return {("decode" if r["n_gen"] else f"prefill {r['n_prompt']}"): r["avg_ts"]
            for r in rows}, rows[0]["model_size"]


def run_loom(name, dtype, threads, activations):
    out = subprocess.run(
        [LOOM, "bench", "llm", "--model", name, "--dtype", dtype, "--threads", str(threads),
         "--repeats", "3", "--activations", activations], capture_output=True, text=True,
        check=True).stdout
    find = lambda pattern: float(re.search(pattern, out)[1])
    speeds = {"prefill 128": find(r"prefill 128: ([\d.]+)"),
              "prefill 512": find(r"prefill 512: ([\d.]+)"), "decode": find(r"decode 64: ([\d.]+)")}
    return speeds, find(r"([\d.]+) GB/s, [\d.]+ %"), find(r"read bandwidth ([\d.]+)")


def main():
    p = argparse.ArgumentParser(prog="./dev bench peers", description=__doc__)
    p.add_argument("--models", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    p.add_argument("--formats", nargs="+", default=list(FORMATS), choices=[*FORMATS, "f16"],
                   help="of llama.cpp")
    p.add_argument("--dtype", default="i4", help="Loom's weights")
    p.add_argument("--activations", default="q15", choices=("q15", "i8"),
                   help="Loom's, in 15 bits or in 8 as llama.cpp's")
    p.add_argument("--pairs", type=int, default=5)
    p.add_argument("--threads", type=int, default=2)
    a = p.parse_args()
    build()
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    print(f"{cpu[1] if cpu else 'unknown CPU'}, {a.threads} threads, {a.pairs} pairs; tokens/s")
    for name in a.models:
        for form in a.formats:
            path = model_file(name, form)
            pairs = []
            for _ in range(a.pairs):
                theirs, size = run_llama(path, a.threads)
                ours, rate, bandwidth = run_loom(name, a.dtype, a.threads, a.activations)
                pairs.append((ours, theirs, rate, bandwidth))
            print(f"{name}: loom {a.dtype}, {a.activations} against llama.cpp {form} "
                  f"({size / 1e6:.0f} MB)")
            for what in ("prefill 128", "prefill 512", "decode"):
                ratios = [o[what] / t[what] for o, t, _, _ in pairs]
                ours, theirs = (statistics.median(pair[i][what] for pair in pairs) for i in (0, 1))
                print(f"  {what:12} {ours:8.1f} / {theirs:8.1f}   ratio "
                      f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
            rate, bandwidth = (statistics.median(pair[i] for pair in pairs) for i in (2, 3))
            theirs = statistics.median(t["decode"] for _, t, _, _ in pairs) * size / 1e9
            print(f"  decode reads {rate:.1f} GB/s, llama.cpp {theirs:.1f}; memory delivers "
                  f"{bandwidth:.1f} to loom's reader: {100 * rate / bandwidth:.0f} %", flush=True)


if __name__ == "__main__":
    main()
