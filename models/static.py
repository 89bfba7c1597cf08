"""Distils the static tier from the tuned one: a table of one vector a token, whose mean stands for a text.

    python3 models/static.py --data .borrowed/train.json.xz --base .borrowed/minilm --teacher .borrowed/trained --out $OUT
    python3 models/static.py --data .borrowed/train.json.xz --again models/weights --out $OUT     # the shipped table, taught further

With --again, the table starts as the one of that folder and learns from the tuned model there; what it writes is the mean of both tables, packed.
This needs torch and numpy alone, and takes ten minutes on two cores without a GPU.
"""
import argparse
import json
import pathlib
import random
import time

import numpy as np
import torch
import torch.nn.functional as F

from bert import ShippedEncoder, ShippedTexts
from export import read_six_bits, six_bits
from texts import long_text, short_text
from train import DEVICE, QUERY_TOKENS, RECIPE, TOOL_TOKENS, Batches, Texts, check, encode, encode_all, load_data, load_quantized

DIMENSION = 256
# What was tried and did not help: more of the corpus, a lower rate, holding the rows near the first ones, labels alone.
STATIC = {
    **RECIPE,
    "epochs": 8, "batch": 1024, "rate": 4e-3, "labels": 0.5, "teacher": 4.0, "written": 3, "corpus": 2, "dropped": 0.15, "seed": 1,
}
AGAIN = {**STATIC, "epochs": 4, "rate": 2e-3}


def first_rows(teacher, texts: Texts) -> torch.Tensor:
    """Every token through the teacher, reduced to its main directions, rare tokens heavier than common ones."""
    begin, end = texts.tokenizer.token_to_id("[CLS]"), texts.tokenizer.token_to_id("[SEP]")
    size = texts.tokenizer.get_vocab_size()
    teacher.eval()
    with torch.no_grad():
        rows = torch.cat([encode(teacher, [[begin, token, end] for token in range(start, min(size, start + 4096))], 4096) for start in range(0, size, 4096)])
    centred = rows - rows.mean(0)
    _, _, directions = torch.pca_lowrank(centred, q=DIMENSION, center=False, niter=6)
    rank = torch.arange(size, device=DEVICE).float()
    return F.normalize(centred @ directions, dim=1) * torch.log1p(rank).clamp(min=0.1).unsqueeze(1) / 10


def bag(table: torch.Tensor, rows: list[list[int]], dropped: float = 0.0) -> torch.Tensor:
    """The mean of the rows of each text, without its first and last token, at unit length."""
    bodies = [row[1:-1] or [100] for row in rows]
    flat = torch.from_numpy(np.fromiter((token for body in bodies for token in body), dtype=np.int64)).to(DEVICE)
    offsets = torch.from_numpy(np.cumsum([0] + [len(body) for body in bodies[:-1]])).to(DEVICE)
    weights = None
    if dropped:
        weights = (torch.rand(len(flat), device=DEVICE) >= dropped).float()
        return F.normalize(F.embedding_bag(flat, table, offsets, mode="sum", per_sample_weights=weights) + 1e-6, dim=-1)
    return F.normalize(F.embedding_bag(flat, table, offsets, mode="mean"), dim=-1)


