"""Cross-encoders that read a request and a tool together: teachers of the tuned tier, never shipped. distill.py runs this."""
import json
import pathlib
import random
import time

import numpy as np
import torch
import torch.nn.functional as F

from texts import long_text, named_text, short_text
from train import DEVICE, RECIPE, Batches, Texts, collate, dense_embedders, descend, optimizer_of

WRITTEN = "toucan-paraphrase"
TEMPLATES = (short_text, named_text, long_text)
JUDGE = {"epochs": 2, "lists": 64, "list": 8, "rate": 6e-5, "warmup": 0.1, "decay": 0.01, "query": 64, "tool": 96}
# What a list holds: siblings at most, and tools in all.
LISTED_SIBLINGS, LISTED = 6, 12


def write_lists(data: dict, texts: Texts, teacher, path: pathlib.Path) -> None:
    """For each request with one right tool: that tool, its nearest siblings, the nearest others. Never a tool that also answers."""
    batches = Batches(data, RECIPE, random.Random(0))
    unseen = set(data["heldout"]) | (set() if data["everything"] else set(data["validation"]["servers"]))
    embed_queries, embed_tools = dense_embedders(teacher, texts)
    lists = []
    for source in batches.sources:
        group = source["group"]
        tools = list({group[tool["id"]]: tool for tool in reversed(source["tools"].values()) if tool["namespace"] not in unseen}.values())
        place = {group[tool["id"]]: index for index, tool in enumerate(tools)}
        servers = np.array([tool["namespace"] for tool in tools])
        rows = [(index, row) for index, row in enumerate(source["rows"]) if len(row["relevant"]) == 1]
        scores = embed_queries([row["query"] for _, row in rows]) @ embed_tools(tools).T
        for (index, row), ranked in zip(rows, scores):
            gold = source["tools"][row["relevant"][0]]
            for tool in row["relevant"] + row.get("also_ok", []):
                if group.get(tool) in place:
                    ranked[place[group[tool]]] = -np.inf
            order = [one for one in np.argsort(-ranked, kind="stable")[: 16 * LISTED] if np.isfinite(ranked[one])]
            beside = []
            if source["name"] == WRITTEN:
                own = np.flatnonzero(servers == gold["namespace"])
                beside = [one for one in own[np.argsort(-ranked[own], kind="stable")] if np.isfinite(ranked[one])][:LISTED_SIBLINGS]
            others = [one for one in order if one not in beside][: LISTED - 1 - len(beside)]
            lists.append([source["name"], index, [gold["id"]] + [tools[one]["id"] for one in beside + others]])
    path.write_text(json.dumps(lists))


def read_lists(path: pathlib.Path) -> list[tuple[tuple, list[str]]]:
    return [((name, index), ids) for name, index, ids in json.loads(path.read_text())]


class Judge(torch.nn.Module):
    """Reads a request and a tool together: the mean of all states, then one linear unit."""

    def __init__(self, body):
        super().__init__()
        self.body = body
        self.head = torch.nn.Linear(body.config.hidden_size, 1)

    def forward(self, pairs: list[list[int]], part: int = 512) -> torch.Tensor:
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


class Pairs:
    """A request and a tool as one row of tokens."""

    def __init__(self, texts: Texts, queries: list[str], tools: list[dict]):
        texts.fill(queries, JUDGE["query"])
        self.texts = texts
        for template in TEMPLATES:
            texts.fill([template(tool) for tool in tools], JUDGE["tool"])

    def of(self, query: str, tool: dict, template=named_text) -> list[int]:
        return self.texts.ids(query, JUDGE["query"]) + self.texts.ids(template(tool), JUDGE["tool"])[1:]


