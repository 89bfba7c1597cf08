// Prints one JSON line an example: what the product reads from a ranking, for confidence.py to fit.
//   node models/confidence-features.ts --shared ../shared --vectors .borrowed/vectors --tier tuned|static|lexical [--heldout] > features.jsonl
// --vectors holds NAME.json (texts) and NAME.TIER.f32 (unit rows) of toucan.{A,C,Q}, heldout.{A,C,Q}, impossible.Q, train-impossible.{Q,twin}, confidence-possible.Q.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createLexicalIndex } from "../src/catalog/lexical-index.ts";
import { toolFields } from "../src/catalog/tool-text.ts";
import { featuresOf, type RankedTool } from "../src/retrieve/confidence-features.ts";
import { normaliseTool } from "../src/tool/normalise-tool.ts";
import type { Tool } from "../src/tool/tool.ts";

const { values: options } = parseArgs({
  options: { shared: { type: "string" }, vectors: { type: "string" }, tier: { type: "string" }, heldout: { type: "boolean" }, all: { type: "boolean" } },
});
const shared = options.shared ?? "../shared";
const vectorFolder = options.vectors ?? ".borrowed/vectors";
const tier = options.tier ?? "static";
const dimension = tier === "tuned" ? 384 : 256;
const dense = tier !== "lexical";
const DENSE_SHARE = tier === "tuned" ? 0.9 : 0.8;
const POOLS = 12;

interface SetTool { readonly id: string; readonly name: string; readonly namespace: string; readonly description: string | null; readonly parameters: unknown }
interface Request {
  readonly id: string; readonly query: string; readonly relevant: readonly string[]; readonly also_ok?: readonly string[]; readonly style?: string;
  readonly scope?: readonly string[]; readonly twin?: string; readonly twin_relevant?: readonly string[];
}
interface Entry { readonly id: string; readonly row: number; readonly home: string; readonly tool: Tool }

function lines<Row>(path: string): Row[] {
  return readFileSync(path, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line) as Row);
}

