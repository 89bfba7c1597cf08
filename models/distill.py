"""Trains the tuned tier by distillation, and the static tier from it. One GPU; see README.md.

    python3 models/distill.py --data build/train.json.xz --base BASE --teacher TEACHER --out build [--everything] [--compare]

Without --everything nothing of the validation servers is trained on, and all figures are of them. With it they are trained on as well, and the
figures are of the held-out sets: look at those once. --compare also trains today's recipe, and the student's without its teachers.

Stages, each run a process of its own, since one does not fill the GPU:
    teacher   a body of twelve layers, trained like the student but without teachers; mean of its runs
    lists     for each request its right tool, the nearest siblings and the nearest other tools, by the teacher
    judge     a cross-encoder that starts from the teacher's body and reads a request and a tool together; the mean of the runs' scores
    student   the body that ships, taught by the labels, the teacher and the judges; mean of its runs
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import time
from typing import NamedTuple

# The same bytes from the same command: cuBLAS reads this when it starts.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")

import numpy as np
import torch
import torch.nn.functional as F

from judge import TEMPLATES, WRITTEN, check_judge, read_lists, train_judge, write_lists
from train import (
    DEVICE, RECIPE, TRAIN_QUERY_TOKENS, TRAIN_TOOL_TOKENS, Batches, Texts, average, dense_embedders, descend,
    encode, encode_all, load_base, load_data, optimizer_of, train,
)
from validation import SmallCatalogs, show_small

HERE = pathlib.Path(__file__).parent
SIBLINGS = {
    **RECIPE,
    # The share of the passes over written requests that go server by server, and the weight of the loss over siblings alone.
    "by_server": 0.8, "siblings": 0.4,
    # Siblings a batch adds as further columns: in all, and of one server.
    "extra": 384, "of_one": 16,
    "plans": 1,
}
STUDENT = {
    **SIBLINGS,
    "plans": 2, "teacher": 1.0, "teacher_siblings": 0.5, "judge": 2.0,
    # Requests of a batch that learn from the judges, and the length of the lists they learn from.
    "listed": 320, "list": 8,
}
RUNS = {"plain": (1, 2, 3), "siblings": (1, 2, 3), "teacher": (1, 2), "judge": (1, 2), "student": (1, 2, 3)}
# Runs that differ in more than their seed have a better mean.
VARIED = {2: {"siblings": 0.3}, 3: {"by_server": 0.4, "siblings": 0.5}}


class Item(NamedTuple):
    query: str
    text: str
    key: tuple
    accepted: set[tuple]
    server: tuple | None = None
    row: tuple | None = None


class Batch(NamedTuple):
    queries: list[str]
    # The first columns are the right tools of the requests, in their order.
    columns: list[str]
    # Row and column of other right answers.
    blocked: np.ndarray
    # Numbers of the servers, -1 for none.
    row_servers: np.ndarray
    column_servers: np.ndarray
    # For requests with a list: the row, its columns, and the judges' scores.
    listed: np.ndarray
    list_columns: np.ndarray
    list_scores: np.ndarray


class SiblingBatches(Batches):
    """Batches that hold whole servers, with siblings as further columns."""

    def __init__(self, data: dict, recipe: dict, rng: random.Random, lists: dict[tuple, tuple[list[str], np.ndarray]]):
        super().__init__(data, recipe, rng)
        self.lists = lists
        self.tool_of: dict[tuple, dict] = {}
        self.server_of: dict[tuple, tuple] = {}
        self.siblings: dict[tuple, list[tuple]] = {}
        self.groups = {source["name"]: source["group"] for source in self.sources}
        for source in self.sources:
            for index, row in enumerate(source["rows"]):
                row["row"] = (source["name"], index)
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
        query, gold, accepted, is_glued = self.drawn(source, row, rows)
        server = (source["name"], gold["namespace"]) if source["name"] == WRITTEN else None
        return Item(query, self.text(gold), (source["name"], source["group"][gold["id"]]), accepted, server, None if is_glued else row["row"])

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

        width = recipe.get("list", 0)
        with_list = [row for row, item in enumerate(items) if item.row in self.lists]
        rng.shuffle(with_list)
        listed = sorted(with_list[: recipe.get("listed", 0)])
        list_columns = np.full((len(listed), width), -1, dtype=np.int64)
        list_scores = np.zeros((len(listed), width), dtype=np.float32)
        for index, row in enumerate(listed):
            ids, scores = self.lists[items[row].row]
            name = items[row].key[0]
            picked = [0] + sorted(rng.sample(range(1, len(ids)), min(width, len(ids)) - 1))
            for slot, one in enumerate(picked):
                key = (name, self.groups[name][ids[one]])
                if key not in place:
                    add(key)
                list_columns[index, slot] = row if slot == 0 else place[key]
                list_scores[index, slot] = scores[one]

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
            np.array(listed, dtype=np.int64), list_columns, list_scores,
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


def train_siblings(data: dict, texts: Texts, base: pathlib.Path, recipe: dict, seed: int, lists: dict, teacher, steps: int):
    """One run of the student, or of the teacher itself if no teacher is given."""
    torch.manual_seed(seed)
    started = time.time()
    model = load_base(base)
    plan = SiblingBatches(data, recipe, random.Random(seed), lists).plan()[: steps or None]
    texts.fill([text for batch in plan for text in batch.queries], TRAIN_QUERY_TOKENS)
    texts.fill([text for batch in plan for text in batch.columns], TRAIN_TOOL_TOKENS)
    taught = Taught(teacher, texts, plan) if teacher else None
    model.train()
    optimizer, schedule = optimizer_of(model, recipe, len(plan))
    print(f"seed {seed}: {len(plan)} steps, {np.mean([len(batch.columns) for batch in plan]):.0f} columns, ready after {time.time() - started:.0f} s", flush=True)
    for step, batch in enumerate(plan):
        queries = encode(model, [texts.ids(text, TRAIN_QUERY_TOKENS) for text in batch.queries], 512)
        tools = encode(model, [texts.ids(text, TRAIN_TOOL_TOKENS) for text in batch.columns], 512)
        similarity = queries @ tools.T / recipe["temperature"]
        blocked = torch.zeros(similarity.shape, dtype=torch.bool)
        blocked[batch.blocked[:, 0], batch.blocked[:, 1]] = True
        blocked = blocked.to(DEVICE)
        logits = similarity.masked_fill(blocked, -1e4)
        target = torch.arange(len(batch.queries), device=DEVICE)
        loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits[:, : len(target)].T, target)) / 2
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
        if len(batch.listed):
            columns = torch.from_numpy(batch.list_columns).to(DEVICE)
            listed = similarity[torch.from_numpy(batch.listed).to(DEVICE)].gather(1, columns.clamp(min=0))
            loss = loss + recipe["judge"] * divergence(listed, torch.from_numpy(batch.list_scores).to(DEVICE), columns >= 0)
        descend(loss, model, optimizer, schedule)
        if step % 100 == 0:
            print(f"seed {seed} step {step}/{len(plan)} loss {loss.item():.3f} {time.time() - started:.0f} s", flush=True)
    return model


def load_trained(base: pathlib.Path, path: pathlib.Path):
    model = load_base(base)
    model.load_state_dict(torch.load(path))
    return model


def stage(options: argparse.Namespace, kind: str, seed: int) -> None:
    """One run; leaves its weights in the folder."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    data = load_data(options.data, options.everything)
    data["everything"] = options.everything
    texts = Texts(options.base / "tokenizer.json")
    out = options.out
    file = out / f"{kind}-{seed}.pt"
    if kind == "plain":
        model = train(data, texts, options.base, {**RECIPE, **options.set}, seed)
    elif kind in ("siblings", "teacher"):
        model = train_siblings(data, texts, options.teacher if kind == "teacher" else options.base, {**SIBLINGS, **VARIED.get(seed, {}), **options.set}, seed, {}, None, options.steps)
    elif kind == "student":
        tables = [np.load(out / f"judge-{run}.npy") for run in RUNS["judge"]]
        scores = np.mean(tables, axis=0)
        lists = {row: (ids, scores[index]) for index, (row, ids) in enumerate(read_lists(out / "lists.json")) if np.isfinite(scores[index, 0])}
        teacher = load_trained(options.teacher, out / "teacher.pt")
        model = train_siblings(data, texts, options.base, {**STUDENT, **VARIED.get(seed, {}), **options.set}, seed, lists, teacher, options.steps)
    elif kind == "lists":
        write_lists(data, texts, load_trained(options.teacher, out / "teacher.pt"), out / "lists.json")
        return
    elif kind == "judge":
        judge, table = train_judge(data, texts, load_trained(options.teacher, out / "teacher.pt"), read_lists(out / "lists.json"), seed, options.steps)
        np.save(out / f"judge-{seed}.npy", table)
        if not options.everything:
            check_judge(data, texts, judge, dense_embedders(load_trained(options.teacher, out / "teacher.pt"), texts))
        return
    torch.save(model.state_dict(), file)
    if DEVICE == "cuda":
        print(f"{kind} {seed}: {torch.cuda.max_memory_reserved() / 2**30:.0f} GiB", flush=True)


