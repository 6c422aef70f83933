#!/usr/bin/env python3
"""LoRA adapters between Loom and HuggingFace's `peft`: each opens what the other wrote, and their
logits agree.

    peft_adapter.py LOOM_PROGRAM [--seed N] [--keep FOLDER]    # 77 where a package is missing

The base is a Llama of random f32 weights as transformers saves it, so there is nothing to download.
An adapter that `loom train` made opens in peft without a warning, each tensor of the file where
peft has it; logits agree beside the weights and merged into them, as do the merged weights
themselves. Adapters that peft made and saved agree in Loom the same way. Both compute in f32 and
add up in different orders: logits, which are of magnitude 2 to 6, must be equal within 1e-5. What
shows that this can fail is a check, too: an adapter whose alpha is 1 % off must be far outside of
that.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

# The base is a folder: nobody is to be asked for anything. The packages read this when they are
# imported.
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
# In place of this script's folder, whose tokenizers.py would be taken for the package of that name.
sys.path[0] = str(pathlib.Path(__file__).resolve().parents[2] / "cases")
try:
    import numpy as np
    import torch
    import transformers
    import peft
    import safetensors.torch
    import jinja2  # noqa: F401  peft writes a README.md with it where it saves
except ImportError as e:
    print(f"needs numpy, torch, transformers, peft, safetensors and jinja2: {e}")
    sys.exit(77)

import make_tiny  # the tokenizer and the text of the cases' tiny model

BOUND = 1e-5
BLOCKS = 2
# Where Loom's names of a block's weights are in transformers' modules; written here anew, since a
# table of Loom's could not be wrong beside itself.
MODULES = {"0/1:q": "self_attn.q_proj", "0/1:k": "self_attn.k_proj", "0/1:v": "self_attn.v_proj",
           "0/1:o": "self_attn.o_proj",
           "2/1:gate": "mlp.gate_proj", "2/1:up": "mlp.up_proj", "2/1:down": "mlp.down_proj"}


def merged_name(module):
    """Loom's name for the weight of a module, in what `loom convert` writes: embedding, blocks,
    norm, output are the cells of the grid."""
    if module == "lm_head":
        return f"0.0.0.{BLOCKS + 2}:weight"
    _, _, block, rest = module.split(".", 3)
    return f"0.0.0.{int(block) + 1}/" + next(name for name, m in MODULES.items() if m == rest)


class Checks:
    """One line for each; what failed decides the exit code."""

    def __init__(self):
        self.failed = 0

    def say(self, good, what, text):
        self.failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {what}: {text}", flush=True)

    def equal(self, what, got, want, apart=False):
        """The largest difference is at most BOUND; `apart`: it is seen, a hundred times that."""
        assert got.shape == want.shape, (what, got.shape, want.shape)
        difference = float(np.max(np.abs(got.astype(np.float64) - want)))
        good = difference > 100 * BOUND if apart else difference <= BOUND  # a NaN is neither
        limit = f"more than {100 * BOUND:.0e}" if apart else f"at most {BOUND:.0e}"
        self.say(good, what,
                 f"difference {difference:.2e}, {limit}; largest magnitude "
                 f"{np.max(np.abs(want)):.3g}")


class Loom:
    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), folder
        # An option is an environment variable, too; here options are what stands below.
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith("LOOM_")}

    def run(self, *arguments, refused=False):
        """Standard error; that of a refusal, exit code 3, where one is expected."""
        done = subprocess.run([self.program, *map(str, arguments)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, env=self.environment,
                              timeout=300)
        if done.returncode != (3 if refused else 0):
            raise SystemExit(
                f"loom {' '.join(map(str, arguments))}: ends with "
                f"{done.returncode}\n{done.stderr.strip()}")
        return done.stderr

    def train(self, base, name, lora, steps, rate):
        spec = {"format": "loom-training", "version": 2, "base": str(base), "lora": lora,
                "data": {"type": "text", "length": 32}, "loss": "cross_entropy",
                "optimizer": {"type": "adamw"}, "schedule": {"type": "constant", "lr": rate},
                "steps": steps, "batch": 8}
        (self.folder / f"{name}.json").write_text(json.dumps(spec))
        self.run("train", self.folder / f"{name}.json", "--data", self.folder / "text.txt", "--out",
                 self.folder / name, "--threads", 1)
        return self.folder / name

    def logits(self, model, adapter=None):
        beside = ["--adapter", adapter] if adapter else []
        self.run("logits", model, "--ids", ",".join(map(str, PROMPT)), "--out",
                 self.folder / "logits.npy", *beside)
        return np.load(self.folder / "logits.npy")

    def merge(self, base, adapter):
        """The merged model, and its weights by Loom's names."""
        model, weights = self.folder / (adapter.name + ".entity"), self.folder / (
            adapter.name + ".safetensors")
        self.run("convert", base, model, "--adapter", adapter)
        self.run("convert", model, weights)
        return model, safetensors.torch.load_file(str(weights))


