import { splitWords } from "../tool/split-words.ts";
import type { Tool } from "../tool/tool.ts";
import { createRandom } from "./random.ts";
import type { SetQuery } from "./read-set.ts";

export interface SizedQuery extends SetQuery {
  /** The catalog has at most this many tools, and more than the next smaller size. */
  readonly size: number;
  readonly namespaces: readonly string[];
}

/** Typical catalog sizes: one to four servers. */
const SIZES = [20, 50, 100] as const;
const MOST_SERVERS = 4;
/** With fewer namespaces, there are too few combinations. */
const LEAST_NAMESPACES = 5;
/** The maximum number of queries per size. Rare styles are kept completely. */
const MOST_QUERIES = 600;
const ATTEMPTS = 30;
const SEED = 1;

/** Repeats queries on small catalogs: one to four random namespaces that can serve the query, and as many that cannot. Seeded. Needs five namespaces. */
export function drawSizes(tools: ReadonlyMap<string, Tool>, queries: readonly SetQuery[]): readonly SizedQuery[] {
  const random = createRandom(SEED);
  const byNamespace = Map.groupBy(tools.values(), ({ namespace }) => namespace);
  if (byNamespace.size < LEAST_NAMESPACES) return [];
  // One entry per tool, so that larger servers are drawn more often and every size can be reached.
  const all = [...tools.values()].map(({ namespace }) => namespace);
  const countOf = (names: Iterable<string>): number =>
    [...names].reduce((sum, name) => sum + (byNamespace.get(name)?.length ?? 0), 0);

  /** Adds namespaces from `pool` to the given ones until the number of tools is within the bounds. Undefined if no draw succeeds. */
  function draw(given: ReadonlySet<string>, pool: readonly string[], bounds: readonly [number, number]) {
    const [over, most] = bounds;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const servers = Math.max(given.size, 1 + Math.floor(random() * MOST_SERVERS));
      const drawn = new Set(given);
      for (let tries = 0; drawn.size < servers && tries < ATTEMPTS; tries++) {
        const name = pool[Math.floor(random() * pool.length)];
        if (name !== undefined) drawn.add(name);
      }
      const count = countOf(drawn);
      if (count > over && count <= most) return [...drawn];
    }
    return undefined;
  }

  return sampleByStyle(queries, random).flatMap((query) => {
    const home = new Set(query.relevant.flatMap((id) => tools.get(id)?.namespace ?? []));
    const strangers = strangersTo(query, home);
    return SIZES.flatMap((size, at) => {
      const bounds = [SIZES[at - 1] ?? 0, size] as const;
      const serving = home.size > 0 && home.size <= MOST_SERVERS ? draw(home, all, bounds) : undefined;
      const without = draw(new Set(), home.size > 0 ? strangers : all, bounds);
      return [
        ...(serving ? [{ ...query, size, namespaces: serving }] : []),
        ...(without ? [{ ...query, relevant: [], alsoOk: [], size, namespaces: without }] : []),
      ];
    });
  });

  /** Returns namespaces that cannot serve the query: they have no tool with the name of a relevant one, and share no name with its namespaces. */
  function strangersTo({ relevant, alsoOk }: SetQuery, home: ReadonlySet<string>): readonly string[] {
    const good = [...relevant, ...alsoOk].flatMap((id) => tools.get(id) ?? []);
    const names = new Set(good.map(({ name }) => name));
    const near = new Set([...home, ...good.map(({ namespace }) => namespace)]);
    const words = new Set(
      [...near].flatMap((name) => splitWords(name).filter((word) => word.length > 2 && !GENERIC.has(word))),
    );
    return all.filter(
      (name) =>
        !near.has(name) &&
        !splitWords(name).some((word) => words.has(word)) &&
        !byNamespace.get(name)?.some((tool) => names.has(tool.name)),
    );
  }
}

const GENERIC: ReadonlySet<string> = new Set(["mcp", "server", "servers", "api", "the", "tool", "tools", "default"]);

/** Returns at most `MOST_QUERIES` queries, taken from each style in turn, in the order of the file. */
function sampleByStyle(queries: readonly SetQuery[], random: () => number): readonly SetQuery[] {
  if (queries.length <= MOST_QUERIES) return queries;
  const styles = [...Map.groupBy(queries, ({ style }) => style).values()].map((group) => shuffled(group, random));
  const taken = new Set<SetQuery>();
  for (let round = 0; taken.size < MOST_QUERIES; round++) {
    for (const group of styles) {
      const query = group[round];
      if (query !== undefined && taken.size < MOST_QUERIES) taken.add(query);
    }
  }
  return queries.filter((query) => taken.has(query));
}

function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
