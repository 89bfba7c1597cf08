"""Collects what the models are trained and checked on into one file.

    python3 models/prepare.py --shared ../shared --out .borrowed/train.json.xz

Training uses only sets whose licence allows it (see README.md) and the requests in models/data. The servers in heldout-servers.txt and the
sets for checking are never trained on. What belongs to the validation servers is kept apart: choices are made on it, and only then is it
trained on as well.
"""
import argparse
import collections
import json
import lzma
import pathlib
import random
import zlib

from texts import request_text
from validation import lines, validation_servers

HERE = pathlib.Path(__file__).parent
# Requests a tool may have at most, by set: a few tools would otherwise drown the others.
LABELLED = {
    "metatool": 30,
    "metatool-multi": 20,
    "sealtools": 20,
    "bfcl": 10,
    "apibench-huggingface": 3,
    "apibench-tensorflow": 6,
    "apibench-torchhub": 6,
}
CHECKED = ["mcp-bench", "restbench-tmdb", "toolret-apibank", "toollens", "ultratool"]


def slim(tool: dict) -> dict:
    """A tool with what the texts need: long texts are cut where the tokenizer would cut them anyway."""
    schema = tool.get("parameters")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    kept = {}
    if isinstance(properties, dict):
        for name, prop in list(properties.items())[:30]:
            text = prop.get("description") if isinstance(prop, dict) else ""
            kept[name] = {"description": text[:300]} if isinstance(text, str) and text else {}
    return {
        "id": tool["id"],
        "name": tool["name"],
        "namespace": tool.get("namespace") or "",
        "description": (tool.get("description") or "")[:1500],
        "parameters": {"properties": kept} if kept else None,
    }


def missing_tool(tool: dict | None, line: dict) -> dict | None:
    return tool and {**tool, "id": f"missing/{line['id']}", "namespace": line["scope"][0], "parameters": {"properties": dict.fromkeys(tool["parameters"], {})}}


def capped(queries: list[dict], cap: int, rng: random.Random) -> list[dict]:
    rng.shuffle(queries)
    seen: collections.Counter = collections.Counter()
    kept = []
    for query in queries:
        if query["relevant"] and all(seen[tool] < cap for tool in query["relevant"]):
            seen.update(query["relevant"])
            kept.append(query)
    return kept


