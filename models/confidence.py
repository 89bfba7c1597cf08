"""Fits the confidence behind "nothing fits": from what the product reads of a ranking to the chance that the request can be served.

    F=.borrowed/confidence; mkdir -p $F
    for tier in lexical static tuned; do
      node models/confidence-features.ts --shared ../shared --tier $tier --weights reference > $F/$tier.reference.jsonl
    done
    for tier in static tuned; do
      node models/confidence-features.ts --shared ../shared --tier $tier --weights shipped > $F/$tier.shipped.jsonl
    done
    python3 models/confidence.py --from $F                              # writes src/retrieve/fit/confidence-weights.ts

Training never sees a held-out server. An embedder is surer of requests it was trained on than of anybody else's, so the fit reads rankings of the
reference weights on requests that those never saw. Cosines are then brought to the scale of the shipped weights on impossible requests that
neither has seen. The thresholds are those of the shipped weights on the requests of models/data that they were never trained on.
"""
import argparse
import collections
import json
import pathlib
import zlib

import numpy as np

HERE = pathlib.Path(__file__).parent
FOLDS = 5
RIDGE = 3.0
# How much each kind of impossible request counts.
COUNTS = {"near": 0.4, "absent": 0.35, "removed": 0.25}
# The share of servable requests that may be refused: with `confident` in any of the catalogs they are asked in, with `eager` over all styles.
CONFIDENT, EAGER = 0.005, 0.05
# How far `confident` stays below that, on the scale of the fit: other people's requests are not like ours.
MARGIN = 0.2
LARGE = "~ 700"
NEVER = -99.0
# What tells how close the best tool is. The other features never refuse a request by themselves with `confident`.
CLOSENESS = ("best", "bestByWords", "words", "tools")
# Sources of requests that neither the reference nor the shipped weights were trained on.
NEW = ("styles", "fresh")


class Examples:
    def __init__(self, path: pathlib.Path):
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        # A request that is a tool's name, and one that found nothing, are not judged by the fit.
        rows = [row for row in rows if not row["isName"] and not row["empty"]]
        self.names = list(rows[0]["features"])
        self.x = np.array([list(row["features"].values()) for row in rows], dtype=float)
        self.kind, self.style, self.size, self.source = (np.array([row[key] for row in rows]) for key in ("kind", "style", "size", "from"))
        self.query = np.array([row["query"] for row in rows])
        self.fold = np.array([zlib.crc32((row["home"] or row["query"]).encode()) % FOLDS for row in rows])
        self.possible = self.kind == "possible"

    def weights(self) -> np.ndarray:
        """Every size counts the same; so do possible and impossible requests; rare styles count for more than their number."""
        weight = np.zeros(len(self.x))
        for size in set(self.size):
            for kind in set(self.kind):
                group = (self.size == size) & (self.kind == kind)
                count = collections.Counter(self.style[group])
                own = np.array([count[style] ** -0.5 for style in self.style[group]])
                weight[group] = own / own.sum() * COUNTS.get(kind, 1)
        return weight * len(weight) / weight.sum()


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


def confident(examples: Examples, score: np.ndarray, among: np.ndarray) -> float:
    """The threshold that at most CONFIDENT of the servable requests fall below, each taken in the catalog where it scores lowest, less a margin."""
    lowest: dict[str, float] = {}
    for query, value in zip(examples.query[among], score[among]):
        lowest[query] = min(value, lowest.get(query, np.inf))
    return float(np.quantile(list(lowest.values()), CONFIDENT, method="lower")) - MARGIN


def eager(examples: Examples, score: np.ndarray, among: np.ndarray) -> float:
    """The threshold that refuses EAGER of the servable requests if every style is asked as often."""
    count = collections.Counter(examples.style[among])
    order = np.argsort(score[among])
    share = np.array([1 / count[style] for style in examples.style[among]])[order]
    return float(score[among][order][np.searchsorted(np.cumsum(share) / share.sum(), EAGER)])


def report(label: str, examples: Examples, refused: np.ndarray, score: np.ndarray, among: np.ndarray) -> None:
    large = examples.size == LARGE
    for name, part in (("up to 100 tools", ~large), ("about 700 tools", large)):
        kinds = {kind: part & (examples.kind == kind) for kind in COUNTS}
        print(f"  {label}, {name}: refused", {kind: f"{refused[own].mean():.3f}" for kind, own in kinds.items()}, "AUC", {kind: f"{auc(score[part & among], score[own]):.3f}" for kind, own in kinds.items()})
        print("    falsely", {str(style): f"{refused[part & among & (examples.style == style)].mean():.3f}" for style in sorted(set(examples.style[part & among]))})


