"""Trains the tuned tier: all-MiniLM-L6-v2, fine-tuned to put a request next to the tools that serve it. One GPU; see README.md.

    python3 models/train.py --data .borrowed/train.json.xz --base .borrowed/minilm --out $OUT [--seeds 1,2,3,4] [--check-only]
"""
from __future__ import annotations

import argparse
import json
import lzma
import os
import pathlib
import random
import re
import time

# The same bytes from the same command: cuBLAS reads this when it starts.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")

import numpy as np
import torch
import torch.nn.functional as F

from lexical import bm25f
from metrics import figures, minmax
from texts import long_text, short_text, split_words, subject
from validation import SmallCatalogs, same_text, show_small

# The set whose tools belong to servers: the requests that were written for this project.
WRITTEN = "toucan-paraphrase"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
QUERY_TOKENS, TOOL_TOKENS = 256, 192
# Shorter while training: few texts are longer, and they would pad all others.
TRAIN_QUERY_TOKENS, TRAIN_TOOL_TOKENS = 128, 128
RECIPE = {
    "epochs": 2, "batch": 512, "mixed": 0.5, "rate": 1e-4, "temperature": 0.05, "written": 5, "glued": 0.15, "warmup": 0.1, "decay": 0.01, "corpus": 1, "labelled": 1,
}


class Texts:
    """Tokenizes each text once."""

    def __init__(self, path: pathlib.Path):
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(path))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.cache: dict[tuple[str, int], list[int]] = {}

    def ids(self, text: str, limit: int) -> list[int]:
        key = (text, limit)
        found = self.cache.get(key)
        if found is None:
            ids = self.tokenizer.encode(text[: limit * 12]).ids
            found = ids if len(ids) <= limit else ids[: limit - 1] + [ids[-1]]
            self.cache[key] = found
        return found

    def fill(self, texts: list[str], limit: int) -> None:
        missing = list({text for text in texts if (text, limit) not in self.cache})
        for text, encoded in zip(missing, self.tokenizer.encode_batch([text[: limit * 12] for text in missing])):
            ids = encoded.ids
            self.cache[(text, limit)] = ids if len(ids) <= limit else ids[: limit - 1] + [ids[-1]]


def collate(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    width = max(map(len, rows))
    ids = np.zeros((len(rows), width), dtype=np.int64)
    lengths = np.array([len(row) for row in rows])
    for index, row in enumerate(rows):
        ids[index, : len(row)] = row
    mask = (np.arange(width)[None, :] < lengths[:, None]).astype(np.int64)
    return torch.from_numpy(ids).to(DEVICE, non_blocking=True), torch.from_numpy(mask).to(DEVICE, non_blocking=True)


# Imported when they are needed: the static table is also trained where only torch is installed.
def load_base(folder: pathlib.Path) -> BertModel:
    from safetensors.torch import load_file
    from transformers import BertConfig, BertModel

    config = BertConfig.from_pretrained(str(folder / "config.json"))
    model = BertModel(config, add_pooling_layer=False)
    weights = {name: value.float() for name, value in load_file(str(folder / "model.fp16.safetensors")).items()}
    missing, _ = model.load_state_dict(weights, strict=False)
    assert all("position_ids" in name or "token_type_ids" in name for name in missing), missing
    return model.to(DEVICE)


def load_quantized(base: pathlib.Path, path: pathlib.Path) -> BertModel:
    """The model as it is shipped: int8 rows times their scales."""
    from safetensors.torch import load_file
    from transformers import BertConfig, BertModel

    model = BertModel(BertConfig.from_pretrained(str(base / "config.json")), add_pooling_layer=False)
    tensors = load_file(str(path))
    weights = {name: value.float() * tensors[f"{name}.scale"].unsqueeze(1) if value.dtype == torch.int8 else value for name, value in tensors.items() if not name.endswith(".scale")}
    model.load_state_dict(weights, strict=False)
    return model.to(DEVICE)


def encode(model: BertModel, rows: list[list[int]], part: int = 256) -> torch.Tensor:
    """Unit vectors in the order given. Rows of like length run together, so that little is spent on padding."""
    return encode_with_passages(model, rows, {}, part)[0]


def find_passage(passage: list[int], row: list[int]) -> tuple[int, int] | None:
    """Where the tokens of a passage, without its markers, stand in a row: start and length. The product finds clauses the same way."""
    wanted = passage[1:-1]
    for start in range(1, len(row) - len(wanted)):
        if row[start : start + len(wanted)] == wanted:
            return start, len(wanted)
    return None


def encode_with_passages(model: BertModel, rows: list[list[int]], passages: dict[int, tuple[int, int]], part: int = 256) -> tuple[torch.Tensor, torch.Tensor]:
    """Unit vectors of rows, and of one passage of some rows, pooled from the states of the whole row; those in the order of their rows."""
    order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
    vectors = []
    pooled: dict[int, torch.Tensor] = {}
    for start in range(0, len(order), part):
        ids, mask = collate([rows[index] for index in order[start : start + part]])
        with torch.autocast("cuda", dtype=torch.bfloat16):
            hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).float()
        vectors.append(F.normalize((hidden.float() * weights).sum(1) / weights.sum(1), dim=-1))
        for place, index in enumerate(order[start : start + part]):
            if index in passages:
                first, length = passages[index]
                pooled[index] = F.normalize(hidden[place, first : first + length].float().mean(0), dim=-1)
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    found = torch.stack([pooled[index] for index in sorted(pooled)]) if pooled else torch.empty(0)
    return torch.cat(vectors)[back.to(DEVICE)], found


