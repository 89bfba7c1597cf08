"""Figures of exported weights on the held-out sets. Look at them once, at the end: choices are made on the validation servers.

    python3 models/check.py --data build/train.json.xz --base BASE --weights models/weights
"""
import argparse
import json
import pathlib
import struct

import numpy as np
import torch
from transformers import BertConfig, BertModel

from static import DIMENSION, embedders
from train import DEVICE, Texts, check, dense_embedders, load_data

PREFIX, ALIGNMENT = 48, 64


def read_tuned(path: pathlib.Path, config: pathlib.Path) -> BertModel:
    """The encoder out of tuned.bin; the inverse of export.py."""
    data = path.read_bytes()
    length = struct.unpack("<I", data[12:16])[0]
    header = json.loads(data[PREFIX : PREFIX + length])
    start = -(-(PREFIX + length) // ALIGNMENT) * ALIGNMENT
    kinds = {"i8": np.int8, "f32": np.float32}
    tensors = {
        one["name"]: np.frombuffer(data, kinds[one["type"]], int(np.prod(one["shape"])), start + one["offset"]).reshape(one["shape"]) for one in header["tensors"]
    }

    def matrix(name: str) -> np.ndarray:
        return tensors[name] * tensors[f"{name}.scale"][:, None]

    hidden, heads = header["architecture"]["hidden"], header["architecture"]["heads"]
    root = np.sqrt(hidden / heads)
    state = {
        "embeddings.word_embeddings.weight": matrix("embeddings.tokens"),
        # The file holds the sum of positions and type.
        "embeddings.position_embeddings.weight": tensors["embeddings.positions"],
        "embeddings.token_type_embeddings.weight": np.zeros((2, hidden), dtype=np.float32),
        "embeddings.LayerNorm.weight": tensors["embeddings.norm.weight"],
        "embeddings.LayerNorm.bias": tensors["embeddings.norm.bias"],
    }
    for layer in range(header["architecture"]["layers"]):
        source, target = f"layers.{layer}", f"encoder.layer.{layer}"
        rows, bias = matrix(f"{source}.attention.qkv"), tensors[f"{source}.attention.qkv.bias"]
        for number, part in enumerate(("query", "key", "value")):
            factor = root if part == "query" else 1
            state[f"{target}.attention.self.{part}.weight"] = rows[number * hidden : (number + 1) * hidden] * factor
            state[f"{target}.attention.self.{part}.bias"] = bias[number * hidden : (number + 1) * hidden] * factor
        for name, part in (("attention.output", "attention.output"), ("feedforward.up", "intermediate"), ("feedforward.down", "output")):
            state[f"{target}.{part}.dense.weight"] = matrix(f"{source}.{name}")
            state[f"{target}.{part}.dense.bias"] = tensors[f"{source}.{name}.bias"]
            if part != "intermediate":
                norm = f"{source}.{name.split('.')[0]}.norm"
                state[f"{target}.{part}.LayerNorm.weight"] = tensors[f"{norm}.weight"]
                state[f"{target}.{part}.LayerNorm.bias"] = tensors[f"{norm}.bias"]
    model = BertModel(BertConfig.from_pretrained(str(config)), add_pooling_layer=False)
    model.load_state_dict({name: torch.from_numpy(np.array(value, dtype=np.float32)) for name, value in state.items()}, strict=False)
    return model.to(DEVICE)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", required=True, type=pathlib.Path)
    arguments.add_argument("--base", required=True, type=pathlib.Path)
    arguments.add_argument("--weights", required=True, type=pathlib.Path)
    options = arguments.parse_args()
    data, texts = load_data(options.data), Texts(options.base / "tokenizer.json")
    check("tuned", data, "heldout", *dense_embedders(read_tuned(options.weights / "tuned.bin", options.base / "config.json"), texts))
    rows = torch.from_numpy(np.fromfile(options.weights / "static.i8", dtype=np.int8).reshape(-1, DIMENSION)).to(DEVICE)
    scale = torch.from_numpy(np.fromfile(options.weights / "static.scale.f32", dtype=np.float32)).to(DEVICE)
    check("static", data, "heldout", *embedders(texts, rows, scale))


if __name__ == "__main__":
    main()
