"""Makes this folder: a llama of 260 thousand weights that learned stories of Loom's own grammar,
by the programs of others, so that their answers are something to compare with.

    loom_stories generate --seed 5 --count 24000 | python make.py FOLDER

It was made with transformers 4.36.2, tokenizers 0.15.2, gguf 0.19.0 and torch 1.13.0. Another
run gives another model: then all files change together.
"""

import argparse
import json
import pathlib
import sys

import gguf
import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, processors, trainers
from transformers import LlamaConfig, LlamaForCausalLM

parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", type=pathlib.Path)
OUT = parser.parse_args().folder
VOCABULARY, LENGTH, STEPS, ROWS, CUT = 512, 512, 1500, 8, 128
SPECIAL = ["<unk>", "<s>", "</s>"]
TEXTS = [
    "",
    "Once upon a time",
    "Lily's mom said, \"Let's go!\"",
    "I can't  find it.\nTwo lines",
    "Zürich naïve 3.14 中文 😀",
    " leading and trailing ",
    "The quick brown fox jumps over the lazy dog.",
]
torch.manual_seed(11)
torch.set_num_threads(1)


def form(model):
    """SentencePiece's way, as tokenizers has it after a conversion."""
    t = Tokenizer(model)
    t.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    t.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
         decoders.Strip(" ", 1, 0)]
    )
    return t


def learned_tokenizer(stories):
    """Merges are learned within words; bytes stand for the characters that are not met."""
    from tokenizers import pre_tokenizers

    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.Metaspace()
    bytes_ = ["<0x%02X>" % i for i in range(256)]
    learner.train_from_iterator(
        stories[:1000],
        trainers.BpeTrainer(
            vocab_size=VOCABULARY, special_tokens=SPECIAL + bytes_, show_progress=False
        ),
    )
    made = json.loads(learner.to_str())["model"]
    merges = [tuple(m.split(" ")) for m in made["merges"]]
    t = form(models.BPE(made["vocab"], merges, unk_token="<unk>", fuse_unk=True,
                        byte_fallback=True))
    t.add_special_tokens([AddedToken(s, normalized=False) for s in SPECIAL])
    t.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)]
    )
    return t


def train(tokenizer, stories):
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=64, intermediate_size=172, num_hidden_layers=5,
        num_attention_heads=8, num_key_value_heads=4, max_position_embeddings=LENGTH,
        rms_norm_eps=1e-5, tie_word_embeddings=True, bos_token_id=1, eos_token_id=2,
    )
    model = LlamaForCausalLM(config)
    ids = torch.tensor([i for s in stories for i in tokenizer.encode(s).ids])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, STEPS, pct_start=0.1)
    for step in range(STEPS):
        at = torch.randint(0, len(ids) - CUT, (ROWS,))
        batch = torch.stack([ids[i : i + CUT] for i in at])
        loss = model(input_ids=batch, labels=batch).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 99:
            print("step %d loss %.3f" % (step + 1, loss.item()), flush=True)
    return model.eval()


def write_huggingface(folder, tokenizer, model):
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    weights = {
        k: v.contiguous()
        for k, v in model.state_dict().items()
        if k != "lm_head.weight" and "inv_freq" not in k
    }
    save_file(weights, str(folder / "model.safetensors"), {"format": "pt"})
    c = model.config
    config = {"architectures": ["LlamaForCausalLM"], "attention_bias": False}
    for key in ("bos_token_id", "eos_token_id", "hidden_act", "hidden_size", "intermediate_size",
                "max_position_embeddings", "model_type", "num_attention_heads",
                "num_hidden_layers", "num_key_value_heads", "rms_norm_eps"):
        config[key] = getattr(c, key)
    config.update(rope_theta=10000.0, tie_word_embeddings=True, torch_dtype="float32",
                  vocab_size=VOCABULARY)
    special = {
        "add_bos_token": True, "add_eos_token": False, "bos_token": "<s>", "eos_token": "</s>",
        "unk_token": "<unk>", "clean_up_tokenization_spaces": False, "legacy": False,
        "model_max_length": LENGTH, "tokenizer_class": "LlamaTokenizer",
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(special, indent=2) + "\n")
    return weights


