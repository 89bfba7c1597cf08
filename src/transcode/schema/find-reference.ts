import { decodePercent, follow, pointerSteps } from "../../tool/schema/keywords.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { childrenOf, type SchemaNode } from "./keywords.ts";

export interface ReferenceTarget {
  /** JSON Pointer from the root of the schema. */
  readonly pointer: string;
  readonly node: unknown;
}

export interface References {
  /** Returns undefined for external and dangling references. Reads no files and makes no requests. */
  find(reference: string): ReferenceTarget | undefined;
  /** Returns the pointer of a schema in the original; undefined for a schema that the conversion made. */
  pointerOf(node: unknown): string | undefined;
}

/** The maximum number of indexed schemas. Conversion stops much earlier. */
const MAX_INDEXED = 200_000;
const MAX_DEPTH = 200;

/** Indexes the schemas inside one schema by pointer, `$anchor` and `$id`. */
export function createReferences(root: unknown): References {
  const { pointers, names } = index(root);

  return {
    find(reference) {
      const named = names.get(reference);
      if (named !== undefined) return named;
      if (!reference.startsWith("#")) return undefined;
      const tokens = pointerSteps(decodePercent(reference.slice(1)));
      if (tokens === undefined) return undefined;
      const node = follow(root, tokens);
      if (typeof node !== "boolean" && !isPlainObject(node)) return undefined;
      return { pointer: below("", ...tokens), node };
    },
    pointerOf: (node) => (typeof node === "object" && node !== null ? pointers.get(node) : undefined),
  };
}

function index(root: unknown) {
  const pointers = new Map<object, string>();
  const names = new Map<string, ReferenceTarget>();
  const waiting: (readonly [unknown, string, number])[] = [[root, "", 0]];
  for (let at = 0; at < waiting.length && at < MAX_INDEXED; at++) {
    const [node, pointer, depth] = waiting[at] ?? [undefined, "", 0];
    if (!isPlainObject(node) || pointers.has(node) || depth > MAX_DEPTH) continue;
    pointers.set(node, pointer);
    for (const name of namesOf(node)) if (!names.has(name)) names.set(name, { pointer, node });
    for (const [tokens, child] of childrenOf(node)) waiting.push([child, below(pointer, ...tokens), depth + 1]);
  }
  return { pointers, names };
}

function namesOf(node: SchemaNode): readonly string[] {
  const { $id, id, $anchor, $dynamicAnchor } = node;
  return [
    ...[$anchor, $dynamicAnchor].filter((name) => typeof name === "string").map((name) => `#${name}`),
    // In draft 4, `id` may also be a property of data. Only its anchors are unambiguous.
    ...[$id, typeof id === "string" && id.startsWith("#") ? id : undefined].filter((name) => typeof name === "string"),
  ];
}

/** Appends tokens to a JSON Pointer. */
export function below(pointer: string, ...tokens: readonly (string | number)[]): string {
  return tokens.reduce<string>(
    (path, token) => `${path}/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`,
    pointer,
  );
}
