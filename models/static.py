"""Distils the static tier from the tuned one: a table of one vector a token, whose mean stands for a text.

    python3 models/static.py --data .borrowed/train.json.xz --base .borrowed/minilm --teacher $OUT/tuned.pt --out $OUT
"""
import argparse
import json
import pathlib
import random
import time

import numpy as np
import torch
import torch.nn.functional as F

from texts import long_text, short_text
from train import DEVICE, QUERY_TOKENS, RECIPE, TOOL_TOKENS, Batches, Checks, Texts, encode_all, load_base, load_data, show

DIMENSION = 256
STATIC = {"epochs": 8, "batch": 1024, "mixed": 0.5, "rate": 4e-3, "temperature": 0.05, "kl": 1.0, "written": 3, "glued": 0.15, "corpus": 2, "labelled": 1}


def first_rows(teacher, texts: Texts) -> torch.Tensor:
    """Every token through the teacher, reduced to its main directions, rare tokens heavier than common ones."""
    special = [texts.tokenizer.token_to_id("[CLS]"), texts.tokenizer.token_to_id("[SEP]")]
    size = texts.tokenizer.get_vocab_size()
    rows = np.zeros((size, teacher.config.hidden_size), dtype=np.float32)
    from train import encode

    teacher.eval()
    with torch.no_grad():
        for start in range(0, size, 4096):
            part = range(start, min(size, start + 4096))
            rows[start : start + len(part)] = encode(teacher, [[special[0], token, special[1]] for token in part], 4096).cpu().numpy()
    centred = torch.from_numpy(rows - rows.mean(0)).to(DEVICE)
    _, _, directions = torch.pca_lowrank(centred, q=DIMENSION, center=False, niter=6)
    reduced = centred @ directions
    rank = torch.arange(size, device=DEVICE).float()
    return F.normalize(reduced, dim=1) * torch.log1p(rank).clamp(min=0.1).unsqueeze(1) / 10


def bag(table: torch.Tensor, rows: list[list[int]]) -> torch.Tensor:
    """The mean of the rows of each text, without its first and last token, at unit length."""
    bodies = [row[1:-1] or [100] for row in rows]
    flat = torch.tensor([token for body in bodies for token in body], device=DEVICE)
    offsets = torch.tensor(np.cumsum([0] + [len(body) for body in bodies[:-1]]), device=DEVICE)
    return F.normalize(F.embedding_bag(flat, table, offsets, mode="mean"), dim=-1)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", required=True, type=pathlib.Path)
    arguments.add_argument("--base", required=True, type=pathlib.Path)
    arguments.add_argument("--teacher", required=True, type=pathlib.Path)
    arguments.add_argument("--out", required=True, type=pathlib.Path)
    arguments.add_argument("--set", default="{}", help="recipe overrides as JSON")
    options = arguments.parse_args()
    recipe = {**RECIPE, **STATIC, **json.loads(options.set)}
    data = load_data(options.data)
    texts = Texts(options.base / "tokenizer.json")
    teacher = load_base(options.base)
    teacher.load_state_dict(torch.load(options.teacher))
    checks = Checks(data)

    table = torch.nn.Parameter(first_rows(teacher, texts))
    optimizer = torch.optim.Adam([table], lr=recipe["rate"])
    rng = random.Random(1)
    batches = Batches(data, recipe, rng)
    plan = [batch for _ in range(recipe["epochs"]) for batch in batches.epoch()]
    requests = sorted({item[0] for batch in plan for item in batch})
    answers = sorted({item[1] for batch in plan for item in batch})
    taught = {text: vector for group, limit in ((requests, QUERY_TOKENS), (answers, TOOL_TOKENS)) for text, vector in zip(group, encode_all(teacher, texts, group, limit))}
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.02, 1 - step / len(plan)))
    started = time.time()
    for step, batch in enumerate(plan):
        queries = bag(table, [texts.ids(item[0], QUERY_TOKENS) for item in batch])
        tools = bag(table, [texts.ids(item[1], TOOL_TOKENS) for item in batch])
        columns: dict[tuple, list[int]] = {}
        for column, item in enumerate(batch):
            columns.setdefault(item[2], []).append(column)
        blocked = torch.zeros((len(batch), len(batch)), dtype=torch.bool)
        for row, item in enumerate(batch):
            for key in item[3]:
                for column in columns.get(key, ()):
                    blocked[row, column] = column != row
        blocked = blocked.to(DEVICE)
        logits = (queries @ tools.T / recipe["temperature"]).masked_fill(blocked, -1e4)
        target = torch.arange(len(batch), device=DEVICE)
        loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2
        teacher_queries = torch.from_numpy(np.stack([taught[item[0]] for item in batch])).to(DEVICE)
        teacher_tools = torch.from_numpy(np.stack([taught[item[1]] for item in batch])).to(DEVICE)
        wanted = F.softmax(teacher_queries @ teacher_tools.T / recipe["temperature"], dim=1)
        plain = F.log_softmax(queries @ tools.T / recipe["temperature"], dim=1)
        loss = loss + recipe["kl"] * F.kl_div(plain, wanted, reduction="batchmean")
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 200 == 0:
            print(f"static step {step}/{len(plan)} loss {loss.item():.3f} {time.time() - started:.0f} s", flush=True)

    with torch.no_grad():
        scale = table.abs().amax(1).clamp(min=1e-9) / 127
        rows = torch.round(table / scale.unsqueeze(1)).to(torch.int8)
        final = rows.float() * scale.unsqueeze(1)

        def embed(items: list[str], limit: int) -> np.ndarray:
            texts.fill(items, limit)
            return np.concatenate([bag(final, [texts.ids(text, limit) for text in items[start : start + 4096]]).cpu().numpy() for start in range(0, len(items), 4096)])

        def tools_of(items: list[dict]) -> np.ndarray:
            total = embed([short_text(t) for t in items], TOOL_TOKENS) + embed([long_text(t) for t in items], TOOL_TOKENS)
            return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-9)

        report = checks.run(lambda queries: embed(queries, QUERY_TOKENS), tools_of, scale=True)
    show("static", report)
    options.out.mkdir(parents=True, exist_ok=True)
    rows.cpu().numpy().tofile(options.out / "static.i8")
    scale.float().cpu().numpy().tofile(options.out / "static.scale.f32")
    (options.out / "static.json").write_text(json.dumps({"recipe": recipe, "report": report}))


if __name__ == "__main__":
    main()
