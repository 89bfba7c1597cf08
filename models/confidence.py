"""Fits the confidence behind "nothing fits": from what the product reads of a ranking to the chance that the request can be served.

    F=.borrowed/confidence; R=../shared/models                              # R has the reference weights
    python3 models/confidence.py prepare --shared ../shared --out $F
    node models/embed-texts.ts static:$R/static256 refstatic $F/train.{A,C,Q}.json
    node models/embed-texts.ts $R/minilm-tools-ft2.int8.onnx ref $F/train.{A,C,Q}.json          # about ten minutes
    node models/embed-texts.ts static:models/weights/static static $F/train.{A,C,Q}.json
    node models/embed-texts.ts models/weights/tuned.bin tuned $F/train.{A,C,Q}.json             # about ten minutes
    node models/confidence-features.ts $F/train lexical > $F/train.lexical.jsonl
    node models/confidence-features.ts $F/train static refstatic > $F/train.reference.static.jsonl
    node models/confidence-features.ts $F/train tuned ref > $F/train.reference.tuned.jsonl
    node models/confidence-features.ts $F/train static > $F/train.shipped.static.jsonl
    node models/confidence-features.ts $F/train tuned > $F/train.shipped.tuned.jsonl
    python3 models/confidence.py fit --from $F                              # writes src/retrieve/confidence-weights.ts

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
POOLS, POOL_TOOLS, MOST_UNSEEN = 5, 800, 1600
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


def prepare_training(tools: list[dict], written: list[dict], out: pathlib.Path) -> None:
    rng = random.Random(11)
    home = {tool["id"]: tool["namespace"] for tool in tools}
    familiar = {home.get(tool) for q in written[:FIRST_UNSEEN] for tool in q["relevant"]}
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
    words = {name: product_words(name) for name in namespaces}
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
    taken = 0
    for kind, q in possible:
        homes = {home[tool] for tool in q["relevant"]}
        places = {pool_of.get(name) for name in homes}
        if None in places or len(places) > 1 or (kind == "unseen" and taken >= MOST_UNSEEN):
            continue
        taken += kind == "unseen"
        row, pool = request(q["query"]), places.pop()
        right = q["relevant"] + q.get("also_ok", [])
        add(kind, 1, row, pool, right, homes)
        examples[-1]["strange"] = kind == "unseen" and not homes & familiar
        called = {names[tool] for tool in q["relevant"]}
        alike = {tool["id"] for tool in kept if tool["name"] in called}
        called_products = set().union(*map(product_words, homes))
        # The same request where its tool is missing, and where its whole server is.
        if kind != "twin":
            add("removed", 0, row, pool, [], homes, set(right) | alike)
            examples[-1]["without"] = sorted(set(examples[-1]["without"]))
            add("gone", 0, row, pool, [], set(), set(right) | alike | {tool["id"] for tool in kept if tool["namespace"] in homes or words[tool["namespace"]] & called_products})
    for number, line in enumerate(impossible):
        row = request(line["query"])
        if "scope" in line:
            add("near-miss", 0, row, pool_of[line["scope"][0]], [], set(line["scope"]))
        else:
            for pool in (number % POOLS, (number + 2) % POOLS):
                add("absent", 0, row, pool, [], set())
    write(out, "train", kept, pools, requests, examples)


# How much one example of a kind counts. Twins are written by the hand that wrote the near misses, about the same servers: with them the fit
# cannot live on style. A request whose tool was taken away may be served by a neighbour after all, so those count for less.
COUNTS = {"unseen": 1.0, "fresh": 1.0, "twin": 2.5, "near-miss": 2.0, "absent": 1.0, "removed": 0.35, "gone": 0.15}
SCALED = ("cosine", "marginToSecond", "marginToFifth", "marginToTwentieth")
RIDGE = 3.0
FALSE_REFUSALS = 0.05
NAMES = ("unseen", "twin", "fresh")


def read_features(path: pathlib.Path) -> tuple[list[str], np.ndarray, list[dict]]:
    rows = lines(path)
    names = list(rows[0]["features"])
    values = np.array([[np.nan if row["features"][name] is None else row["features"][name] for name in names] for row in rows], dtype=float)
    return names, values, rows


def logistic(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Ridge-penalised logistic regression by Newton's method; the last coefficient is the intercept."""
    x = np.c_[x, np.ones(len(x))]
    penalty = np.r_[np.full(x.shape[1] - 1, RIDGE), 1e-9]
    beta = np.zeros(x.shape[1])
    for _ in range(100):
        chance = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        gradient = x.T @ (weight * (chance - y)) + penalty * beta
        step = np.linalg.solve((x * (weight * chance * (1 - chance))[:, None]).T @ x + np.diag(penalty), gradient)
        beta -= step
        if np.abs(step).max() < 1e-9:
            break
    return beta


