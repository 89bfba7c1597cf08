import { readApiSchema } from "./api-schema.ts";
import { type QueryField, readQuery } from "./graphql-reader.ts";
import { type Double, type DoubleAnswer, type DoubleRequest, startDouble } from "./documented-double.ts";

interface Property {
  readonly name: string;
  readonly dataType: readonly string[];
  readonly tokenization?: string;
  readonly indexFilterable?: boolean;
  readonly indexSearchable?: boolean;
}

interface Class {
  readonly class: string;
  readonly properties: readonly Property[];
  readonly vectorIndexConfig?: { readonly distance?: string; readonly skip?: boolean };
  readonly invertedIndexConfig?: { readonly bm25?: { readonly k1?: number; readonly b?: number } };
}

interface Stored {
  readonly class: string;
  readonly id: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly vector?: readonly number[];
}

interface Collection {
  readonly config: Class;
  readonly objects: Map<string, Stored>;
  dimension?: number;
}

interface Where {
  readonly operator: string;
  readonly operands?: readonly Where[];
  readonly path?: readonly string[];
  readonly [value: `value${string}`]: unknown;
}

const TEXTS = ["ContainsAny", "ContainsNone"];
const MOST_RESULTS = 10_000;

/** A server that speaks the part of Weaviate's API that the engine uses, and really stores and searches. */
export async function weaviateDouble({ apiKey }: { readonly apiKey?: string } = {}): Promise<Double> {
  const collections = new Map<string, Collection>();
  const schema = readApiSchema("weaviate");
  return startDouble({
    schema: {
      ...schema,
      // The document's paths begin after its base path.
      checkRequest: (method, [base, ...path], query, body) =>
        base === "v1" ? schema.checkRequest(method, path, query, body) : undefined,
    },
    authorize: ({ authorization }) =>
      apiKey === undefined || authorization === `Bearer ${apiKey}`
        ? undefined
        : { status: 401, body: { code: 401, message: "anonymous access not enabled, please provide an auth scheme" } },
    answer: (request) => answer(request, collections),
    malformed: (message) => ({ status: 422, body: { code: 601, message } }),
  });
}

function answer({ operation, path, body }: DoubleRequest, collections: Map<string, Collection>): DoubleAnswer {
  const name = path[2] ?? "";
  switch (operation) {
    case "POST /schema": {
      const config = body as Class;
      if (!/^[A-Z]\w*$/.test(config.class)) return failed(422, `'${config.class}' is not a valid class name`);
      if (collections.has(config.class)) return failed(422, `class name ${config.class} already exists`);
      for (const { name: own, dataType } of config.properties)
        if (!/^[_A-Za-z]\w{0,230}$/.test(own) || dataType.length !== 1)
          return failed(422, `'${own}' is not a valid property`);
      collections.set(config.class, { config, objects: new Map() });
      return { status: 200, body: config };
    }
    case "GET /schema/{className}": {
      const found = collections.get(name);
      return found ? { status: 200, body: found.config } : { status: 404 };
    }
    case "DELETE /schema/{className}":
      collections.delete(name);
      return { status: 200 };
    case "POST /batch/objects": {
      const { objects } = body as { objects: readonly Stored[] };
      return { status: 200, body: objects.map((object) => ({ ...object, result: store(object, collections) })) };
    }
    case "DELETE /batch/objects": {
      const { match, output } = body as { match: { class: string; where: Where }; output: string };
      const collection = collections.get(match.class);
      if (!collection) return failed(422, `class: ${match.class} doesn't exist`);
      const matches = [...collection.objects.values()].filter((object) =>
        accepts(rest(match.where), object, collection.config),
      );
      for (const { id } of matches.slice(0, MOST_RESULTS)) collection.objects.delete(id);
      const successful = Math.min(matches.length, MOST_RESULTS);
      return {
        status: 200,
        body: {
          match,
          output,
          dryRun: false,
          results: { matches: matches.length, limit: MOST_RESULTS, successful, failed: 0 },
        },
      };
    }
    default: {
      try {
        return { status: 200, body: { data: run((body as { query: string }).query, collections) } };
      } catch (error) {
        return { status: 200, body: { errors: [{ message: (error as Error).message, locations: [], path: [] }] } };
      }
    }
  }
}

