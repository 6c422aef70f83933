#!/usr/bin/env python3
"""Language models that Loom writes, in the programs they are written for: HuggingFace folders in
`transformers`, GGUF files in llama.cpp (the package xllamacpp, which has it compiled).

    model_exports.py LOOM_PROGRAM [--families A,B] [--types f32,q8_0]   # 77: packages are missing

The models are the small ones of tests/data/families, given a tokenizer of as many tokens.
* transformers opens a folder that came from a folder, an .entity file and a GGUF file: logits of
  the golden prompt within 1e-4 of the golden ones, which transformers computed from the original;
  its tokenizer has the ids of Loom's.
* llama.cpp opens a GGUF file, continues the prompt greedily for 32 tokens, and each must be the one
  that Loom finds most probable, except where the two best are nearer than 1e-3. That is asked of
  f32 and f16; of the others the divergence of llama.cpp's distributions from those of Loom on the
  same file. It multiplies blocks with activations of 8 bits, Loom with 15, and bf16 with those of
  bf16.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parents[3]
sys.path[0] = str(HERE.parents[2] / "cases")  # this folder's tokenizers.py is no package
try:
    import numpy as np
except ImportError as e:
    print(f"needs numpy: {e}")
    sys.exit(77)
try:
    import torch
    import transformers
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
except ImportError:
    transformers = None
try:
    import xllamacpp
except ImportError:
    xllamacpp = None

FAMILIES = ["llama2_untied", "llama3_scaled_rope", "llama_linear_rope_bias", "qwen2_bias",
            "qwen3_qknorm", "mistral_window"]
NO_GGUF = {"mistral_window"}
LOGITS = 1e-4
MARGIN = 1e-3
# Mean divergence in nats. Those of blocks were set after a measurement: 1.0e-3 to 3.4e-3 for three
# families, the same for both types, so it is not the weights that differ.
KL = {"f32": 1e-6, "f16": 1e-4, "bf16": 1e-3, "q8_0": 1e-2, "q4_0": 1e-2}
TEXTS = ["Hello, world!", "it's 2024: don't\n\n  panic", "the then other"]


def byte_characters():
    """GPT-2's printable character of every byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    other = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(256 + i) for i, b in enumerate(other)}}


def tokenizer_json(size):
    """Byte-level, with three special tokens in front and a few merges."""
    special = ["<pad>", "<bos>", "<eos>"]
    vocab = {t: i for i, t in enumerate(special)}
    characters = byte_characters()
    # ASCII alone: a server holds back tokens that end inside a character.
    for b in [10, *range(32, 127)]:
        vocab[characters[b]] = len(vocab)
    merges = []
    for first in "\u0120abcdefghijklmnopqrstuvwxyz":
        for second in "etaoinshrdlu":
            if len(vocab) < size - 2:  # two ids stay without a token
                vocab[first + second] = len(vocab)
                merges.append(f"{first} {second}")
    added = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for i, t in enumerate(special)]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
             "use_regex": True}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
            "normalizer": None, "pre_tokenizer": level, "post_processor": None, "decoder": level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None,
                      "continuing_subword_prefix": None, "end_of_word_suffix": None,
                      "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": vocab, "merges": merges}}


class Checks:
    """One line for each; what failed decides the exit code."""

    def __init__(self):
        self.failed = 0

    def say(self, good, what, text):
        self.failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {what}: {text}", flush=True)


class Loom:
    """The program."""

    def __init__(self, program):
        self.program = program

    def run(self, *args, text=""):
        done = subprocess.run([self.program, *map(str, args)], input=text, capture_output=True,
                              text=True)
        if done.returncode != 0:
            raise RuntimeError(f"loom {' '.join(map(str, args))}: {done.stderr.strip()}")
        return done.stdout

    def convert(self, source, out, dtype=""):
        if out.exists():
            shutil.rmtree(out) if out.is_dir() else out.unlink()
        name = str(out) if out.suffix else f"{out}/"
        self.run("convert", source, name, *(["--dtype", dtype] if dtype else []))
        return out

    def logits(self, model, ids):
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            self.run("logits", model, "--ids", ",".join(map(str, ids)), "--out", file.name)
            return np.load(file.name).astype(np.float64)

    def tokens(self, model, text):
        return json.loads(self.run("tokenize", model, "--no-special", text=text))


def log_softmax(x):
    x = x - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def in_transformers(checks, what, folder, ids, golden, texts):
    """`texts`: ids of each of TEXTS."""
    try:
        model, info = transformers.AutoModelForCausalLM.from_pretrained(
            str(folder), output_loading_info=True)
    except ValueError as e:
        if "does not recognize" not in str(e):
            raise
        print(f"       {what}: transformers {transformers.__version__} does not have the family")
        return
    model = model.float()
    wrong = [f"{key} {sorted(value)}" for key, value in info.items() if value]
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0].numpy()
    difference = float(np.abs(logits - golden).max())
    checks.say(difference <= LOGITS and not wrong, f"{what} in transformers",
               f"logits within {difference:.1e} of {np.abs(golden).max():.2f}; {wrong or 'loads'}")
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
    got = [tokenizer.encode(t, add_special_tokens=False) for t in TEXTS]
    checks.say(got == texts, f"{what}, its tokenizer", f"{sum(map(len, got))} ids")