def auc(served: np.ndarray, unserved: np.ndarray) -> float:
    both = np.concatenate([served, unserved])
    _, place, count = np.unique(both, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    return float((rank[: len(served)].sum() - len(served) * (len(served) + 1) / 2) / (len(served) * len(unserved)))


def interval(served: np.ndarray, unserved: np.ndarray, rounds: int = 400) -> str:
    rng = np.random.default_rng(1)
    drawn = [auc(rng.choice(served, len(served)), rng.choice(unserved, len(unserved))) for _ in range(rounds)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{auc(served, unserved):.3f} [{low:.3f}, {high:.3f}]"


def fit(folder: pathlib.Path, tier: str) -> dict:
    names, x, rows = read_features(folder / f"train.reference.{tier}.jsonl" if tier != "lexical" else folder / "train.lexical.jsonl")
    kind = np.array([row["kind"] for row in rows])
    pool = np.array([row["pool"] for row in rows])
    y = np.array([row["label"] for row in rows], dtype=float)
    weight = np.array([COUNTS[one] for one in kind])
    # Even odds: a confidence of one half means that as many such requests are served as not.
    weight *= np.where(y == 1, 1, weight[y == 1].sum() / weight[y == 0].sum())
    dead = np.isnan(x).all(axis=0)
    middle = np.where(dead, 0, np.nanmean(np.where(dead, 0, x), axis=0))
    x = np.where(np.isnan(x), middle, x)
    spread = np.where(x.std(axis=0) < 1e-9, 1, x.std(axis=0))
    z = (x - middle) / spread

    score = np.zeros(len(z))
    for left in range(POOLS):
        train = pool != left
        score[~train] = np.c_[z[~train], np.ones((~train).sum())] @ logistic(z[train], y[train], weight[train])
    # Requests about servers the reference knew no request of are those a new user brings.
    strange = np.array([row["strange"] for row in rows])
    threshold = float(np.quantile(score[strange], FALSE_REFUSALS, method="lower"))
    print(f"== {tier}, cross-validated over pools")
    alone = names.index("cosine") if tier != "lexical" else names.index("coverage")
    for one in NAMES:
        for other in ("near-miss", "absent", "removed", "gone"):
            print(f"{one:7} against {other:9} {names[alone]} {interval(x[kind == one, alone], x[kind == other, alone])}  confidence {interval(score[kind == one], score[kind == other])}")
    print("refused", {str(one): round(float((score[kind == one] < threshold).mean()), 3) for one in sorted(set(kind))}, "of", int(strange.sum()), "about strange servers", round(float((score[strange] < threshold).mean()), 3))

    beta = logistic(z, y, weight)
    slope, intercept = beta[:-1] / spread, beta[-1] - (beta[:-1] * middle / spread).sum()
    if tier != "lexical":
        # The shipped weights spread their cosines otherwise than the reference: both are brought together on requests neither has seen.
        _, shipped, _ = read_features(folder / f"train.shipped.{tier}.jsonl")
        unserved = np.isin(kind, ("near-miss", "absent"))
        for name in SCALED:
            at = names.index(name)
            theirs, ours = x[unserved, at], shipped[unserved, at]
            factor = theirs.std() / ours.std()
            print(f"{name}: reference {theirs.mean():.3f} ± {theirs.std():.3f}, shipped {ours.mean():.3f} ± {ours.std():.3f}")
            intercept += slope[at] * (theirs.mean() - factor * ours.mean())
            middle[at] = ours.mean() + (middle[at] - theirs.mean()) / factor
            slope[at] *= factor
        moved = np.where(np.isnan(shipped), middle, shipped) @ slope + intercept
        print("shipped, refused (unseen and twin were trained on)", {str(one): round(float((moved[kind == one] < threshold).mean()), 3) for one in sorted(set(kind))})
    digits = lambda value: round(float(value), 4)
    return {
        "intercept": digits(intercept),
        "threshold": digits(1 / (1 + np.exp(-threshold))),
        "weights": {name: digits(slope[at]) for at, name in enumerate(names) if not dead[at]},
        "usual": {name: digits(middle[at]) for at, name in enumerate(names) if not dead[at]},
    }


def write_weights(fitted: dict[str, dict], path: pathlib.Path) -> None:
    entry = lambda value: "{ " + ", ".join(f"{name}: {number}" for name, number in value.items()) + " }"
    tiers = "".join(
        f"  {tier}: {{\n    intercept: {one['intercept']},\n    threshold: {one['threshold']},\n    weights: {entry(one['weights'])},\n    usual: {entry(one['usual'])},\n  }},\n"
        for tier, one in fitted.items()
    )
    path.write_text(
        "// Written by models/confidence.py. Change the training there, not the numbers here.\n"
        'import type { ConfidenceFeature } from "./confidence-features.ts";\n\n'
        "/** A logistic fit: what each feature counts, and its usual value, which stands in where a ranking is too short to say. */\n"
        "export interface ConfidenceWeights {\n  readonly intercept: number;\n"
        "  /** The confidence under which nothing fits: 5 % of the requests that could be served fell below in training. */\n  readonly threshold: number;\n"
        "  readonly weights: Readonly<Partial<Record<ConfidenceFeature, number>>>;\n  readonly usual: Readonly<Partial<Record<ConfidenceFeature, number>>>;\n}\n\n"
        "/** The ranker that a confidence is fitted to. */\nexport type ConfidenceTier = \"lexical\" | \"static\" | \"tuned\";\n\n"
        "/** One fit a ranker: their scores do not compare. */\n"
        f"export const CONFIDENCE_WEIGHTS: Readonly<Record<ConfidenceTier, ConfidenceWeights>> = {{\n{tiers}}};\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("prepare")
    one.add_argument("--shared", required=True, type=pathlib.Path)
    one.add_argument("--out", required=True, type=pathlib.Path)
    two = commands.add_parser("fit")
    two.add_argument("--from", dest="folder", required=True, type=pathlib.Path)
    two.add_argument("--to", type=pathlib.Path, default=HERE.parent / "src/retrieve/confidence-weights.ts")
    options = parser.parse_args()
    if options.command == "prepare":
        prepare(options.shared, options.out)
    else:
        write_weights({tier: fit(options.folder, tier) for tier in ("lexical", "static", "tuned")}, options.to)


if __name__ == "__main__":
    main()
