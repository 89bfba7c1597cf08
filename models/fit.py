"""Trains the fit model: it reads a request and a tool together and says whether the tool serves the request. One GPU; see README.md.

    python3 models/fit.py --data build/train.json.xz --base BASE --tuned build --out build

It is the tuned tier's first layers, trained further; the token table stays as it is, so both share one. A list has the tool that serves a
request, its nearest siblings and the nearest other tools by the tuned tier; near misses and lists without their right tool have none.
"""
import argparse
import json
import pathlib
import random
import time

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from quantize import quantized
from texts import long_text, named_text, short_text
from train import DEVICE, RECIPE, WRITTEN, Batches, Texts, collate, dense_embedders, descend, load_data, load_quantized, optimizer_of

FIT = {
    "layers": 4, "epochs": 2, "lists": 64, "list": 6, "rate": 1e-4, "warmup": 0.1, "decay": 0.01, "query": 64, "tool": 80,
    # The share of lists whose right tool is taken out, and how often an epoch has each near miss.
    "without": 0.25, "impossible": 3,
    # The weight of the loss over each pair by itself.
    "pairs": 0.5,
}
# What a list holds: siblings at most, and tools in all.
LISTED_SIBLINGS, LISTED = 6, 12


class Fit(torch.nn.Module):
    """The mean of all states of a request and a tool, then one linear unit."""

    def __init__(self, body):
        super().__init__()
        self.body = body
        self.head = torch.nn.Linear(body.config.hidden_size, 1)

    def forward(self, pairs: list[list[int]], part: int = 128) -> torch.Tensor:
        order = sorted(range(len(pairs)), key=lambda index: len(pairs[index]))
        scores = []
        for start in range(0, len(order), part):
            ids, mask = collate([pairs[index] for index in order[start : start + part]])
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
                hidden = self.body(input_ids=ids, attention_mask=mask).last_hidden_state
            weights = mask.unsqueeze(-1).float()
            scores.append(self.head((hidden.float() * weights).sum(1) / weights.sum(1)).squeeze(1))
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(scores)[back.to(DEVICE)]


class Lists:
    """For each request the tools to compare: the right one first, or none."""

    def __init__(self, data: dict, texts: Texts, tuned):
        self.tools: dict[tuple, dict] = {}
        self.right: list[tuple[str, list[tuple]]] = []
        self.none: list[tuple[str, list[tuple]]] = []
        unseen = set(data["heldout"]) | set(data["validation"]["servers"])
        embed_queries, embed_tools = dense_embedders(tuned, texts)
        for source in Batches(data, RECIPE, random.Random(0)).sources:
            name, group = source["name"], source["group"]
            tools = list({group[tool["id"]]: tool for tool in reversed(source["tools"].values()) if tool["namespace"] not in unseen}.values())
            self.tools |= {(name, tool["id"]): tool for tool in source["tools"].values()}
            place = {group[tool["id"]]: index for index, tool in enumerate(tools)}
            servers: dict[str, list[int]] = {}
            for index, tool in enumerate(tools):
                servers.setdefault(tool["namespace"], []).append(index)
            vectors = embed_tools(tools)
            rows = [row for row in source["rows"] if len(row["relevant"]) == 1]
            misses = [row for row in data["impossible"] if row["near"] and not set(row["scope"]) & unseen and row["near"][0] in group] if name == WRITTEN else []
            for row, scores in zip(rows + misses, embed_queries([row["query"] for row in rows + misses]) @ vectors.T):
                right = row.get("relevant", [])
                for tool in right + row.get("also_ok", []):
                    if group.get(tool) in place:
                        scores[place[group[tool]]] = -np.inf
                near = source["tools"][(right or row["near"])[0]]
                own = np.array(servers.get(near["namespace"], []), dtype=np.int64) if name == WRITTEN else np.array([], dtype=np.int64)
                beside = [one for one in own[np.argsort(-scores[own], kind="stable")] if np.isfinite(scores[one])][:LISTED_SIBLINGS]
                # Another server may well serve what this one cannot.
                near_by = np.argpartition(-scores, 2 * LISTED)[: 2 * LISTED] if right and len(scores) > 2 * LISTED else []
                others = [one for one in sorted(near_by, key=lambda one: -scores[one]) if np.isfinite(scores[one]) and one not in beside]
                keys = [(name, tools[one]["id"]) for one in (beside + others)[: LISTED - 1]]
                if right:
                    self.right.append((row["query"], [(name, right[0])] + keys))
                elif keys:
                    self.none.append((row["query"], keys))

    def plan(self, rng: random.Random) -> list[list[tuple[str, list[tuple], bool]]]:
        """Batches of (request, tools, is the first one right)."""
        batches = []
        for _ in range(FIT["epochs"]):
            drawn = []
            for query, keys in self.right:
                others = rng.sample(keys[1:], min(FIT["list"] - 1, len(keys) - 1))
                drawn.append((query, others, False) if others and rng.random() < FIT["without"] else (query, keys[:1] + others, True))
            for query, keys in self.none * FIT["impossible"]:
                drawn.append((query, rng.sample(keys, min(FIT["list"], len(keys))), False))
            rng.shuffle(drawn)
            batches += [drawn[start : start + FIT["lists"]] for start in range(0, len(drawn), FIT["lists"])]
        return batches


