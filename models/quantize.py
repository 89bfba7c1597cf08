"""Writes the tuned tier as int8: each row of each matrix with one scale. Checks what that costs.

    python3 models/quantize.py --data .borrowed/train.json.xz --base .borrowed/minilm --model $OUT/tuned.pt --out $OUT
"""
import argparse
import json
import pathlib

import torch
from safetensors.torch import save_file

from train import Texts, check, dense_embedders, load_base, load_data


def quantized(state: dict[str, torch.Tensor]) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Tensors to save, and the state that they stand for."""
    tensors: dict[str, torch.Tensor] = {}
    rounded = dict(state)
    for name, value in state.items():
        if not value.is_floating_point():
            continue
        value = value.float()
        if value.ndim == 2:
            scale = value.abs().amax(1).clamp(min=1e-12) / 127
            rows = torch.round(value / scale.unsqueeze(1)).clamp(-127, 127)
            tensors[name] = rows.to(torch.int8).cpu().contiguous()
            tensors[name + ".scale"] = scale.cpu().contiguous()
            rounded[name] = rows * scale.unsqueeze(1)
        else:
            tensors[name] = value.cpu().contiguous()
    return tensors, rounded


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", required=True, type=pathlib.Path)
    arguments.add_argument("--base", required=True, type=pathlib.Path)
    arguments.add_argument("--model", required=True, type=pathlib.Path)
    arguments.add_argument("--out", required=True, type=pathlib.Path)
    arguments.add_argument("--check", choices=["heldout", "validation"], default="heldout")
    options = arguments.parse_args()
    model = load_base(options.base)
    model.load_state_dict(torch.load(options.model))
    tensors, rounded = quantized(model.state_dict())
    model.load_state_dict(rounded)
    texts = Texts(options.base / "tokenizer.json")
    report = check("int8 weights", load_data(options.data), options.check, *dense_embedders(model, texts))
    options.out.mkdir(parents=True, exist_ok=True)
    save_file(tensors, str(options.out / "tuned.int8.safetensors"))
    (options.out / "tuned.int8.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main()