function vectors(name: string): Float32Array {
  if (!dense) return new Float32Array(0);
  const bytes = readFileSync(`${vectorFolder}/${name}.${tier}.f32`);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

function toolVectors(name: string): Float32Array {
  const sum = vectors(`${name}.A`);
  const long = vectors(`${name}.C`);
  for (let start = 0; start < sum.length; start += dimension) {
    let squares = 0;
    for (let at = start; at < start + dimension; at++) squares += (sum[at] = (sum[at] ?? 0) + (long[at] ?? 0)) ** 2;
    const scale = 1 / Math.max(Math.sqrt(squares), 1e-9);
    for (let at = start; at < start + dimension; at++) sum[at] = (sum[at] ?? 0) * scale;
  }
  return sum;
}

function dot(a: Float32Array, rowA: number, b: Float32Array, rowB: number): number {
  let sum = 0;
  for (let at = 0; at < dimension; at++) sum += (a[rowA * dimension + at] ?? 0) * (b[rowB * dimension + at] ?? 0);
  return sum;
}

function toEntry(one: SetTool, row: number): Entry {
  const draft = { name: one.name, namespace: one.namespace || "default", description: one.description, parameters: one.parameters };
  return { id: one.id, row, home: one.namespace, tool: normaliseTool(draft as Parameters<typeof normaliseTool>[0], { source: "descriptor", namespace: "set", createdAt: 0 }) };
}

/** A catalog: what the product would have indexed, ranked as it ranks. */
function createPool(entries: readonly Entry[], rows: Float32Array) {
  const lexical = createLexicalIndex();
  for (const { id, tool } of entries) lexical.upsert(id, toolFields(tool));
  const ids = entries.map(({ id }) => id);
  return {
    entries,
    rank(request: string, queries: Float32Array, row: number, accept: (entry: Entry) => boolean) {
      const coverages = lexical.scores(request, ids);
      const scored = entries
        .map((entry, at) => ({ entry, coverage: coverages[at] ?? 0, cosine: dense ? dot(queries, row, rows, entry.row) : 0 }))
        .filter(({ entry }) => accept(entry));
      const cosines = scored.map(({ cosine }) => cosine);
      const low = Math.min(...cosines);
      const span = Math.max(...cosines) - low || 1;
      const most = Math.max(...scored.map(({ coverage }) => coverage)) || 1;
      const share = dense ? DENSE_SHARE : 0;
      const worth = (one: (typeof scored)[number]): number => share * ((one.cosine - low) / span) + (1 - share) * (one.coverage / most);
      return scored.map((one) => ({ ...one, fused: worth(one) })).sort((a, b) => b.fused - a.fused).slice(0, 50);
    },
  };
}
type Pool = ReturnType<typeof createPool>;

function show(kind: string, label: 0 | 1, request: Request, pool: Pool, queries: [string, Float32Array, number], accept: (entry: Entry) => boolean, poolName: string): void {
  const [source, queryRows, row] = queries;
  const ranked = pool.rank(request.query, queryRows, row, accept);
  const ranking: RankedTool[] = ranked.map(({ entry, cosine, coverage }) => ({ tool: entry.tool, cosine: dense ? cosine : undefined, coverage }));
  const right = new Set([...request.relevant, ...(request.also_ok ?? [])]);
  const started = performance.now();
  const features = featuresOf(request.query, ranking);
  spent += performance.now() - started;
  count++;
  process.stdout.write(`${JSON.stringify({
    kind, label, id: request.id, pool: poolName, source, row, query: request.query, hit: right.has(ranked[0]?.entry.id ?? "") ? 1 : 0,
    top: ranked.slice(0, 10).map(({ entry }) => entry.row), topIds: ranked.slice(0, 3).map(({ entry }) => entry.id), home: ranked[0]?.entry.home, features,
  })}\n`);
}
let spent = 0;
let count = 0;

const heldout = new Set(readFileSync(`${shared}/models/heldout-servers.txt`, "utf8").split("\n").filter(Boolean));
const folder = `${shared}/eval/toucan-paraphrase`;
const data = new URL("./data/", import.meta.url).pathname;
const everything = lines<SetTool>(`${folder}/tools.jsonl`);
const written = lines<Request>(`${folder}/queries.jsonl`);

if (options.heldout) {
  const tools = everything.filter(({ namespace }) => heldout.has(namespace));
  const known = new Set(tools.map(({ id }) => id));
  const pool = createPool(tools.map(toEntry), toolVectors("heldout"));
  const possible = written.filter(({ relevant }) => relevant.length > 0 && relevant.every((id) => known.has(id)));
  const possibleRows = vectors("heldout.Q");
  possible.forEach((request, row) => show(`possible-${request.style ?? ""}`, 1, request, pool, ["heldout.Q", possibleRows, row], () => true, "heldout"));
  const impossibleRows = vectors("impossible.Q");
  lines<Request>(`${data}heldout-impossible.jsonl`).forEach((request, row) => show(request.style ?? "", 0, request, pool, ["impossible.Q", impossibleRows, row], () => true, "heldout"));
} else {
  train();
}
process.stderr.write(`${count} examples, ${(spent / count).toFixed(3)} ms each for the features\n`);

function train(): void {
  const tools = everything.map((tool, row) => ({ tool, row })).filter(({ tool }) => !heldout.has(tool.namespace));
  const entries = new Map(tools.map(({ tool, row }) => [tool.id, toEntry(tool, row)]));
  const impossible = lines<Request>(`${data}train-impossible.jsonl`);
  const homes = poolOfNamespaces([...new Set(tools.map(({ tool }) => tool.namespace))], impossible.flatMap(({ scope }) => (scope ? [scope] : [])));
  const rows = toolVectors("toucan");
  const pools = Array.from({ length: POOLS }, (_, at) => createPool([...entries.values()].filter(({ home }) => homes.get(home) === at), rows));
  const poolOf = (ids: readonly string[]): number | undefined => {
    const found = new Set(ids.map((id) => homes.get(entries.get(id)?.home ?? "")));
    return found.size === 1 ? [...found][0] : undefined;
  };
  const possible = (kind: string, request: Request, source: [string, Float32Array, number], removed: boolean): void => {
    const at = poolOf(request.relevant);
    if (at === undefined) return;
    const pool = pools[at] as Pool;
    show(kind, 1, request, pool, source, () => true, String(at));
    if (!removed) return;
    const golds = request.relevant.flatMap((id) => entries.get(id) ?? []);
    const gone = new Set([...request.relevant, ...(request.also_ok ?? [])]);
    const names = new Set(golds.map(({ tool }) => tool.name));
    const homesOfGold = new Set(golds.map(({ home }) => home));
    const sameProduct = sameProductAs([...homesOfGold], request.query);
    const impossible = { ...request, relevant: [], also_ok: [] };
    const others = (entry: Entry): boolean => !gone.has(entry.id) && !names.has(entry.tool.name);
    show("removed", 0, impossible, pool, source, (entry) => others(entry) && (homesOfGold.has(entry.home) || !sameProduct(entry.home)), String(at));
    show("gone", 0, impossible, pool, source, (entry) => others(entry) && !homesOfGold.has(entry.home) && !sameProduct(entry.home), String(at));
  };

  const writtenRows = vectors("toucan.Q");
  written.slice(0, 3000).forEach((request, row) => {
    if (request.relevant.length === 1 && request.relevant.every((id) => entries.has(id))) possible("seen", request, ["toucan.Q", writtenRows, row], row % 2 === 0);
  });
  const freshRows = vectors("confidence-possible.Q");
  lines<Request>(`${data}confidence-possible.jsonl`).forEach((request, row) => possible("fresh", request, ["confidence-possible.Q", freshRows, row], true));
  const twinRows = vectors("train-impossible.twin");
  const impossibleRows = vectors("train-impossible.Q");
  impossible.forEach((request, row) => {
    if (request.twin !== undefined) possible("twin", { ...request, query: request.twin, relevant: request.twin_relevant ?? [] }, ["train-impossible.twin", twinRows, row], false);
    if (request.scope !== undefined) {
      const at = homes.get(request.scope[0] ?? "") ?? 0;
      const scope = new Set(request.scope);
      const sameProduct = sameProductAs(request.scope, request.query);
      show(request.style ?? "", 0, request, pools[at] as Pool, ["train-impossible.Q", impossibleRows, row], ({ home }) => scope.has(home) || !sameProduct(home), String(at));
    } else {
      const sameProduct = sameProductAs([], request.query);
      for (const at of [row % POOLS, (row + 5) % POOLS]) show(request.style ?? "", 0, request, pools[at] as Pool, ["train-impossible.Q", impossibleRows, row], ({ home }) => !sameProduct(home), String(at));
    }
  });
}

/** Spreads the namespaces over pools of like size, those that one request is about into one. */
function poolOfNamespaces(namespaces: readonly string[], together: readonly (readonly string[])[]): Map<string, number> {
  const parent = new Map<string, string>();
  const root = (name: string): string => {
    const up = parent.get(name) ?? name;
    return up === name ? name : root(up);
  };
  for (const [first = "", ...others] of together) for (const other of others) if (root(other) !== root(first)) parent.set(root(other), root(first));
  return new Map(namespaces.map((name) => [name, hash(root(name)) % POOLS]));
}

function hash(text: string): number {
  let value = 2166136261;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 16777619) >>> 0;
  return (value ^ (value >>> 15)) >>> 0;
}

/** Whether another namespace may serve the request too: it shares a telling word of its name with these or with the request. */
function sameProductAs(homes: readonly string[], request: string): (home: string) => boolean {
  const telling = new Set([...homes.flatMap(productWords), ...(request.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length > 3)]);
  const known = new Set(homes);
  return (home) => !known.has(home) && productWords(home).some((word) => telling.has(word));
}

function productWords(namespace: string): string[] {
  const bare = namespace.replace(/^@[^/]+\//, "");
  return [...(bare.match(/[A-Z]{2,}|[A-Z]?[a-z]+|\p{L}+/gu) ?? []).map((word) => word.toLowerCase()), bare.toLowerCase().replace(/[^a-z0-9]|mcp|server/g, "")].filter(
    (word) => word.length > 2 && !["mcp", "server", "servers", "the", "tools", "tool", "api", "service", "main", "test", "for", "and", "with"].includes(word),
  );
}
