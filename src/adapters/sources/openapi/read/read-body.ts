import { asList, asRecord, asText, isPlainObject } from "../../../../tool/json-schema.ts";
import { type ObjectShape, toObjectShape } from "./object-shape.ts";
import { explodes, type Style, type Writing } from "./read-parameters.ts";
import type { JsonObject, References } from "./references.ts";

export type BodyKind = "json" | "form" | "multipart" | "text" | "binary";

export interface Body {
  readonly contentType: string;
  readonly kind: BodyKind;
  readonly required: boolean;
  readonly description: string | undefined;
  /** The schema in the document. */
  readonly schema: unknown;
  /** The members of the body, if it is an object whose members can be arguments. */
  readonly shape: ObjectShape | undefined;
  /** Formats of single members of a form. */
  readonly encoding: ReadonlyMap<string, PartEncoding>;
}

/** The format of one member of a form: a style or a media type. */
interface PartEncoding {
  readonly writing: Writing | undefined;
  readonly contentType: string | undefined;
}

/** Returns the request body of an operation; undefined if it has none. If there are several media types, uses the one that models write best. */
export function readBody(definition: JsonObject, fromParameters: readonly JsonObject[], references: References) {
  const given = definition["requestBody"];
  const read = given === undefined ? merged(fromParameters) : references.follow(given, "the request body");
  if (read === undefined) return undefined;
  const candidates = Object.entries(asRecord(read["content"])).map(([type, value]) => {
    const media = references.follow(value, `the body ${type}`);
    const shape = toObjectShape(media["schema"], references);
    return { type, media, shape, rank: rankOf(type, shape, references) };
  });
  const [best] = candidates.toSorted((a, b) => a.rank - b.rank);
  if (best === undefined) return undefined;
  const { type, media, shape } = best;
  const kind = kindOf(type);
  return {
    contentType: type.includes("*") ? "application/json" : type,
    kind,
    required: read["required"] === true,
    description: asText(read["description"]),
    schema: media["schema"] ?? {},
    shape: kind === "text" || kind === "binary" ? undefined : shape,
    encoding: readEncoding(media["encoding"]),
  };
}

/** True for a JSON media type, or a range that includes it. */
export function isJson(type: string): boolean {
  return /^(?:application\/json|[^;]+\+json|\*\/\*|application\/\*)(?:\s*;|\s*$)/i.test(type);
}

function kindOf(type: string): BodyKind {
  if (isJson(type)) return "json";
  if (/^application\/x-www-form-urlencoded/i.test(type)) return "form";
  if (/^multipart\//i.test(type)) return "multipart";
  return /^text\/|[/+](?:xml|yaml|x-yaml|graphql|x-ndjson|javascript)\b/i.test(type) ? "text" : "binary";
}

/** A merge patch has the shape of the resource, which models write better than a list of steps. */
function rankOf(type: string, shape: ObjectShape | undefined, references: References): number {
  if (/^application\/json(?:\s*;|\s*$)/i.test(type)) return 0;
  const kind = kindOf(type);
  if (kind === "json") return /merge-patch/i.test(type) && !/strategic/i.test(type) ? 1 : type.includes("*") ? 3 : 2;
  if (kind === "multipart") {
    const hasFile = [...(shape?.properties.values() ?? [])].some((property) => isFile(property, references));
    return hasFile ? 4 : 6;
  }
  return { form: 5, text: 7, binary: 8 }[kind];
}

function readEncoding(given: unknown): ReadonlyMap<string, PartEncoding> {
  const entries = Object.entries(asRecord(given)).map(([name, encoding]) => {
    const { style, explode, allowReserved, contentType } = asRecord(encoding);
    const styled = [style, explode, allowReserved].some((value) => value !== undefined);
    const writing = {
      style: (style ?? "form") as Style,
      explode: explodes(style ?? "form", explode),
      allowReserved: allowReserved === true,
    };
    return [name, { writing: styled ? writing : undefined, contentType: asText(contentType) }] as const;
  });
  return new Map(entries);
}

/** True for a member that holds raw bytes. */
export function isFile(schema: unknown, references: References): boolean {
  const { type, format, contentMediaType, contentEncoding } = resolved(schema, references);
  if (format === "binary" || type === "file") return true;
  if (typeof contentMediaType !== "string" || contentEncoding !== undefined) return false;
  return type === undefined || !/^text\/|json|xml/i.test(contentMediaType);
}

/** True for a list of raw bytes. */
export function isFileList(schema: unknown, references: References): boolean {
  const { type, items } = resolved(schema, references);
  return type === "array" && isFile(items, references);
}

/** Resolves a reference. Returns an empty schema if it leads nowhere. */
function resolved(schema: unknown, references: References): JsonObject {
  try {
    return references.follow(schema, "a schema");
  } catch {
    return {};
  }
}

/** Version 2.0 writes each field of a form as a parameter. Fields that operations share arrive as separate bodies. */
function merged(bodies: readonly JsonObject[]): JsonObject | undefined {
  const [first, ...others] = bodies;
  if (first === undefined || others.length === 0) return first;
  const content: Record<string, JsonObject> = {};
  for (const [type, media] of bodies.flatMap((body) => Object.entries(asRecord(body["content"])))) {
    const { schema } = asRecord(media);
    if (!isPlainObject(schema)) continue;
    const before = asRecord(content[type]?.["schema"]);
    const properties = { ...asRecord(before["properties"]), ...asRecord(schema["properties"]) };
    const required = [...asList(before["required"]), ...asList(schema["required"])];
    content[type] = { schema: { type: "object", properties, required } };
  }
  return { content, required: bodies.some((body) => body["required"] === true) };
}

/** Reads the schema of an operation's successful responses, and the `Accept` header. Both only describe, so errors in them are ignored. */
export function readReturns(definition: JsonObject, references: References) {
  const responses = asRecord(definition["responses"]);
  const statuses = Object.keys(responses).filter((status) => /^2(?:\d\d|XX)$/i.test(status));
  let schema: unknown;
  const types = new Set<string>();
  for (const status of statuses.toSorted()) {
    const { content } = resolved(responses[status], references);
    for (const [type, media] of Object.entries(asRecord(content))) {
      types.add(type);
      if (isJson(type)) schema ??= asRecord(media)["schema"];
    }
  }
  return { schema, accept: toAccept([...types]) };
}

/** Prefers JSON if the server offers it, so the server cannot choose another format. */
function toAccept(types: readonly string[]): string {
  const concrete = types.filter((type) => !type.includes("*") && /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+/.test(type));
  const json = concrete.filter(isJson);
  const wanted = json.length > 0 ? json.slice(0, 1) : concrete.length > 0 ? concrete.slice(0, 5) : ["application/json"];
  return [...wanted, "*/*;q=0.1"].join(", ");
}
