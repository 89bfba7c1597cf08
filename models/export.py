"""Writes the shipped files from what training left: the encoder's weights and the token table. Needs numpy alone.

    python3 models/export.py --from .borrowed/trained --to models/weights --model toolarsenal-tuned-1

src/adapters/embedders/kernel/weights.ts describes the layout of tuned.bin.
"""
import argparse
import hashlib
import json
import pathlib
import struct

import numpy as np

ALIGNMENT, PREFIX = 64, 48
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


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--from", dest="source", required=True, type=pathlib.Path)
    arguments.add_argument("--to", required=True, type=pathlib.Path)
    arguments.add_argument("--model", required=True, help="the tuned model's name; its vectors are cached under it")
    options = arguments.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    architecture, tensors = encoder(read_safetensors(options.source / "tuned.int8.safetensors"))
    (options.to / "tuned.bin").write_bytes(weight_file(options.model, architecture, tensors))
    for name in ("static.i8", "static.scale.f32"):
        (options.to / name).write_bytes((options.source / name).read_bytes())
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(options.to.iterdir()) if path.name != "SHA256SUMS"}
    (options.to / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    print((options.to / "SHA256SUMS").read_text(), end="")


if __name__ == "__main__":
    main()
