import { randomUUID } from "node:crypto";
import { readApiSchema } from "./api-schema.ts";
import { type Double, type DoubleAnswer, type DoubleRequest, startDouble } from "./documented-double.ts";

type Metadata = Record<string, unknown>;

interface Entry {
  embedding: readonly number[];
  document: string | null;
  metadata: Metadata;
}

interface Collection {
  readonly id: string;
  readonly name: string;
  readonly metadata: Metadata | null;
  dimension: number | null;
  readonly entries: Map<string, Entry>;
}

type Where = Readonly<Record<string, unknown>>;

/** A server that speaks the part of Chroma's API that the engine uses, and really stores and searches. */
export async function chromaDouble({ apiKey }: { readonly apiKey?: string } = {}): Promise<Double> {
  const collections = new Map<string, Collection>();
  const schema = readApiSchema("chroma");
  return startDouble({
    schema: {
      ...schema,
      checkRequest: (method, path, parameters, body) =>
        schema.checkRequest(method, path, parameters, withoutNulls(body)),
    },
    authorize: (headers) =>
      apiKey === undefined || headers["x-chroma-token"] === apiKey
        ? undefined
        : failed(401, "AuthError", "Unauthorized"),
    answer: (request) => answer(request, collections),
    malformed: (message) =>
      failed(422, "ChromaError", `Failed to deserialize the JSON body into the target type: ${message}`),
  });
}

/** The document does not say that null removes a key of a record's metadata. The real server takes it. */
function withoutNulls(body: unknown): unknown {
  const { metadatas } = (body ?? {}) as Partial<Upsert>;
  if (metadatas === undefined) return body;
  const kept = metadatas.map((each) =>
    Object.fromEntries(Object.entries(each ?? {}).filter(([, value]) => value !== null)),
  );
  return { ...(body as Upsert), metadatas: kept };
}

function answer({ operation, path, body }: DoubleRequest, collections: Map<string, Collection>): DoubleAnswer {
  const [, , , tenant, , database, , which = ""] = path;
  if (tenant !== "default_tenant" || database !== "default_database")
    return failed(404, "NotFoundError", `Database [${database}] does not exist`);
  const show = ({ id, name, metadata, dimension }: Collection): DoubleAnswer => {
    const configuration_json = { hnsw: { space: "ip" }, spann: null, embedding_function: null };
    return done({ id, name, configuration_json, metadata, dimension, tenant, database, log_position: 0, version: 0 });
  };
  const action = operation.split("/").at(-1);
  if (operation.startsWith("POST") && action === "collections") {
    const {
      name,
      metadata = null,
      get_or_create,
      configuration,
    } = body as {
      name: string;
      metadata?: Metadata;
      get_or_create?: boolean;
      configuration?: { hnsw?: { space?: string } };
    };
    if (!/^[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]$/.test(name))
      return failed(
        400,
        "InvalidArgumentError",
        `Expected a name containing 3-512 characters from [a-zA-Z0-9._-], got ${name}`,
      );
    if (configuration?.hnsw?.space !== "ip")
      return failed(400, "InvalidArgumentError", "the double compares by inner product only");
    const known = collections.get(name);
    if (known)
      return get_or_create === true ? show(known) : failed(409, "ChromaError", `Collection [${name}] already exists`);
    const created = { id: randomUUID(), name, metadata, dimension: null, entries: new Map<string, Entry>() };
    collections.set(name, created);
    return show(created);
  }
  const byName = operation.startsWith("GET") || operation.startsWith("DELETE");
  const collection = byName ? collections.get(which) : [...collections.values()].find(({ id }) => id === which);
  if (!collection) return failed(404, "NotFoundError", `Collection [${which}] does not exists`);
  if (operation.startsWith("GET")) return show(collection);
  if (operation.startsWith("DELETE")) {
    collections.delete(which);
    return done({});
  }
  switch (action) {
    case "upsert":
      return upsert(collection, body as Upsert);
    case "delete": {
      const { ids, where } = body as Selection;
      if (ids === undefined && where === undefined)
        return failed(400, "InvalidArgumentError", "At least one of ids, where, or where_document must be provided");
      for (const [id] of selected(collection, { ids, where })) collection.entries.delete(id);
      return done({});
    }
    case "get": {
      const {
        limit = Infinity,
        offset = 0,
        include = ["metadatas", "documents"],
      } = body as Selection & { limit?: number; offset?: number; include?: readonly string[] };
      const rows = selected(collection, body as Selection).slice(offset, offset + limit);
      const column = (name: string, of: (entry: Entry) => unknown): unknown =>
        include.includes(name) ? rows.map(([, entry]) => of(entry)) : null;
      return done({
        ids: rows.map(([id]) => id),
        embeddings: column("embeddings", ({ embedding }) => embedding),
        documents: column("documents", ({ document }) => document),
        uris: null,
        metadatas: column("metadatas", ({ metadata }) => metadata),
        include,
      });
    }
    default:
      return query(collection, body as Query);
  }
}

