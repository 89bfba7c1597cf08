import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import * as setting from "../../tool/shape/shape.ts";
import type { Surroundings } from "../surroundings.ts";
import type { Condition } from "./vector-database/conditions.ts";
import {
  FIELDS,
  foreignCollection,
  LISTS,
  otherDimension,
  type RecordPart,
  type Send,
  type Space,
  type DatabaseRecord,
  type Terms,
  toStored,
  type VectorDatabase,
  type VectorDriver,
  type VectorStoreSettings,
} from "./vector-database/driver.ts";
import { checkOf, vectorDatabaseEngine } from "./vector-database/engine.ts";

/** The URL of Weaviate's REST API defaults to `http://127.0.0.1:8080`. The first letter of a collection's name becomes a capital. */
export type WeaviateEngineOptions = VectorStoreSettings;

/** The most objects that Weaviate returns or deletes at once. */
const MOST_RESULTS = 10_000;

const WEAVIATE: VectorDriver = {
  name: "weaviate",
  title: "Weaviate",
  url: "http://127.0.0.1:8080",
  filterLimits: { values: 20_000, comparisons: 20_000 },
  mostHits: MOST_RESULTS,
  keyHeaders: (key) => ({ authorization: `Bearer ${key}` }),
  on: weaviateDatabase,
};

/** Keeps the catalog in Weaviate 1.33 or later. */
export function weaviateEngine(
  options: WeaviateEngineOptions = {},
  surroundings: Partial<Surroundings> = {},
): CatalogEngine {
  return vectorDatabaseEngine(WEAVIATE, options, surroundings);
}

interface WeaviateObject extends Readonly<Record<string, unknown>> {
  readonly _additional?: { readonly id?: string; readonly distance?: number; readonly vector?: readonly number[] };
}

/** BM25's k1, twice the catalog's value. Terms are stored about twice as often as they count, which reduces rounding errors. */
const SATURATION = 3.2;
const MOST_REPEATS = 40;

