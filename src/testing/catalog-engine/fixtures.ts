import { present } from "../../base/present.ts";
import type {
  CatalogEngine,
  EngineAnswer,
  EngineCandidate,
  EngineQuery,
  ToolVectors,
} from "../../catalog/catalog-engine.port.ts";
import { assembleTool, CAPABILITIES, RISK_LEVELS, type Tool, TOOL_SOURCES } from "../../tool/tool.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { ToolDraft } from "../../tool/draft.ts";
import type { ToolFilter } from "../../tool/tool-filter.ts";
import { createRandom } from "../contract.ts";

export type EngineClaims = Readonly<Record<string, (engine: CatalogEngine) => Promise<void>>>;

/** Creates a tool with a short description. Deterministic. */
export function toolNamed(name: string, changes: Partial<ToolDraft> = {}): Tool {
  return defineTool({ name, description: `The tool called ${name}, for a test.`, createdAt: 1_000, ...changes });
}

export function idsOf(tools: readonly { readonly id: string }[]): readonly string[] {
  return tools.map(({ id }) => id);
}

/** Searches without cutting the results, unless the query sets a limit. */
export function searchAll(engine: CatalogEngine, query: Partial<EngineQuery>): Promise<EngineAnswer> {
  return engine.search({ limit: 1_000, texts: [], ...query });
}

/** Returns the ids of candidates, sorted, because their order is undefined. */
export function candidateIds({ candidates }: Pick<EngineAnswer, "candidates">): readonly string[] {
  return candidates.map(({ tool }) => tool.id).sort();
}

export function candidateOf({ candidates }: EngineAnswer, id: string): EngineCandidate | undefined {
  return candidates.find(({ tool }) => tool.id === id);
}

export function unit(...values: readonly number[]): Float32Array {
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}

/** Pairs vectors with a tool's current text. */
export function vectorsOf({ id, contentHash }: Tool, ...vectors: readonly Float32Array[]): ToolVectors {
  return { id, contentHash, vectors: vectors.length === 0 ? [unit(1, 0)] : vectors };
}

/** Stores a vector of the model `m` for every tool. */
export function embed(engine: CatalogEngine, tools: readonly Tool[]): Promise<void> {
  const entries = tools.map((tool) => vectorsOf(tool));
  return engine.putVectors("m", entries);
}

/** Computes the dot product of two vectors in double precision. */
export function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

/** Random choices. The same seed gives the same choices. */
export interface Dice {
  number(below: number): number;
  pick<Value>(values: readonly Value[]): Value;
  /** Includes each value with the given probability. */
  some<Value>(values: readonly Value[], chance?: number): readonly Value[];
  vector(dimension: number): Float32Array;
}

export function dice(seed: number): Dice {
  const next = createRandom(seed);
  const number = (below: number): number => Math.floor(next() * below);
  return {
    number,
    pick: (values) => values[number(values.length)] as (typeof values)[number],
    some: (values, chance = 0.3) => values.filter(() => next() < chance),
    vector: (dimension) => unit(...Array.from({ length: dimension }, () => next() - 0.5)),
  };
}

const TEXT =
  "create issue search repository send message calendar event delete file weather forecast invoice customer refund query database report user branch";
const WORDS = TEXT.split(" ");
const NAMESPACES = Array.from({ length: 14 }, (_, index) => `${WORDS[index] ?? ""}-hub`);
const TAGS = [
  "billing",
  "it's",
  'say "hi"',
  "a\u0000b",
  "a",
  "Ünïcode",
  "ünïcode",
  "😀",
  "\uD800",
  "\uFFFD",
  "%",
  "NULL",
  "",
];
const CATEGORIES = ["finance", "Finance", "ops", "a\u0000b"];
const ENSEMBLES = ["crew", "Crew", "it's"];
const TENANTS = ["acme", "globex", "a'b", "null"];