class Fit:
    """A logistic fit on some of the features."""

    def __init__(self, examples: Examples, names: tuple[str, ...]):
        self.names = names
        x, y, weight = self.pick(examples), examples.possible.astype(float), examples.weights()
        middle, spread = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-9)
        z = (x - middle) / spread
        self.validated = np.zeros(len(z))
        for left in range(FOLDS):
            train = examples.fold != left
            self.validated[~train] = np.c_[z[~train], np.ones((~train).sum())] @ logistic(z[train], y[train], weight[train])
        beta = logistic(z, y, weight)
        self.slope = dict(zip(names, beta[:-1] / spread))
        self.intercept = beta[-1] - (beta[:-1] * middle / spread).sum()

    def pick(self, examples: Examples) -> np.ndarray:
        return examples.x[:, [examples.names.index(name) for name in self.names]]

    def rescale(self, factor: float, shift: float) -> None:
        """For cosines that are `factor * cosine + shift` on the scale of the fit."""
        self.intercept += self.slope["best"] * shift
        self.slope["words"] += self.slope["bestByWords"] * shift
        self.slope["best"] *= factor
        self.slope["bestByWords"] *= factor

    def score(self, examples: Examples) -> np.ndarray:
        return self.pick(examples) @ np.array([self.slope[name] for name in self.names]) + self.intercept

    def numbers(self) -> dict[str, float]:
        return {"intercept": round(float(self.intercept), 4), **{name: round(float(self.slope[name]), 4) for name in self.names}}


def fit(folder: pathlib.Path, tier: str) -> dict:
    examples = Examples(folder / f"{tier}.reference.jsonl")
    close, whole = Fit(examples, CLOSENESS), Fit(examples, tuple(examples.names))
    least, likely = confident(examples, close.validated, examples.possible), eager(examples, whole.validated, examples.possible)
    print(f"== {tier}: {len(examples.x)} examples. Reference weights, cross-validated over servers:")
    report("confident", examples, close.validated < least, close.validated, examples.possible)
    report("eager", examples, whole.validated < likely, whole.validated, examples.possible)
    if tier != "lexical":
        # The shipped weights spread their cosines otherwise than the reference.
        shipped = Examples(folder / f"{tier}.shipped.jsonl")
        at = examples.names.index("best")
        unserved = lambda one: one.x[np.isin(one.kind, ("near", "absent")) & np.isin(one.source, (*NEW, "impossible")), at]
        theirs, ours = unserved(examples), unserved(shipped)
        factor = theirs.std() / ours.std()
        for one in (close, whole):
            one.rescale(factor, theirs.mean() - factor * ours.mean())
        new = shipped.possible & np.isin(shipped.source, NEW)
        near, score = close.score(shipped), whole.score(shipped)
        least, likely = confident(shipped, near, new), eager(shipped, score, new)
        print(f"  best: reference {theirs.mean():.3f} ± {theirs.std():.3f}, shipped {ours.mean():.3f} ± {ours.std():.3f}. Shipped weights, requests they were not trained on:")
        report("confident", shipped, near < least, near, new)
        report("eager", shipped, (score < likely) | (near < least), score, new)
    if tier == "lexical":
        # Words that are not there say little: by words alone, `confident` refuses only what shares no word with any tool.
        least = NEVER
    return {"close": {**close.numbers(), "least": round(least, 4)}, "whole": {**whole.numbers(), "likely": round(float(1 / (1 + np.exp(-likely))), 4)}}


def write_weights(fitted: dict[str, dict], path: pathlib.Path) -> None:
    entry = lambda value: "{ " + ", ".join(f"{name}: {number}" for name, number in value.items()) + " }"
    tiers = "".join(f"  {tier}: {{\n    closeness: {entry(one['close'])},\n    fit: {entry(one['whole'])},\n  }},\n" for tier, one in fitted.items())
    path.write_text(
        "// Written by models/confidence.py. Change the training there, not the numbers here.\n"
        'import type { ClosenessFeature, ConfidenceFeature } from "./confidence-features.ts";\n\n'
        "/** Two logistic regressions: the weight of each feature. */\n"
        "export interface ConfidenceWeights {\n"
        "  /** The closeness of the best tool, given the length of the request. Below `least`, no tool is close. */\n"
        "  readonly closeness: Readonly<Record<ClosenessFeature | \"intercept\" | \"least\", number>>;\n"
        "  /** The probability that a tool serves the request. Below `likely`, probably none does. */\n"
        "  readonly fit: Readonly<Record<ConfidenceFeature | \"intercept\" | \"likely\", number>>;\n}\n\n"
        "/** The ranker that a confidence model was fitted for. */\nexport type ConfidenceTier = \"lexical\" | \"static\" | \"tuned\";\n\n"
        "/** One pair of models per ranker, because their scores are not comparable. */\n"
        f"export const CONFIDENCE_WEIGHTS: Readonly<Record<ConfidenceTier, ConfidenceWeights>> = {{\n{tiers}}};\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="folder", required=True, type=pathlib.Path)
    parser.add_argument("--to", type=pathlib.Path, default=HERE.parent / "src/retrieve/fit/confidence-weights.ts")
    options = parser.parse_args()
    write_weights({tier: fit(options.folder, tier) for tier in ("lexical", "static", "tuned")}, options.to)


if __name__ == "__main__":
    main()