function weaviateDatabase(send: Send): VectorDatabase {
  const { title } = WEAVIATE;

  /** Runs a query. Returns undefined if another process has just removed the collection with a model's vectors. */
  async function query<Result>(space: Space, root: string, text: string): Promise<Result | undefined> {
    const name = className(space);
    const answer = (await send("POST", "/v1/graphql", { query: `{ ${root} { ${name} ${text} } }` })).body as {
      readonly data?: Readonly<Record<string, Readonly<Record<string, Result>>>>;
      readonly errors?: readonly { readonly message?: string }[] | null;
    };
    const [error] = answer.errors ?? [];
    if (error === undefined) return answer.data?.[root]?.[name];
    const { message = "no reason given" } = error;
    if (space.dimension !== undefined && message.startsWith(`Cannot query field "${name}"`)) return undefined;
    throw refused(`a query on ${name}: ${message}`);
  }

  async function get(space: Space, given: readonly string[], fields: string): Promise<readonly WeaviateObject[]> {
    return (await query<readonly WeaviateObject[]>(space, "Get", `(${given.join(", ")}) { ${fields} }`)) ?? [];
  }

  return {
    async ensure(space) {
      const path = pathOf(space);
      let found = await send("GET", path, undefined, [404]);
      if (found.status === 404) {
        // 422: another process created the class first, or the class is invalid. Reading it shows which.
        const created = await send("POST", "/v1/schema", toClass(space), [422]);
        found = created.status === 422 ? await send("GET", path) : created;
      }
      const { description = "" } = found.body as { readonly description?: string };
      if (!description.startsWith(OWN)) throw foreignCollection(title, space);
      const dimension = /(?<size>\d+) dimensions/.exec(description)?.groups?.["size"];
      const size = dimension === undefined ? undefined : Number(dimension);
      if (size !== space.dimension) throw otherDimension(title, space, size);
    },

    async drop(space) {
      await send("DELETE", pathOf(space), undefined, [404]);
    },

    async upsert(space, records) {
      const objects = records.map(({ id, revision, fields, lists, about, text, words, vector }) => ({
        class: className(space),
        id,
        properties: { ...fields, ...lists, uid: id, revision, about, text, words: toText(words) },
        ...(vector ? { vector: [...vector] } : {}),
      }));
      const results = (await send("POST", "/v1/batch/objects", { objects })).body as readonly {
        readonly result?: { readonly errors?: { readonly error?: readonly { readonly message?: string }[] } | null };
      }[];
      const failed = results.flatMap(({ result }) => result?.errors?.error ?? [])[0];
      if (failed) throw refused(`to store an object: ${failed.message ?? ""}`);
    },

    async delete(space, condition) {
      const body = { match: { class: className(space), where: toRestWhere(condition) }, output: "minimal" };
      // 422: another process has just removed the collection.
      const expected = space.dimension === undefined ? [] : [422];
      for (;;) {
        const { results } = (await send("DELETE", "/v1/batch/objects", body, expected)).body as {
          readonly results?: { readonly matches?: number; readonly limit?: number };
        };
        if ((results?.matches ?? 0) < (results?.limit ?? MOST_RESULTS)) return;
      }
    },

    async read(space, ids, parts) {
      if (ids.length === 0) return [];
      const where = `where: { path: ["id"], operator: ContainsAny, valueText: ${JSON.stringify(ids)} }`;
      return (await get(space, [where, `limit: ${ids.length}`], selection(parts))).map(fromRow);
    },

    async scroll(space, condition, { limit, parts, cursor }) {
      // Weaviate's cursor does not support filters, and offsets end at 10,000.
      const rest = cursor === undefined ? condition : ({ all: [condition, { uidAbove: cursor }] } as const);
      const given = [`where: ${toWhere(rest)}`, 'sort: [{ path: ["uid"], order: asc }]', `limit: ${limit}`];
      const records = (await get(space, given, selection(parts))).map(fromRow);
      const last = records.at(-1);
      return { records, ...(last && records.length === limit ? { next: last.id } : {}) };
    },

    async count(space, condition) {
      type CountResult = readonly { readonly meta?: { readonly count?: number } }[];
      const rows = await query<CountResult>(space, "Aggregate", `(where: ${toWhere(condition)}) { meta { count } }`);
      return rows?.[0]?.meta?.count ?? 0;
    },

    nearest: (space, vectors, { condition, limit }) =>
      Promise.all(
        vectors.map(async (vector) => {
          const near = `nearVector: { vector: ${JSON.stringify([...vector])} }`;
          const given = [near, ...whereOf(condition), `limit: ${limit}`];
          const rows = await get(space, given, "key hash nth _additional { distance }");
          // The distance of the metric `dot` is the negative dot product.
          return rows.map((row) => ({ fields: fromRow(row).fields, score: -(row._additional?.distance ?? 0) }));
        }),
      ),

    words: (space, texts, { condition, limit }) =>
      Promise.all(
        texts.map(async (terms) => {
          const bm25 = `bm25: { query: ${JSON.stringify([...terms.keys()].join(" "))}, properties: ["words"] }`;
          const rows = await get(space, [bm25, ...whereOf(condition), `limit: ${limit}`], "_additional { id }");
          return rows.map((row) => row._additional?.id ?? "");
        }),
      ),
  };
}

function refused(what: string): ArsenalError {
  return new ArsenalError("STORE_FAILED", `Weaviate refused ${what}`, { field: "vector_store" });
}

function pathOf(space: Space): string {
  return `/v1/schema/${className(space)}`;
}

/** The descriptions of our collections start with this text. */
const OWN = "ToolArsenal:";

/** A collection is a class in Weaviate, whose name must start with a capital letter. */
function className({ name }: Space): string {
  const plain = name.replaceAll(/\W/g, "_");
  const capital = plain.charAt(0).toUpperCase();
  return /[A-Z]/.test(capital) ? `${capital}${plain.slice(1)}` : `T${plain}`;
}