def distil(data: dict, texts: Texts, taught: dict[str, np.ndarray], embed, first: torch.Tensor, recipe: dict) -> torch.Tensor:
    table = torch.nn.Parameter(first.clone())
    optimizer = torch.optim.Adam([table], lr=recipe["rate"])
    batches = Batches(data, recipe, random.Random(recipe["seed"]))
    plan = [batch for _ in range(recipe["epochs"]) for batch in batches.epoch()]
    for column, limit in ((0, QUERY_TOKENS), (1, TOOL_TOKENS)):
        new = sorted({item[column] for batch in plan for item in batch} - taught.keys())
        taught.update(zip(new, embed(new, limit)))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.02, 1 - step / len(plan)))
    temperature = recipe["temperature"]
    for batch in plan:
        queries = bag(table, [texts.ids(item[0], QUERY_TOKENS) for item in batch], recipe["dropped"])
        tools = bag(table, [texts.ids(item[1], TOOL_TOKENS) for item in batch], recipe["dropped"])
        columns: dict[tuple, list[int]] = {}
        for column, item in enumerate(batch):
            columns.setdefault(item[2], []).append(column)
        blocked = np.zeros((len(batch), len(batch)), dtype=bool)
        for row, item in enumerate(batch):
            for key in item[3]:
                for column in columns.get(key, ()):
                    blocked[row, column] = column != row
        similarity = queries @ tools.T / temperature
        logits = similarity.masked_fill(torch.from_numpy(blocked).to(DEVICE), -1e4)
        target = torch.arange(len(batch), device=DEVICE)
        loss = recipe["labels"] * (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2
        teacher_queries = torch.from_numpy(np.stack([taught[item[0]] for item in batch])).to(DEVICE)
        teacher_tools = torch.from_numpy(np.stack([taught[item[1]] for item in batch])).to(DEVICE)
        wanted = teacher_queries @ teacher_tools.T / temperature
        loss = loss + recipe["teacher"] * (
            F.kl_div(F.log_softmax(similarity, 1), F.softmax(wanted, 1), reduction="batchmean")
            + F.kl_div(F.log_softmax(similarity.T, 1), F.softmax(wanted.T, 1), reduction="batchmean")
        ) / 2
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
    return table.detach()


def quantize(table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scale = table.abs().amax(1).clamp(min=1e-9) / 127
    return torch.round(table / scale.unsqueeze(1)).to(torch.int8), scale


def embedders(texts: Texts, rows: torch.Tensor, scale: torch.Tensor) -> tuple:
    final = rows.float() * scale.unsqueeze(1)

    def embed(items: list[str], limit: int) -> np.ndarray:
        texts.fill(items, limit)
        with torch.no_grad():
            return np.concatenate([bag(final, [texts.ids(text, limit) for text in items[start : start + 4096]]).cpu().numpy() for start in range(0, len(items), 4096)])

    def tools_of(items: list[dict]) -> np.ndarray:
        total = embed([short_text(t) for t in items], TOOL_TOKENS) + embed([long_text(t) for t in items], TOOL_TOKENS)
        return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-9)

    return lambda queries: embed(queries, QUERY_TOKENS), tools_of


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", required=True, type=pathlib.Path)
    arguments.add_argument("--base", type=pathlib.Path)
    arguments.add_argument("--teacher", type=pathlib.Path)
    arguments.add_argument("--again", type=pathlib.Path, help="a folder of weights as they ship")
    arguments.add_argument("--out", required=True, type=pathlib.Path)
    arguments.add_argument("--check", choices=["heldout", "validation"], default="heldout", help="with validation, its servers are not trained on")
    options = arguments.parse_args()
    started = time.time()
    options.out.mkdir(parents=True, exist_ok=True)
    data = load_data(options.data, everything=options.check == "heldout")
    torch.manual_seed(STATIC["seed"])
    if options.again:
        texts, teacher = ShippedTexts(), ShippedEncoder(options.again / "tuned.bin")
        first = torch.from_numpy(read_six_bits(options.again / "static.i6", options.again / "static.scale.f32"))
        embed = lambda new, limit: teacher.vectors([texts.ids(text, limit) for text in new]).numpy()
        rows, scale = quantize((distil(data, texts, {}, embed, first, AGAIN) + first) / 2)
        packed, scales = six_bits(rows.numpy(), scale.numpy())
        (options.out / "static.i6").write_bytes(packed)
    else:
        texts = Texts(options.base / "tokenizer.json")
        teacher = load_quantized(options.base, options.teacher / "tuned.int8.safetensors")
        embed = lambda new, limit: encode_all(teacher, texts, new, limit)
        rows, scale = quantize(distil(data, texts, {}, embed, first_rows(teacher, texts), STATIC))
        rows.cpu().numpy().tofile(options.out / "static.i8")
        scales = scale.float().cpu().numpy()
    scales.tofile(options.out / "static.scale.f32")
    report = check(f"static, {time.time() - started:.0f} s", data, options.check, *embedders(texts, rows, scale))
    (options.out / "static.json").write_text(json.dumps({"recipe": AGAIN if options.again else STATIC, "report": report}))


if __name__ == "__main__":
    main()
