"""Trains the tuned tier by distillation, then the static tier and the fit model from it. One GPU; see README.md.

    python3 models/distill.py --data build/train.json.xz --base BASE --teacher TEACHER --out build [--curve]

Nothing of the validation servers is trained on, and all figures are of them. --curve also trains one run without a teacher on none, a quarter,
half and all of the requests in data/requests.jsonl.

Stages, each run a process of its own, since one does not fill the GPU:
    teacher   a body of twelve layers, trained like the student but without a teacher
    student   the body that ships, taught by the labels and the teacher; mean of its runs
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from texts import long_text, named_text, short_text
from train import (
    DEVICE, RECIPE, TRAIN_QUERY_TOKENS, TRAIN_TOOL_TOKENS, WRITTEN, Batches, Texts, average, dense_embedders, descend,
    encode, encode_all, encode_with_passages, find_passage, load_base, load_data, optimizer_of,
)
from validation import SmallCatalogs, show_small

HERE = pathlib.Path(__file__).parent
TEMPLATES = (short_text, named_text, long_text)
# Texts that run together: fewer waste less on padding, more launch fewer kernels.
PART = 256
SIBLINGS = {
    **RECIPE,
    # How often an epoch has each written request.
    "written": 2,
    # The share of the passes over written requests that go server by server, and the weight of the loss over siblings alone.
    "by_server": 0.8, "siblings": 0.4,
    # Siblings a batch adds as further columns: in all, and of one server.
    "extra": 384, "of_one": 16,
    # The weight of the loss over halves of glued requests, pooled from the states of the whole: the product reads clauses so.
    "passages": 0.5,
    "plans": 1,
}
STUDENT = {**SIBLINGS, "plans": 2, "teacher": 1.0, "teacher_siblings": 0.5}
STUDENTS = (1, 2, 3)
# Percent of the newer requests.
CURVE = (0, 25, 50, 100)
# Runs that differ in more than their seed have a better mean.
VARIED = {2: {"siblings": 0.3}, 3: {"by_server": 0.4, "siblings": 0.5}}


class Item(NamedTuple):
    query: str
    text: str
    key: tuple
    accepted: set[tuple]
    server: tuple | None = None
    # The half of a glued request that asks for the tool.
    passage: str | None = None


class Batch(NamedTuple):
    queries: list[str]
    # The first columns are the right tools of the requests, in their order.
    columns: list[str]
    # Row and column of other right answers.
    blocked: np.ndarray
    # Numbers of the servers, -1 for none.
    row_servers: np.ndarray
    column_servers: np.ndarray
    # By row: the half of a glued request that asks for the row's tool.
    passages: dict[int, str]


class SiblingBatches(Batches):
    """Batches that hold whole servers, with siblings as further columns."""

    def __init__(self, data: dict, recipe: dict, rng: random.Random):
        super().__init__(data, recipe, rng)
        self.tool_of: dict[tuple, dict] = {}
        self.server_of: dict[tuple, tuple] = {}
        self.siblings: dict[tuple, list[tuple]] = {}
        for source in self.sources:
            for tool in source["tools"].values():
                key = (source["name"], source["group"][tool["id"]])
                self.tool_of.setdefault(key, tool)
                if source["name"] == WRITTEN:
                    server = (source["name"], tool["namespace"])
                    self.server_of.setdefault(key, server)
                    keys = self.siblings.setdefault(server, [])
                    if key not in keys:
                        keys.append(key)

    def ordered(self, source: dict, number: int) -> list[dict]:
        rows = super().ordered(source, number)
        if source["name"] != WRITTEN or number >= round(self.recipe["by_server"] * source["repeat"]):
            return rows
        servers: dict[str, list[dict]] = {}
        for row in rows:
            servers.setdefault(source["tools"][row["relevant"][0]]["namespace"], []).append(row)
        return [row for server in servers.values() for row in server]

    def labelled(self, source: dict, row: dict, rows: list[dict]) -> Item:
        query, gold, accepted, passage = self.drawn(source, row, rows)
        server = (source["name"], gold["namespace"]) if source["name"] == WRITTEN else None
        return Item(query, self.text(gold), (source["name"], source["group"][gold["id"]]), accepted, server, passage)

    def supervised(self, tool: dict) -> Item | None:
        item = super().supervised(tool)
        return Item(*item) if item else None

    def text(self, tool: dict) -> str:
        return self.rng.choice(TEMPLATES)(tool)

    def batch(self, items: list[Item]) -> Batch:
        rng, recipe = self.rng, self.recipe
        columns, keys = [item.text for item in items], [item.key for item in items]
        place: dict[tuple, int] = {}
        for column, key in enumerate(keys):
            place.setdefault(key, column)

        def add(key: tuple) -> None:
            place[key] = len(keys)
            keys.append(key)
            columns.append(self.text(self.tool_of[key]))

        room = recipe["extra"]
        for server in dict.fromkeys(item.server for item in items if item.server):
            missing = [key for key in self.siblings[server] if key not in place]
            for key in rng.sample(missing, max(0, min(len(missing), recipe["of_one"], room))):
                add(key)
                room -= 1

        at: dict[tuple, list[int]] = {}
        for column, key in enumerate(keys):
            at.setdefault(key, []).append(column)
        blocked = [(row, column) for row, item in enumerate(items) for key in item.accepted for column in at.get(key, ()) if column != row]
        numbers: dict[tuple | None, int] = {None: -1}
        row_servers = np.array([numbers.setdefault(item.server, len(numbers)) for item in items])
        column_servers = np.array([numbers.get(item.server, -1) for item in items] + [numbers.get(self.server_of.get(key), -1) for key in keys[len(items) :]])
        return Batch(
            [item.query for item in items], columns, np.array(sorted(blocked), dtype=np.int64).reshape(-1, 2), row_servers, column_servers,
            {row: item.passage for row, item in enumerate(items) if item.passage},
        )

    def plan(self) -> list[Batch]:
        return [self.batch(items) for _ in range(self.recipe["plans"] * self.recipe["epochs"]) for items in self.epoch()]


def divergence(logits: torch.Tensor, wanted: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """KL from what the teacher thinks of the columns in the mask, the mean over rows."""
    logits, wanted = logits.masked_fill(~mask, -1e4), wanted.masked_fill(~mask, -1e4)
    return F.kl_div(F.log_softmax(logits, 1), F.log_softmax(wanted, 1), reduction="batchmean", log_target=True)


class Taught:
    """The teacher's vectors of every text of a plan."""

    def __init__(self, model, texts: Texts, plan: list[Batch]):
        self.queries = self.remember(model, texts, dict.fromkeys(text for batch in plan for text in batch.queries), TRAIN_QUERY_TOKENS)
        self.columns = self.remember(model, texts, dict.fromkeys(text for batch in plan for text in batch.columns), TRAIN_TOOL_TOKENS)

    @staticmethod
    def remember(model, texts: Texts, items: dict[str, None], limit: int) -> tuple[dict[str, int], torch.Tensor]:
        known = list(items)
        return {text: index for index, text in enumerate(known)}, torch.from_numpy(encode_all(model, texts, known, limit)).to(DEVICE)

    def similarity(self, batch: Batch) -> torch.Tensor:
        rows = self.queries[1][[self.queries[0][text] for text in batch.queries]]
        return rows @ self.columns[1][[self.columns[0][text] for text in batch.columns]].T