def train_judge(data: dict, texts: Texts, body, lists: list[tuple[tuple, list[str]]], seed: int, steps: int) -> tuple[Judge, np.ndarray]:
    """One judge, and its scores of all lists, -inf where a list is short."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    sources = {source["name"]: source for source in Batches(data, RECIPE, rng).sources}
    query_of = {(name, index): row["query"] for name, source in sources.items() for index, row in enumerate(source["rows"])}
    pairs = Pairs(texts, list(query_of.values()), [tool for source in sources.values() for tool in source["tools"].values()])
    judge = Judge(body).to(DEVICE)
    judge.train()
    size = JUDGE["lists"]
    plan = []
    for _ in range(JUDGE["epochs"]):
        order = lists[:]
        rng.shuffle(order)
        plan += [order[start : start + size] for start in range(0, len(order), size)]
    plan = plan[: steps or None]
    optimizer, schedule = optimizer_of(judge, JUDGE, len(plan))
    started = time.time()
    for step, part in enumerate(plan):
        rows, slots = [], []
        for number, (row, ids) in enumerate(part):
            picked = [0] + rng.sample(range(1, len(ids)), min(JUDGE["list"], len(ids)) - 1)
            for slot, one in enumerate(picked):
                rows.append(pairs.of(query_of[row], sources[row[0]]["tools"][ids[one]], rng.choice(TEMPLATES)))
                slots.append((number, slot))
        scores = judge(rows, 256)
        at = torch.tensor(slots, device=DEVICE)
        table = torch.full((len(part), JUDGE["list"]), -1e4, device=DEVICE).index_put((at[:, 0], at[:, 1]), scores)
        loss = F.cross_entropy(table, torch.zeros(len(part), dtype=torch.long, device=DEVICE))
        descend(loss, judge, optimizer, schedule)
        if step % 100 == 0:
            print(f"judge {seed} step {step}/{len(plan)} loss {loss.item():.3f} {time.time() - started:.0f} s", flush=True)
    judge.eval()
    some = lists[: 64 * steps or None]
    table = np.full((len(lists), LISTED), -np.inf, dtype=np.float32)
    with torch.no_grad():
        for start in range(0, len(some), 512):
            part = some[start : start + 512]
            rows = [pairs.of(query_of[row], sources[row[0]]["tools"][one]) for row, ids in part for one in ids]
            scores = iter(judge(rows, 1024).cpu().tolist())
            for number, (_, ids) in enumerate(part):
                table[start + number, : len(ids)] = [next(scores) for _ in ids]
    print(f"judge {seed}: right tool first in {100 * np.mean(table[: len(some)].argmax(1) == 0):.1f} % of its lists, {time.time() - started:.0f} s", flush=True)
    return judge, table


@torch.no_grad()
def check_judge(data: dict, texts: Texts, judge: Judge, embedders) -> None:
    """R@1 on validation requests among the tools of their own server, of the judge and of the teacher."""
    tools = {tool["id"]: tool for tool in data["validation"]["tools"]}
    queries = [query for query in data["validation"]["queries"] if len(query["relevant"]) == 1]
    pairs = Pairs(texts, [query["query"] for query in queries], list(tools.values()))
    by_teacher = embedders[0]([query["query"] for query in queries]) @ embedders[1](list(tools.values())).T
    place = {tool: index for index, tool in enumerate(tools)}
    asked, hits = [], []
    for query in queries:
        right = query["relevant"][0]
        asked.append([right] + [one for one, tool in tools.items() if tool["namespace"] == tools[right]["namespace"] and one != right and one not in query["also_ok"]])
    judge.eval()
    scores = iter(judge([pairs.of(query["query"], tools[one]) for query, ids in zip(queries, asked) for one in ids], 1024).cpu().tolist())
    for row, ids in enumerate(asked):
        judged = [next(scores) for _ in ids]
        near = [by_teacher[row, place[one]] for one in ids]
        hits.append((np.argmax(judged) == 0, np.argmax(near) == 0))
    print("-- validation, one server: judge {:.1f}, teacher {:.1f}".format(*(100 * np.mean(hits, axis=0))), flush=True)
