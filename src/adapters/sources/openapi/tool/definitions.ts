import type { JsonSchema } from "../../../../tool/json-schema.ts";
import { partsOf } from "../read/references.ts";

/** The position of a schema in the written one. */
export interface SchemaPosition {
  /** The number of members around it. */
  readonly depth: number;
  /** True if every valid value needs it. */
  readonly required: boolean;
  /** The number of schemas around it. */
  readonly nesting: number;
}

interface Entry {
  readonly reference: string;
  readonly name: string;
  place: SchemaPosition;
  written: JsonSchema | undefined;
}

/** Schemas that are referred to, each written once, by `write`. */
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
    /** The name under which a schema is defined. */
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
        // A schema that turns out to be needed in more detail is written again.
        known.written = undefined;
      }
      return known.name;
    },
    /** All named schemas, and those that they refer to in turn. */
    all(): Readonly<Record<string, JsonSchema>> {
      for (;;) {
        // The shallowest first, because most of a schema is kept there.
        let next: Entry | undefined;
        for (const entry of entries.values())
          if (entry.written === undefined && (next === undefined || entry.place.depth < next.place.depth)) next = entry;
        if (next === undefined) break;
        const { reference, place } = next;
        next.written = {};
        const written = write(reference, place);
        // More detail may have become necessary while it was written.
        if (next.place === place) next.written = written;
      }
      return Object.fromEntries(Array.from(entries.values(), ({ name, written = {} }) => [name, written]));
    },
  };
}
