"""Fits the confidence behind "nothing fits": from what the product reads of a ranking to the chance that the request can be served.

    python3 models/confidence.py prepare --shared ../shared --out .borrowed/confidence
    node models/embed-texts.ts static:<reference static table> static .borrowed/confidence/train.{A,C,Q}.json     # one call a tier
    node models/confidence-features.ts .borrowed/confidence/train static > .borrowed/confidence/train.static.jsonl
    python3 models/confidence.py fit --from .borrowed/confidence --tier static

Training never sees a held-out server. An embedder is surer of requests it was trained on than of anybody else's, so the requests that can
be served come from the part of toucan-paraphrase that the reference weights never saw, and the rankings from those reference weights.
"""
import argparse
import json
import pathlib
import random
import re

import numpy as np

from texts import long_text, short_text

HERE = pathlib.Path(__file__).parent
# The reference weights were trained on the requests before this one.
FIRST_UNSEEN = 5500
POOLS, POOL_TOOLS = 5, 800
GENERIC = {"mcp", "server", "servers", "the", "tools", "tool", "api", "service", "main", "test", "for", "and", "with", "app"}


def lines(path: pathlib.Path) -> list[dict]:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def product_words(namespace: str) -> set[str]:
    bare = re.sub(r"^@[^/]+/", "", namespace)
    words = {word.lower() for word in re.findall(r"[A-Z]{2,}|[A-Z]?[a-z]+", bare)}
    words.add(re.sub(r"[^a-z0-9]|mcp|server", "", bare.lower()))
    return {word for word in words if len(word) > 2 and word not in GENERIC}


def same_product(homes: set[str], request: str, namespaces: list[str]) -> set[str]:
    """Namespaces that may serve the request too: they share a telling word of their name with these or with the request."""
    telling = set().union(*(product_words(home) for home in homes)) | {word for word in re.findall(r"\w+", request.lower()) if len(word) > 3}
    return {name for name in namespaces if name not in homes and product_words(name) & telling}


def write(folder: pathlib.Path, name: str, tools: list[dict], pools: list[list[int]], requests: list[str], examples: list[dict]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"A": [(short_text(tool), 192) for tool in tools], "C": [(long_text(tool), 192) for tool in tools], "Q": [(request, 256) for request in requests]}
    for kind, rows in texts.items():
        (folder / f"{name}.{kind}.json").write_text(json.dumps([{"text": text, "limit": limit} for text, limit in rows]))
    (folder / f"{name}.examples.json").write_text(json.dumps({"tools": tools, "pools": pools, "requests": requests, "examples": examples}))
    print(f"{name}: {len(tools)} tools in {len(pools)} pools, {len(requests)} requests, {len(examples)} examples")


def prepare(shared: pathlib.Path, out: pathlib.Path) -> None:
    everything = lines(shared / "eval/toucan-paraphrase/tools.jsonl")
    written = lines(shared / "eval/toucan-paraphrase/queries.jsonl")
    held = set((shared / "models/heldout-servers.txt").read_text().split("\n")) - {""}
    prepare_training([t for t in everything if t["namespace"] not in held], written, out)
    tools = [t for t in everything if t["namespace"] in held]
    known = {tool["id"] for tool in tools}
    possible = [q for q in written if q["relevant"] and all(tool in known for tool in q["relevant"])]
    impossible = lines(HERE / "data/heldout-impossible.jsonl")
    requests = [q["query"] for q in possible + impossible]
    examples = [
        {"kind": q["style"] if not q["relevant"] else "possible", "label": int(bool(q["relevant"])), "pool": 0, "row": row, "relevant": q["relevant"] + q.get("also_ok", []), "without": []}
        for row, q in enumerate(possible + impossible)
    ]
    write(out, "heldout", tools, [list(range(len(tools)))], requests, examples)