function store(object: Stored, collections: Map<string, Collection>): object {
  const refused = (message: string): object => ({ status: "FAILED", errors: { error: [{ message }] } });
  const collection = collections.get(object.class);
  if (!collection) return refused(`class ${object.class} not present in schema`);
  const types = new Map(collection.config.properties.map(({ name, dataType }) => [name, dataType[0]]));
  for (const [key, value] of Object.entries(object.properties)) {
    const type = types.get(key);
    const isRight =
      type === "text"
        ? typeof value === "string"
        : type === "number"
          ? typeof value === "number"
          : Array.isArray(value) && value.every((each) => typeof each === "string");
    if (!isRight) return refused(`invalid ${type} property '${key}' on class '${object.class}'`);
  }
  if (object.vector) {
    collection.dimension ??= object.vector.length;
    if (object.vector.length !== collection.dimension)
      return refused(
        `new node has a vector with length ${object.vector.length}. Existing nodes have vectors with length ${collection.dimension}`,
      );
  }
  collection.objects.set(object.id, object);
  return { status: "SUCCESS" };
}

function run(query: string, collections: Map<string, Collection>): object {
  const [root] = readQuery(query);
  const [asked] = root?.fields ?? [];
  if (!root || !asked || !["Get", "Aggregate"].includes(root.name))
    throw new Error(`Cannot query field "${root?.name}" on type "WeaviateObj".`);
  const collection = collections.get(asked.name);
  if (!collection) throw new Error(`Cannot query field "${asked.name}" on type "${root.name}ObjectsObj".`);
  const known = root.name === "Get" ? ["where", "limit", "sort", "nearVector", "bm25"] : ["where"];
  for (const key of Object.keys(asked.args))
    if (!known.includes(key)) throw new Error(`Unknown argument "${key}" on field "${asked.name}".`);
  const where = asked.args["where"] as Where | undefined;
  const objects = [...collection.objects.values()].filter(
    (object) => where === undefined || accepts(where, object, collection.config),
  );
  const found = root.name === "Get" ? rows(collection, objects, asked) : [{ meta: { count: objects.length } }];
  return { [root.name]: { [asked.name]: found } };
}

function rows(collection: Collection, objects: readonly Stored[], { args, fields }: QueryField): readonly object[] {
  const {
    limit = 100,
    nearVector,
    bm25,
    sort,
  } = args as {
    limit?: number;
    nearVector?: { vector: readonly number[] };
    bm25?: { query: string; properties: readonly string[] };
    sort?: readonly { path: readonly [string]; order: "asc" | "desc" }[];
  };
  if (limit > MOST_RESULTS) throw new Error("query maximum results exceeded");
  let scored = objects.map((object) => ({ object, distance: 0, score: 0 }));
  if (nearVector) {
    if (collection.config.vectorIndexConfig?.distance !== "dot")
      throw new Error("the double compares by dot product only");
    const { vector } = nearVector;
    if (collection.dimension !== undefined && vector.length !== collection.dimension)
      throw new Error(`vector lengths don't match: ${collection.dimension} vs ${vector.length}`);
    scored = scored
      .filter(({ object }) => object.vector)
      .map(({ object }) => ({ object, distance: -dot(vector, object.vector ?? []), score: 0 }));
    scored.sort((a, b) => a.distance - b.distance);
  } else if (bm25) {
    const scores = bm25Scores(collection, bm25);
    scored = scored
      .map(({ object }) => ({ object, distance: 0, score: scores.get(object.id) ?? 0 }))
      .filter(({ score }) => score > 0);
    scored.sort((a, b) => b.score - a.score);
  }
  const [by] = sort ?? [];
  if (by)
    scored.sort((a, b) => (String(a.object.properties[by.path[0]]) < String(b.object.properties[by.path[0]]) ? -1 : 1));
  return scored.slice(0, limit).map(({ object, distance }) =>
    Object.fromEntries(
      fields.map(({ name, fields: inner }) => {
        if (name === "_additional") {
          const all: Record<string, unknown> = { id: object.id, vector: object.vector, distance };
          return [name, Object.fromEntries(inner.map((each) => [each.name, all[each.name]]))];
        }
        if (!collection.config.properties.some((property) => property.name === name))
          throw new Error(`Cannot query field "${name}" on type "${object.class}".`);
        return [name, object.properties[name] ?? null];
      }),
    ),
  );
}

