import { readApiSchema } from "./api-schema.ts";
import { type Double, type DoubleAnswer, type DoubleRequest, startDouble } from "./documented-double.ts";

interface Sparse {
  readonly indices: readonly number[];
  readonly values: readonly number[];
}

interface Vector {
  readonly id: string;
  readonly values: readonly number[];
  readonly sparseValues?: Sparse;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

type Filter = Readonly<Record<string, unknown>>;

/** What of an index can be read. Writes can be read once they are indexed, which happens between two queries. */
interface Index {
  readonly dimension: number;
  readonly metric: string;
  readonly namespaces: Map<string, Map<string, Vector>>;
  written: number;
  indexed: number;
  readonly pending: (() => void)[];
}

const MOST_METADATA = 40_960;

/** A server that speaks the part of Pinecone's data API that the engine uses, and really stores and searches. */
export async function pineconeDouble({
  apiKey,
  dimension = 32,
  metric = "dotproduct",
}: { readonly apiKey?: string; readonly dimension?: number; readonly metric?: string } = {}): Promise<Double> {
  const index: Index = { dimension, metric, namespaces: new Map(), written: 0, indexed: 0, pending: [] };
  return startDouble({
    schema: readApiSchema("pinecone"),
    authorize(headers) {
      if (headers["x-pinecone-api-version"] !== "2026-04")
        return { status: 400, body: { code: 3, message: "unknown API version", details: [] } };
      return apiKey === undefined || headers["api-key"] === apiKey
        ? undefined
        : { status: 401, body: "Invalid API Key" };
    },
    answer: (request) => answer(request, index),
    malformed: (message) => failed(400, 3, message),
  });
}

function answer({ operation, query, body }: DoubleRequest, index: Index): DoubleAnswer {
  switch (operation) {
    case "POST /describe_index_stats": {
      const namespaces = Object.fromEntries(
        Array.from(index.namespaces, ([name, { size }]) => [name, { vectorCount: size }]),
      );
      return done({
        namespaces,
        dimension: index.dimension,
        indexFullness: 0,
        totalVectorCount: 0,
        metric: index.metric,
        vectorType: "dense",
      });
    }
    case "POST /vectors/upsert":
      return upsert(index, body as { namespace?: string; vectors: readonly Vector[] });
    case "POST /vectors/delete": {
      const {
        namespace = "",
        ids,
        deleteAll,
        filter,
      } = body as { namespace?: string; ids?: readonly string[]; deleteAll?: boolean; filter?: Filter };
      const known = index.namespaces.get(namespace);
      if (!known) return failed(404, 5, "Namespace not found");
      if ([ids, deleteAll, filter].filter((each) => each !== undefined).length !== 1)
        return failed(400, 3, "Exactly one of ids, deleteAll and filter is needed");
      return write(index, () => {
        if (deleteAll === true) index.namespaces.delete(namespace);
        for (const vector of known.values())
          if (ids?.includes(vector.id) || (filter && accepts(filter, vector))) known.delete(vector.id);
      });
    }
    case "GET /vectors/fetch": {
      const namespace = query.get("namespace") ?? "";
      const known = index.namespaces.get(namespace);
      const found = query.getAll("ids").flatMap((id) => known?.get(id) ?? []);
      return done({
        vectors: Object.fromEntries(found.map((vector) => [vector.id, vector])),
        namespace,
        usage: { readUnits: 1 },
      });
    }
    case "POST /vectors/fetch_by_metadata": {
      const {
        namespace = "",
        filter,
        limit = 100,
        paginationToken,
      } = body as { namespace?: string; filter?: Filter; limit?: number; paginationToken?: string };
      const all = [...(index.namespaces.get(namespace)?.values() ?? [])].filter(
        (vector) => !filter || accepts(filter, vector),
      );
      const rest = all
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .filter(({ id }) => paginationToken === undefined || id > atob(paginationToken));
      const found = rest.slice(0, limit);
      const next = rest.length > limit ? btoa(found.at(-1)?.id ?? "") : undefined;
      return done({
        vectors: Object.fromEntries(found.map((vector) => [vector.id, vector])),
        namespace,
        usage: { readUnits: 1 },
        ...(next === undefined ? {} : { pagination: { next } }),
      });
    }
    default:
      return search(index, body as Query);
  }
}

interface Query {
  readonly namespace?: string;
  readonly topK: number;
  readonly vector?: readonly number[];
  readonly sparseVector?: Sparse;
  readonly filter?: Filter;
  readonly includeMetadata?: boolean;
  readonly includeValues?: boolean;
}

function search(
  index: Index,
  { namespace = "", topK, vector, sparseVector, filter, includeMetadata, includeValues }: Query,
): DoubleAnswer {
  if (vector?.length !== index.dimension)
    return failed(
      400,
      3,
      `Query vector dimension ${vector?.length} does not match the dimension of the index ${index.dimension}`,
    );
  if (topK > 1_000 && (includeMetadata === true || includeValues === true))
    return failed(400, 3, "topK with values or metadata is at most 1000");
  const headers = { "x-pinecone-max-indexed-lsn": String(index.indexed) };
  // What was written is indexed after a query that did not see it yet.
  for (const apply of index.pending.splice(0)) apply();
  index.indexed = index.written;
  const scored = [...(index.namespaces.get(namespace)?.values() ?? [])]
    .filter((each) => !filter || accepts(filter, each))
    .map((each) => ({ each, score: dot(vector, each.values) + sparseDot(sparseVector, each.sparseValues) }))
    .sort((a, b) => b.score - a.score);
  const matches = scored.slice(0, topK).map(({ each: { id, values, metadata }, score }) => ({
    id,
    score,
    ...(includeValues === true ? { values } : {}),
    ...(includeMetadata === true && metadata ? { metadata } : {}),
  }));
  return { ...done({ matches, namespace, usage: { readUnits: 1 } }), headers };
}

function upsert(
  index: Index,
  { namespace = "", vectors }: { readonly namespace?: string; readonly vectors: readonly Vector[] },
): DoubleAnswer {
  for (const { id, values, sparseValues, metadata = {} } of vectors) {
    if (values.length !== index.dimension)
      return failed(
        400,
        3,
        `Vector dimension ${values.length} does not match the dimension of the index ${index.dimension}`,
      );
    if (values.every((value) => value === 0))
      return failed(
        400,
        3,
        `Dense vectors must contain at least one non-zero value. Vector ID ${id} contains only zeros.`,
      );
    if (
      sparseValues &&
      (sparseValues.indices.length !== sparseValues.values.length || sparseValues.indices.length === 0)
    )
      return failed(400, 3, "Sparse vector must contain as many indices as values");
    const bytes = Buffer.byteLength(JSON.stringify(metadata));
    if (bytes > MOST_METADATA)
      return failed(400, 3, `Metadata size is ${bytes} bytes, which exceeds the limit of 40960 bytes per vector`);
    for (const [key, value] of Object.entries(metadata)) {
      const isTexts = Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string");
      if (!isTexts && !["string", "number", "boolean"].includes(typeof value))
        return failed(
          400,
          3,
          `Metadata value must be a string, number, boolean or list of strings, got '${JSON.stringify(value)}' for field '${key}'`,
        );
    }
  }
  const stored = write(index, () => {
    let known = index.namespaces.get(namespace);
    if (!known) index.namespaces.set(namespace, (known = new Map<string, Vector>()));
    for (const vector of vectors) known.set(vector.id, vector);
  });
  return { ...stored, body: { upsertedCount: vectors.length } };
}

function write(index: Index, apply: () => void): DoubleAnswer {
  index.pending.push(apply);
  return { status: 200, body: {}, headers: { "x-pinecone-request-lsn": String(++index.written) } };
}

function accepts(filter: Filter, vector: Vector): boolean {
  return Object.entries(filter).every(([key, condition]) => {
    if (key === "$and" || key === "$or") {
      const parts = condition as readonly Filter[];
      if (!Array.isArray(parts) || parts.length === 0) throw new Error(`${key} needs a list`);
      return key === "$and"
        ? parts.every((part) => accepts(part, vector))
        : parts.some((part) => accepts(part, vector));
    }
    const value = vector.metadata?.[key];
    const values = Array.isArray(value) ? (value as readonly unknown[]) : [value];
    return Object.entries(condition as object).every(([operator, wanted]: [string, unknown]) => {
      switch (operator) {
        case "$in":
        case "$nin": {
          if (!Array.isArray(wanted) || wanted.length === 0 || wanted.length > 10_000)
            throw new Error(`${operator} takes 1 to 10,000 values`);
          return values.some((each) => wanted.includes(each)) === (operator === "$in");
        }
        case "$gt":
          return values.some((each) => Number(each) > Number(wanted));
        case "$lt":
          return values.some((each) => Number(each) < Number(wanted));
        default:
          throw new Error(`unknown operator ${operator}`);
      }
    });
  });
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, at) => sum + Math.fround(value) * Math.fround(b[at] ?? 0), 0);
}

function sparseDot(a: Sparse | undefined, b: Sparse | undefined): number {
  if (!a || !b) return 0;
  const own = new Map(b.indices.map((dimension, at) => [dimension, b.values[at] ?? 0]));
  return a.indices.reduce((sum, dimension, at) => sum + (a.values[at] ?? 0) * (own.get(dimension) ?? 0), 0);
}

function done(body: object): DoubleAnswer {
  return { status: 200, body };
}

function failed(status: number, code: number, message: string): DoubleAnswer {
  return { status, body: { code, message, details: [] } };
}