interface Upsert {
  readonly ids: readonly string[];
  readonly embeddings: readonly (readonly number[])[];
  readonly documents?: readonly (string | null)[];
  readonly metadatas?: readonly (Metadata | null)[];
}
interface Selection {
  readonly ids?: readonly string[] | undefined;
  readonly where?: Where | undefined;
}
interface Query extends Selection {
  readonly query_embeddings: readonly (readonly number[])[];
  readonly n_results?: number;
  readonly include?: readonly string[];
}

/** Keeps what a record does not mention, and removes keys that are null, as Chroma does. */
function upsert(collection: Collection, { ids, embeddings, documents, metadatas }: Upsert): DoubleAnswer {
  const lengths = new Set([ids, embeddings, documents ?? ids, metadatas ?? ids].map(({ length }) => length));
  if (lengths.size !== 1) return failed(400, "InvalidArgumentError", "Inconsistent number of records");
  if (new Set(ids).size !== ids.length) return failed(400, "DuplicateIDError", "Expected IDs to be unique");
  for (const { length } of embeddings) {
    collection.dimension ??= length;
    if (length !== collection.dimension)
      return failed(
        400,
        "InvalidArgumentError",
        `Collection expecting embedding with dimension of ${collection.dimension}, got ${length}`,
      );
  }
  ids.forEach((id, at) => {
    const before = collection.entries.get(id);
    const metadata = { ...before?.metadata };
    for (const [key, value] of Object.entries(metadatas?.[at] ?? {})) {
      if (value === null) delete metadata[key];
      else metadata[key] = value;
    }
    collection.entries.set(id, {
      embedding: (embeddings[at] ?? []).map(Math.fround),
      document: documents?.[at] ?? before?.document ?? null,
      metadata,
    });
  });
  return done({});
}

function query(collection: Collection, asked: Query): DoubleAnswer {
  const { query_embeddings: vectors, n_results = 10, include = ["metadatas", "documents", "distances"] } = asked;
  const rows = selected(collection, asked);
  const lists = vectors.map((vector) => {
    const distance = ({ embedding }: Entry): number =>
      1 - Math.fround(embedding.reduce((sum, value, at) => sum + value * (vector[at] ?? 0), 0));
    return rows
      .map(([id, entry]) => ({ id, entry, distance: distance(entry) }))
      .sort((a, b) => a.distance - b.distance)
      .slice(0, n_results);
  });
  const column = (name: string, of: (row: { entry: Entry; distance: number }) => unknown): unknown =>
    include.includes(name) ? lists.map((list) => list.map(of)) : null;
  return done({
    ids: lists.map((list) => list.map(({ id }) => id)),
    embeddings: null,
    documents: column("documents", ({ entry }) => entry.document),
    uris: null,
    metadatas: column("metadatas", ({ entry }) => entry.metadata),
    distances: column("distances", ({ distance }) => distance),
    include,
  });
}

function selected({ entries }: Collection, { ids, where }: Selection): readonly (readonly [string, Entry])[] {
  const wanted = ids === undefined ? undefined : new Set(ids);
  return [...entries].filter(
    ([id, { metadata }]) => (wanted?.has(id) ?? true) && (where === undefined || accepts(where, metadata)),
  );
}

function accepts(where: Where, metadata: Metadata): boolean {
  const [[key, condition] = ["", undefined], ...more] = Object.entries(where);
  if (more.length > 0 || condition === undefined)
    throw new Error(`Expected where to have exactly one operator, got ${JSON.stringify(where).slice(0, 100)}`);
  if (key === "$and" || key === "$or") {
    const parts = condition as readonly Where[];
    if (parts.length === 0) throw new Error(`Expected ${key} to be a nonempty list`);
    return key === "$and"
      ? parts.every((part) => accepts(part, metadata))
      : parts.some((part) => accepts(part, metadata));
  }
  const [[operator, value] = ["", undefined]] = Object.entries(condition as object) as [string, unknown][];
  const own = metadata[key];
  switch (operator) {
    case "$eq":
      return own === value;
    case "$ne":
      return own !== value;
    case "$in":
      return (value as readonly unknown[]).includes(own);
    case "$nin":
      return !(value as readonly unknown[]).includes(own);
    case "$gt":
      return typeof own === "number" && own > (value as number);
    case "$lt":
      return typeof own === "number" && own < (value as number);
    default:
      throw new Error(`Unknown operator ${operator}`);
  }
}

function done(body: object): DoubleAnswer {
  return { status: 200, body };
}

function failed(status: number, error: string, message: string): DoubleAnswer {
  return { status, body: { error, message } };
}
