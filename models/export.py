"""Writes the shipped files from what training left: the encoder's weights and the token table. Needs numpy alone.

    python3 models/export.py --from build --base BASE --to models/weights --model toolarsenal-tuned-2 --mean-with tuned-1.bin

With --mean-with, the weights are the mean of the trained ones and of an earlier weight file of the same body, with all its tokens.
Only the tokens of src/adapters/embedders/wordpiece/vocabulary.txt are kept (see vocabulary.ts), and the positions that a text can have.
src/adapters/embedders/kernel/weights.ts describes the layout of tuned.bin.
"""
import argparse
import hashlib
import json
import pathlib
import struct

import numpy as np

ALIGNMENT, PREFIX = 64, 48
VOCABULARY = pathlib.Path(__file__).parent.parent / "src/adapters/embedders/wordpiece/vocabulary.txt"
# The longest text that the product reads: TOKEN_LIMITS in src/adapters/embedders/shipped-files.ts.
POSITIONS = 256
KINDS = {"I8": np.int8, "F32": np.float32}


def read_safetensors(path: pathlib.Path) -> dict[str, np.ndarray]:
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    start = 8 + length
    return {
        name: np.frombuffer(data[start + one["data_offsets"][0] : start + one["data_offsets"][1]], KINDS[one["dtype"]]).reshape(one["shape"])
        for name, one in header.items()
    }


def quantized(trained: dict[str, np.ndarray], name: str) -> tuple[np.ndarray, np.ndarray]:
    return trained[f"{name}.weight"], trained[f"{name}.weight.scale"]


