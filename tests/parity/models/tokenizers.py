#!/usr/bin/env python3
"""Loom's tokenizers against others' answers: the goldens of the test material, and the `tokenizers`
package on random strings.

usage: tokenizers.py DRIVER... [--data DIR] [--count N] [--seed S]
DRIVER is the program that tokenizes, with its leading arguments:
build/release/tests/tokenize_driver, or build/release/loom tokenize. N strings are shared by four
vocabularies; ids with and without special tokens and the decoded text must all be equal. Exit code
0: no difference. 77: there is no test material.
"""
import argparse
import base64
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

FAMILIES = ["smollm2", "qwen2", "llama3.2", "llama2"]
# Golden name -> vocabulary of the test material.
GOLDEN = {
    "Xenova/gpt2": "gpt2", "openai-community/gpt2": "gpt2",
    "Xenova/llama-tokenizer": "llama2",
    "Xenova/llama3-tokenizer": "llama3.2", "Xenova/llama3-tokenizer-new": "llama3.2",
    "Xenova/Qwen1.5-0.5B-Chat": "qwen2", "Xenova/gpt-4": "cl100k",
}


def driver(command, path, inputs, *flags):
    lines = "".join(json.dumps(x, ensure_ascii=False) + "\n" for x in inputs)
    done = subprocess.run([*command, path, "--lines", *flags], input=lines.encode("utf-8"),
                          stdout=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed on {path} with {done.returncode}")
    out = [json.loads(line) for line in done.stdout.decode("utf-8").split("\n")[:-1]]
    assert len(out) == len(inputs), (len(out), len(inputs))
    return out


class Report:
    def __init__(self):
        self.failures = 0

    def compare(self, what, inputs, got, expected):
        bad = [i for i in range(len(inputs)) if got[i] != expected[i]]
        self.failures += len(bad)
        print(f"{what}: {len(inputs) - len(bad)} of {len(inputs)} equal")
        for i in bad[:3]:
            print(f"  {inputs[i]!r}\n    got      {got[i]!r}\n    expected {expected[i]!r}")


def unpack(data, temp):
    """Folders with a tokenizer.json and its configuration, gunzipped where needed; name -> path."""
    found = {"stories260K": os.path.join(data, "stories260K", "hf")}
    root = os.path.join(data, "tokenizers")
    for name in sorted(os.listdir(root)):
        for packed in ("tokenizer.json", "tokenizer.json.gz"):
            source = os.path.join(root, name, packed)
            if not os.path.exists(source):
                continue
            folder = os.path.join(temp, name)
            os.makedirs(folder)
            with (gzip.open if packed.endswith(".gz") else open)(source, "rb") as f:
                with open(os.path.join(folder, "tokenizer.json"), "wb") as out:
                    shutil.copyfileobj(f, out)
            config = os.path.join(root, name, "tokenizer_config.json")
            if os.path.exists(config):
                shutil.copyfile(config, os.path.join(folder, "tokenizer_config.json"))
            found[name] = folder
    found["cl100k"] = os.path.join(temp, "cl100k")
    from_tiktoken(os.path.join(root, "tiktoken", "cl100k_base.tiktoken"), found["cl100k"])
    return found


def from_tiktoken(source, folder):
    """cl100k_base as a tokenizer.json: a token's merge is the pair that is left when the ranks
    below its own are applied."""
    with open(source, "rb") as f:
        ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in f)}
    kept = [b for b in range(256) if 33 <= b <= 126 or (b >= 161 and b != 173)]
    spelling = {b: chr(b) for b in kept}
    for b in range(256):
        spelling.setdefault(b, chr(256 + len(spelling) - len(kept)))

    def spelled(token):
        return "".join(spelling[b] for b in token)

    merges = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        parts = [bytes([b]) for b in token]
        while len(parts) > 2:
            best = min(range(len(parts) - 1),
                       key=lambda i: ranks.get(parts[i] + parts[i + 1], rank))
            parts[best:best + 2] = [parts[best] + parts[best + 1]]
        if len(parts) == 2:
            merges.append([spelled(parts[0]), spelled(parts[1])])
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| "
        r"?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    os.makedirs(folder)
    with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as f:
        json.dump({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
                   "normalizer": None, "post_processor": None,
                   "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                       {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed",
                        "invert": True},
                       {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
                        "use_regex": False}]},
                   "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True,
                               "use_regex": True},
                   "model": {"type": "BPE", "dropout": None, "unk_token": None,
                             "continuing_subword_prefix": None, "end_of_word_suffix": None,
                             "fuse_unk": False, "byte_fallback": False,
                             "vocab": {spelled(t): r for t, r in ranks.items()}, "merges": merges}},
                               f)