@torch.no_grad()
def encode_all(model: BertModel, texts: Texts, items: list[str], limit: int) -> np.ndarray:
    model.eval()
    texts.fill(items, limit)
    rows = [texts.ids(item, limit) for item in items]
    order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
    out = np.zeros((len(rows), model.config.hidden_size), dtype=np.float32)
    for start in range(0, len(order), 1024):
        part = order[start : start + 1024]
        out[part] = encode(model, [rows[index] for index in part], 1024).cpu().numpy()
    return out


def first_sentence(text: str) -> tuple[str, str]:
    parts = re.split(r"(?<=[.!?])\s+|\n+", text.strip(), maxsplit=1)
    return parts[0], parts[1] if len(parts) > 1 else ""


class Batches:
    """Draws batches: half of each from one source, so that the others are hard enough negatives; the other half from the same or, in a share of them, from another source."""

    def __init__(self, data: dict, recipe: dict, rng: random.Random):
        self.recipe, self.rng = recipe, rng
        self.sources = []
        for name, one in data["sets"].items():
            tools = {tool["id"]: tool for tool in one["tools"]}
            # Tools with the same text are the same answer.
            same: dict[str, int] = {}
            group = {key: same.setdefault(same_text(tool), len(same)) for key, tool in tools.items()}
            repeat = recipe["written"] if name == WRITTEN else recipe["labelled"]
            rows = [row for row in one["train"] if row["relevant"]]
            self.sources.append({"name": name, "tools": tools, "group": group, "rows": rows, "repeat": repeat})
        self.corpus = data["corpus"]

    def epoch(self) -> list[list[tuple]]:
        """Batches of (request, tool text, group of the tool, groups that also answer)."""
        size, rng = self.recipe["batch"] // 2, self.rng
        batches = []
        for source in self.sources:
            for number in range(source["repeat"]):
                rows = self.ordered(source, number)
                items = [self.labelled(source, row, rows) for row in rows]
                batches += [items[start : start + size] for start in range(0, len(items), size)]
        for _ in range(self.recipe["corpus"]):
            by_server: dict[str, list[dict]] = {}
            for tool in self.corpus:
                by_server.setdefault(tool["namespace"], []).append(tool)
            servers = list(by_server.values())
            rng.shuffle(servers)
            items = [item for server in servers for item in map(self.supervised, server) if item]
            batches += [items[start : start + size] for start in range(0, len(items), size)]
        halves = [batch for batch in batches if len(batch) >= 16]
        alone = int(len(halves) * (1 - self.recipe["mixed"]))
        # Neighbours in the list come from one source; the rest is paired at random.
        rng.shuffle(halves)
        halves[:alone] = sorted(halves[:alone], key=lambda half: half[0][2][0])
        pairs = [halves[index] + (halves[index + 1] if index + 1 < len(halves) else []) for index in range(0, len(halves), 2)]
        rng.shuffle(pairs)
        return pairs

    def ordered(self, source: dict, number: int) -> list[dict]:
        rows = source["rows"][:]
        self.rng.shuffle(rows)
        return rows

    def labelled(self, source: dict, row: dict, rows: list[dict]) -> tuple:
        query, gold, accepted, _ = self.drawn(source, row, rows)
        text = short_text(gold) if self.rng.random() < 0.5 else long_text(gold)
        return query, text, (source["name"], source["group"][gold["id"]]), accepted

    def drawn(self, source: dict, row: dict, rows: list[dict]) -> tuple[str, dict, set[tuple], str | None]:
        """A request, one of its tools, the groups that answer it, and, if it was glued from two, the half that asks for the tool."""
        rng, group = self.rng, source["group"]
        query, relevant = row["query"], list(row["relevant"])
        also = list(row.get("also_ok", []))
        passage = None
        if rng.random() < self.recipe["glued"] and "earlier:" not in query:
            other = rng.choice(rows)
            if "earlier:" not in other["query"]:
                passage = query.rstrip(".")
                query = rng.choice(["{} and then {}", "{}. {}", "{}, also {}", "{} After that {}"]).format(passage, other["query"])
                relevant += other["relevant"]
                also += other.get("also_ok", [])
        gold = source["tools"][rng.choice(relevant)]
        if passage is not None and gold["id"] not in row["relevant"]:
            passage = other["query"]
        accepted = {group[tool] for tool in relevant + also if tool in group}
        return query, gold, {(source["name"], one) for one in accepted}, passage

    def supervised(self, tool: dict) -> tuple | None:
        rng = self.rng
        head, rest = first_sentence(tool["description"])
        kind = rng.random()
        name = subject(tool)
        parameters = long_text({**tool, "description": ""})
        if kind < 0.4 and len(rest) > 30:
            pair = (head, f"{name}: {rest}")
        elif kind < 0.7:
            pair = (name if rng.random() < 0.5 else " ".join(split_words(tool["name"])), tool["description"])
        else:
            pair = (head, parameters)
        if len(pair[0]) < 6 or len(pair[1]) < 10:
            return None
        key = ("corpus", same_text(tool))
        return pair[0], pair[1], key, {key}


