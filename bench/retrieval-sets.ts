/** Labelled sets of a folder laid out as `eval/NAME/{tools,queries}.jsonl`, with `models/heldout-servers.txt` beside it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceDraft } from "../src/tool/draft.ts";
import { normaliseTool } from "../src/tool/normalise/normalise-tool.ts";
import type { PoolRequest, PoolTool } from "./retrieval-pool.ts";

/** A request and its relevant tools. */
export interface Labelled extends PoolRequest {
  readonly relevant: ReadonlySet<string>;
  /** Tools that count neither for nor against. */
  readonly alsoOk: ReadonlySet<string>;
}

/** One set of tools with labelled requests. */
export interface LabelledSet {
  readonly name: string;
  /** Whether it counts in the macro average. */
  readonly counts: boolean;
  readonly tools: readonly PoolTool[];
  readonly requests: readonly Labelled[];
}

interface ToolLine {
  readonly id: string;
  readonly name?: string;
  readonly namespace?: string | null;
  readonly description?: string | null;
  readonly parameters?: unknown;
}

interface RequestLine {
  readonly query: string;
  readonly relevant: readonly string[];
  readonly also_ok?: readonly string[];
  readonly history?: readonly string[];
}

const COUNTED = ["mcp-bench", "restbench-tmdb", "toolret-apibank"];
const GUARDS = ["toollens", "ultratool"];
/** The number of requests read from the large guards. */
const GUARD_REQUESTS = 600;

/** The sets of a folder: three public ones and the held-out servers, then the guards and the turns that need a conversation. */
export function readSets(shared: string): readonly LabelledSet[] {
  const counted = COUNTED.map((name) => readSet(shared, name, { counts: true }));
  const guards = GUARDS.map((name) => readSet(shared, name, { counts: false, most: GUARD_REQUESTS }));
  return [...counted, ...readHeldOut(shared), ...guards];
}

function readSet(shared: string, name: string, { counts, most }: { counts: boolean; most?: number }): LabelledSet {
  const folder = join(shared, "eval", name);
  const requests = readLines<RequestLine>(join(folder, "queries.jsonl")).map(toLabelled);
  const step = most === undefined ? 1 : Math.max(1, Math.floor(requests.length / most));
  return {
    name,
    counts,
    tools: toTools(readLines<ToolLine>(join(folder, "tools.jsonl"))),
    requests: requests.filter((_, index) => index % step === 0).slice(0, most),
  };
}

/** Natural requests for servers that no model was trained on, and follow-up turns over the same tools. */
function readHeldOut(shared: string): readonly LabelledSet[] {
  const servers = new Set(readFileSync(join(shared, "models/heldout-servers.txt"), "utf8").split("\n"));
  const folder = join(shared, "eval/toucan-paraphrase");
  const lines = readLines<ToolLine>(join(folder, "tools.jsonl")).filter(({ namespace }) =>
    servers.has(namespace ?? ""),
  );
  const known = new Set(lines.map(({ id }) => id));
  const tools = toTools(lines);
  const requests = readLines<RequestLine>(join(folder, "queries.jsonl"))
    .map((line) => ({ ...line, relevant: line.relevant.filter((id) => known.has(id)) }))
    .filter(({ relevant }) => relevant.length > 0)
    .map(toLabelled);
  const followUps = new URL("../models/data/heldout-followup.jsonl", import.meta.url);
  return [
    { name: "held-out servers", counts: true, tools, requests },
    ...(existsSync(followUps)
      ? [
          {
            name: "held-out follow-ups",
            counts: false,
            tools,
            requests: readLines<RequestLine>(followUps).map(toLabelled),
          },
        ]
      : []),
  ];
}

function toLabelled({ query, relevant, also_ok = [], history = [] }: RequestLine): Labelled {
  return { query, history, relevant: new Set(relevant), alsoOk: new Set(also_ok) };
}

function toTools(lines: readonly ToolLine[]): readonly PoolTool[] {
  const taken = new Set<string>();
  return lines.map(({ id, name, namespace, description, parameters }) => {
    const draft = { name: name ?? id, namespace: namespace || "default", description, parameters } as SourceDraft;
    const tool = normaliseTool(draft, {
      source: "descriptor",
      namespace: "default",
      taken: (other) => taken.has(other),
    });
    taken.add(tool.id);
    return { id, tool };
  });
}

function readLines<Line>(path: string | URL): readonly Line[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Line);
}
