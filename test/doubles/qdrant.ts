import { type Double, type DoubleAnswer, type DoubleRequest, startDouble } from "./documented-double.ts";
import { readApiSchema } from "./api-schema.ts";

interface Sparse {
  readonly indices: readonly number[];
  readonly values: readonly number[];
}

interface Point {
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly vector: readonly number[] | { readonly words?: Sparse };
}

interface Collection {
  readonly size: number | undefined;
  readonly sparse: object | undefined;
  readonly indexes: Record<string, object>;
  readonly points: Map<string, Point>;
}

type Filter = Readonly<Record<"must" | "should" | "must_not", readonly (Filter | Match)[]>>;
interface Match {
  readonly key: string;
  readonly match?: { readonly any: readonly string[] };
  readonly range?: { readonly gt?: number; readonly lt?: number };
}

/** A server that speaks the part of Qdrant's REST API that the engine uses, and really stores and searches. */
export async function qdrantDouble({ apiKey }: { readonly apiKey?: string } = {}): Promise<Double> {
  const collections = new Map<string, Collection>();
  return startDouble({
    schema: readApiSchema("qdrant"),
    authorize: (headers) =>
      apiKey === undefined || headers["api-key"] === apiKey
        ? undefined
        : { status: 401, body: "Invalid API key or JWT" },
    answer: (request) => answer(request, collections),
    malformed: (message) => failed(400, `Format error in JSON body: ${message}`),
  });
}

function answer(
  { operation: asked, path, query, body }: DoubleRequest,
  collections: Map<string, Collection>,
): DoubleAnswer {
  const [, name = ""] = path;
  const operation = asked
    .replace(" /collections/{collection_name}/", " ")
    .replace(" /collections/{collection_name}", "");
  const collection = collections.get(name);
  if (operation === "PUT") {
    if (collection) return failed(409, `Wrong input: Collection \`${name}\` already exists!`);
    const { vectors, sparse_vectors } = body as { vectors: { size?: number }; sparse_vectors?: object };
    collections.set(name, { size: vectors.size, sparse: sparse_vectors, indexes: {}, points: new Map() });
    return done(true);
  }
  if (!collection) return failed(404, `Not found: Collection \`${name}\` doesn't exist!`);
  const { points, size, sparse: sparseConfig, indexes } = collection;
  const writes = operation.startsWith("PUT") || operation === "POST points/delete";
  // Without it an answer says that the change was received, not that it can be read.
  if (writes && query.get("wait") !== "true") return failed(400, "the double takes only writes that are waited for");
  switch (operation) {
    case "GET": {
      const params = {
        vectors: size === undefined ? {} : { size, distance: "Dot" },
        ...(sparseConfig ? { sparse_vectors: sparseConfig } : {}),
      };
      const hnsw_config = { m: 16, ef_construct: 100, full_scan_threshold: 10_000 };
      const optimizer_config = { default_segment_number: 0, flush_interval_sec: 5 };
      return done({
        status: "green",
        optimizer_status: "ok",
        segments_count: 1,
        points_count: points.size,
        config: { params, hnsw_config, optimizer_config },
        payload_schema: indexes,
      });
    }
    case "DELETE":
      return done(collections.delete(name));
    case "PUT index": {
      const { field_name, field_schema } = body as { field_name: string; field_schema: string };
      indexes[field_name] = { data_type: field_schema, points: points.size };
      return done({ status: "completed" });
    }
    case "PUT points": {
      for (const point of (body as { points: readonly Point[] }).points) {
        const { length } = Array.isArray(point.vector) ? point.vector : { length: undefined };
        if (length !== size)
          return failed(400, `Wrong input: Vector dimension error: expected dim: ${size}, got ${length}`);
        points.set(point.id, point);
      }
      return done({ status: "completed" });
    }
    case "POST points":
      return done((body as { ids: string[] }).ids.flatMap((id) => shown(points.get(id), body as Shown)));
    case "POST points/delete": {
      for (const point of accepted(points, body as Filtered)) points.delete(point.id);
      return done({ status: "completed" });
    }
    case "POST points/count":
      return done({ count: accepted(points, body as Filtered).length });
    case "POST points/scroll": {
      const { limit = 10, offset = "" } = body as { limit?: number; offset?: string };
      const all = accepted(points, body as Filtered)
        .filter(({ id }) => id >= offset)
        .sort((a, b) => (a.id < b.id ? -1 : 1));
      return done({
        points: all.slice(0, limit).flatMap((point) => shown(point, body as Shown)),
        next_page_offset: all[limit]?.id ?? null,
      });
    }
    default:
      return done(
        (body as { searches: readonly Search[] }).searches.map((each) => ({ points: found(collection, each) })),
      );
  }
}

