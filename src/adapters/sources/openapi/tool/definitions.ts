import type { JsonSchema } from "../../../../tool/json-schema.ts";
import { partsOf } from "../read/references.ts";

/** The position of a schema within the written schema. */
export interface SchemaPosition {
  /** The number of enclosing members. */
  readonly depth: number;
  /** True if every valid value contains this schema's value. */
  readonly required: boolean;
  /** The number of enclosing schemas. */
  readonly nesting: number;
}

interface Entry {
  readonly reference: string;
  readonly name: string;
  place: SchemaPosition;
  written: JsonSchema | undefined;
}

/** Collects referenced schemas. `write` writes each of them once. */
export function createDefinitions(write: (reference: string, place: SchemaPosition) => JsonSchema) {
  const entries = new Map<string, Entry>();
  const names = new Set<string>();

  function freeName(reference: string): string {
    const base = (partsOf(reference)?.at(-1) ?? "").replaceAll(/[^\w.-]+/g, "_") || "schema";
    let name = base;
    for (let count = 2; names.has(name); count++) name = `${base}_${count}`;
    names.add(name);
    return name;
  }

  return {
    /** Returns the name of a definition. */
    nameOf(reference: string, place: SchemaPosition): string {
      const known = entries.get(reference);
      if (known === undefined) {
        const name = freeName(reference);
        entries.set(reference, { reference, name, place: { ...place, nesting: 0 }, written: undefined });
        return name;
      }
      const depth = Math.min(known.place.depth, place.depth);
      const required = known.place.required || place.required;
      if (depth !== known.place.depth || required !== known.place.required) {
        known.place = { depth, required, nesting: 0 };
        // The schema is needed in more detail, so it is written again.
        known.written = undefined;
      }
      return known.name;
    },
    /** Returns all named schemas, including the schemas that they refer to. */
    all(): Readonly<Record<string, JsonSchema>> {
      for (;;) {
        // Starts with the shallowest, because more of a schema is kept there.
        let next: Entry | undefined;
        for (const entry of entries.values())
          if (entry.written === undefined && (next === undefined || entry.place.depth < next.place.depth)) next = entry;
        if (next === undefined) break;
        const { reference, place } = next;
        next.written = {};
        const written = write(reference, place);
        // Writing may have revealed that more detail is needed.
        if (next.place === place) next.written = written;
      }
      return Object.fromEntries(Array.from(entries.values(), ({ name, written = {} }) => [name, written]));
    },
  };
}