def train_siblings(data: dict, texts: Texts, base: pathlib.Path, recipe: dict, seed: int, teacher, steps: int):
    """One run of the student, or of the teacher itself if no teacher is given."""
    torch.manual_seed(seed)
    started = time.time()
    model = load_base(base)
    plan = SiblingBatches(data, recipe, random.Random(seed)).plan()[: steps or None]
    texts.fill([text for batch in plan for text in batch.queries], TRAIN_QUERY_TOKENS)
    texts.fill([text for batch in plan for text in batch.columns], TRAIN_TOOL_TOKENS)
    taught = Taught(teacher, texts, plan) if teacher else None
    model.train()
    optimizer, schedule = optimizer_of(model, recipe, len(plan))
    print(f"seed {seed}: {len(plan)} steps, {np.mean([len(batch.columns) for batch in plan]):.0f} columns, ready after {time.time() - started:.0f} s", flush=True)
    for step, batch in enumerate(plan):
        rows = [texts.ids(text, TRAIN_QUERY_TOKENS) for text in batch.queries]
        places = {row: find_passage(texts.ids(text, TRAIN_QUERY_TOKENS), rows[row]) for row, text in batch.passages.items()} if recipe["passages"] else {}
        places = {row: place for row, place in places.items() if place}
        queries, pooled = encode_with_passages(model, rows, places, PART)
        tools = encode(model, [texts.ids(text, TRAIN_TOOL_TOKENS) for text in batch.columns], PART)
        similarity = queries @ tools.T / recipe["temperature"]
        blocked = torch.zeros(similarity.shape, dtype=torch.bool)
        blocked[batch.blocked[:, 0], batch.blocked[:, 1]] = True
        blocked = blocked.to(DEVICE)
        logits = similarity.masked_fill(blocked, -1e4)
        target = torch.arange(len(batch.queries), device=DEVICE)
        loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits[:, : len(target)].T, target)) / 2
        if places:
            at = torch.tensor(sorted(places), device=DEVICE)
            loss = loss + recipe["passages"] * F.cross_entropy((pooled @ tools.T / recipe["temperature"]).masked_fill(blocked[at], -1e4), at)
        rows, columns = torch.from_numpy(batch.row_servers).to(DEVICE), torch.from_numpy(batch.column_servers).to(DEVICE)
        beside = (rows[:, None] == columns[None, :]) & (rows >= 0)[:, None]
        has_siblings = (beside & ~blocked).sum(1) > 1
        if has_siblings.any():
            loss = loss + recipe["siblings"] * F.cross_entropy(logits.masked_fill(~beside, -1e4)[has_siblings], target[has_siblings])
        if taught:
            wanted = taught.similarity(batch) / recipe["temperature"]
            loss = loss + recipe["teacher"] * divergence(similarity, wanted, torch.ones_like(blocked))
            if has_siblings.any():
                loss = loss + recipe["teacher_siblings"] * divergence(similarity[has_siblings], wanted[has_siblings], beside[has_siblings])
        descend(loss, model, optimizer, schedule)
        if step % 100 == 0:
            print(f"seed {seed} step {step}/{len(plan)} loss {loss.item():.3f} {time.time() - started:.0f} s", flush=True)
    return model