interface Filtered {
  readonly filter?: Filter;
}
interface Shown {
  readonly with_payload?: boolean | readonly string[];
  readonly with_vector?: boolean;
}
interface Search extends Filtered, Shown {
  readonly query: readonly number[] | Sparse;
  readonly using?: string;
  readonly limit: number;
}

function found({ points, size }: Collection, asked: Search): readonly object[] {
  const { query, using, limit } = asked;
  const scored: { point: Point; score: number }[] = [];
  if (Array.isArray(query)) {
    if (query.length !== size) throw new Error(`Vector dimension error: expected dim: ${size}, got ${query.length}`);
    for (const point of accepted(points, asked))
      scored.push({ point, score: dot(query as readonly number[], point.vector as readonly number[]) });
  } else {
    if (using !== "words") throw new Error(`Not existing vector name error: ${using}`);
    const worth = rarities(points, query as Sparse);
    for (const point of accepted(points, asked)) {
      const { words } = point.vector as { words?: Sparse };
      let score = 0;
      words?.indices.forEach((index, at) => (score += (worth.get(index) ?? 0) * (words.values[at] ?? 0)));
      if (score !== 0) scored.push({ point, score });
    }
  }
  scored.sort((a, b) => b.score - a.score);
  return scored
    .slice(0, limit)
    .flatMap(({ point, score }) => shown(point, asked).map((each) => ({ ...each, version: 1, score })));
}

/** What each dimension of a query is worth with the modifier `idf`. */
function rarities(points: ReadonlyMap<string, Point>, { indices, values }: Sparse): ReadonlyMap<number, number> {
  const having = new Map<number, number>();
  let all = 0;
  for (const { vector } of points.values()) {
    const { words } = vector as { words?: Sparse };
    if (words) all++;
    for (const index of words?.indices ?? []) having.set(index, (having.get(index) ?? 0) + 1);
  }
  return new Map(
    indices.map((index, at) => {
      const n = having.get(index) ?? 0;
      return [index, (values[at] ?? 0) * Math.log((all - n + 0.5) / (n + 0.5) + 1)];
    }),
  );
}

function accepted(points: ReadonlyMap<string, Point>, { filter: asked }: Filtered): readonly Point[] {
  return [...points.values()].filter((point) => asked === undefined || accepts(asked, point));
}

function accepts(condition: Filter | Match, point: Point): boolean {
  if ("key" in condition) {
    const value = point.payload[condition.key];
    const values = Array.isArray(value) ? (value as readonly unknown[]) : [value];
    const { match: wanted, range } = condition;
    if (wanted) return values.some((each) => wanted.any.includes(each as string));
    return values.some((each) => Number(each) > (range?.gt ?? -Infinity) && Number(each) < (range?.lt ?? Infinity));
  }
  const { must = [], should = [], must_not = [] } = condition;
  return (
    must.every((each) => accepts(each, point)) &&
    (should.length === 0 || should.some((each) => accepts(each, point))) &&
    !must_not.some((each) => accepts(each, point))
  );
}

function shown(point: Point | undefined, { with_payload = false, with_vector = false }: Shown): readonly object[] {
  if (!point) return [];
  const { id, payload, vector } = point;
  const keys = Array.isArray(with_payload) ? with_payload : with_payload === true ? Object.keys(payload) : [];
  return [
    {
      id,
      payload: Object.fromEntries(keys.flatMap((key) => (key in payload ? [[key, payload[key]]] : []))),
      ...(with_vector ? { vector } : {}),
    },
  ];
}

/** Vectors are kept in single precision. */
function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, at) => sum + Math.fround(value) * Math.fround(b[at] ?? 0), 0);
}

function done(result: unknown): DoubleAnswer {
  return { status: 200, body: { result, status: "ok", time: 0.001 } };
}

function failed(status: number, error: string): DoubleAnswer {
  return { status, body: { status: { error }, time: 0.001 } };
}