def optimizer_of(model: torch.nn.Module, recipe: dict, steps: int) -> tuple:
    """AdamW whose rate rises while it warms up, then falls to nothing."""
    decay = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": recipe["decay"]}, {"params": plain, "weight_decay": 0}], lr=recipe["rate"], **({"fused": True} if DEVICE == "cuda" else {}))
    warm = max(1, int(recipe["warmup"] * steps))
    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm))))


def descend(loss: torch.Tensor, model: torch.nn.Module, optimizer, schedule) -> None:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()


def train(data: dict, texts: Texts, base: pathlib.Path, recipe: dict, seed: int) -> BertModel:
    torch.manual_seed(seed)
    rng = random.Random(seed)
    model = load_base(base)
    model.train()
    batches = Batches(data, recipe, rng)
    plan = [batch for _ in range(recipe["epochs"]) for batch in batches.epoch()]
    texts.fill([item[0] for batch in plan for item in batch], TRAIN_QUERY_TOKENS)
    texts.fill([item[1] for batch in plan for item in batch], TRAIN_TOOL_TOKENS)
    optimizer, schedule = optimizer_of(model, recipe, len(plan))
    started = time.time()
    for step, batch in enumerate(plan):
        queries = encode(model, [texts.ids(item[0], TRAIN_QUERY_TOKENS) for item in batch])
        tools = encode(model, [texts.ids(item[1], TRAIN_TOOL_TOKENS) for item in batch])
        blocked = torch.zeros((len(batch), len(batch)), dtype=torch.bool)
        columns: dict[tuple, list[int]] = {}
        for column, item in enumerate(batch):
            columns.setdefault(item[2], []).append(column)
        for row, item in enumerate(batch):
            for key in item[3]:
                for column in columns.get(key, ()):
                    blocked[row, column] = column != row
        logits = queries @ tools.T / recipe["temperature"]
        logits = logits.masked_fill(blocked.to(DEVICE), -1e4)
        target = torch.arange(len(batch), device=DEVICE)
        loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2
        descend(loss, model, optimizer, schedule)
        if step % 200 == 0:
            print(f"seed {seed} step {step}/{len(plan)} loss {loss.item():.3f} {time.time() - started:.0f} s", flush=True)
    return model


def average(models: list[BertModel]) -> BertModel:
    first, *others = models
    state = first.state_dict()
    for name in state:
        if state[name].is_floating_point():
            state[name] = torch.stack([state[name]] + [other.state_dict()[name] for other in others]).mean(0)
    first.load_state_dict(state)
    return first


