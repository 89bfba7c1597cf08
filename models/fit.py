"""Trains the fit model: it reads a request and a tool together and says whether the tool serves the request. One GPU; see README.md.

    python3 models/fit.py --data build/train.json.xz --weights models/weights --out build [--join 2] [--layers 4]

It needs torch and numpy alone. Its layers start as those of the tuned tier that follow layer `join`, and read what the tuned tier's layers up to there
make of the request and of the tool, so both share one vocabulary and a part of the work.

A list has the tool that serves a request, its nearest siblings and the nearest other tools by the tuned tier. Near misses have two kinds of tools: those
of their server, which do not serve them, and the missing one that somebody wrote, which does. The missing tools also stand in the lists of requests that
they do not serve. So neither the wording of a request nor that of a tool gives the answer.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import time

import numpy as np
import torch
import torch.nn.functional as F

from bert import ShippedEncoder, ShippedTexts
from texts import long_text, named_text, short_text
from train import DEVICE, QUERY_TOKENS, RECIPE, TOOL_TOKENS, WRITTEN, Batches, descend, load_data, optimizer_of

FIT = {
    "epochs": 2, "lists": 64, "list": 6, "rate": 1e-4, "warmup": 0.1, "decay": 0.01, "query": 64, "tool": 96, "dropout": 0.1,
    # The share of lists whose right tool is taken out, and how often an epoch has each near miss.
    "without": 0.2, "impossible": 4,
    # The share of the lists of a near miss that have the missing tool.
    "missing": 0.5,
    # The weight of the loss over each pair by itself.
    "pairs": 1.0,
}
TEMPLATES = (short_text, named_text, long_text)
# What a list holds: siblings at most, missing tools of the same server, and tools in all.
LISTED_SIBLINGS, LISTED_MISSING, LISTED = 6, 2, 14
# Pairs that run together.
PART = 128


class Fit(torch.nn.Module):
    """The mean of all states of a request and a tool, then one linear unit."""

    def __init__(self, encoder: ShippedEncoder, join: int, layers: int, dropout: float):
        super().__init__()
        self.encoder, self.join, self.layers, self.dropout = encoder, join, layers, dropout
        own = {name: value for name, value in encoder.tensors.items() if name.startswith("layers.")}
        self.names = {}
        weights = {}
        for name, value in own.items():
            number, rest = name.split(".", 2)[1:]
            index = int(number) - join
            if 0 <= index < layers and not name.endswith(".scale"):
                key = f"layers.{index}.{rest}"
                self.names[key] = key.replace(".", "_")
                weights[self.names[key]] = torch.nn.Parameter(value.clone())
        self.weights = torch.nn.ParameterDict(weights)
        # Added to the states of a request and of a tool.
        self.kinds = torch.nn.Parameter(torch.randn(2, encoder.hidden) * 0.02)
        self.head = torch.nn.Linear(encoder.hidden, 1)

    def tensors(self) -> dict[str, torch.Tensor]:
        return {"kinds": self.kinds, **{key: self.weights[name] for key, name in self.names.items()}, "head.weight": self.head.weight[0], "head.bias": self.head.bias}

    def forward(self, pairs: list[tuple[list[int], list[int]]]) -> torch.Tensor:
        order = sorted(range(len(pairs)), key=lambda index: len(pairs[index][0]) + len(pairs[index][1]))
        scores = torch.cat([self.part([pairs[index] for index in order[start : start + PART]]) for start in range(0, len(order), PART)])
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        return scores[back.to(scores.device)]

    def part(self, pairs: list[tuple[list[int], list[int]]]) -> torch.Tensor:
        # The layers up to `join` read the request and the tool alone, as the tuned tier does; they do not learn.
        with torch.no_grad():
            sides = [self.encoder.states([pair[side] for pair in pairs], self.join) for side in (0, 1)]
        states = torch.cat([side.float() + kind for (side, _), kind in zip(sides, self.kinds)], 1)
        inside = torch.cat([mask for _, mask in sides], 1)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            states = self.encoder.layers_over(states, inside, self.tensors(), self.layers, self.dropout if self.training else 0.0)
        weights = inside.unsqueeze(-1).float()
        return self.head((states.float() * weights).sum(1) / weights.sum(1)).squeeze(1)


class Tokens:
    """The tokens of requests and of tools, split once, by all cores."""

    def __init__(self, texts: ShippedTexts):
        self.texts = texts

    def fill(self, items: list[str], limit: int) -> None:
        missing = [text for text in dict.fromkeys(items) if (text, limit) not in self.texts.cache]
        parts = [missing[start::64] for start in range(64)]
        with concurrent.futures.ProcessPoolExecutor() as pool:
            for part, rows in zip(parts, pool.map(split_all, parts, [limit] * 64)):
                self.texts.cache |= {(text, limit): row for text, row in zip(part, rows)}

    def vectors(self, encoder: ShippedEncoder, items: list[str], limit: int) -> torch.Tensor:
        self.fill(items, limit)
        return encoder.vectors([self.texts.ids(text, limit) for text in items])

    def tools(self, encoder: ShippedEncoder, tools: list[dict]) -> torch.Tensor:
        return F.normalize(sum(self.vectors(encoder, [text(tool) for tool in tools], TOOL_TOKENS) for text in (short_text, long_text)), dim=1)

    def pair(self, query: str, tool: str) -> tuple[list[int], list[int]]:
        return self.texts.ids(query, FIT["query"]), self.texts.ids(tool, FIT["tool"])


def split_all(items: list[str], limit: int) -> list[list[int]]:
    texts = ShippedTexts()
    return [texts.ids(text, limit) for text in items]


class Lists:
    """For each request the tools to compare: the right one first, or none."""

    def __init__(self, data: dict, tokens: Tokens, encoder: ShippedEncoder, skip: set[str]):
        self.tools: dict[tuple, dict] = {}
        self.right: list[tuple[str, list[tuple]]] = []
        # The missing tool first, or None.
        self.none: list[tuple[str, tuple | None, list[tuple]]] = []
        unseen = set(data["heldout"]) | set(data["validation"]["servers"]) | skip
        for source in Batches(data, RECIPE, random.Random(0)).sources:
            self.read(source, [row for row in data["impossible"] if not set(row["scope"]) & unseen] if source["name"] == WRITTEN else [], unseen, tokens, encoder)

    def read(self, source: dict, impossible: list[dict], unseen: set[str], tokens: Tokens, encoder: ShippedEncoder) -> None:
        name, group = source["name"], source["group"]
        tools = list({group[tool["id"]]: tool for tool in reversed(source["tools"].values()) if tool["namespace"] not in unseen}.values())
        missing = [row["missing"] for row in impossible if row["missing"]]
        self.tools |= {(name, tool["id"]): tool for tool in [*source["tools"].values(), *missing]}
        place = {group[tool["id"]]: index for index, tool in enumerate(tools)}
        servers: dict[str, list[int]] = {}
        extra: dict[str, list[int]] = {}
        for index, tool in enumerate(tools + missing):
            (servers if index < len(tools) else extra).setdefault(tool["namespace"], []).append(index)
        every = tools + missing
        rows = [row for row in source["rows"] if len(row["relevant"]) == 1 and source["tools"][row["relevant"][0]]["namespace"] not in unseen]
        misses = [row for row in impossible if row["near"] and row["near"][0] in group]
        vectors = tokens.tools(encoder, every)
        queries = tokens.vectors(encoder, [row["query"] for row in rows + misses], QUERY_TOKENS)
        for row, query in zip(rows + misses, queries):
            scores = (vectors @ query).float().cpu().numpy()
            right = row.get("relevant", [])
            for tool in right + row.get("also_ok", []):
                if group.get(tool) in place:
                    scores[place[group[tool]]] = -np.inf
            own = row.get("missing") or {}
            for index in range(len(tools), len(every)):
                if every[index]["id"] == own.get("id"):
                    scores[index] = -np.inf
            namespace = source["tools"][(right or row["near"])[0]]["namespace"] if name == WRITTEN else None

            def nearest(indices: list[int], most: int) -> list[int]:
                return [one for one in sorted(indices, key=lambda one: -scores[one]) if np.isfinite(scores[one])][:most]

            beside = nearest(servers.get(namespace, []), LISTED_SIBLINGS) + nearest(extra.get(namespace, []), LISTED_MISSING)
            # Another server may well serve what this one cannot.
            near_by = np.argpartition(-scores[: len(tools)], min(3 * LISTED, len(tools) - 1))[: 3 * LISTED].tolist() if right else []
            others = [one for one in nearest(near_by, 3 * LISTED) if one not in beside]
            keys = [(name, every[one]["id"]) for one in (beside + others)[: LISTED - 1]]
            if right:
                self.right.append((row["query"], [(name, right[0]), *keys]))
            elif keys:
                self.none.append((row["query"], (name, own["id"]) if own else None, keys))

    def plan(self, rng: random.Random) -> list[list[tuple[str, list[tuple], bool]]]:
        """Batches of (request, tools, is the first one right)."""
        size = FIT["list"]
        batches = []
        for _ in range(FIT["epochs"]):
            drawn = []
            for query, keys in self.right:
                others = rng.sample(keys[1:], min(size - 1, len(keys) - 1))
                drawn.append((query, others, False) if others and rng.random() < FIT["without"] else (query, keys[:1] + others, True))
            for query, missing, keys in self.none * FIT["impossible"]:
                with_it = missing is not None and rng.random() < FIT["missing"]
                others = rng.sample(keys, min(size - 1, len(keys)))
                drawn.append((query, [missing, *others] if with_it else others, with_it))
            rng.shuffle(drawn)
            batches += [drawn[start : start + FIT["lists"]] for start in range(0, len(drawn), FIT["lists"])]
        return batches


def train_fit(lists: Lists, tokens: Tokens, fit: Fit, seed: int, steps: int) -> None:
    torch.manual_seed(seed)
    rng = random.Random(seed)
    fit.train()
    plan = lists.plan(rng)[: steps or None]
    tokens.fill([query for batch in plan for query, _, _ in batch], FIT["query"])
    for template in TEMPLATES:
        tokens.fill([template(tool) for tool in lists.tools.values()], FIT["tool"])
    optimizer, schedule = optimizer_of(fit, FIT, len(plan))
    started = time.time()
    for step, batch in enumerate(plan):
        pairs, slots, wanted = [], [], []
        for number, (query, keys, right) in enumerate(batch):
            for slot, key in enumerate(keys):
                pairs.append(tokens.pair(query, rng.choice(TEMPLATES)(lists.tools[key])))
                slots.append((number, slot + 1))
                wanted.append(float(right and slot == 0))
        scores = fit(pairs)
        at = torch.tensor(slots, device=DEVICE)
        # The first column stands for "none of them", with the score 0.
        table = torch.full((len(batch), FIT["list"] + 1), -1e4, device=DEVICE)
        table[:, 0] = 0
        table = table.index_put((at[:, 0], at[:, 1]), scores)
        target = torch.tensor([int(right) for _, _, right in batch], device=DEVICE)
        loss = F.cross_entropy(table, target) + FIT["pairs"] * F.binary_cross_entropy_with_logits(scores, torch.tensor(wanted, device=DEVICE))
        descend(loss, fit, optimizer, schedule)
        if step % 200 == 0:
            print(f"join {fit.join}, {fit.layers} layers: step {step}/{len(plan)} loss {loss.item():.3f} {time.time() - started:.0f} s", flush=True)
    fit.eval()


def area(high: np.ndarray, low: np.ndarray) -> float:
    """The chance that one of the first is above one of the second."""
    return float(np.mean((high[:, None] > low[None, :]) + 0.5 * (high[:, None] == low[None, :])))


class Check:
    """The validation servers, one a catalog: requests that are served, their near misses, and requests whose tools were taken out."""

    def __init__(self, data: dict, tokens: Tokens, encoder: ShippedEncoder):
        self.tokens = tokens
        by_server: dict[str, list[dict]] = {}
        for tool in data["validation"]["full"]:
            by_server.setdefault(tool["namespace"], []).append(tool)
        misses = data["validation"]["misses"]
        # (kind, query, tools from the best on, cosines, ids that serve it)
        self.cases: list[tuple[str, str, list[dict], np.ndarray]] = []
        rng = random.Random(1)
        every = data["validation"]["tools"]
        for server, tools in by_server.items():
            ids = {tool["id"] for tool in tools}
            queries = [query for query in data["validation"]["queries"] if set(query["relevant"]) <= ids and len(tools) > 3]
            asked: list[tuple[str, set[str], dict | None]] = [(query["query"], set(query["relevant"]) | set(query["also_ok"]), None) for query in queries]
            asked += [(line["twin"], {line["twin_relevant"]}, None) for line in misses if line["server"] == server]
            asked += [(line["query"], set(), line["tool"]) for line in misses if line["server"] == server]
            if not asked:
                continue
            vectors = tokens.tools(encoder, tools)
            embedded = tokens.vectors(encoder, [query for query, _, _ in asked], QUERY_TOKENS)
            twins = {line["twin"] for line in misses}
            for (query, right, missing), scores in zip(asked, (embedded @ vectors.T).float().cpu().numpy()):
                order = np.argsort(-scores, kind="stable")
                ranked = [tools[one] for one in order]
                if missing:
                    self.cases.append(("miss", query, ranked, scores[order]))
                    self.cases.append(("miss, its missing tool", query, [missing], scores[order][:1]))
                    self.cases.append(("miss, a random tool", query, [rng.choice(every)], scores[order][:1]))
                    continue
                kind = "twin" if query in twins else "served"
                self.cases.append((kind, query, ranked, scores[order]))
                keep = [index for index, tool in enumerate(ranked) if tool["id"] not in right]
                if kind == "served" and len(keep) > 3:
                    self.cases.append(("removed", query, [ranked[index] for index in keep], scores[order][keep]))
                self.cases.append((f"{kind}, a random tool", query, [rng.choice(every)], scores[order][:1]))

    @torch.no_grad()
    def run(self, fit: Fit, template) -> dict[str, float]:
        pairs, spans = [], []
        self.tokens.fill([query for _, query, _, _ in self.cases], FIT["query"])
        self.tokens.fill([template(tool) for _, _, tools, _ in self.cases for tool in tools[:3]], FIT["tool"])
        for _, query, tools, _ in self.cases:
            spans.append((len(pairs), len(pairs) + len(tools[:3])))
            pairs += [self.tokens.pair(query, template(tool)) for tool in tools[:3]]
        scores = fit(pairs).float().cpu().numpy()
        best = np.array([scores[start:end].max() for start, end in spans])
        first = np.array([scores[start] for start, _ in spans])
        close = np.array([cosines[0] for _, _, _, cosines in self.cases])
        kind = np.array([one for one, _, _, _ in self.cases])
        of = lambda values, name: values[kind == name]
        good = np.isin(kind, ("served", "twin"))
        figures = {}
        for label, values in (("three", best), ("first", first), ("cosine", close)):
            for low in ("miss", "removed"):
                figures[f"{label} {low}: AUC"] = area(values[good], of(values, low))
                for share in (1, 2, 5):
                    figures[f"{label} {low}: refused at {share} %"] = 100 * float(np.mean(of(values, low) < np.percentile(values[good], share)))
        figures["twins: AUC"] = area(of(best, "twin"), of(best, "miss"))
        figures["missing tool over nearest"] = float(np.mean(of(first, "miss, its missing tool") > of(best, "miss")))
        figures["control, twin over miss with a random tool"] = area(of(first, "twin, a random tool"), of(first, "miss, a random tool"))
        figures["control, served over miss with a random tool"] = area(of(first, "served, a random tool"), of(first, "miss, a random tool"))
        return figures


def rounded(fit: Fit) -> dict[str, np.ndarray]:
    """The tensors as they ship: int8 rows with a scale each. The model continues with what they stand for."""
    tensors = {}
    for name, value in fit.tensors().items():
        value = value.detach().float()
        if value.ndim == 2 and name != "kinds":
            scale = value.abs().amax(1).clamp(min=1e-12) / 127
            rows = torch.round(value / scale[:, None]).clamp(-127, 127)
            tensors[name], tensors[f"{name}.scale"] = rows.to(torch.int8).cpu().numpy(), scale.cpu().numpy()
            fit.weights[fit.names[name]].data = rows * scale[:, None]
        else:
            tensors[name] = value.cpu().numpy()
    return tensors


def shorten(data: dict) -> None:
    """A little of everything, to try the code."""
    data["impossible"] = [row for row in data["impossible"] if row["near"]][:50]
    near = {tool for row in data["impossible"] for tool in row["near"]}
    for one in data["sets"].values():
        one["train"] = one["train"][:50]
        asked = near | {tool for row in one["train"] for tool in row["relevant"]}
        one["tools"] = [tool for tool in one["tools"] if tool["id"] in asked]
    validation = data["validation"]
    some = {line["server"] for line in validation["misses"][:20]}
    validation["misses"] = validation["misses"][:20]
    validation["full"] = [tool for tool in validation["full"] if tool["namespace"] in some]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", required=True, type=pathlib.Path)
    arguments.add_argument("--weights", required=True, type=pathlib.Path, help="the folder of the shipped weights")
    arguments.add_argument("--out", required=True, type=pathlib.Path)
    arguments.add_argument("--join", default=2, type=int, help="layers of the tuned tier that run before those of the fit model")
    arguments.add_argument("--layers", default=4, type=int)
    arguments.add_argument("--seed", default=1, type=int)
    arguments.add_argument("--set", default={}, type=json.loads, help="recipe overrides as JSON")
    arguments.add_argument("--steps", default=0, type=int, help="at most so many steps, to try the code")
    options = arguments.parse_args()
    FIT.update(options.set)
    started = time.time()
    data = load_data(options.data, everything=False)
    tokens = Tokens(ShippedTexts())
    encoder = ShippedEncoder(options.weights / "tuned.bin", DEVICE)
    if options.steps:
        shorten(data)
    lists = Lists(data, tokens, encoder, set())
    print(f"fit: {len(lists.right)} requests with their tool, {len(lists.none)} near misses, {sum(one[1] is not None for one in lists.none)} with their missing tool, {time.time() - started:.0f} s", flush=True)
    check = Check(data, tokens, encoder)
    print(f"validation: {len(check.cases)} cases, {time.time() - started:.0f} s", flush=True)
    fit = Fit(encoder, options.join, options.layers, FIT["dropout"]).to(DEVICE)
    train_fit(lists, tokens, fit, options.seed, options.steps)
    tensors = rounded(fit)
    report = {template.__name__: check.run(fit, template) for template in (named_text, long_text)}
    for name, figures in report.items():
        print(f"-- validation, join {options.join}, {options.layers} layers, {name}, {json.dumps(options.set)}; {time.time() - started:.0f} s")
        print("".join(f"     {figure:48} {value:.3f}\n" for figure, value in figures.items()), flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    name = f"fit-{options.join}-{options.layers}-{options.seed}"
    np.savez(options.out / f"{name}.npz", **tensors)
    (options.out / f"{name}.json").write_text(json.dumps({"recipe": FIT, "report": report}))


if __name__ == "__main__":
    main()