def kept_tokens(base: pathlib.Path) -> np.ndarray:
    """The numbers that the shipped tokens have in the base's vocabulary."""
    numbers = json.loads((base / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return np.array([numbers[token] for token in VOCABULARY.read_text(encoding="utf-8").split("\n") if token])


def encoder(trained: dict[str, np.ndarray]) -> tuple[dict, dict[str, np.ndarray]]:
    """The kernel's tensors, in the order of its file."""
    tokens, token_scales = quantized(trained, "embeddings.word_embeddings")
    positions, position_scales = quantized(trained, "embeddings.position_embeddings")
    types, type_scales = quantized(trained, "embeddings.token_type_embeddings")
    layers = 1 + max(int(name.split(".")[2]) for name in trained if name.startswith("encoder.layer."))
    hidden, heads = tokens.shape[1], 12
    tensors = {
        "embeddings.tokens": tokens,
        "embeddings.tokens.scale": token_scales,
        "embeddings.positions": positions * position_scales[:, None] + types[0] * type_scales[0],
        "embeddings.norm.weight": trained["embeddings.LayerNorm.weight"],
        "embeddings.norm.bias": trained["embeddings.LayerNorm.bias"],
    }
    root = np.sqrt(hidden / heads).astype(np.float32)
    for layer in range(layers):
        source, target = f"encoder.layer.{layer}", f"layers.{layer}"
        parts = [quantized(trained, f"{source}.attention.self.{part}") for part in ("query", "key", "value")]
        biases = [trained[f"{source}.attention.self.{part}.bias"] for part in ("query", "key", "value")]
        tensors[f"{target}.attention.qkv"] = np.concatenate([rows for rows, _ in parts])
        tensors[f"{target}.attention.qkv.scale"] = np.concatenate([parts[0][1] / root, parts[1][1], parts[2][1]])
        tensors[f"{target}.attention.qkv.bias"] = np.concatenate([biases[0] / root, biases[1], biases[2]])
        for name, part in (("attention.output", "attention.output.dense"), ("feedforward.up", "intermediate.dense"), ("feedforward.down", "output.dense")):
            rows, scales = quantized(trained, f"{source}.{part}")
            tensors[f"{target}.{name}"] = rows
            tensors[f"{target}.{name}.scale"] = scales
            tensors[f"{target}.{name}.bias"] = trained[f"{source}.{part}.bias"]
            if name != "feedforward.up":
                norm = f"{source}.{part.removesuffix('.dense')}.LayerNorm"
                tensors[f"{target}.{name.split('.')[0]}.norm.weight"] = trained[f"{norm}.weight"]
                tensors[f"{target}.{name.split('.')[0]}.norm.bias"] = trained[f"{norm}.bias"]
    architecture = {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "intermediate": trained["encoder.layer.0.intermediate.dense.weight"].shape[0],
        "vocabulary": tokens.shape[0],
        "positions": positions.shape[0],
        "epsilon": 1e-12,
    }
    return architecture, tensors


def read_weight_file(path: pathlib.Path) -> dict[str, np.ndarray]:
    data = path.read_bytes()
    length = struct.unpack("<II", data[8:16])[1]
    listed = json.loads(data[PREFIX : PREFIX + length])["tensors"]
    start = PREFIX + length + -(PREFIX + length) % ALIGNMENT
    kinds = {"i8": np.int8, "f32": np.float32}
    return {one["name"]: np.frombuffer(data, kinds[one["type"]], int(np.prod(one["shape"])), start + one["offset"]).reshape(one["shape"]) for one in listed}


def mean(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The mean of two sets of weights; rows of int8 are rounded again, each with a scale of its own."""
    tensors: dict[str, np.ndarray] = {}
    for name, value in one.items():
        scale = f"{name}.scale"
        if value.dtype == np.int8:
            rows = (value * one[scale][:, None] + other[name] * other[scale][:, None]) / 2
            tensors[scale] = (np.maximum(np.abs(rows).max(1), 1e-12) / 127).astype(np.float32)
            tensors[name] = np.clip(np.round(rows / tensors[scale][:, None]), -127, 127).astype(np.int8)
        elif name not in tensors:
            tensors[name] = (value + other[name]) / 2
    return {name: tensors[name] for name in one}


def shipped(architecture: dict, tensors: dict[str, np.ndarray], kept: np.ndarray) -> tuple[dict, dict[str, np.ndarray]]:
    """Without the tokens and positions that do not ship."""
    less = {name: tensors[name][kept] for name in ("embeddings.tokens", "embeddings.tokens.scale")}
    less["embeddings.positions"] = tensors["embeddings.positions"][:POSITIONS]
    return {**architecture, "vocabulary": len(kept), "positions": POSITIONS}, {**tensors, **less}


def weight_file(model: str, architecture: dict, tensors: dict[str, np.ndarray]) -> bytes:
    listed, payload = [], bytearray()
    for name, value in tensors.items():
        payload += bytes(-len(payload) % ALIGNMENT)
        value = np.ascontiguousarray(value, dtype=np.int8 if value.dtype == np.int8 else np.float32)
        kind = "i8" if value.dtype == np.int8 else "f32"
        listed.append({"name": name, "type": kind, "shape": list(value.shape), "offset": len(payload)})
        payload += value.tobytes()
    header = json.dumps({"model": model, "architecture": architecture, "tensors": listed}, separators=(",", ":")).encode()
    body = header + bytes(-(PREFIX + len(header)) % ALIGNMENT) + bytes(payload)
    return b"TAENCODR" + struct.pack("<II", 1, len(header)) + hashlib.sha256(body).digest() + body


def six_bits(rows: np.ndarray, scales: np.ndarray) -> tuple[bytes, np.ndarray]:
    """Rows of int8 with a scale each as rows of 6 bits, four numbers in three bytes, and their scales: of ten scales, the one with the smallest error."""
    values = rows * scales[:, None]
    widest = np.maximum(np.abs(values).max(1), 1e-12) / 31
    best, error = widest, np.full(len(values), np.inf)
    for share in np.linspace(0.7, 1, 10):
        scale = widest * share
        rounded = np.clip(np.round(values / scale[:, None]), -32, 31) * scale[:, None]
        now = ((rounded - values) ** 2).sum(1)
        best, error = np.where(now < error, scale, best), np.minimum(now, error)
    best = best.astype(np.float32)
    numbers = (np.clip(np.round(values / best[:, None]), -32, 31) + 32).astype(np.uint32).reshape(-1, 4)
    bits = numbers[:, 0] | numbers[:, 1] << 6 | numbers[:, 2] << 12 | numbers[:, 3] << 18
    return np.stack([bits & 255, bits >> 8 & 255, bits >> 16], 1).astype(np.uint8).tobytes(), best


def read_six_bits(rows: pathlib.Path, scales: pathlib.Path) -> np.ndarray:
    """The table that six_bits packed."""
    read = np.fromfile(scales, np.float32)
    parts = np.fromfile(rows, np.uint8).reshape(-1, 3).astype(np.uint32)
    bits = parts[:, 0] | parts[:, 1] << 8 | parts[:, 2] << 16
    numbers = np.stack([bits & 63, bits >> 6 & 63, bits >> 12 & 63, bits >> 18 & 63], 1).reshape(len(read), -1)
    return (numbers.astype(np.float32) - 32) * read[:, None]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--from", dest="source", required=True, type=pathlib.Path)
    arguments.add_argument("--base", required=True, type=pathlib.Path, help="folder with the tokenizer.json of the training")
    arguments.add_argument("--to", required=True, type=pathlib.Path)
    arguments.add_argument("--model", required=True, help="the tuned model's name; its vectors are cached under it")
    arguments.add_argument("--mean-with", type=pathlib.Path, help="an earlier weight file")
    options = arguments.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    kept = kept_tokens(options.base)
    architecture, tensors = encoder(read_safetensors(options.source / "tuned.int8.safetensors"))
    if options.mean_with:
        tensors = mean(tensors, read_weight_file(options.mean_with))
    (options.to / "tuned.bin").write_bytes(weight_file(options.model, *shipped(architecture, tensors, kept)))
    scales = np.fromfile(options.source / "static.scale.f32", np.float32)
    rows = np.fromfile(options.source / "static.i8", np.int8).reshape(len(scales), -1)
    packed, scales = six_bits(rows[kept], scales[kept])
    (options.to / "static.i6").write_bytes(packed)
    (options.to / "static.scale.f32").write_bytes(scales.tobytes())
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(options.to.iterdir()) if path.name != "SHA256SUMS"}
    (options.to / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    print((options.to / "SHA256SUMS").read_text(), end="")


if __name__ == "__main__":
    main()