def row_of(query: dict) -> dict:
    return {
        "query": request_text(query["query"], query.get("history")),
        "relevant": query["relevant"],
        "also_ok": query.get("also_ok", []),
        "style": query.get("style", "direct"),
        # A number for a learning curve: a share of the newer requests is those below it.
        **({"draw": zlib.crc32(query["id"].encode()) / 2**32} if "writer" in query else {}),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--shared", required=True, type=pathlib.Path)
    arguments.add_argument("--out", required=True, type=pathlib.Path)
    options = arguments.parse_args()
    shared = options.shared
    rng = random.Random(7)
    heldout = set((shared / "models/heldout-servers.txt").read_text().split("\n")) - {""}
    choosing = validation_servers()
    assert not choosing & heldout

    sets: dict[str, dict] = {}
    for name, cap in LABELLED.items():
        folder = shared / "eval" / name
        queries = capped(lines(folder / "queries.jsonl"), cap, rng)
        sets[name] = {
            "tools": [slim(tool) for tool in lines(folder / "tools.jsonl")],
            "train": [{"query": q["query"], "relevant": q["relevant"]} for q in queries],
        }

    tools = lines(shared / "eval/toucan-paraphrase/tools.jsonl")
    namespace = {tool["id"]: tool["namespace"] for tool in tools}
    written = lines(shared / "eval/toucan-paraphrase/queries.jsonl")
    own = []
    for file in ("train-followup", "train-long", "train-multi"):
        own += lines(HERE / "data" / f"{file}.jsonl")
    requests = lines(HERE / "data/requests.jsonl")
    own += [line for line in requests if line["relevant"]]
    for line in lines(HERE / "data/train-impossible.jsonl"):
        if line.get("twin"):
            own.append({"query": line["twin"], "relevant": line["twin_relevant"], "style": "direct"})
    # Requests of our own are about servers that no public request is about, too: their tools come with all their siblings.
    asked = {tool for line in requests for tool in line["relevant"]}
    everything = lines(shared / "corpora/toucan-mcp/tools.jsonl") + lines(shared / "corpora/docker-mcp-registry/tools.jsonl")
    servers = {tool["namespace"] for tool in everything if tool["id"] in asked - namespace.keys()}
    assert not servers & (heldout | choosing)
    further = {tool["id"]: tool for tool in everything if tool["namespace"] in servers and tool["id"] not in namespace and tool.get("description")}
    tools += further.values()
    namespace |= {tool["id"]: tool["namespace"] for tool in further.values()}
    train, check, kept = [], [], []
    for query in written + own:
        servers = {namespace[tool] for tool in query["relevant"]}
        (check if servers & heldout else kept if servers & choosing else train).append(row_of(query))
    sets["toucan-paraphrase"] = {"tools": [slim(tool) for tool in tools], "train": train}
    styles = [row_of(line) for line in lines(HERE / "data/train-styles.jsonl") if line["relevant"] and all(namespace[tool] in choosing for tool in line["relevant"])]
    # The tool that would serve a near miss, or the existing one that does.
    missing = {line["id"]: line for line in lines(HERE / "data/missing-tools.jsonl")}
    impossible = [
        {"query": line["query"], "near": line.get("near", []), "scope": line.get("scope", []), "missing": missing_tool(missing.get(line["id"]), line)}
        for line in lines(HERE / "data/train-impossible.jsonl") + requests + lines(HERE / "data/train-styles.jsonl")
        if not line["relevant"] and "served_by" not in missing.get(line["id"], {})
    ]

    checks = {"heldout": {"tools": [slim(t) for t in tools if t["namespace"] in heldout], "queries": check}}
    held_ids = {tool["id"] for tool in checks["heldout"]["tools"]}
    for query in check:
        query["relevant"] = [tool for tool in query["relevant"] if tool in held_ids]
        query["also_ok"] = [tool for tool in query["also_ok"] if tool in held_ids]
    checks["followup"] = {
        "tools": "heldout",
        "queries": [
            {"query": request_text(q["query"], q["history"]), "alone": q["query"], "relevant": q["relevant"], "also_ok": q["also_ok"]}
            for q in lines(HERE / "data/heldout-followup.jsonl")
        ],
    }
    checks["styles"] = {"tools": "heldout", "queries": [row_of(line) for line in lines(HERE / "data/heldout-styles.jsonl") if line["relevant"]]}
    for name in CHECKED:
        folder = shared / "eval" / name
        queries = lines(folder / "queries.jsonl")
        rng.shuffle(queries)
        checks[name] = {
            "tools": [slim(tool) for tool in lines(folder / "tools.jsonl")],
            "queries": [{"query": q["query"], "relevant": q["relevant"]} for q in queries[:1000]],
        }

    corpus = [slim(t) for t in lines(shared / "corpora/toucan-mcp/tools.jsonl") + lines(shared / "corpora/docker-mcp-registry/tools.jsonl")]
    corpus = [tool for tool in corpus if tool["namespace"] not in heldout and tool["description"]]
    validation = {
        "servers": sorted(choosing),
        "tools": [slim(tool) for tool in tools if tool["namespace"] in choosing],
        # Without those that also need a tool of another server.
        "queries": [row for row in kept if all(namespace[tool] in choosing for tool in row["relevant"])] + styles,
        "train": kept,
        "corpus": [tool for tool in corpus if tool["namespace"] in choosing],
        # The tools of a server that no public request is about, too: a near miss must be one for the whole server.
        "full": [slim(tool) for tool in {tool["id"]: tool for tool in everything + tools if tool["namespace"] in choosing}.values()],
        "misses": [{**line, "tool": missing_tool(line["tool"], {"id": line["id"], "scope": [line["server"]]})} for line in lines(HERE / "data/validation-misses.jsonl")],
    }
    corpus = [tool for tool in corpus if tool["namespace"] not in choosing]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(options.out, "wt", encoding="utf-8", preset=6) as file:
        json.dump({"sets": sets, "checks": checks, "corpus": corpus, "validation": validation, "impossible": impossible, "heldout": sorted(heldout)}, file, ensure_ascii=False)
    for name, one in sets.items():
        print(f"train {name}: {len(one['tools'])} tools, {len(one['train'])} requests")
    for name, one in checks.items():
        print(f"check {name}: {len(one['queries'])} requests")
    print(f"validation: {len(validation['tools'])} tools, {len(kept)} requests, {len(styles)} by style")
    print(f"corpus: {len(corpus)} tools; {options.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