/** Creates random tools with few different words, namespaces and labels, so that filters and searches match many. */
export function randomTools(count: number, { number, pick, some }: Dice): readonly Tool[] {
  const text = (words: number): string => Array.from({ length: words }, () => pick(WORDS)).join(" ");
  return Array.from({ length: count }, (_, index) => {
    const category = pick([...CATEGORIES, undefined]);
    const ensemble = pick([...ENSEMBLES, undefined]);
    const tenant = pick<unknown>([...TENANTS, null, 7, undefined, undefined]);
    const base = defineTool({
      name: `${text(1 + number(3)).replaceAll(" ", "_")}_${index}`,
      namespace: pick(NAMESPACES),
      description: `${text(3 + number(20))} ${index}.`,
      parameters: { type: "object", properties: { [pick(WORDS)]: { type: "string", description: text(number(8)) } } },
      examples: some([text(4), text(6)]),
      capabilities: some(CAPABILITIES, 0.2),
      riskLevel: pick(RISK_LEVELS),
      deprecated: number(4) === 0,
      createdAt: 1_000,
    });
    const { category: _category, ...fields } = base;
    return assembleTool(
      {
        ...fields,
        source: pick(TOOL_SOURCES),
        tags: some(TAGS, 0.15),
        ...present({ category, ensemble }),
        metadata: tenant === undefined ? {} : { tenant },
      },
      1_000,
    );
  });
}

/** Creates a random filter of any kind, nested up to a depth. */
export function randomFilter(tools: readonly Tool[], chance: Dice, depth = 3): ToolFilter {
  const { number, pick, some } = chance;
  const names = tools.map(({ name }) => name);
  const inner = (): readonly ToolFilter[] =>
    Array.from({ length: number(4) }, () => randomFilter(tools, chance, depth - 1));
  const kinds: readonly (() => ToolFilter)[] = [
    () => ({ ids: [...some(idsOf(tools), 0.3), "no.such_tool"] }),
    () => ({ names: [...some(names, 0.3), "nobody"] }),
    () => ({ ensembles: some(ENSEMBLES) }),
    () => ({ namespaces: some([...NAMESPACES, "nowhere"]) }),
    () => ({ sources: some(TOOL_SOURCES) }),
    () => ({ tags: some(TAGS, 0.2) }),
    () => ({ categories: some(CATEGORIES) }),
    () => ({ risks: some(RISK_LEVELS) }),
    () => ({ capabilities: some(CAPABILITIES, 0.2), match: pick(["any", "all", "only"]) }),
    () => ({ capabilities: some(CAPABILITIES, 0.7), match: "only" }),
    () => ({ tenant: pick(TENANTS) }),
    () => ({ deprecated: number(2) === 0 }),
  ];
  if (depth === 0 || number(3) === 0) return pick(kinds)();
  return pick<() => ToolFilter>([
    () => ({ all: inner() }),
    () => ({ any: inner() }),
    () => ({ not: randomFilter(tools, chance, depth - 1) }),
  ])();
}

/** Texts that break parsers: query syntax of databases, quotes, control characters, other scripts, and very long texts. */
export const HOSTILE_TEXTS: readonly string[] = [
  "",
  " ",
  '"',
  '"""',
  "'",
  "' OR 1=1; DROP TABLE tools; --",
  "name : create AND NOT delete OR NEAR(a b, 5)",
  "AND",
  "NOT",
  "NEAR",
  "NEAR(",
  "^create + *",
  "create*",
  "-create",
  "{name description} : x",
  "(((((",
  "a\u0000b",
  "\u0000",
  "\uD800 lone",
  "😀🧑‍🚀",
  "créer un événement",
  "作成 イベント สร้าง",
  "İstanbul ﬁle ß",
  "%_\\%",
  "__proto__ constructor toString hasOwnProperty",
  "?1 :name @x $y",
  `${"word ".repeat(20_000)}`,
  "x".repeat(100_000),
  "漢".repeat(40_000),
];
