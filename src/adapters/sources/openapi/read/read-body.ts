import { isPlainObject } from "../../../../tool/json-schema.ts";
import { type ObjectShape, toObjectShape } from "./object-shape.ts";
import { explodes, type Style, type Writing } from "./read-parameters.ts";
import type { JsonObject, References } from "./references.ts";

/** How a body is written. */
export type BodyKind = "json" | "form" | "multipart" | "text" | "binary";

/** The body of an operation's request. */
export interface Body {
  /** As it is sent. */
  readonly contentType: string;
  readonly kind: BodyKind;
  readonly required: boolean;
  readonly description?: string;
  /** As the document has it. */
  readonly schema: unknown;
  /** Its members, where it is an object whose members can be arguments. */
  readonly shape?: ObjectShape;
  /** How single members of a form are written. */
  readonly encoding: ReadonlyMap<string, PartEncoding>;
}

/** How one member of a form is written: by a style, or as a media type. */
export interface PartEncoding {
  readonly writing?: Writing;
  readonly contentType?: string;
}

/** The body that an operation's request has; undefined if it has none. Of several media types the one that suits a model best. */
export function readBody(
  definition: JsonObject,
  fromParameters: readonly JsonObject[],
  references: References,
): Body | undefined {
  const given = definition["requestBody"];
  const read = given === undefined ? merged(fromParameters) : references.follow(given, "the request body");
  if (read === undefined) return undefined;
  const content = isPlainObject(read["content"]) ? Object.entries(read["content"]) : [];
  const candidates = content.map(([type, value]) => {
    const media = references.follow(value, `the body ${type}`);
    const shape = toObjectShape(media["schema"], references);
    return { type, media, shape, rank: rankOf(type, shape, references) };
  });
  const [best] = candidates.toSorted((a, b) => a.rank - b.rank);
  if (best === undefined) return undefined;
  const kind = kindOf(best.type);
  const { description } = read;
  return {
    contentType: best.type.includes("*") ? "application/json" : best.type,
    kind,
    required: read["required"] === true,
    ...(typeof description === "string" ? { description } : {}),
    schema: best.media["schema"] ?? {},
    ...(best.shape === undefined || kind === "text" || kind === "binary" ? {} : { shape: best.shape }),
    encoding: readEncoding(best.media["encoding"]),
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

/** A patch that is merged is written as the thing itself, which models do better than lists of steps. */
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
  const read = new Map<string, PartEncoding>();
  for (const [name, encoding] of Object.entries(isPlainObject(given) ? given : {})) {
    if (!isPlainObject(encoding)) continue;
    const { style = "form", explode, allowReserved, contentType } = encoding;
    const styled = [encoding["style"], explode, allowReserved].some((value) => value !== undefined);
    const writing = { explode: explodes(style, explode), allowReserved: allowReserved === true };
    read.set(name, {
      ...(styled ? { writing: { style: style as Style, ...writing } } : {}),
      ...(typeof contentType === "string" ? { contentType } : {}),
    });
  }
  return read;
}

/** True for a member that is raw bytes. */
export function isFile(schema: unknown, references: References): boolean {
  const found = resolved(schema, references);
  if (found === undefined) return false;
  const { type, format, contentMediaType, contentEncoding } = found;
  if (format === "binary" || type === "file") return true;
  if (typeof contentMediaType !== "string" || contentEncoding !== undefined) return false;
  return type === undefined || !/^text\/|json|xml/i.test(contentMediaType);
}

/** True for a list of raw bytes. */
export function isFileList(schema: unknown, references: References): boolean {
  const found = resolved(schema, references);
  return found?.["type"] === "array" && isFile(found["items"], references);
}

function resolved(schema: unknown, references: References): JsonObject | undefined {
  if (!isPlainObject(schema)) return undefined;
  try {
    return references.follow(schema, "a schema");
  } catch {
    return undefined;
  }
}

/** Version 2.0 writes each field of a form as a parameter; those shared by operations come as a body each. */
function merged(bodies: readonly JsonObject[]): JsonObject | undefined {
  const [first, ...others] = bodies;
  if (first === undefined || others.length === 0) return first;
  const content: Record<string, JsonObject> = {};
  for (const body of bodies) {
    for (const [type, media] of Object.entries(isPlainObject(body["content"]) ? body["content"] : {})) {
      const schema: unknown = isPlainObject(media) ? media["schema"] : undefined;
      if (!isPlainObject(schema)) continue;
      const before: JsonObject = (content[type]?.["schema"] as JsonObject | undefined) ?? {};
      content[type] = {
        schema: {
          type: "object",
          properties: {
            ...(before["properties"] as object | undefined),
            ...(schema["properties"] as object | undefined),
          },
          required: [...toNames(before["required"]), ...toNames(schema["required"])],
        },
      };
    }
  }
  return { content, required: bodies.some((body) => body["required"] === true) };
}

function toNames(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Reads the schema of an operation's successful answers, and what to accept. They only describe, so whatever is wrong with them is ignored. */
export function readReturns(definition: JsonObject, references: References) {
  const responses = isPlainObject(definition["responses"]) ? definition["responses"] : {};
  const statuses = Object.keys(responses)
    .filter((status) => /^2(?:\d\d|XX)$/i.test(status))
    .toSorted();
  let schema: unknown;
  const types = new Set<string>();
  for (const status of statuses) {
    for (const [type, media] of contentOf(responses[status], references)) {
      types.add(type);
      if (isJson(type) && isPlainObject(media)) schema ??= media["schema"];
    }
  }
  return { schema, accept: toAccept([...types]) };
}

function contentOf(response: unknown, references: References): readonly (readonly [string, unknown])[] {
  try {
    const { content } = references.follow(response, "a response");
    return isPlainObject(content) ? Object.entries(content) : [];
  } catch {
    return [];
  }
}

/** JSON where there is any: a server that can also answer in other forms must not choose one of them. */
function toAccept(types: readonly string[]): string {
  const concrete = types.filter((type) => !type.includes("*") && /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+/.test(type));
  const json = concrete.filter(isJson);
  const wanted = json.length > 0 ? json.slice(0, 1) : concrete.length > 0 ? concrete.slice(0, 5) : ["application/json"];
  return [...wanted, "*/*;q=0.1"].join(", ");
}
