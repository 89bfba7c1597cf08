import { isPlainObject } from "../../tool/json-schema.ts";
import type { Conversion, Place } from "./conversion.ts";
import { below } from "../schema/json-pointer.ts";
import type { SchemaNode } from "../schema/keywords.ts";
import { isConstraining } from "./keep-keywords.ts";
import { mergeSchemas } from "./merge-schemas.ts";
import { spellModern } from "./spell-modern.ts";

/** A schema whose `allOf`, and whose references beside other keywords, were merged into it. */
export interface MergedAll {
  /** False where no value fits all of it. */
  readonly node: SchemaNode | false;
  readonly following: ReadonlySet<string>;
}

const MAX_NESTING = 64;

/** Merges all that a value must fit at once into one schema. What cannot be merged is left out, and put on record. */
export function mergeAllOf(node: SchemaNode, place: Place, conversion: Conversion): MergedAll {
  const following = new Set(place.following);

  function gather(part: SchemaNode, path: string, nesting: number): readonly (SchemaNode | false)[] {
    const { allOf: branches, $ref: reference, ...own } = part;
    const parts: (SchemaNode | false)[] = [own];
    if (typeof reference === "string") parts.push(...follow(reference, path, nesting));
    if (Array.isArray(branches))
      branches.forEach((branch, index) => parts.push(...enter(branch, below(path, "allOf", index), nesting)));
    return parts;
  }

  function enter(branch: unknown, fallback: string, nesting: number): readonly (SchemaNode | false)[] {
    if (branch === false) return [false];
    if (!isPlainObject(branch)) return [];
    const path = conversion.references.pointerOf(branch) ?? fallback;
    if (nesting > MAX_NESTING || !conversion.spend()) {
      conversion.lose(path, "allOf", "widened", "too much to merge: the rest is left out");
      return [];
    }
    return gather(spellModern(branch, path, conversion), path, nesting + 1);
  }

  function follow(reference: string, path: string, nesting: number): readonly (SchemaNode | false)[] {
    const found = conversion.references.find(reference);
    if (found === undefined) {
      conversion.loseAt({ path }, "$ref", "dropped", "refers to nothing inside this schema");
      return [];
    }
    if (following.has(found.pointer)) {
      conversion.loseAt({ path }, "$ref", "widened", "a schema merged with itself is cut here");
      return [];
    }
    following.add(found.pointer);
    return enter(found.node, found.pointer, nesting);
  }

  /** By halves, so that many small schemas take no longer than a few large ones. */
  function merge(parts: readonly (SchemaNode | false)[]): SchemaNode | false {
    if (parts.length <= 1) return parts[0] ?? {};
    const middle = parts.length >> 1;
    const [first, second] = [merge(parts.slice(0, middle)), merge(parts.slice(middle))];
    if (first === false || second === false) return false;
    const isPlain = !isConstraining(first) || !isConstraining(second);
    const merged = isPlain ? mergeSchemas(first, second) : mergeSchemas(withLiterals(first), withLiterals(second));
    for (const keyword of merged.left)
      conversion.loseAt(place, keyword, "widened", "two of it cannot be merged: one is left out");
    return merged.node;
  }

  return { node: merge(gather(node, place.path, 0)), following };
}

/** Two constants, or a constant and a list of values, are merged as lists. */
function withLiterals(node: SchemaNode): SchemaNode {
  if (!Object.hasOwn(node, "const")) return node;
  const { const: value, ...rest } = node;
  const { enum: values } = rest;
  if (!Array.isArray(values)) return { ...rest, enum: [value] };
  return mergeSchemas(rest, { enum: [value] }).node || { not: {} };
}
