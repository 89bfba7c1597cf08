// Draws catalogs of one to four servers, and large ones, from a set of tools and requests, with the requests each can and cannot serve.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { memoryEngine } from "../src/adapters/engines/memory.ts";
import { type Catalog, createCatalog } from "../src/catalog/catalog.ts";
import type { Clock } from "../src/observe/clock.ts";
import { type FusedEvidence, fuseEvidence } from "../src/retrieve/fuse/fuse-evidence.ts";
import type { SourceDraft } from "../src/tool/draft.ts";
import { normaliseTool } from "../src/tool/normalise/normalise-tool.ts";
import type { Tool } from "../src/tool/tool.ts";
import type { RememberedEmbedder } from "./remembered-embedder.ts";
import { sameProduct } from "./same-product.ts";
import { createRandom } from "../src/eval/random.ts";

/** One line of a requests file. */
export interface RequestLine {
  readonly query: string;
  readonly style: string;
  /** Empty if no tool serves it. */
  readonly relevant: readonly string[];
  readonly also_ok?: readonly string[];
  /** For impossible ones: the tools it comes close to. */
  readonly near?: readonly string[];
  /** For impossible ones: the servers it is impossible on. Defaults to every server of the set. */
  readonly scope?: readonly string[];
  /** The origin of the line. */
  readonly from?: string;
}

/** `absent` is about servers that are not in the catalog, `near` about one that is, `removed` about a tool removed from its server. */
export type Kind = "possible" | "absent" | "near" | "removed";

export interface Case {
  readonly asked: RequestLine;
  readonly kind: Kind;
}

/** A catalog to index, and its requests. */
export interface Draw {
  readonly size: string;
  readonly ids: readonly string[];
  readonly cases: readonly Case[];
}

export interface DrawOptions {
  /** Catalogs of each size up to 100 tools. */
  readonly draws: number;
  /** Catalogs of about 700 tools. */
  readonly wholes: number;
  readonly seed: number;
}

export const SIZES = [
  { name: "<= 20", from: 1, to: 20 },
  { name: "<= 50", from: 21, to: 50 },
  { name: "<= 100", from: 51, to: 100 },
] as const;
/** The name of the largest size. */
export const WHOLE = "~ 700";
const WHOLE_TOOLS = 700;
const MOST_SERVERS = 4;
const MOST = { possible: 40, absent: 20, near: 20 } as const;
const MOST_IN_WHOLE = 1500;
const THINNED = 8;

/** The tools of a set by their ids in its file, each in the catalog's form. */
export function toolsOf(shared: string, accept: (namespace: string) => boolean): ReadonlyMap<string, Tool> {
  const drafts = lines<SourceDraft & { readonly id: string }>(join(shared, "eval/toucan-paraphrase/tools.jsonl"));
  return new Map(
    drafts
      .filter(({ namespace }) => accept(namespace ?? ""))
      .map(({ id, ...draft }) => {
        const namespace = draft.namespace || "default";
        const filled = { ...draft, namespace, sourceMeta: { setId: id, setNamespace: namespace } };
        return [id, normaliseTool(filled, { source: "descriptor", namespace, createdAt: 0 })];
      }),
  );
}

export function heldOutServers(shared: string): ReadonlySet<string> {
  return new Set(readFileSync(join(shared, "models/heldout-servers.txt"), "utf8").split("\n").filter(Boolean));
}