/** BM25 over whitespace tokens, as the class configures it. */
function bm25Scores(
  { config, objects }: Collection,
  { query, properties }: { readonly query: string; readonly properties: readonly string[] },
): ReadonlyMap<string, number> {
  const { k1 = 1.2, b = 0.75 } = config.invertedIndexConfig?.bm25 ?? {};
  const [property = ""] = properties;
  const own = config.properties.find(({ name }) => name === property);
  if (own?.indexSearchable !== true || own.tokenization !== "whitespace" || b !== 0)
    throw new Error(`the double cannot search ${property}`);
  const documents = new Map(
    Array.from(objects.values(), ({ id, properties: kept }) => [id, String(kept[property] ?? "").split(/\s+/)]),
  );
  const scores = new Map<string, number>();
  for (const term of new Set(query.split(/\s+/))) {
    const counts = [...documents].flatMap(([id, words]) => {
      const count = words.filter((word) => word === term).length;
      return count > 0 ? [[id, count] as const] : [];
    });
    const rarity = Math.log(1 + (documents.size - counts.length + 0.5) / (counts.length + 0.5));
    for (const [id, count] of counts)
      scores.set(id, (scores.get(id) ?? 0) + (rarity * count * (k1 + 1)) / (count + k1));
  }
  return scores;
}

/** A filter of REST as GraphQL has it. */
function rest({ valueTextArray, operands, ...where }: Where): Where {
  return {
    ...where,
    ...(operands ? { operands: operands.map(rest) } : {}),
    ...(valueTextArray === undefined ? {} : { valueText: valueTextArray }),
  };
}

function accepts(where: Where, object: Stored, config: Class): boolean {
  const { operator, operands = [], path = [] } = where;
  if (operator === "And" || operator === "Or") {
    if (operands.length === 0) throw new Error(`invalid where filter: operator ${operator} without operands`);
    return operator === "And"
      ? operands.every((each) => accepts(each, object, config))
      : operands.some((each) => accepts(each, object, config));
  }
  const [field = ""] = path;
  const property = config.properties.find(({ name }) => name === field);
  if (field !== "id" && property?.indexFilterable !== true)
    throw new Error(`invalid where filter: no filterable property ${field}`);
  const key = property?.dataType[0] === "number" ? "valueNumber" : "valueText";
  const wanted = where[key];
  const own = field === "id" ? object.id : object.properties[field];
  if (TEXTS.includes(operator)) {
    if (!Array.isArray(wanted) || wanted.some((each) => typeof each !== "string"))
      throw new Error(`invalid where filter: ${operator} needs a list of strings`);
    // Tokenization "field" trims.
    const values = (Array.isArray(own) ? own : [own]).map((each) => String(each).trim());
    return values.some((each) => wanted.includes(each)) === (operator === "ContainsAny");
  }
  if (typeof wanted !== typeof own) throw new Error(`invalid where filter: ${key} of ${field} is missing`);
  if (operator === "GreaterThan") return (own as string | number) > (wanted as string | number);
  if (operator === "LessThan") return (own as string | number) < (wanted as string | number);
  throw new Error(`invalid where filter: unknown operator ${operator}`);
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, at) => sum + Math.fround(value) * Math.fround(b[at] ?? 0), 0);
}

function failed(status: number, message: string): DoubleAnswer {
  return { status, body: { error: [{ message }] } };
}