def interleaved(w, heads):
    """Rows of queries and keys as llama.cpp turns them: pairs side by side."""
    return w.reshape(heads, 2, -1, w.shape[-1]).swapaxes(1, 2).reshape(w.shape)


NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def write_gguf(path, tokenizer, model, weights):
    c = model.config
    w = gguf.GGUFWriter(str(path), "llama")
    w.add_name("tales")
    w.add_context_length(LENGTH)
    w.add_embedding_length(c.hidden_size)
    w.add_block_count(c.num_hidden_layers)
    w.add_feed_forward_length(c.intermediate_size)
    w.add_head_count(c.num_attention_heads)
    w.add_head_count_kv(c.num_key_value_heads)
    w.add_rope_dimension_count(c.hidden_size // c.num_attention_heads)
    w.add_rope_freq_base(10000.0)
    w.add_layer_norm_rms_eps(c.rms_norm_eps)
    w.add_file_type(0)
    tokens = [tokenizer.id_to_token(i) for i in range(VOCABULARY)]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.BYTE] * 256
    kinds += [gguf.TokenType.NORMAL] * (VOCABULARY - len(kinds))
    # What SentencePiece merges first has the larger score; single characters have none.
    merges = [m.replace(" ", "") for m in json.loads(tokenizer.to_str())["model"]["merges"]]
    rank = {}
    for i, m in enumerate(merges):
        rank.setdefault(m, i)
    scores = [0.0 if k != gguf.TokenType.NORMAL else -float(rank.get(t, len(merges)))
              for t, k in zip(tokens, kinds)]
    w.add_tokenizer_model("llama")
    w.add_token_list([t.encode() for t in tokens])
    w.add_token_scores(scores)
    w.add_token_types(kinds)
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_unk_token_id(0)
    w.add_add_bos_token(True)
    w.add_add_eos_token(False)
    for name, value in weights.items():
        value = value.numpy()
        stem = name[: -len(".weight")]
        if stem.startswith("model.layers."):
            _, _, layer, rest = stem.split(".", 3)
            stem = "blk.%s.%s" % (layer, NAMES[rest])
            if rest.endswith("q_proj"):
                value = interleaved(value, c.num_attention_heads)
            elif rest.endswith("k_proj"):
                value = interleaved(value, c.num_key_value_heads)
        else:
            stem = NAMES[stem]
        w.add_tensor(stem + ".weight", np.ascontiguousarray(value))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def write_answers(out, tokenizer, model):
    ids, lines = [1], []
    with torch.no_grad():
        for position in range(256):
            logits = model(torch.tensor([ids])).logits[0, -1]
            two = torch.topk(logits, 2)
            best, gap = int(two.indices[0]), float(two.values[0] - two.values[1])
            lines.append("%d %d %d %.6f %.6f" % (position, ids[-1], best, two.values[0], gap))
            ids.append(best)
        first = model(torch.tensor([ids[:64]])).logits[0]
    print("smallest gap", min(float(line.split()[-1]) for line in lines))
    (out / "golden_tokens_256.txt").write_text("\n".join(lines) + "\n")
    first.numpy().astype("<f4").tofile(out / "golden_logits_pos0_63.f32")
    text = tokenizer.decode(ids[1:])
    (out / "golden_greedy_256.txt").write_text(text + "\n")
    cases = [{"text": t, "ids": tokenizer.encode(t).ids} for t in TEXTS + [text]]
    (out / "golden_encode.json").write_text(json.dumps(cases) + "\n")


def main():
    lines = sys.stdin.read().splitlines()
    # Several in a row: the text then goes on for longer than one.
    stories = ["\n".join(lines[i : i + 4]) for i in range(0, len(lines), 4)]
    tokenizer = learned_tokenizer(stories)
    model = train(tokenizer, stories)
    weights = write_huggingface(OUT / "hf", tokenizer, model)
    write_gguf(OUT / "tales.gguf", tokenizer, model, weights)
    write_answers(OUT, tokenizer, model)


main()
