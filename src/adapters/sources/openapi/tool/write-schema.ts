import { asList, asRecord, asText, isPlainObject, type JsonSchema } from "../../../../tool/json-schema.ts";
import { TYPES, WELL_FORMED, words } from "../../../../tool/schema/keywords.ts";
import { createDefinitions, type SchemaPosition } from "./definitions.ts";
import { broken, isExternal, type JsonObject, type References } from "../read/references.ts";
import { plainText } from "./plain-text.ts";

export interface WriteOptions {
  /** The schema of a request keeps keywords that refuse wrong arguments. The schema of an answer only describes it. */
  readonly direction: "request" | "answer";
  /** Members that are nested deeper are shortened, except required members of a request. */
  readonly depth: number;
  /** If true, required members are shortened too. */
  readonly shortenRequired: boolean;
  /** The longest description. */
  readonly words: number;
  /** The writer throws `TOO_LARGE` after this many characters. */
  readonly maxLength: number;
}

/** Thrown by a writer that exceeded its limit. */
export const TOO_LARGE: unique symbol = Symbol("too large");

/** Copies schemas from a document, including the schemas that they refer to. */
export type SchemaWriter = ReturnType<typeof createSchemaWriter>;

/** Keywords that hold one schema, a list of schemas, or schemas by name. */
const ONE = words("not if then else contains propertyNames");
const LISTS = words("allOf anyOf oneOf prefixItems");
const NAMED = words("patternProperties dependentSchemas");

/** Deeper schemas are always cut off, because later steps are recursive. */
const MAX_NESTING = 60;

/** Creates a writer. A referenced schema is written once, under `$defs`, so cycles and repeated references cost nothing. */
export function createSchemaWriter(references: References, options: WriteOptions) {
  const external = new Set<string>();
  const definitions = createDefinitions((reference, place) => write(targetOf(reference), place));
  let shortened = false;
  let length = 0;

  function spend(characters: number): void {
    length += characters;
    if (length > options.maxLength) throw TOO_LARGE;
  }

  function write(schema: unknown, place: SchemaPosition): JsonSchema {
    if (schema === false) return { not: {} };
    if (!isPlainObject(schema)) return {};
    const reference = schema["$ref"];
    if (typeof reference === "string") return writeReference(reference, schema, place);
    return isTooDeep(schema, place) ? shorten(schema, schema) : writeObject(schema, place);
  }

  function writeReference(reference: string, schema: JsonObject, place: SchemaPosition): JsonSchema {
    if (isExternal(reference)) {
      external.add(reference);
      return { description: `Described in ${reference.slice(0, 200)}, which is not part of this document.` };
    }
    const target = targetOf(reference);
    if (isTooDeep(target, place)) return shorten(schema, target);
    const name = definitions.nameOf(reference, place);
    const written = { ...writeObject({ ...schema, $ref: undefined }, place), $ref: `#/$defs/${name}` };
    spend(name.length + 18);
    return written;
  }

  function targetOf(reference: string): JsonObject {
    const target = references.lookUp(reference);
    if (isPlainObject(target) && isEndless(target))
      throw broken(`the schema at ${reference} refers to itself and to nothing else`);
    if (isPlainObject(target)) return target;
    if (target === true || (target === undefined && options.direction === "answer")) return {};
    throw broken(`a schema refers to ${reference}, which does not exist`);
  }

  /** True if references form an endless chain. */
  function isEndless(schema: JsonObject): boolean {
    let found: unknown = schema;
    for (let hops = 0; hops < MAX_NESTING; hops++) {
      if (!isPlainObject(found) || typeof found["$ref"] !== "string") return false;
      found = references.lookUp(found["$ref"]);
    }
    return true;
  }

  function isTooDeep(schema: JsonObject, { depth, required, nesting }: SchemaPosition): boolean {
    if (nesting >= MAX_NESTING) return true;
    if (depth < options.depth || isSmall(schema)) return false;
    return options.shortenRequired || !required || options.direction === "answer";
  }

  function shorten(schema: JsonObject, target: JsonObject): JsonSchema {
    shortened = true;
    const { type, properties } = target;
    const known = isPlainObject(properties) ? { type: "object" } : {};
    const described = asText(schema["description"]) ?? asText(target["description"]) ?? asText(target["title"]) ?? "";
    const description = `${clip(plainText(described), Math.min(options.words, 120))} (shortened)`.trimStart();
    spend(description.length + 30);
    return { ...(isSoundValue("type", type) ? { type: type as string } : known), description };
  }

  function writeObject(schema: JsonObject, place: SchemaPosition): JsonSchema {
    const written: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(schema)) {
      const kept = writeKeyword(keyword, value, schema, place);
      if (kept === undefined) continue;
      spend(keyword.length + 3);
      written[keyword] = kept;
    }
    if (Array.isArray(written["items"])) {
      written["prefixItems"] = written["items"];
      delete written["items"];
    }
    if (options.direction === "request") describeDefault(schema, written);
    return schema["nullable"] === true ? orNull(written) : written;
  }

  function writeKeyword(keyword: string, value: unknown, schema: JsonObject, place: SchemaPosition): unknown {
    const inside: SchemaPosition = { ...place, nesting: place.nesting + 1 };
    if (keyword === "properties") return isPlainObject(value) ? writeProperties(value, schema, inside) : undefined;
    if (keyword === "items")
      return Array.isArray(value) ? value.map((each) => write(each, inside)) : write(value, inside);
    if (keyword === "additionalProperties" || keyword === "unevaluatedProperties") {
      if (typeof value === "boolean") return options.direction === "request" && value === false ? false : undefined;
      return write(value, { ...inside, depth: place.depth + 1, required: false });
    }
    if (ONE.has(keyword)) return isPlainObject(value) ? write(value, inside) : undefined;
    if (LISTS.has(keyword))
      return Array.isArray(value) && value.length > 0 ? value.map((each) => write(each, inside)) : undefined;
    if (NAMED.has(keyword)) return isPlainObject(value) ? writeNamed(Object.entries(value), () => inside) : undefined;
    if (keyword === "required") return writeRequired(value, schema);
    if (!isSoundValue(keyword, value, options.direction)) return undefined;
    if (keyword === "enum") return writeEnum(value as readonly unknown[], schema);
    if (keyword === "description" || keyword === "title") return describe(value as string) || undefined;
    spend(typeof value === "string" ? value.length + 2 : 1);
    return value;
  }

  function writeNamed(
    schemas: readonly (readonly [string, unknown])[],
    placeOf: (name: string) => SchemaPosition,
  ): JsonObject {
    return Object.fromEntries(schemas.map(([name, schema]) => [name, write(schema, placeOf(name))]));
  }

  function writeProperties(properties: JsonObject, parent: JsonObject, place: SchemaPosition): JsonObject {
    const required = new Set(asList(parent["required"]));
    const meant = Object.entries(properties).filter(([, property]) => isMeant(property));
    return writeNamed(meant, (name) => {
      spend(name.length + 3);
      return { ...place, depth: place.depth + 1, required: place.required && required.has(name) };
    });
  }

  function writeRequired(value: unknown, { properties }: JsonObject): unknown {
    if (!Array.isArray(value) || options.direction === "answer") return undefined;
    const members = asRecord(properties);
    const names = new Set(value.filter((name) => typeof name === "string" && isMeant(members[name])));
    return names.size === 0 ? undefined : [...names];
  }

  /** Omits read-only members from requests and write-only members from answers. */
  function isMeant(property: unknown): boolean {
    return asRecord(property)[options.direction === "request" ? "readOnly" : "writeOnly"] !== true;
  }

  function writeEnum(values: readonly unknown[], { type }: JsonObject): readonly unknown[] {
    // A huge schema is refused before it is written.
    spend(2 * values.length);
    spend(JSON.stringify(values).length - 2 * values.length);
    const nullable = Array.isArray(type) && type.includes("null") && !values.includes(null);
    return nullable ? [...values, null] : values;
  }

  /**
   * Describes a default in words, because it is the value that the server assumes. As a keyword, it would be filled in and sent, so a PATCH would
   * change members that the caller never mentioned.
   */
  function describeDefault(schema: JsonObject, written: Record<string, unknown>): void {
    const value = schema["default"];
    if (value === undefined || value === null) return;
    const text = JSON.stringify(value);
    const description = String(written["description"] ?? "");
    if (text.length > 100 || /\bdefaults?\b/i.test(description)) return;
    written["description"] = `${description} Default: ${text}.`.trimStart();
    spend(text.length + 11);
  }

  /** Returns a description without HTML, cut to the allowed length. */
  function describe(text: string): string {
    const described = clip(plainText(text), options.words);
    spend(described.length);
    return described;
  }

  return {
    write,
    describe,
    /** The `$defs` of everything written so far. */
    definitions: definitions.all,
    /** True if something was left out. */
    shortened: () => shortened,
    /** References to other documents. */
    external,
  };
}

