import { setImmediate as nextTurn } from "node:timers/promises";
import type { FilteredTool } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import type { CatalogEngine } from "./catalog-engine.port.ts";
import type { ModelVectors, VectorsImage } from "./dense/model-vectors.ts";
import { LEXICAL_FIELDS } from "./lexical/lexical-fields.ts";
import type { LexicalImage, LexicalIndex } from "./lexical/lexical-index.ts";
import { type Mentions, type MentionsImage, toMentionable } from "./lexical/mentions.ts";
import { spellingsOf, tokenize } from "./lexical/tokenize.ts";
import { toolFields } from "./tool-text.ts";

/** An engine whose index can be saved to a file and restored, so that nothing is indexed or embedded twice. */
export interface MemoryEngine extends CatalogEngine {
  /**
   * Passes the current index, without the tools, to `take`, part by part. `take` copies each part before it returns. Resolves to the ids of the tools
   * by slot. Also works on a closed engine.
   */
  save(take: TakePart): Promise<readonly (string | undefined)[]>;
  /**
   * Fills an empty engine. `read` returns the tool of a slot on first use. Returns the ids by slot. Returns undefined, and changes nothing, if the
   * image was made with a different text analysis.
   */
  restore(image: IndexImage, read: (slot: number) => Tool): readonly (string | undefined)[] | undefined;
  /** Restores the vectors of an image for tools that are unchanged and have no vectors of the model yet. */
  adoptVectors(image: IndexImage): Promise<void>;
  hashOf(id: string): string | undefined;
}

/** The parts of an index. A structured clone can copy each of them. */
export interface IndexImage {
  /** Identifies the text analysis. */
  readonly analysis: string;
  readonly entries: EntriesImage;
  readonly lexical: LexicalImage;
  readonly mentions: MentionsImage;
  readonly models: ReadonlyMap<string, VectorsImage>;
}

export type TakePart = (part: Partial<IndexImage>) => void;

/** A tool, its slot in the indexes, and the revision that added it. */
export interface Entry {
  readonly id: string;
  readonly slot: number;
  readonly revision: number;
  readonly contentHash: string;
  /** The fields that filters read. */
  readonly filtered: FilteredTool;
  /** The tool. Undefined if it was restored but not read yet. */
  tool: Tool | undefined;
}

export function byId(a: Entry, b: Entry): number {
  return a.id < b.id ? -1 : 1;
}

/** Returns the index of the first id after the cursor. */
export function firstAfter(entries: readonly Entry[], cursor: string): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.id ?? "") <= cursor) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Yields to other work between parts, so the tools must not change meanwhile. */
export async function saveIndex(
  parts: {
    readonly entryAt: readonly (Entry | undefined)[];
    readonly lexical: LexicalIndex;
    readonly mentions: Mentions;
    readonly models: ReadonlyMap<string, ModelVectors>;
  },
  take: TakePart,
): Promise<readonly (string | undefined)[]> {
  const { entryAt, lexical, mentions, models } = parts;
  take({ analysis: analysisOf() });
  const entries = saveEntries(entryAt);
  take({ entries });
  await nextTurn();
  take({ lexical: lexical.save() });
  await nextTurn();
  take({ mentions: mentions.save() });
  const saved = Array.from(models, ([model, vectors]) => [model, vectors.save()] as const);
  take({ models: new Map(saved.flatMap(([model, image]) => (image ? [[model, image]] : []))) });
  return entries.ids;
}

/** Restores the vectors of an image, by model. */
export function restoreModels({ models }: IndexImage, create: () => ModelVectors): ReadonlyMap<string, ModelVectors> {
  const restored = Array.from(models, ([model, saved]) => [model, create(), saved] as const);
  return new Map(restored.flatMap(([model, vectors, saved]) => (vectors.restore(saved) ? [[model, vectors]] : [])));
}

/** The filter fields that many tools share. */
type Kind = Pick<
  FilteredTool,
  "namespace" | "source" | "ensemble" | "category" | "riskLevel" | "capabilities" | "deprecated"
> & { readonly tenant?: unknown };

type EntriesImage = ReturnType<typeof saveEntries>;

/** Saves ids, hashes and filter fields, by slot. Fields that many tools share are one object, which a structured clone copies once. */
function saveEntries(entries: readonly (Entry | undefined)[]) {
  const known = new Map<string, unknown>();
  const shared = <Value>(value: Value): Value => {
    const text = JSON.stringify(value);
    if (!known.has(text)) known.set(text, value);
    return known.get(text) as Value;
  };
  return {
    ids: entries.map((entry) => entry?.id),
    hashes: entries.map((entry) => entry?.contentHash),
    names: entries.map((entry) => entry?.filtered.name),
    tags: entries.map((entry) => entry && shared(entry.filtered.tags)),
    kinds: entries.map((entry) => {
      if (entry === undefined) return undefined;
      const { namespace, source, ensemble, category, riskLevel, capabilities, deprecated, metadata } = entry.filtered;
      const { tenant } = metadata;
      return shared({ namespace, source, ensemble, category, riskLevel, capabilities, deprecated, tenant } as Kind);
    }),
  };
}

/** Restores the entries of an image, by slot. */
export function restoreEntries(image: EntriesImage, revision: number): readonly (Entry | undefined)[] {
  const { ids, hashes, names, tags, kinds } = image;
  return ids.map((id, slot) => {
    const kind = kinds[slot];
    if (id === undefined || kind === undefined) return undefined;
    const { namespace, source, ensemble, category, riskLevel, capabilities, deprecated, tenant } = kind;
    const filtered = {
      id,
      name: names[slot] ?? "",
      namespace,
      source,
      ensemble,
      tags: tags[slot] ?? [],
      category,
      riskLevel,
      capabilities,
      deprecated,
      metadata: tenant === undefined ? NO_METADATA : { tenant },
    } as FilteredTool;
    return { id, contentHash: hashes[slot] ?? "", slot, revision, filtered, tool: undefined };
  });
}

const NO_METADATA = Object.freeze({});

/** Identifies how texts are split into words. An index with a different analysis cannot be used. */
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