def goldens(report, command, data, folders):
    with open(os.path.join(data, "stories260K", "golden_encode.json"), encoding="utf-8") as f:
        cases = json.load(f)
    texts = [c["text"] for c in cases]
    report.compare("golden stories260K", texts, driver(command, folders["stories260K"], texts),
                   [c["ids"] for c in cases])
    with open(os.path.join(data, "tokenizer_golden", "smollm2_ids_from_ember.json"),
              encoding="utf-8") as f:
        cases = json.load(f)
    texts = [c["text"] for c in cases]
    report.compare("golden smollm2", texts,
                   driver(command, folders["smollm2"], texts, "--no-special"),
                   [c["ids"] for c in cases])
    with open(os.path.join(data, "tokenizer_golden", "transformersjs_tokenization.json"),
              encoding="utf-8") as f:
        everything = json.load(f)
    from tokenizers import Tokenizer
    for name, golden in everything.items():
        vocabulary = GOLDEN.get(name)
        if not vocabulary:
            continue
        cases = list(golden["cases"].values())
        # The vocabulary at hand may be another release of the same family: a case counts where the
        # package agrees with it.
        reference = Tokenizer.from_file(os.path.join(folders[vocabulary], "tokenizer.json"))
        usable = [c for c in cases if reference.encode(c["text"]).ids == c["ids"]
                  or reference.encode(c["text"], add_special_tokens=False).ids == c["ids"]]
        texts = [c["text"] for c in usable]
        with_special = driver(command, folders[vocabulary], texts)
        without = driver(command, folders[vocabulary], texts, "--no-special")
        got = [a if a == c["ids"] else b for a, b, c in zip(with_special, without, usable)]
        report.compare(f"golden {name} ({len(cases) - len(usable)} of another vocabulary)", texts,
                       got, [c["ids"] for c in usable])
        ids = [c["ids"] for c in usable]
        report.compare("  decode", ids, driver(command, folders[vocabulary], ids, "--decode"),
                       [reference.decode(i, skip_special_tokens=False) for i in ids])