PROMPT = [int(i) for i in np.random.RandomState(7).randint(3, make_tiny.VOCABULARY, 24)]


def make_base(folder):
    config = transformers.LlamaConfig(vocab_size=make_tiny.VOCABULARY, hidden_size=64,
                                      intermediate_size=128, num_hidden_layers=BLOCKS,
                                      num_attention_heads=4, num_key_value_heads=2,
                                      max_position_embeddings=128, initializer_range=0.08,
                                      bos_token_id=0, eos_token_id=0, tie_word_embeddings=False)
    transformers.LlamaForCausalLM(config).save_pretrained(str(folder), safe_serialization=True)
    (folder / "tokenizer.json").write_text(json.dumps(make_tiny.tokenizer()))


def load_base(folder):
    return transformers.LlamaForCausalLM.from_pretrained(str(folder),
                                                         torch_dtype=torch.float32).eval()


def logits(model):
    with torch.no_grad():
        return model(torch.tensor([PROMPT])).logits[0].numpy().astype(np.float64)


def open_in_peft(base, adapter):
    return peft.PeftModel.from_pretrained(load_base(base), str(adapter)).eval()


def in_peft(name):
    """Where peft has a tensor of an adapter's file."""
    return name.replace(".lora_A.", ".lora_A.default.").replace(".lora_B.", ".lora_B.default.")


def check_opens(checks, what, base, adapter):
    """No warning, no LoRA weight of the model that is not the file's, none of the file that is not
    the model's."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = open_in_peft(base, adapter)
    # deprecations are among the packages
    said = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
    file = safetensors.torch.load_file(str(adapter / "adapter_model.safetensors"))
    has = {name: value for name, value in model.state_dict().items() if ".lora_" in name}
    missing, foreign = sorted(set(map(in_peft, file)) - set(has)), sorted(
        set(has) - set(map(in_peft, file)))
    other = sorted(name for name, value in file.items() if in_peft(name) in has
                   and not torch.equal(value.float(), has[in_peft(name)]))
    good = not (said or missing or foreign or other) and len(file) > 0
    wrong = f", warnings {said}, missing {missing}, not of the file {foreign}, other values {other}"
    checks.say(good, f"{what} opens in peft",
               f"{len(file)} tensors" + (", no warning" if good else wrong))
    return model


def check_adapter(checks, loom, what, base, adapter, model):
    """Logits beside the weights and merged, in both programs, and the merged weights. `model` is
    peft's."""
    beside, ours = logits(model), loom.logits(base, adapter)
    plain = loom.logits(base)
    checks.equal(f"{what} moves the logits", ours, plain.astype(np.float64), apart=True)
    checks.equal(f"{what}, logits with the adapter, Loom and peft", ours, beside)
    modules = sorted({name[len("base_model.model."):name.index(".lora_")]
                      for name in safetensors.torch.load_file(
                          str(adapter / "adapter_model.safetensors"))})
    before = load_base(base).state_dict()
    merged, (entity, weights) = model.merge_and_unload(), loom.merge(base, adapter)
    after = merged.state_dict()
    ours_merged = loom.logits(entity)
    checks.equal(f"{what}, logits merged, Loom and peft", ours_merged, logits(merged))
    checks.equal(f"{what}, logits merged and with the adapter, Loom", ours_merged,
                 ours.astype(np.float64))
    # Of the changes, since those are small beside the weights.
    pairs = [(weights[merged_name(m)] - before[m + ".weight"],
              after[m + ".weight"] - before[m + ".weight"]) for m in modules]
    checks.equal(f"{what}, what merging adds to {len(modules)} weights, Loom and peft",
                 *(np.concatenate([p[i].double().numpy().reshape(-1) for p in pairs])
                   for i in (0, 1)))


