import { setImmediate as nextTurn } from "node:timers/promises";
import type { FilteredTool } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import type { CatalogEngine } from "./catalog-engine.port.ts";
import type { ModelVectors } from "./dense/model-vectors.ts";
import { below, type Image, jsonIn, numbersIn, type Section, under } from "./image.ts";
import { LEXICAL_FIELDS } from "./lexical/lexical-fields.ts";
import { toMentionable } from "./lexical/mentions.ts";
import { spellingsOf, tokenize } from "./lexical/tokenize.ts";
import { toolFields } from "./tool-text.ts";

/** An engine whose index can be written to a file and read again, so that nothing is indexed or embedded twice. */
export interface MemoryEngine extends CatalogEngine {
  /** The index as it is now, without the tools themselves. Also of an engine that was closed. */
  save(): Promise<SavedIndex>;
  /**
   * Fills an empty engine. `read` gives the tool of a slot, each when it is first needed. Returns the ids by slot; undefined, and takes nothing, if
   * words are indexed in another way today.
   */
  restore(image: Image, read: (slot: number) => Tool): readonly (string | undefined)[] | undefined;
  /** Takes over the vectors of an image for tools that are the same as when it was made, and that have none of the model yet. */
  adoptVectors(image: Image): Promise<void>;
  /** The content hash of a tool. */
  hashOf(id: string): string | undefined;
}

/** A tool, where the indexes have it, and the revision that brought it. */
export interface Entry {
  readonly id: string;
  readonly slot: number;
  readonly revision: number;
  readonly contentHash: string;
  /** What filters look at. */
  readonly filtered: FilteredTool;
  /** The tool itself; undefined if it was restored and nobody has asked for it yet. */
  tool: Tool | undefined;
}

/** Orders entries by id. */
export function byId(a: Entry, b: Entry): number {
  return a.id < b.id ? -1 : 1;
}

/** The first place whose id comes after the cursor. */
export function firstAfter(entries: readonly Entry[], cursor: string): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.id ?? "") <= cursor) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** An index, and the id of the tool in each slot. */
export interface SavedIndex {
  readonly image: Image;
  readonly ids: readonly (string | undefined)[];
}

/** What an index consists of. */
interface IndexParts {
  readonly entryAt: readonly (Entry | undefined)[];
  readonly lexical: { save(): Image };
  readonly mentions: { save(): Image };
  readonly models: ReadonlyMap<string, ModelVectors>;
}

/** Copies an index. Other work gets a turn in between, so nothing may change the tools meanwhile. */
export async function saveIndex({ entryAt, lexical, mentions, models }: IndexParts): Promise<SavedIndex> {
  const ids = entryAt.map((entry) => entry?.id);
  const image: Record<string, Section> = { analysis: analysisOf(), ...saveEntries(entryAt) };
  for (const [name, part] of Object.entries({ lexical, mentions })) {
    await nextTurn();
    Object.assign(image, under(name, part.save()));
  }
  const kept = [...models].filter(([, { size }]) => size > 0);
  image["models"] = JSON.stringify(kept.map(([model]) => model));
  for (const [at, [, vectors]] of kept.entries()) Object.assign(image, under(`model${at}`, vectors.save()));
  return { image, ids };
}

/** The vectors of an image, by model. */
export function restoreModels(image: Image, create: () => ModelVectors): ReadonlyMap<string, ModelVectors> {
  const models = jsonIn<string[]>(image, "models").map((model, at) => {
    const vectors = create();
    return [model, vectors.restore(below(`model${at}`, image)) ? vectors : undefined] as const;
  });
  return new Map(models.flatMap(([model, vectors]) => (vectors ? [[model, vectors]] : [])));
}

/** What filters look at, without what most tools have of their own. */
type Kind = Pick<FilteredTool, "source" | "ensemble" | "category" | "riskLevel" | "capabilities" | "deprecated"> & {
  readonly tenant?: unknown;
};