class LlamaCpp:
    """A GGUF file in llama.cpp, with a cache of f32."""

    def __init__(self, path):
        p = xllamacpp.CommonParams()
        p.model.path = str(path)
        p.n_ctx, p.n_batch, p.n_ubatch, p.n_parallel = 128, 64, 64, 1
        p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
        p.cache_type_k = p.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
        p.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        p.warmup = False
        p.verbosity = -1
        self.server = xllamacpp.Server(p)

    def greedy(self, ids, count, vocabulary):
        """Ids that it continues with, and before each of them the logarithms of all
        probabilities."""
        answer = self.server.handle_completions(
            {"prompt": ids, "n_predict": count, "temperature": 0.0, "n_probs": vocabulary,
             "ignore_eos": True, "cache_prompt": False, "samplers": ["temperature"]})
        if isinstance(answer, str):
            answer = json.loads(answer)
        if "choices" not in answer:
            raise RuntimeError(f"llama.cpp: {answer}")
        chosen, rows = [], np.full((count, vocabulary), -np.inf)
        for i, step in enumerate(answer["choices"][0]["logprobs"]["content"]):
            chosen.append(step["id"])
            for one in step["top_logprobs"]:
                rows[i, one["id"]] = one["logprob"]
        return chosen, rows


def in_llamacpp(checks, loom, what, path, dtype, prompt, vocabulary):
    chosen, theirs = LlamaCpp(path).greedy(prompt, 32, vocabulary)
    logits = loom.logits(path, prompt + chosen)[len(prompt) - 1:-1]
    ours = log_softmax(logits)
    best = np.sort(logits, axis=-1)[:, -2:]
    clear = best[:, 1] - best[:, 0] > MARGIN
    same = logits.argmax(axis=-1) == np.array(chosen)
    seen = np.isfinite(theirs)
    kl = np.where(seen, np.exp(ours) * (ours - np.where(seen, theirs, 0)), 0).sum(axis=-1)
    count = len(chosen)
    checks.say(count == 32 and bool(seen.all()), f"{what} in llama.cpp",
               f"{count} tokens, {seen.mean():.0%} of the probabilities")
    if dtype in ("f32", "f16"):
        checks.say(bool((same | ~clear).all()), f"{what}, greedy",
                   f"{same.sum()} of {count} equal, {(~clear).sum()} are within {MARGIN}")
    checks.say(float(kl.mean()) <= KL[dtype], f"{what}, divergence",
               f"{kl.mean():.1e} nats on average, {kl.max():.1e} at most")


def check_family(checks, loom, name, types, folder):
    source = folder / name
    shutil.copytree(ROOT / "tests/data/families" / name, source)
    config = json.loads((source / "config.json").read_text())
    vocabulary = config["vocab_size"]
    (source / "tokenizer.json").write_text(json.dumps(tokenizer_json(vocabulary)))
    (source / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<bos>", "eos_token": "<eos>",
         "pad_token": "<pad>"}))
    ids = json.loads((source / "golden.json").read_text())["ids"]
    golden = np.fromfile(source / "golden_logits.f32", "<f4").reshape(len(ids), vocabulary)
    texts = [loom.tokens(source, t) for t in TEXTS]
    entity = loom.convert(source, folder / "m.entity")
    sources = {"folder": source, "entity": entity}
    if name not in NO_GGUF:
        sources["gguf"] = loom.convert(source, folder / "m.gguf")
    if transformers:
        for kind, path in sources.items():
            hf = loom.convert(path, folder / "hf")
            in_transformers(checks, f"{name} from {kind}", hf, ids, golden, texts)
    if xllamacpp and name not in NO_GGUF:
        for dtype in types:
            path = loom.convert(entity, folder / "t.gguf", dtype)
            in_llamacpp(checks, loom, f"{name} {dtype}", path, dtype, ids, vocabulary)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("loom")
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--types", default="f32,f16,bf16,q8_0,q4_0")
    args = parser.parse_args()
    if not transformers and not xllamacpp:
        print("needs torch and transformers, or xllamacpp")
        sys.exit(77)
    for package in ("transformers" if not transformers else "",
                    "xllamacpp" if not xllamacpp else ""):
        if package:
            print(f"without {package}: its part is left out")
    checks = Checks()
    for name in args.families.split(","):
        with tempfile.TemporaryDirectory() as folder:
            check_family(checks, Loom(args.loom), name, args.types.split(","), pathlib.Path(folder))
    print(f"{checks.failed} failed")
    sys.exit(checks.failed > 0)


if __name__ == "__main__":
    main()
