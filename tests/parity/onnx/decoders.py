#!/usr/bin/env python3
"""Language models that Loom writes as ONNX decoders, in ONNX Runtime.

    decoders.py LOOM_PROGRAM [--models A,B] [--types f32,q4_0,...]      # 77: packages are missing

The models are those of tests/data/families, and stories260K where ../shared/data has it. Each is
converted with its weights in a type, the 4 and 8 bits also as MatMulNBits; onnx.checker passes, and
* logits of a prompt in one run agree within 1e-4 with Loom's of the same values in f32. Its own
  products of bf16, 4 and 8 bits take activations of 15 or 16 bits (docs/reference/numerics.md), and
  ONNX Runtime's those of f32: how far Loom's results in the type itself are is printed;
* the prompt token by token, with the keys and values of the run before, agrees with one run;
* positions from 100,000 on have the same logits, which depend on distances alone: angles are exact;
* of a batch of two, the shorter one filled up on the left, each agrees with itself alone;
* 32 greedy tokens with the cache are those that Loom finds most probable, except where the two
  best are nearer than 1e-3.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as e:
    print(f"needs numpy, onnx and onnxruntime: {e}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODELS = ["llama2_untied", "llama3_scaled_rope", "llama_linear_rope_bias", "qwen2_bias",
          "qwen3_qknorm", "mistral_window", "stories260K"]
TYPES = ["f32", "f16", "bf16", "i8", "q8_0", "q4_0", "q8_0 nbits", "q4_0 nbits", "i8 nbits"]
LOGITS = 1e-4
MARGIN = 1e-3
COUNT = 32
FAR = 100_000


def loom(program, *args):
    done = subprocess.run([program, *map(str, args)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"loom {' '.join(map(str, args))}: {done.stderr.strip()}")
    return done.stdout


def logits_here(program, model, ids):
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        loom(program, "logits", model, "--ids", ",".join(map(str, ids)), "--out", file.name)
        return np.load(file.name).astype(np.float64)


class Decoder:
    """An exported model in ONNX Runtime."""

    def __init__(self, path):
        onnx.checker.check_model(str(path), full_check=True)
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        settings.log_severity_level = 3
        # Its own products of DequantizeLinear and MatMul would have activations of 8 bits.
        settings.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
        self.session = onnxruntime.InferenceSession(str(path), settings,
                                                    providers=["CPUExecutionProvider"])
        names = [v.name for v in self.session.get_inputs()]
        self.past = [v for v in self.session.get_inputs() if v.name.startswith("past_key_values.")]
        layers = len(self.past) // 2
        kinds = ("key", "value")
        assert names == ["input_ids", "attention_mask", "position_ids"] + [
            f"past_key_values.{n}.{k}" for n in range(layers) for k in kinds], names
        outputs = [v.name for v in self.session.get_outputs()]
        assert outputs == ["logits"] + [
            f"present.{n}.{k}" for n in range(layers) for k in kinds], outputs

    def run(self, ids, mask=None, positions=None, past=None):
        """Logits, and the cache. ids: [batch, sequence]; mask: [batch, total]."""
        ids = np.atleast_2d(np.asarray(ids, np.int64))
        rows, steps = ids.shape
        before = 0 if past is None else past[0].shape[2]
        if mask is None:
            mask = np.ones((rows, before + steps), np.int64)
        if positions is None:
            positions = np.broadcast_to(np.arange(before, before + steps), (rows, steps))
        feed = {"input_ids": ids, "attention_mask": mask,
                "position_ids": np.ascontiguousarray(positions, np.int64)}
        if past is None:
            past = [np.zeros((rows, v.shape[1], 0, v.shape[3]), np.float32) for v in self.past]
        feed.update((v.name, p) for v, p in zip(self.past, past))
        logits, *present = self.session.run(None, feed)
        return logits.astype(np.float64), present

    def greedy(self, ids, count):
        chosen = []
        logits, past = self.run([ids])
        while len(chosen) < count:
            chosen.append(int(logits[0, -1].argmax()))
            logits, past = self.run([[chosen[-1]]], past=past)
        return chosen


class Checks:
    """One line for each; what failed decides the exit code."""

    def __init__(self):
        self.failed = 0

    def say(self, good, what, text):
        self.failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {what}: {text}", flush=True)


def check(checks, program, what, entity, decoded, dtype, ids, folder):
    """`decoded`: the values of `entity` in f32."""
    kind, _, nbits = dtype.partition(" ")
    out = folder / "m.onnx"
    report = json.loads(loom(program, "convert", entity, out, "--json",
                             *(["--matmul-nbits"] if nbits else [])))
    decoder = Decoder(out)
    model = onnx.load(str(out))
    operators = {n.op_type for n in model.graph.node}
    codes = kind in ("i8", "q8_0", "q4_0")
    wanted = "MatMulNBits" if nbits else "DequantizeLinear" if codes else ""
    checks.say(not wanted or wanted in operators, what, f"{len(report)} tensors, {wanted or kind}")
    here = logits_here(program, decoded, ids)
    logits, _ = decoder.run([ids])
    difference = np.abs(logits[0] - here).max()
    other = np.abs(logits_here(program, entity, ids) - here).max()
    checks.say(difference <= LOGITS, f"{what}, logits",
               f"within {difference:.1e} of {np.abs(here).max():.2f}; in its type {other:.1e}")
    steps, past = [], None
    for i in ids:
        y, past = decoder.run([[i]], past=past)
        steps.append(y[0, 0])
    difference = np.abs(np.array(steps) - logits[0]).max()
    checks.say(difference <= LOGITS, f"{what}, token by token", f"within {difference:.1e}")
    far, _ = decoder.run([ids], positions=np.arange(FAR, FAR + len(ids))[None])
    difference = np.abs(far - logits).max()
    checks.say(difference <= LOGITS, f"{what}, far positions", f"within {difference:.1e}")
    short = ids[: len(ids) // 2]
    fill = len(ids) - len(short)
    mask = np.array([[1] * len(ids), [0] * fill + [1] * len(short)])
    positions = np.array([[*range(len(ids))], [0] * fill + [*range(len(short))]])
    both, _ = decoder.run([ids, [0] * fill + short], mask, positions)
    alone, _ = decoder.run([short])
    difference = max(np.abs(both[0] - logits[0]).max(), np.abs(both[1, fill:] - alone[0]).max())
    checks.say(difference <= LOGITS, f"{what}, batch of two", f"within {difference:.1e}")
    chosen = decoder.greedy(ids, COUNT)
    ours = logits_here(program, decoded, ids + chosen)[len(ids) - 1:-1]
    best = np.sort(ours, axis=-1)[:, -2:]
    clear = best[:, 1] - best[:, 0] > MARGIN
    same = ours.argmax(axis=-1) == np.array(chosen)
    checks.say(bool((same | ~clear).all()), f"{what}, greedy",
               f"{same.sum()} of {COUNT} equal, {(~clear).sum()} are within {MARGIN}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loom")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--types", default=",".join(TYPES))
    args = parser.parse_args()
    checks = Checks()
    for name in args.models.split(","):
        source = ROOT / "tests/data/families" / name
        if name == "stories260K":
            source = ROOT.parent / "shared/data/stories260K/hf"
        if not source.exists():
            print(f"       {name}: {source} is not there")
            continue
        golden = source / "golden.json"
        ids = (json.loads(golden.read_text())["ids"] if golden.exists()
               else [1, 403, 407, 261, 378, 432])
        with tempfile.TemporaryDirectory() as folder:
            for dtype in args.types.split(","):
                entity = pathlib.Path(folder) / "m.entity"
                entity.unlink(missing_ok=True)
                loom(args.loom, "convert", source, entity, "--no-tokenizer", "--dtype",
                     dtype.split()[0])
                decoded = pathlib.Path(folder) / "decoded.entity"
                decoded.unlink(missing_ok=True)
                loom(args.loom, "convert", entity, decoded, "--dtype", "f32")
                check(checks, args.loom, f"{name} {dtype}", entity, decoded, dtype, ids,
                      pathlib.Path(folder))
    print(f"{checks.failed} failed")
    return checks.failed > 0


if __name__ == "__main__":
    sys.exit(main())