/** By slot: ids, hashes, and what filters look at. What many tools have in common is written once. */
function saveEntries(entries: readonly (Entry | undefined)[]): Image {
  const shared = {
    kinds: (tool: FilteredTool): Kind => {
      const { source, ensemble, category, riskLevel, capabilities, deprecated, metadata } = tool;
      const kind = { source, riskLevel, capabilities, deprecated, tenant: metadata["tenant"] };
      return { ...kind, ...(ensemble !== undefined && { ensemble }), ...(category !== undefined && { category }) };
    },
    tags: (tool: FilteredTool) => tool.tags,
    namespaces: (tool: FilteredTool) => tool.namespace,
  };
  const sections = Object.entries(shared).map(([name, of]): Image => {
    const numbers = new Map<string, number>();
    const numberOf = (entry: Entry | undefined): number => {
      if (entry === undefined) return 0;
      const text = JSON.stringify(of(entry.filtered));
      const number = numbers.get(text) ?? numbers.size;
      numbers.set(text, number);
      return number;
    };
    return { [`${name}.of`]: Uint32Array.from(entries, numberOf), [name]: `[${[...numbers.keys()].join()}]` };
  });
  return Object.assign({}, ...sections, {
    ids: JSON.stringify(entries.map((entry) => entry?.id ?? null)),
    names: JSON.stringify(entries.map((entry) => entry?.filtered.name ?? null)),
    hashes: JSON.stringify(entries.map((entry) => entry?.contentHash ?? null)),
  }) as Image;
}

/** The entries of an image, by slot. */
export function restoreEntries(image: Image, revision: number): readonly (Entry | undefined)[] {
  const shared = <Value>(name: string): ((slot: number) => Value | undefined) => {
    const values = jsonIn<readonly Value[]>(image, name);
    const numbers = numbersIn(image, `${name}.of`, Uint32Array);
    return (slot) => values[numbers[slot] ?? 0];
  };
  const kindAt = shared<Kind>("kinds");
  const tagsAt = shared<readonly string[]>("tags");
  const namespaceAt = shared<string>("namespaces");
  const names = jsonIn<string[]>(image, "names");
  return savedTools(image).map((saved, slot) => {
    const kind = kindAt(slot);
    if (saved === undefined || kind === undefined) return undefined;
    const { source, ensemble, category, riskLevel, capabilities, deprecated, tenant } = kind;
    const filtered = {
      id: saved.id,
      name: names[slot] ?? "",
      namespace: namespaceAt(slot) ?? "",
      source,
      ensemble,
      tags: tagsAt(slot) ?? [],
      category,
      riskLevel,
      capabilities,
      deprecated,
      metadata: tenant === undefined ? NO_METADATA : { tenant },
    } as FilteredTool;
    return { id: saved.id, contentHash: saved.contentHash, slot, revision, filtered, tool: undefined };
  });
}

const NO_METADATA = Object.freeze({});

/** By slot: the id and content hash of each tool that an image is of. */
export function savedTools(
  image: Image,
): readonly ({ readonly id: string; readonly contentHash: string } | undefined)[] {
  const hashes = jsonIn<(string | null)[]>(image, "hashes");
  return jsonIn<(string | null)[]>(image, "ids").map((id, slot) =>
    id === null ? undefined : { id, contentHash: hashes[slot] ?? "" },
  );
}

/** Says how texts are taken apart. An index of words made in another way is of no use. */
export function analysisOf(): string {
  const fields = toolFields({
    name: "getHTTPStatus_v2",
    namespace: "acme-mcp.GitHub",
    sourceName: "getHTTPStatus_v2",
    sourceMeta: {},
    title: "Status pages",
    description: "Checks whether the Bücherei's 42 services are running. 状态を調べる OAuth2 base64.",
    examples: ["which studies were cancelled?"],
    tags: ["monitoring"],
    parameters: { type: "object", properties: { userIds: { type: "array", description: "The users' ids." } } },
  });
  const terms = LEXICAL_FIELDS.map((field) => [field, tokenize(fields[field]).map(({ term }) => term)]);
  return JSON.stringify([terms, spellingsOf(fields), toMentionable(fields)]);
}