function toClass(space: Space): object {
  const { dimension } = space;
  const filtered = { tokenization: "field", indexFilterable: true, indexSearchable: false };
  const stored = { dataType: ["text"], tokenization: "field", indexFilterable: false, indexSearchable: false };
  return {
    class: className(space),
    description: dimension === undefined ? `${OWN} tools` : `${OWN} vectors of ${dimension} dimensions`,
    vectorizer: "none",
    vectorIndexType: "hnsw",
    vectorIndexConfig: dimension === undefined ? { skip: true } : { distance: "dot" },
    invertedIndexConfig: { bm25: { k1: SATURATION, b: 0 }, stopwords: { preset: "none" } },
    properties: [
      ...FIELDS.map((name) => ({ name, dataType: ["text"], ...filtered })),
      ...LISTS.map((name) => ({ name, dataType: ["text[]"], ...filtered })),
      { name: "uid", dataType: ["text"], ...filtered },
      { name: "revision", dataType: ["number"], indexFilterable: true },
      { name: "about", ...stored },
      { name: "text", ...stored },
      { name: "words", dataType: ["text"], tokenization: "whitespace", indexFilterable: false, indexSearchable: true },
    ],
  };
}

function selection(parts: readonly RecordPart[]): string {
  const additional = parts.includes("vector") ? "_additional { id vector }" : "_additional { id }";
  return ["revision", ...FIELDS, ...parts.filter((part) => part !== "vector"), additional].join(" ");
}

function fromRow({ _additional: { id = "", vector } = {}, ...properties }: WeaviateObject): DatabaseRecord {
  return toStored(id, properties, vector);
}

/** Repeats terms, so Weaviate's BM25 approximates their weights. */
function toText(terms: Terms): string {
  return Array.from(terms, ([term, weight]) => {
    const times = Math.round((SATURATION * weight) / (1 - weight));
    return `${term} `.repeat(Math.min(Math.max(times, 1), MOST_REPEATS));
  }).join("");
}

type WhereCondition = Condition | { readonly uidAbove: string } | { readonly all: readonly WhereCondition[] };

interface Comparison {
  readonly path: string;
  readonly operator: "ContainsAny" | "ContainsNone" | "GreaterThan" | "LessThan";
  readonly value: string | number | readonly string[];
}

function toComparison(
  asked: Exclude<WhereCondition, { readonly all: unknown } | { readonly any: unknown }>,
): Comparison {
  if ("revisionAbove" in asked) return { path: "revision", operator: "GreaterThan", value: asked.revisionAbove };
  if ("revisionBelow" in asked) return { path: "revision", operator: "LessThan", value: asked.revisionBelow };
  if ("uidAbove" in asked) return { path: "uid", operator: "GreaterThan", value: asked.uidAbove };
  if ("in" in asked) return { path: asked.field, operator: "ContainsAny", value: asked.in };
  return { path: asked.field, operator: "ContainsNone", value: asked.notIn };
}

function toWhere(asked: WhereCondition): string {
  if ("all" in asked) return `{ operator: And, operands: [${asked.all.map(toWhere).join(", ")}] }`;
  if ("any" in asked) return `{ operator: Or, operands: [${asked.any.map(toWhere).join(", ")}] }`;
  const { path, operator, value } = toComparison(asked);
  const key = typeof value === "number" ? "valueNumber" : "valueText";
  return `{ path: ["${path}"], operator: ${operator}, ${key}: ${JSON.stringify(value)} }`;
}

function whereOf(condition: Condition): readonly string[] {
  return "all" in condition && condition.all.length === 0 ? [] : [`where: ${toWhere(condition)}`];
}

function toRestWhere(asked: WhereCondition): object {
  if ("all" in asked) return { operator: "And", operands: asked.all.map(toRestWhere) };
  if ("any" in asked) return { operator: "Or", operands: asked.any.map(toRestWhere) };
  const { path, operator, value } = toComparison(asked);
  const key = typeof value === "number" ? "valueNumber" : typeof value === "string" ? "valueText" : "valueTextArray";
  return { path: [path], operator, [key]: value };
}

export const config = setting.object("Weaviate.", {});

export { weaviateEngine as create };

export const check = checkOf(weaviateEngine, WEAVIATE.url);
