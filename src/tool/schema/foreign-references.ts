import { isPlainObject } from "../json-schema.ts";

/** Keywords whose value is the address of another schema. */
const REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"];

const REMOVED = "A reference to a schema outside this definition was removed.";

/** Deeper data is omitted, because this function is recursive. Real schemas are not this deep. */
const MAX_DEPTH = 200;

/**
 * Replaces references that lead out of a schema (to a file, a web address or another document) with a `$comment`. A client that resolves one would
 * read a target that the server chose. Returns the same object if there are none. References in data (`default`, `enum` …) are also replaced, because
 * some clients resolve references anywhere.
 */
export function withoutForeignReferences<Schema>(schema: Schema): Schema {
  const ids = new Set<string>();
  let hasForeign = false;
  walk(schema, 0);
  return hasForeign ? (copy(schema, 0) as Schema) : schema;

  /** Collects the ids that references inside the schema may use, and notes whether any reference leads elsewhere. */
  function walk(value: unknown, depth: number): void {
    if (typeof value !== "object" || value === null) return;
    if (depth > MAX_DEPTH) hasForeign = true;
    else if (Array.isArray(value)) for (const element of value) walk(element, depth + 1);
    else {
      const { $id } = value as Record<string, unknown>;
      if (typeof $id === "string") ids.add(documentOf($id));
      hasForeign ||= REFERENCES.some((keyword) => isOutside(Reflect.get(value, keyword)));
      for (const member of Object.values(value)) walk(member, depth + 1);
    }
  }

  function copy(value: unknown, depth: number): unknown {
    if (depth > MAX_DEPTH) return {};
    if (Array.isArray(value)) return value.map((element) => copy(element, depth + 1));
    if (!isPlainObject(value)) return value;
    const isRemoved = ([name, member]: readonly [string, unknown]): boolean =>
      REFERENCES.includes(name) && isOutside(member) && !ids.has(documentOf(String(member)));
    const entries = Object.entries(value);
    const kept = entries.filter((entry) => !isRemoved(entry)).map(([name, member]) => [name, copy(member, depth + 1)]);
    const note = kept.length === entries.length || "$comment" in value ? [] : [["$comment", REMOVED]];
    return Object.fromEntries([...note, ...kept]);
  }
}

/** Returns true for a reference that leads out of the document. */
function isOutside(reference: unknown): boolean {
  return typeof reference === "string" && !reference.startsWith("#");
}

function documentOf(address: string): string {
  const hash = address.indexOf("#");
  return hash === -1 ? address : address.slice(0, hash);
}
