"""Reads the weights of a BERT encoder out of an ONNX file and writes them as safetensors, so that it can be trained. Needs numpy alone.

    python3 models/onnx_weights.py --onnx gte-small/onnx/model.onnx --to gte-small/model.fp16.safetensors
"""
import argparse
import json
import pathlib
import struct
from collections.abc import Iterator

import numpy as np

FLOAT = 1


def fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of one protobuf message: number and value."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, varint()
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            yield tag >> 3, data[at : at + size]
            at += size
        else:
            size = varint()
            yield tag >> 3, data[at : at + size]
            at += size


def text(value: int | memoryview) -> str:
    return bytes(value).decode()


def tensor(message: memoryview) -> tuple[str, np.ndarray | None]:
    name, shape, kind, raw = "", [], 0, None
    for number, value in fields(message):
        if number == 1:
            shape.append(value)
        elif number == 2:
            kind = value
        elif number == 8:
            name = text(value)
        elif number == 9:
            raw = value
    return name, np.frombuffer(raw, np.float32).reshape(shape) if kind == FLOAT and raw is not None else None


def encoder(path: pathlib.Path) -> dict[str, np.ndarray]:
    """Tensors by their usual BERT names. A matrix has no name of its own in the file: it takes that of the bias added to its product."""
    graph = next(value for number, value in fields(memoryview(path.read_bytes())) if number == 7)
    tensors: dict[str, np.ndarray] = {}
    product: dict[str, str] = {}
    found: dict[str, np.ndarray] = {}
    nodes = []
    for number, value in fields(graph):
        if number == 5:
            name, array = tensor(value)
            if array is not None:
                tensors[name] = array
        elif number == 1:
            parts = list(fields(value))
            nodes.append((next(text(v) for n, v in parts if n == 4), [text(v) for n, v in parts if n == 1], [text(v) for n, v in parts if n == 2]))
    for kind, inputs, outputs in nodes:
        if kind == "MatMul" and inputs[1] in tensors:
            product[outputs[0]] = inputs[1]
        elif kind == "Add":
            for bias, other in (inputs, inputs[::-1]):
                if bias in tensors and other in product:
                    found[bias.removesuffix(".bias") + ".weight"] = tensors[product[other]].T
    named = {name: array for name, array in tensors.items() if name.startswith(("embeddings.", "encoder."))}
    return {**named, **found}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--onnx", required=True, type=pathlib.Path)
    arguments.add_argument("--to", required=True, type=pathlib.Path)
    options = arguments.parse_args()
    header, payload = {}, bytearray()
    for name, array in sorted(encoder(options.onnx).items()):
        bytes_ = np.ascontiguousarray(array, dtype=np.float16).tobytes()
        header[name] = {"dtype": "F16", "shape": list(array.shape), "data_offsets": [len(payload), len(payload) + len(bytes_)]}
        payload += bytes_
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    options.to.write_bytes(struct.pack("<Q", len(head)) + head + payload)
    print(f"{len(header)} tensors, {len(payload) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
