#!/usr/bin/env python3
"""tests/cases/make_tiny.py [FOLDER]: data/tiny.entity, a language model of random parameters; with
FOLDER its HuggingFace folder as well. Needs the Python binding. The file is part of the tree, since
expected values are about it: making it again must give the same bytes."""
import argparse
import json
import pathlib
import struct
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
VOCABULARY, HIDDEN, INNER, HEADS, KV_HEADS, HEAD = 320, 16, 32, 2, 1, 8
TEXT = ("Once upon a time there was a little loom that could weave a story out of thread. The "
        "system said to the user: hello, assistant, how are you?")
TEMPLATE = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + "
            "message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt "
            "%}{{ '<|im_start|>assistant\\n' }}{% endif %}")


def byte_letters():
    """GPT-2's letter of every byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(256 + i) for i, b in enumerate(rest)}}


def tokenizer():
    letters = byte_letters()
    tokens, merges = SPECIAL + sorted(letters.values()), []
    words = [[letters[b] for b in (" " + w).encode()] for w in TEXT.split()]
    while len(tokens) < VOCABULARY:
        pairs = {}
        for word in words:
            for pair in zip(word, word[1:]):
                pairs[pair] = pairs.get(pair, 0) + 1
        left, right = max(sorted(pairs), key=pairs.get)
        merges.append([left, right])
        tokens.append(left + right)
        for word in words:
            for i in range(len(word) - 1, 0, -1):
                if word[i - 1:i + 1] == [left, right]:
                    word[i - 1:i + 1] = [left + right]
    added = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for i, t in enumerate(SPECIAL)]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
                  "use_regex": True}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
            "normalizer": None, "pre_tokenizer": byte_level, "post_processor": None,
            "decoder": byte_level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None,
                      "continuing_subword_prefix": None, "end_of_word_suffix": None,
                                             "fuse_unk": False, "byte_fallback": False,
                                             "vocab": {t: i for i, t in enumerate(tokens)},
                                             "merges": merges}}


def tensors():
    random = np.random.RandomState(1)  # its stream is frozen
    shapes = {"model.embed_tokens.weight": (VOCABULARY, HIDDEN), "model.norm.weight": (HIDDEN,)}
    block = {"input_layernorm": (HIDDEN,), "post_attention_layernorm": (HIDDEN,),
             "self_attn.q_proj": (HEADS * HEAD, HIDDEN),
             "self_attn.k_proj": (KV_HEADS * HEAD, HIDDEN),
             "self_attn.v_proj": (KV_HEADS * HEAD, HIDDEN),
             "self_attn.o_proj": (HIDDEN, HEADS * HEAD), "mlp.gate_proj": (INNER, HIDDEN),
             "mlp.up_proj": (INNER, HIDDEN),
             "mlp.down_proj": (HIDDEN, INNER)}
    shapes.update({"model.layers.0.%s.weight" % name: shape for name, shape in block.items()})
    # Multiples of 1/64: exact, whatever computes them.
    return {name: np.float32(np.round(random.uniform(-1, 1, shape) * 64) / 64
                             + (1 if len(shape) == 1 else 0)) for name, shape in shapes.items()}


def write_folder(folder):
    folder.mkdir(parents=True, exist_ok=True)
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN,
              "intermediate_size": INNER, "num_hidden_layers": 1, "num_attention_heads": HEADS,
              "num_key_value_heads": KV_HEADS, "head_dim": HEAD, "vocab_size": VOCABULARY,
              "max_position_embeddings": 128, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
              "tie_word_embeddings": True, "bos_token_id": 0, "eos_token_id": 0}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "generation_config.json").write_text(
        json.dumps({"eos_token_id": [0, 2], "temperature": 0.8, "top_k": 40}))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(), ensure_ascii=False))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"bos_token": SPECIAL[0], "eos_token": SPECIAL[0], "chat_template": TEMPLATE}))
    header, data = {}, b""
    for name, values in sorted(tensors().items()):
        header[name] = {"dtype": "F32", "shape": list(values.shape),
                        "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.astype("<f4").tobytes()
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    sys.path.insert(0, str(HERE.parent.parent / "bindings/python"))
    import welvet

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    named = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as scratch:
        folder = named or pathlib.Path(scratch)
        write_folder(folder)
        model = welvet.Transformer(folder)
        model.save(HERE / "data/tiny.entity")
        for name in ("tokenizer.json", "tokenizer_config.json"):
            (HERE / "data" / ("tiny." + name)).write_bytes((folder / name).read_bytes())
        print(model, (HERE / "data/tiny.entity").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