def make_in_peft(base, folder, **settings):
    """An adapter as peft saves it, A and B both random."""
    model = peft.get_peft_model(load_base(base),
                                peft.LoraConfig(task_type="CAUSAL_LM", init_lora_weights=False,
                                                **settings))
    # Without this peft puts a copy of the base's lm_head into the file of an adapter that stands
    # beside it.
    model.save_pretrained(str(folder), save_embedding_layers=False)
    return folder


def narrow(folder):
    """The values of an adapter's file in bf16, as training in it leaves them."""
    path = str(folder / "adapter_model.safetensors")
    safetensors.torch.save_file(
        {name: value.bfloat16() for name, value in safetensors.torch.load_file(path).items()}, path,
        metadata={"format": "pt"})


def scale_alpha(source, folder, factor):
    """The adapter with another alpha."""
    folder.mkdir()
    config = json.loads((source / "adapter_config.json").read_text())
    config["lora_alpha"] *= factor
    (folder / "adapter_config.json").write_text(json.dumps(config))
    (folder / "adapter_model.safetensors").write_bytes(
        (source / "adapter_model.safetensors").read_bytes())
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loom")
    parser.add_argument("--seed", type=int, default=1, help="of the base and of peft's adapters")
    parser.add_argument("--keep", help="a new folder for the models and adapters, which stay")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.keep or scratch).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        checks, loom, base = Checks(), Loom(options.loom, folder), folder / "base"
        print(f"peft {peft.__version__}, transformers {transformers.__version__}, torch "
              f"{torch.__version__}")
        make_base(base)
        (folder / "text.txt").write_text(make_tiny.TEXT * 20)
        checks.equal("the base, logits, Loom and transformers", loom.logits(base),
                     logits(load_base(base)))

        # Loom's, opened in peft: beside all weights, and beside some, which adapter_config.json
        # calls by their full names.
        adapter = loom.train(base, "learned", {"rank": 4, "alpha": 8}, 60, 0.01)
        check_adapter(checks, loom, "Loom's", base, adapter,
                      check_opens(checks, "Loom's", base, adapter))
        some = loom.train(base, "some",
                          {"rank": 3, "alpha": 5,
                           "targets": ["q_proj", "0.0.0.2/2/1:down", "lm_head"]}, 20, 0.01)
        check_adapter(checks, loom, "Loom's, some weights", base, some,
                      check_opens(checks, "Loom's, some weights", base, some))
        off = scale_alpha(adapter, folder / "off", 1.01)
        checks.equal("an alpha 1 % off is seen", loom.logits(base, off),
                     logits(open_in_peft(base, adapter)), apart=True)

        # peft's, opened in Loom: what it adapts of a Llama by itself, in bf16; all there is, with
        # ranks of their own and the root of the rank.
        made = make_in_peft(base, folder / "peft", r=8, lora_alpha=16)
        narrow(made)
        check_adapter(checks, loom, "peft's, bf16", base, made, open_in_peft(base, made))
        names = sorted({m.split(".")[-1] for m in MODULES.values()}) + ["lm_head"]
        made = make_in_peft(base, folder / "peft_all", r=4, lora_alpha=3, lora_dropout=0.1,
                            use_rslora=True, target_modules=names,
                            rank_pattern={"v_proj": 2, "lm_head": 6})
        check_adapter(checks, loom, "peft's, all weights", base, made, open_in_peft(base, made))
        # What Loom does not have it must not run as if it were not there.
        other = make_in_peft(base, folder / "peft_pattern", r=4, alpha_pattern={"v_proj": 3})
        said = loom.run("logits", base, "--ids", "1", "--adapter", other, refused=True)
        checks.say("alpha_pattern" in said, "peft's with an alpha_pattern is refused by name",
                   said.strip().split("\n")[-1].replace(str(folder) + "/", ""))
    print("peft and Loom agree" if not checks.failed else f"{checks.failed} checks failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