def pair(texts: Texts, query: str, text: str) -> list[int]:
    return texts.ids(query, FIT["query"]) + texts.ids(text, FIT["tool"])[1:]


def train_fit(lists: Lists, texts: Texts, body, steps: int) -> Fit:
    torch.manual_seed(1)
    rng = random.Random(1)
    body.encoder.layer = body.encoder.layer[: FIT["layers"]]
    body.config.num_hidden_layers = FIT["layers"]
    fit = Fit(body).to(DEVICE)
    for parameter in fit.body.embeddings.parameters():
        parameter.requires_grad = False
    fit.train()
    plan = lists.plan(rng)[: steps or None]
    texts.fill([query for batch in plan for query, _, _ in batch], FIT["query"])
    for template in (short_text, named_text, long_text):
        texts.fill([template(tool) for tool in lists.tools.values()], FIT["tool"])
    optimizer, schedule = optimizer_of(fit, FIT, len(plan))
    started = time.time()
    for step, batch in enumerate(plan):
        rows, slots, wanted = [], [], []
        for number, (query, keys, right) in enumerate(batch):
            for slot, key in enumerate(keys):
                rows.append(pair(texts, query, rng.choice((short_text, named_text, long_text))(lists.tools[key])))
                slots.append((number, slot + 1))
                wanted.append(float(right and slot == 0))
        scores = fit(rows)
        at = torch.tensor(slots, device=DEVICE)
        # The first column stands for "none of them", with the score 0.
        table = torch.full((len(batch), FIT["list"] + 1), -1e4, device=DEVICE)
        table[:, 0] = 0
        table = table.index_put((at[:, 0], at[:, 1]), scores)
        target = torch.tensor([int(right) for _, _, right in batch], device=DEVICE)
        loss = F.cross_entropy(table, target) + FIT["pairs"] * F.binary_cross_entropy_with_logits(scores, torch.tensor(wanted, device=DEVICE))
        descend(loss, fit, optimizer, schedule)
        if step % 200 == 0:
            print(f"fit step {step}/{len(plan)} loss {loss.item():.3f} {time.time() - started:.0f} s", flush=True)
    return fit


@torch.no_grad()
def check_fit(data: dict, texts: Texts, fit: Fit, tuned) -> dict[str, float]:
    """On the validation servers, one server a catalog: the best score among the three tools that the tuned tier puts first, for requests that
    are served and for the same requests without their tools; and how often the best of the three is right."""
    by_server: dict[str, list[dict]] = {}
    for tool in data["validation"]["tools"]:
        by_server.setdefault(tool["namespace"], []).append(tool)
    embed_queries, embed_tools = dense_embedders(tuned, texts)
    served, without, first, judged = [], [], [], []
    for server, tools in by_server.items():
        ids = {tool["id"] for tool in tools}
        queries = [query for query in data["validation"]["queries"] if set(query["relevant"]) <= ids]
        if not queries or len(tools) < 5:
            continue
        for query, scores in zip(queries, embed_queries([query["query"] for query in queries]) @ embed_tools(tools).T):
            order = np.argsort(-scores, kind="stable")
            fits = fit([pair(texts, query["query"], named_text(tools[one])) for one in order]).cpu().numpy()
            right = np.array([tools[one]["id"] in query["relevant"] + query["also_ok"] for one in order])
            served.append(fits[:3].max())
            without.append(fits[~right][:3].max())
            first.append(right[0])
            judged.append(right[:3][fits[:3].argmax()])
    served, without = np.array(served), np.array(without)
    figures = {"tuned first": 100 * float(np.mean(first)), "fit first": 100 * float(np.mean(judged)), "auc": float(np.mean(served[:, None] > without[None, :]))}
    for share in (1, 2, 5):
        figures[f"refused at {share} %"] = 100 * float(np.mean(without < np.percentile(served, share)))
    return figures


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", required=True, type=pathlib.Path)
    arguments.add_argument("--base", required=True, type=pathlib.Path)
    arguments.add_argument("--tuned", required=True, type=pathlib.Path)
    arguments.add_argument("--out", required=True, type=pathlib.Path)
    arguments.add_argument("--steps", default=0, type=int, help="at most so many steps, to try the code")
    options = arguments.parse_args()
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    started = time.time()
    data = load_data(options.data, everything=False)
    texts = Texts(options.base / "tokenizer.json")
    tuned = load_quantized(options.base, options.tuned / "tuned.int8.safetensors")
    lists = Lists(data, texts, tuned)
    print(f"fit: {len(lists.right)} requests with their tool, {len(lists.none)} without one, {time.time() - started:.0f} s", flush=True)
    fit = train_fit(lists, texts, load_quantized(options.base, options.tuned / "tuned.int8.safetensors"), options.steps)
    tensors, rounded = quantized(fit.state_dict())
    fit.load_state_dict(rounded)
    fit.eval()
    options.out.mkdir(parents=True, exist_ok=True)
    save_file({name: value for name, value in tensors.items() if not name.startswith("body.embeddings.")}, str(options.out / "fit.int8.safetensors"))
    figures = check_fit(data, texts, fit, tuned)
    print("-- validation, fit: " + "; ".join(f"{name} {value:.2f}" for name, value in figures.items()) + f"; {time.time() - started:.0f} s", flush=True)
    (options.out / "fit.json").write_text(json.dumps({"recipe": FIT, "figures": figures}))


if __name__ == "__main__":
    main()