/** True if a schema is not larger than its replacement. */
function isSmall(schema: JsonObject): boolean {
  const { properties, items } = schema;
  if (properties !== undefined || [...LISTS, ...ONE].some((keyword) => schema[keyword] !== undefined)) return false;
  if (Array.isArray(schema["enum"]) && schema["enum"].length > 40) return false;
  if (isPlainObject(schema["additionalProperties"])) return isSmall(schema["additionalProperties"]);
  return items === undefined || (isPlainObject(items) && items["$ref"] === undefined && isSmall(items));
}

/** Writes `nullable` of version 3.0, which the upgrade leaves on schemas without a `type`. */
function orNull(schema: JsonSchema): JsonSchema {
  const { description, ...others } = schema;
  return { ...(description !== undefined && { description }), anyOf: [others, { type: "null" }] };
}

/** Cuts a text at the end of a word. */
function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 0) return "";
  const start = text.slice(0, max);
  const cut = start.lastIndexOf(" ");
  return `${cut > max / 2 ? start.slice(0, cut) : start}…`;
}

/** Keywords that describe a value. */
const DESCRIBING = words("type description title enum const format contentEncoding contentMediaType deprecated");

/** Keywords that refuse values. */
const REFUSING = words(
  "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties uniqueItems pattern",
);

/**
 * True if a keyword is valid in JSON Schema and can have this value. Other keywords are omitted, because one broken keyword would make the tool
 * unusable.
 */
function isSoundValue(keyword: string, value: unknown, direction: "request" | "answer" = "request"): boolean {
  if (!DESCRIBING.has(keyword) && (direction === "answer" || !REFUSING.has(keyword))) return false;
  switch (keyword) {
    case "type": {
      const types = [value].flat();
      return types.length > 0 && types.every((type) => TYPES.has(type)) && new Set(types).size === types.length;
    }
    case "const":
      return value !== undefined;
    case "contentEncoding":
    case "contentMediaType":
      return typeof value === "string";
    case "deprecated":
      return value === true;
    default:
      return WELL_FORMED.get(keyword)?.(value) === true;
  }
}