def prepare_training(tools: list[dict], written: list[dict], out: pathlib.Path) -> None:
    rng = random.Random(11)
    home = {tool["id"]: tool["namespace"] for tool in tools}
    unseen = [q for q in written[FIRST_UNSEEN:] if len(q["relevant"]) == 1 and q["relevant"][0] in home]
    impossible = lines(HERE / "data/train-impossible.jsonl")
    fresh = [q for q in lines(HERE / "data/confidence-possible.jsonl")]
    size: dict[str, int] = {}
    for tool in tools:
        size[tool["namespace"]] = size.get(tool["namespace"], 0) + 1

    # Namespaces that one request is about go into the same pool.
    group = {name: name for name in size}
    for line in impossible:
        for name in line.get("scope", [])[1:]:
            old, new = group[name], group[line["scope"][0]]
            group = {key: new if value == old else value for key, value in group.items()}
    scoped = {group[name] for line in impossible for name in line.get("scope", [])}
    others = sorted({group[home[q["relevant"][0]]] for q in unseen} - scoped)
    rng.shuffle(others)
    order = sorted(scoped)
    rng.shuffle(order)
    pool_of: dict[str, int] = {}
    filled = [0] * POOLS
    for key in order + others:
        members = [name for name in size if group[name] == key]
        pool = filled.index(min(filled))
        if filled[pool] >= POOL_TOOLS:
            break
        filled[pool] += sum(size[name] for name in members)
        pool_of.update({name: pool for name in members})

    kept = [tool for tool in tools if tool["namespace"] in pool_of]
    pools = [[index for index, tool in enumerate(kept) if pool_of[tool["namespace"]] == pool] for pool in range(POOLS)]
    namespaces = sorted(pool_of)
    requests: list[str] = []
    examples: list[dict] = []

    def add(kind: str, label: int, text_row: int, pool: int, relevant: list[str], homes: set[str], gone: set[str] = frozenset()) -> None:
        """One example; tools of other servers for the same product are left out of an impossible one's pool."""
        excluded = set() if label else same_product(homes, requests[text_row], [name for name in namespaces if pool_of[name] == pool])
        without = [index for index in pools[pool] if kept[index]["namespace"] in excluded or kept[index]["id"] in gone]
        examples.append({"kind": kind, "label": label, "pool": pool, "row": text_row, "relevant": relevant, "without": without, "home": sorted(homes)[:1]})

    def request(text: str) -> int:
        requests.append(text)
        return len(requests) - 1

    names = {tool["id"]: tool["name"] for tool in kept}
    possible = [("unseen", q) for q in unseen] + [("fresh", q) for q in fresh]
    possible += [("twin", {"query": line["twin"], "relevant": line["twin_relevant"]}) for line in impossible if line.get("twin")]
    rng.shuffle(possible)
    for kind, q in possible:
        homes = {home[tool] for tool in q["relevant"]}
        places = {pool_of.get(name) for name in homes}
        if None in places or len(places) > 1 or (kind == "unseen" and sum(e["kind"] == "unseen" for e in examples) >= 1600):
            continue
        row, pool = request(q["query"]), places.pop()
        right = q["relevant"] + q.get("also_ok", [])
        add(kind, 1, row, pool, right, homes)
        called = {names[tool] for tool in q["relevant"]}
        alike = {tool["id"] for tool in kept if tool["name"] in called}
        # The same request where its tool is missing, and where its whole server is.
        if kind != "twin":
            add("removed", 0, row, pool, [], homes, set(right) | alike)
            examples[-1]["without"] = sorted(set(examples[-1]["without"]))
            add("gone", 0, row, pool, [], set(), set(right) | alike | {tool["id"] for tool in kept if tool["namespace"] in homes or product_words(tool["namespace"]) & set().union(*map(product_words, homes))})
    for number, line in enumerate(impossible):
        row = request(line["query"])
        if "scope" in line:
            add("near-miss", 0, row, pool_of[line["scope"][0]], [], set(line["scope"]))
        else:
            for pool in (number % POOLS, (number + 2) % POOLS):
                add("absent", 0, row, pool, [], set())
    write(out, "train", kept, pools, requests, examples)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("prepare")
    one.add_argument("--shared", required=True, type=pathlib.Path)
    one.add_argument("--out", required=True, type=pathlib.Path)
    options = parser.parse_args()
    prepare(options.shared, options.out)