def alphabet_pieces(rng, specials):
    words = ["Once", " upon", " a", " time", "the", "ing", "can't", "I'LL", "we've", "'s", "'ſ",
             "Straße", "naïve", "中文", "日本語", "한국어",
             "हिन्दी", "العربية", "עברית", "ไทย", "Ελληνικά", "Русский", "👍🏽", "👨‍👩‍👧‍👦", "🇨🇭",
             "e\u0301", "A\u030a", "\u1112\u1161\u11ab",
             "\u2126", "\ufb01", "½", "Ⅷ", "٣", "१२३", "1234567", "3.14159", "==", "...", "!!!",
             "->", "()", "{}", "\\n", "<", ">", "▁", "Ġ",
             "<0x0A>", "<s", "</s>", "<|", "|>"]
    blanks = [" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r", "\u00a0", "\u3000", "\u2028",
              "\u0085", "\v", "\u200b", "\u200d", "\ufeff"]

    def piece():
        kind = rng.randrange(14)
        if kind < 3:
            return rng.choice(words)
        if kind < 5:
            return rng.choice(blanks) * rng.choice((1, 1, 1, 2, 5))
        if kind == 5:
            return chr(rng.randrange(0x20, 0x7F))
        if kind == 6:
            return "".join(rng.choice("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
                           for _ in range(rng.randrange(1, 12)))
        if kind == 7:
            return chr(rng.randrange(0, 0x300))
        if kind == 8:
            return chr(rng.choice((0x300, 0x323, 0x345, 0x327, 0x93C, 0x5B0, 0x20D0))
                       + rng.randrange(0, 16))
        if kind == 9:
            c = rng.randrange(0x110000)
            return chr(c) if not 0xD800 <= c < 0xE000 else "\ufffd"
        if kind == 10:
            c = rng.choice((0x370, 0x400, 0x600, 0x900, 0xE00, 0x1100, 0x1E00, 0x2000, 0x2C00,
                            0x3000, 0x4E00, 0xA000, 0xAC00, 0xF900, 0xFE00,
                            0x10000, 0x1D400, 0x1F000, 0x20000, 0xE0000)) + rng.randrange(256)
            return chr(c)
        if kind == 11:
            return chr(rng.randrange(0x1F300, 0x1FAFF)) + rng.choice(
                ("", "\ufe0f", "\u200d", "\U0001f3fd"))
        if kind == 12:
            return rng.choice(specials) if specials else ""
        return rng.choice("0123456789") * rng.randrange(1, 6)
    return piece


def fuzz(report, command, name, folder, count, seed):
    from tokenizers import Tokenizer
    reference = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    rng = random.Random(f"{seed} {name}")
    specials = [t.content for t in reference.get_added_tokens_decoder().values()]
    piece = alphabet_pieces(rng, specials)
    vocabulary = reference.get_vocab_size()
    for first in range(0, count, 20000):
        n = min(20000, count - first)
        texts = ["".join(piece() for _ in range(rng.choice((0, 1, 2, 3, 5, 8, 13, 30))))
                 for _ in range(n)]
        expected = [e.ids for e in reference.encode_batch(texts)]
        report.compare(f"fuzz {name} ids", texts, driver(command, folder, texts), expected)
        expected = [e.ids for e in reference.encode_batch(texts, add_special_tokens=False)]
        report.compare(f"fuzz {name} ids without special tokens", texts,
                       driver(command, folder, texts, "--no-special"), expected)
        # Half of the decoded sequences are real, half random ids: broken characters, byte tokens in
        # any order, ids that do not exist.
        ids = [expected[i] if i % 2
               else [rng.randrange(vocabulary + 2) if rng.randrange(3) else rng.randrange(300)
                     for _ in range(rng.randrange(12))]
               for i in range(n)]
        report.compare(f"fuzz {name} decode", ids, driver(command, folder, ids, "--decode"),
                       reference.decode_batch(ids, skip_special_tokens=False))
        report.compare(f"fuzz {name} decode without special tokens", ids,
                       driver(command, folder, ids, "--decode", "--no-special"),
                       reference.decode_batch(ids, skip_special_tokens=True))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("driver", nargs="+")
    parser.add_argument("--data",
                        default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                                             "..", "..", "shared", "data"))
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if not os.path.isdir(args.data):
        print("no test material", file=sys.stderr)
        return 77
    report = Report()
    with tempfile.TemporaryDirectory() as temp:
        folders = unpack(args.data, temp)
        goldens(report, args.driver, args.data, folders)
        for name in FAMILIES:
            fuzz(report, args.driver, name, folders[name], args.count // len(FAMILIES), args.seed)
    print(f"{report.failures} differences")
    return 1 if report.failures else 0


if __name__ == "__main__":
    # This file has the name of the package it needs: its folder must not come first on the path.
    sys.path = [p for p in sys.path
                if os.path.abspath(p or ".") != os.path.dirname(os.path.abspath(__file__))]
    sys.exit(main())