class Checks:
    """The sets for checking, with their lexical scores computed once."""

    def __init__(self, data: dict):
        self.sets = {}
        checks = data["checks"]
        for name, one in checks.items():
            tools = checks["heldout"]["tools"] if one["tools"] == "heldout" else one["tools"]
            queries = [query for query in one["queries"] if query["relevant"]]
            self.sets[name] = {"tools": tools, "queries": queries, "lexical": minmax(bm25f(tools, [q["query"] for q in queries]))}
        self.distractors = [tool for tool in data["corpus"]][:16000]

    def run(self, embed_queries, embed_tools, scale: bool = False) -> dict[str, dict]:
        """Figures a set: dense alone and fused."""
        report = {}
        extra = embed_tools(self.distractors) if scale else None
        for name, one in self.sets.items():
            vectors = embed_queries([q["query"] for q in one["queries"]])
            tools = embed_tools(one["tools"])
            dense = vectors @ tools.T
            ids = [tool["id"] for tool in one["tools"]]
            report[name] = {"dense": figures(dense, ids, one["queries"])}
            for share in (0.8, 0.9):
                report[name][f"fused{share}"] = figures(share * minmax(dense) + (1 - share) * one["lexical"], ids, one["queries"])
            if extra is not None:
                wide = np.concatenate([dense, vectors @ extra.T], axis=1)
                report[name]["scale"] = figures(wide, ids + [f"distractor {index}" for index in range(len(extra))], one["queries"])
        return report


def show(label: str, report: dict[str, dict]) -> None:
    print(f"== {label}")
    for name, kinds in report.items():
        print(f"{name:18}" + "  ".join(f"{kind} {f['ndcg']:.1f}/{f['r1']:.1f}/{f['r5']:.1f}" for kind, f in kinds.items()), flush=True)


def check(label: str, data: dict, which: str, embed_queries, embed_tools) -> dict:
    """Figures on the held-out sets, or on the validation servers."""
    if which == "validation":
        report = SmallCatalogs(data["validation"]["tools"], data["validation"]["queries"]).run(embed_queries, embed_tools)
        show_small(f"validation, {label}", report)
        return report
    report = Checks(data).run(embed_queries, embed_tools, scale=True)
    show(label, report)
    held = data["checks"]["heldout"]
    small = SmallCatalogs(held["tools"], [query for query in held["queries"] + data["checks"]["styles"]["queries"] if query["relevant"]]).run(embed_queries, embed_tools)
    show_small(f"held-out, {label}", small)
    return {**report, "catalogs": small}


def dense_embedders(model: BertModel, texts: Texts):
    def tools(items: list[dict]) -> np.ndarray:
        total = encode_all(model, texts, [short_text(t) for t in items], TOOL_TOKENS) + encode_all(model, texts, [long_text(t) for t in items], TOOL_TOKENS)
        return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-9)

    return lambda queries: encode_all(model, texts, queries, QUERY_TOKENS), tools


def load_data(path: pathlib.Path, everything: bool = True) -> dict:
    """What prepare.py wrote; `everything` trains on the validation servers as well."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        data = json.load(file)
    if everything:
        data["sets"][WRITTEN]["train"] += data["validation"]["train"]
        data["corpus"] += data["validation"]["corpus"]
    return data


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", required=True, type=pathlib.Path)
    arguments.add_argument("--base", required=True, type=pathlib.Path)
    arguments.add_argument("--out", required=True, type=pathlib.Path)
    arguments.add_argument("--seeds", default="1,2,3,4")
    arguments.add_argument("--set", default="{}", help="recipe overrides as JSON")
    arguments.add_argument("--check-only", action="store_true")
    options = arguments.parse_args()
    data = load_data(options.data)
    texts = Texts(options.base / "tokenizer.json")
    checks = Checks(data)
    recipe = {**RECIPE, **json.loads(options.set)}
    if options.check_only:
        show("base", checks.run(*dense_embedders(load_base(options.base), texts), scale=True))
        return
    models = []
    for seed in map(int, options.seeds.split(",")):
        models.append(train(data, texts, options.base, recipe, seed))
    model = average(models) if len(models) > 1 else models[0]
    report = checks.run(*dense_embedders(model, texts), scale=True)
    show(f"average of seeds {options.seeds}, {recipe}", report)
    options.out.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), options.out / "tuned.pt")
    (options.out / "tuned.json").write_text(json.dumps({"recipe": recipe, "seeds": options.seeds, "report": report}))


if __name__ == "__main__":
    main()
