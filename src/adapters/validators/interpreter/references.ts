import { showValue } from "../../../errors/show-value.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { type Subschema, subschemas } from "./keywords.ts";
import { brokenSchema, unusableSchema } from "./problems.ts";

type SchemaObject = Readonly<Record<string, unknown>>;

/** A schema that was walked: what stands in it, and what its references mean. */
export interface ReadSchema {
  readonly inside: readonly Subschema[];
  /** What `$ref` and its kin mean, each by its keyword. */
  readonly references: ReadonlyMap<string, unknown>;
}

/** Every schema in a schema that can be reached, and what could not be followed. */
export interface ReadSchemas {
  readonly schemas: ReadonlyMap<SchemaObject, ReadSchema>;
  readonly notes: readonly string[];
}

/** A schema with an address of its own: the whole one, or a part that has an `$id`. */
interface Resource {
  readonly root: SchemaObject;
  readonly address: string;
  readonly anchors: Map<string, SchemaObject>;
}

const REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"] as const;
const NO_ADDRESS = "schema:/";
const META_SCHEMA = /^https?:\/\/json-schema\.org\/draft/;

/**
 * Walks a schema and finds out what its references mean. Nothing outside the schema is ever fetched: such a reference is broken, but for the
 * one to JSON Schema's own schema, which accepts anything. Throws TOOL_INVALID where the schema is malformed.
 */
export function readSchemas(root: SchemaObject): ReadSchemas {
  const schemas = new Map<SchemaObject, { inside: readonly Subschema[]; references: Map<string, unknown> }>();
  const resources = new Map<string, Resource>();
  const notes = new Set<string>();
  const unresolved: { readonly schema: SchemaObject; readonly resource: Resource; readonly path: string }[] = [];

  /** Without recursion: the schema decides how deep it is. */
  function walk(start: unknown, from: Resource, startPath: string): void {
    const waiting = [{ schema: start, resource: from, path: startPath }];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { schema, path } = next;
      if (typeof schema === "boolean") continue;
      if (!isPlainObject(schema)) throw brokenSchema(path, "must be object,boolean", schema);
      if (schemas.has(schema)) continue;
      const resource = resourceOf(schema, next.resource);
      const inside = subschemas(schema, path);
      schemas.set(schema, { inside, references: new Map() });
      if (REFERENCES.some((keyword) => Object.hasOwn(schema, keyword))) unresolved.push({ schema, resource, path });
      for (const each of inside) waiting.push({ schema: each.schema, resource, path: each.path });
    }
  }

  /** The resource a schema belongs to: its own where it has an `$id`. Also notes the names it can be called by. */
  function resourceOf(schema: SchemaObject, around: Resource): Resource {
    const { $id, $anchor, $dynamicAnchor } = schema;
    let resource = around;
    if (typeof $id === "string" && $id.startsWith("#")) around.anchors.set($id.slice(1), schema);
    else if (typeof $id === "string" && $id !== "" && schema !== around.root) {
      const address = addressOf($id, around.address)?.split("#")[0] ?? around.address;
      resource = { root: schema, address, anchors: new Map() };
      if (!resources.has(address)) resources.set(address, resource);
    }
    for (const name of [$anchor, $dynamicAnchor]) if (typeof name === "string") resource.anchors.set(name, schema);
    return resource;
  }

  function resolve(reference: string, from: Resource): { readonly target: unknown; readonly resource: Resource } {
    const [before = "", fragment = ""] = divide(reference);
    const address = before === "" ? from.address : addressOf(before, from.address);
    const resource = before === "" ? from : resources.get(address ?? "");
    if (!resource) {
      if (META_SCHEMA.test(address ?? "")) {
        notes.add(`What is at ${showValue(reference)} is not checked: any value is accepted there.`);
        return { target: true, resource: from };
      }
      throw unusableSchema(`can't resolve reference ${showValue(reference, 200)}: nothing outside a schema is fetched`);
    }
    if (fragment !== "" && !fragment.startsWith("/")) return { target: resource.anchors.get(fragment), resource };
    return { target: follow(resource.root, fragment), resource };
  }

  const { $id } = root;
  const address = typeof $id === "string" ? (addressOf($id, NO_ADDRESS)?.split("#")[0] ?? NO_ADDRESS) : NO_ADDRESS;
  const whole: Resource = { root, address, anchors: new Map() };
  resources.set(address, whole);
  walk(root, whole, "");
  // What is referred to may lie where no schema was looked for, and refer to more.
  for (let next = unresolved.pop(); next; next = unresolved.pop()) {
    const { schema, resource: from, path } = next;
    for (const keyword of REFERENCES) {
      const reference = schema[keyword];
      if (typeof reference !== "string") continue;
      const { target, resource } = resolve(reference, from);
      if (typeof target !== "boolean" && !isPlainObject(target)) {
        throw unusableSchema(
          `can't resolve reference ${showValue(reference, 200)} at ${path === "" ? "its top" : path}`,
        );
      }
      schemas.get(schema)?.references.set(keyword, target);
      walk(target, resource, `${path}.${keyword}`);
    }
  }
  return { schemas, notes: [...notes] };
}

function divide(reference: string): readonly [string, string] {
  const hash = reference.indexOf("#");
  if (hash < 0) return [reference, ""];
  try {
    return [reference.slice(0, hash), decodeURIComponent(reference.slice(hash + 1))];
  } catch {
    return [reference.slice(0, hash), reference.slice(hash + 1)];
  }
}

function addressOf(reference: string, base: string): string | undefined {
  return URL.parse(reference, base)?.href;
}

/** What a JSON pointer means within a value; undefined where it means nothing. */
function follow(root: unknown, pointer: string): unknown {
  let at = root;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