def load_trained(base: pathlib.Path, path: pathlib.Path):
    model = load_base(base)
    model.load_state_dict(torch.load(path))
    return model


def stage(options: argparse.Namespace, kind: str, seed: int) -> None:
    """One run; leaves its weights in the folder. The number of a run of the curve is its percentage."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    data = load_data(options.data, everything=False)
    texts = Texts(options.base / "tokenizer.json")
    out = options.out
    if kind == "teacher":
        model = train_siblings(data, texts, options.teacher, {**SIBLINGS, **options.set}, seed, None, options.steps)
    elif kind == "curve":
        written = data["sets"][WRITTEN]
        written["train"] = [row for row in written["train"] if row.get("draw", 0) <= seed / 100 and (seed or "draw" not in row)]
        model = train_siblings(data, texts, options.base, {**SIBLINGS, **options.set}, 1, None, options.steps)
    else:
        teacher = load_trained(options.teacher, out / "teacher-1.pt")
        model = train_siblings(data, texts, options.base, {**STUDENT, **VARIED.get(seed, {}), **options.set}, seed, teacher, options.steps)
    torch.save(model.state_dict(), out / f"{kind}-{seed}.pt")
    if DEVICE == "cuda":
        print(f"{kind} {seed}: {torch.cuda.max_memory_reserved() / 2**30:.0f} GiB", flush=True)


@torch.no_grad()
def passage_figures(model, texts: Texts, tools: list[dict], queries: list[dict]) -> dict[str, float]:
    """R@1 in percent of halves of glued requests among all tools: each half by itself, and pooled from the states of the whole request."""
    rng = random.Random(29)
    single = [query for query in queries if len(query["relevant"]) == 1 and "earlier:" not in query["query"]]
    pairs = [(one["query"].rstrip("."), rng.choice(single), one) for one in single]
    whole = [texts.ids(f"{half}. {other['query']}", TRAIN_QUERY_TOKENS) for half, other, _ in pairs]
    places = {row: find_passage(texts.ids(half, TRAIN_QUERY_TOKENS), whole[row]) for row, (half, _, _) in enumerate(pairs)}
    found = sorted(row for row, place in places.items() if place)
    model.eval()
    _, pooled = encode_with_passages(model, whole, {row: places[row] for row in found}, 512)
    embed_queries, embed_tools = dense_embedders(model, texts)
    vectors = {"pooled": pooled.cpu().numpy(), "alone": embed_queries([pairs[row][0] for row in found])}
    table, place = embed_tools(tools), {tool["id"]: index for index, tool in enumerate(tools)}
    right = np.array([place[pairs[row][2]["relevant"][0]] for row in found])
    return {name: 100 * float(((rows @ table.T).argmax(1) == right).mean()) for name, rows in vectors.items()}


class Figures:
    """Validation figures of trained weights, kept beside them."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        validation = load_data(options.data, False)["validation"]
        self.small = SmallCatalogs(validation["tools"], validation["queries"])
        self.texts = Texts(options.base / "tokenizer.json")

    def of(self, label: str, base: pathlib.Path, path: pathlib.Path) -> None:
        model = load_trained(base, path)
        report = self.small.run(*dense_embedders(model, self.texts))
        show_small(f"validation, {label}", report)
        halves = passage_figures(model, self.texts, self.small.tools, self.small.queries)
        print(f"   halves of glued requests, R@1: alone {halves['alone']:.1f}, pooled {halves['pooled']:.1f}", flush=True)
        path.with_suffix(".json").write_text(json.dumps(report))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", required=True, type=pathlib.Path)
    arguments.add_argument("--base", required=True, type=pathlib.Path)
    arguments.add_argument("--teacher", required=True, type=pathlib.Path, help="folder of the teacher's body, like BASE")
    arguments.add_argument("--out", required=True, type=pathlib.Path)
    arguments.add_argument("--curve", action="store_true", help="also train on shares of the newer requests")
    arguments.add_argument("--set", default={}, type=json.loads, help="recipe overrides as JSON")
    arguments.add_argument("--steps", default=0, type=int, help="at most so many steps a run, to try the code")
    arguments.add_argument("--stage", help="one run alone, such as teacher-1")
    options = arguments.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.stage:
        kind, seed = options.stage.rsplit("-", 1)
        stage(options, kind, int(seed))
        return
    started = time.time()
    out = options.out

    def run(name: str, *command: object) -> None:
        # A command that was cut short goes on where it stopped.
        if (out / f"{name}.done").exists():
            return
        print(f"[{time.time() - started:.0f} s] {name} starts", flush=True)
        subprocess.run([sys.executable, *(command or (__file__, *sys.argv[1:], "--stage", name))], check=True)
        print(f"[{time.time() - started:.0f} s] {name} ends", flush=True)
        (out / f"{name}.done").touch()

    def script(name: str, *extra: object) -> tuple:
        return (HERE / name, "--data", options.data, "--base", options.base, "--out", out, *extra)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:

        def together(runs: list[tuple]) -> None:
            for one in [pool.submit(run, *arguments) for arguments in runs]:
                one.result()

        run("teacher-1")
        students = pool.submit(together, [(f"student-{seed}",) for seed in STUDENTS])
        figures = Figures(options)
        figures.of("teacher", options.teacher, out / "teacher-1.pt")
        students.result()
        torch.save(average([load_trained(options.base, out / f"student-{seed}.pt") for seed in STUDENTS]).state_dict(), out / "tuned.pt")
        run("quantize", *script("quantize.py", "--model", out / "tuned.pt", "--check", "validation"))
        tiers = pool.submit(together, [("static", *script("static.py", "--teacher", out, "--check", "validation")), ("fit", *script("fit.py", "--tuned", out))])
        figures.of("student, one run", options.base, out / "student-1.pt")
        figures.of(f"student, mean of {len(STUDENTS)} runs", options.base, out / "tuned.pt")
        tiers.result()
        if options.curve:
            together([(f"curve-{share}",) for share in CURVE])
            for share in CURVE:
                figures.of(f"one run without a teacher, {share} % of the newer requests", options.base, out / f"curve-{share}.pt")
    print(f"[{time.time() - started:.0f} s] done", flush=True)


if __name__ == "__main__":
    main()