/** Every draw of a set, in the order of sizes. Seeded. */
export function* drawCatalogs(
  tools: ReadonlyMap<string, Tool>,
  asked: readonly RequestLine[],
  { draws, wholes, seed }: DrawOptions,
): IterableIterator<Draw> {
  const random = createRandom(seed);
  const home = new Map([...tools].map(([id, { sourceMeta }]) => [id, String(sourceMeta["setNamespace"])]));
  const servers = Map.groupBy(tools.keys(), (id) => home.get(id) ?? "");
  const possible = asked.filter(({ relevant }) => relevant.length > 0 && relevant.every((id) => tools.has(id)));
  const impossible = asked.filter(({ relevant }) => relevant.length === 0);
  const nameOf = (id: string): string => tools.get(id)?.name ?? "";
  const homesOf = ({ relevant, scope = [] }: RequestLine): readonly string[] => [
    ...new Set([...relevant.map((id) => home.get(id) ?? ""), ...scope]),
  ];

  function isServed({ relevant, also_ok: alsoOk = [] }: RequestLine, here: ReadonlySet<string>): boolean {
    const names = new Set(relevant.map(nameOf));
    return [...relevant, ...alsoOk].some((id) => here.has(id)) || [...here].some((id) => names.has(nameOf(id)));
  }

  function casesOf(drawn: readonly string[], ids: readonly string[], most: Readonly<Record<keyof typeof MOST, number>>): readonly Case[] {
    const here = new Set(ids);
    const there = new Set(drawn);
    const isNear = ({ scope, near = [] }: RequestLine): boolean =>
      scope ? scope.every((name) => there.has(name)) : near.some((id) => here.has(id));
    const isElsewhere = (one: RequestLine): boolean =>
      !isServed(one, here) && !homesOf(one).some((name) => there.has(name)) && sameProduct(homesOf(one), one.query, drawn).length === 0;
    const isUnmet = (one: RequestLine): boolean => !one.scope || sameProduct(one.scope, one.query, drawn).length === 0;
    const near = impossible.filter((one) => isNear(one) && isUnmet(one));
    const absent = [...possible, ...impossible.filter((one) => !isNear(one) && (one.near ?? []).length === 0)].filter(isElsewhere);
    return [
      ...sample(possible.filter(({ relevant }) => relevant.every((id) => here.has(id))), most.possible, random).map((one) => ({ asked: one, kind: "possible" as const })),
      ...sample(absent, most.absent, random).map((one) => ({ asked: one, kind: "absent" as const })),
      ...sample(near, most.near, random).map((one) => ({ asked: one, kind: "near" as const })),
    ];
  }

  /** The same catalog without some tools, and the requests for those. */
  function thinned(size: string, ids: readonly string[], gone: ReadonlySet<string>): Draw {
    const names = new Set([...gone].map(nameOf));
    const left = ids.filter((id) => !gone.has(id) && !names.has(nameOf(id)));
    const there = new Set(left);
    const cases = possible
      .filter((one) => one.relevant.length === 1 && gone.has(one.relevant[0] ?? "") && !isServed(one, there))
      .map((one) => ({ asked: one, kind: "removed" as const }));
    return { size, ids: left, cases };
  }

  /** Larger servers are drawn more often, so that every size has its draws. */
  function drawServers({ from, to }: (typeof SIZES)[number]): readonly (readonly string[])[] {
    const all = [...home.values()];
    const drawn = new Map<string, readonly string[]>();
    for (let attempt = 0; attempt < 200 * draws && drawn.size < draws; attempt++) {
      const wanted = 1 + Math.floor(random() * MOST_SERVERS);
      const chosen = new Set<string>();
      while (chosen.size < wanted) chosen.add(all[Math.floor(random() * all.length)] ?? "");
      const count = [...chosen].reduce((sum, name) => sum + (servers.get(name)?.length ?? 0), 0);
      if (count >= from && count <= to) drawn.set([...chosen].sort().join(), [...chosen]);
    }
    return [...drawn.values()];
  }

  for (const size of SIZES) {
    for (const drawn of drawServers(size)) {
      const ids = drawn.flatMap((name) => servers.get(name) ?? []);
      yield { size: size.name, ids, cases: casesOf(drawn, ids, MOST) };
      const large = drawn.filter((name) => (servers.get(name)?.length ?? 0) >= 3);
      yield thinned(size.name, ids, new Set(large.flatMap((name) => sample(servers.get(name) ?? [], 1, random))));
    }
  }
  for (let round = 0; round < wholes; round++) {
    const drawn: string[] = [];
    let ids: string[] = [];
    for (const name of sample([...servers.keys()], servers.size, random)) {
      if (ids.length >= WHOLE_TOOLS) break;
      drawn.push(name);
      ids = ids.concat(servers.get(name) ?? []);
    }
    yield { size: WHOLE, ids, cases: casesOf(drawn, ids, { possible: MOST_IN_WHOLE, absent: 300, near: 300 }) };
    for (const gone of Array.from({ length: THINNED }, () => sample(ids, Math.round(ids.length / THINNED), random))) {
      yield thinned(WHOLE, ids, new Set(gone));
    }
  }
}

/** A catalog of some tools, ranked by one tier, as in the product. */
export async function catalogOf(tools: readonly Tool[], tier: string, embedder: RememberedEmbedder | undefined, clock: Clock): Promise<Catalog> {
  const tiers = embedder ? [{ name: tier, embedder: { ...embedder, close: async () => {} } }] : [];
  const catalog = createCatalog({ engine: memoryEngine(), tiers, emit: () => {}, clock });
  await catalog.upsert(tools);
  return catalog;
}

/** The best tools of a catalog for a request, fused as in the product. */
export async function rankIn(catalog: Catalog, query: string, limit: number): Promise<FusedEvidence> {
  const request = { text: query, texts: [query], meanings: [query] };
  const vectors = await catalog.request([query]);
  const answer = await catalog.engine.search({ limit: 2 * limit, texts: [query], vectors: vectors.vectors });
  const { hits, tier } = fuseEvidence(request, answer, vectors);
  return { hits: hits.slice(0, limit), tier };
}

export function sample<Item>(items: readonly Item[], most: number, random: () => number): readonly Item[] {
  const left = [...items];
  const taken: Item[] = [];
  for (let at = 0; at < left.length && taken.length < most; at++) {
    const chosen = at + Math.floor(random() * (left.length - at));
    [left[at], left[chosen]] = [left[chosen] as Item, left[at] as Item];
    taken.push(left[at] as Item);
  }
  return taken;
}

export function lines<Row>(path: string): readonly Row[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);
}
