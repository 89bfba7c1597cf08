"""The validation servers: every choice about training is made on them, so that the held-out servers are looked at once, at the end.

    python3 models/validation.py --shared SHARED     # writes models/data/validation-servers.txt; the same bytes each time
"""
import argparse
import collections
import json
import pathlib
import random

import numpy as np

from lexical import bm25f
from metrics import minmax
from texts import split_words

HERE = pathlib.Path(__file__).parent
FILE = HERE / "data/validation-servers.txt"
SEED, SERVERS, WITH_STYLES = 29, 60, 30
# A server with fewer tools or requests says little about choosing among siblings.
LEAST_TOOLS, LEAST_REQUESTS = 4, 6
DRAWS, MOST_SERVERS = 400, 4
DENSE = 0.9
RESAMPLES = 1000


def lines(path: pathlib.Path) -> list[dict]:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def same_text(tool: dict) -> str:
    """Tools with the same such text are the same answer."""
    return f"{' '.join(split_words(tool['name']))}|{(tool['description'] or '')[:200]}"


def validation_servers() -> set[str]:
    return set(FILE.read_text(encoding="utf-8").split("\n")) - {""}


def choose(shared: pathlib.Path) -> list[str]:
    """Servers that training could use, with siblings and requests enough, none of whose tools another server repeats."""
    tools = lines(shared / "eval/toucan-paraphrase/tools.jsonl")
    heldout = set((shared / "models/heldout-servers.txt").read_text(encoding="utf-8").split("\n"))
    home = {tool["id"]: tool["namespace"] for tool in tools}
    requests: collections.Counter = collections.Counter()
    for query in lines(shared / "eval/toucan-paraphrase/queries.jsonl"):
        requests.update({home[tool] for tool in query["relevant"]})
    styled = {home[tool] for line in lines(HERE / "data/train-styles.jsonl") for tool in line["relevant"]}
    texts: dict[str, set[str]] = {}
    for tool in tools:
        texts.setdefault(same_text(tool), set()).add(tool["namespace"])
    repeated = {name for names in texts.values() if len(names) > 1 for name in names}
    size = collections.Counter(home.values())
    fit = sorted(
        name for name in size if name not in heldout and name not in repeated and size[name] >= LEAST_TOOLS and requests[name] >= LEAST_REQUESTS
    )
    random.Random(SEED).shuffle(fit)
    first = [name for name in fit if name in styled][:WITH_STYLES]
    rest = [name for name in fit if name not in styled][: SERVERS - len(first)]
    return sorted(first + rest)


class SmallCatalogs:
    """Catalogs of one to four of the servers, drawn once, and one of them all, with their lexical scores."""

    def __init__(self, tools: list[dict], queries: list[dict]):
        self.tools, self.queries = tools, queries
        rng = random.Random(SEED)
        servers = sorted({tool["namespace"] for tool in self.tools})
        home = {tool["id"]: tool["namespace"] for tool in self.tools}
        self.catalogs = []
        drawn = [rng.sample(servers, 1 + draw % MOST_SERVERS) for draw in range(DRAWS)] + [servers]
        for names in drawn:
            columns = [index for index, tool in enumerate(self.tools) if tool["namespace"] in names]
            rows = [index for index, query in enumerate(self.queries) if all(home.get(tool) in names for tool in query["relevant"])]
            tools = [self.tools[index] for index in columns]
            self.catalogs.append((columns, rows, minmax(bm25f(tools, [self.queries[row]["query"] for row in rows]))))
        self.position = {tool["id"]: index for index, tool in enumerate(self.tools)}
        self.server = [home[query["relevant"][0]] for query in self.queries]

    def hits(self, queries: np.ndarray, tools: np.ndarray) -> list[tuple[bool, str, str, float, float]]:
        """A line a case: is the catalog small, style, server, R@1, R@5."""
        dense = queries @ tools.T
        cases = []
        for number, (columns, rows, lexical) in enumerate(self.catalogs):
            scores = DENSE * minmax(dense[np.ix_(rows, columns)]) + (1 - DENSE) * lexical
            place = {column: index for index, column in enumerate(columns)}
            for row, ranked in zip(rows, scores):
                query = self.queries[row]
                relevant = {place[self.position[tool]] for tool in query["relevant"]}
                for tool in query["also_ok"]:
                    column = place.get(self.position.get(tool, -1))
                    if column is not None and column not in relevant:
                        ranked[column] = -np.inf
                order = np.argsort(-ranked, kind="stable")[:5]
                found = [int(index) in relevant for index in order]
                cases.append((number < DRAWS, query["style"], self.server[row], sum(found[:1]) / len(relevant), sum(found) / len(relevant)))
        return cases

    def run(self, embed_queries, embed_tools) -> dict[str, dict[str, float]]:
        """R@1 and R@5 in percent on small catalogs, on all servers together, and on small ones by style; `error` is the standard error of R@1 over servers."""
        cases = self.hits(embed_queries([query["query"] for query in self.queries]), embed_tools(self.tools))
        groups = {"small": [case for case in cases if case[0]], "all": [case for case in cases if not case[0]]}
        for style in sorted({case[1] for case in cases}):
            groups[f"small {style}"] = [case for case in groups["small"] if case[1] == style]
        return {name: summary(some) for name, some in groups.items() if some}


def summary(cases: list[tuple]) -> dict[str, float]:
    sums: dict[str, np.ndarray] = {}
    for _, _, server, first, five in cases:
        sums[server] = sums.get(server, np.zeros(3)) + np.array([first, five, 1])
    table = np.array([sums[server] for server in sorted(sums)])
    total = table.sum(0)
    draws = table[np.random.default_rng(SEED).integers(len(table), size=(RESAMPLES, len(table)))].sum(1)
    return {"r1": 100 * float(total[0] / total[2]), "r5": 100 * float(total[1] / total[2]), "error": 100 * float((draws[:, 0] / draws[:, 2]).std()), "cases": int(total[2])}


def show_small(label: str, report: dict[str, dict[str, float]]) -> None:
    print(f"-- {label}: " + "; ".join(f"{name} {f['r1']:.1f}/{f['r5']:.1f} (±{f['error']:.1f}, {f['cases']})" for name, f in report.items()), flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--shared", required=True, type=pathlib.Path)
    options = arguments.parse_args()
    chosen = choose(options.shared)
    FILE.write_text("".join(f"{name}\n" for name in chosen), encoding="utf-8")
    print(f"{len(chosen)} servers")


if __name__ == "__main__":
    main()