class Figures:
    """Validation figures of trained weights, kept beside them."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        validation = load_data(options.data, False)["validation"]
        self.small = SmallCatalogs(validation["tools"], validation["queries"])
        self.texts = Texts(options.base / "tokenizer.json")

    def of(self, label: str, base: pathlib.Path, path: pathlib.Path) -> None:
        # They say nothing about weights that were trained on the validation servers.
        if self.options.everything:
            return
        report = self.small.run(*dense_embedders(load_trained(base, path), self.texts))
        show_small(f"validation, {label}", report)
        path.with_suffix(".json").write_text(json.dumps(report))

    def mean(self, kind: str, base: pathlib.Path, name: str) -> None:
        """The mean of a kind's runs, and figures of it and of one run."""
        out = self.options.out
        torch.save(average([load_trained(base, out / f"{kind}-{seed}.pt") for seed in RUNS[kind]]).state_dict(), out / f"{name}.pt")
        self.of(f"{kind}, one run", base, out / f"{kind}-1.pt")
        self.of(f"{kind}, mean of {len(RUNS[kind])} runs", base, out / f"{name}.pt")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", required=True, type=pathlib.Path)
    arguments.add_argument("--base", required=True, type=pathlib.Path)
    arguments.add_argument("--teacher", required=True, type=pathlib.Path, help="folder of the teacher's body, like BASE")
    arguments.add_argument("--out", required=True, type=pathlib.Path)
    arguments.add_argument("--everything", action="store_true", help="train on the validation servers as well, for the weights that ship")
    arguments.add_argument("--compare", action="store_true", help="also train today's recipe, and the student's without its teachers")
    arguments.add_argument("--without-static", action="store_true", help="leave the static tier out")
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

    def run(one: str) -> None:
        # A command that was cut short goes on where it stopped.
        if (options.out / f"{one}.done").exists():
            return
        print(f"[{time.time() - started:.0f} s] {one} starts", flush=True)
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--stage", one], check=True)
        print(f"[{time.time() - started:.0f} s] {one} ends", flush=True)
        (options.out / f"{one}.done").touch()

    def together(pool: concurrent.futures.Executor, kind: str) -> list[concurrent.futures.Future]:
        return [pool.submit(run, f"{kind}-{seed}") for seed in RUNS[kind]]

    def finish(runs: list[concurrent.futures.Future]) -> None:
        for one in runs:
            one.result()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        teachers = together(pool, "teacher")
        compared = {kind: together(pool, kind) for kind in ("plain", "siblings")} if options.compare else {}
        figures = Figures(options)
        finish(teachers)
        figures.mean("teacher", options.teacher, "teacher")
        run("lists-0")
        finish(together(pool, "judge"))
        students = together(pool, "student")
        for kind, runs in compared.items():
            finish(runs)
            figures.mean(kind, options.base, kind)
        finish(students)
    figures.mean("student", options.base, "tuned")
    check = "heldout" if options.everything else "validation"
    scripts = {"quantize.py": ["--model", options.out / "tuned.pt"], "static.py": ["--teacher", options.out]}
    if options.without_static:
        del scripts["static.py"]
    for script, extra in scripts.items():
        subprocess.run([sys.executable, HERE / script, "--data", options.data, "--base", options.base, *extra, "--out", options.out, "--check", check], check=True)
    (options.out / "all.done").touch()
    print(f"[{time.time() - started:.0f} s] done", flush=True)


if __name__ == "__main__":
    main()
