import { isPlainObject } from "../../../tool/json-schema.ts";
import { unusableSchema } from "./problems.ts";
import type { ReadSchemas } from "./references.ts";

/** Schemas that one value may be held against, references followed. */
export const MOST_EXPANDED = 10_000;

/**
 * Refuses a schema in which checking a single value would mean holding it against too many others, or without end: references that double
 * at each step, and references in a circle. What is recursive by way of members is fine: the value's depth ends it.
 */
export function refuseExpansion({ schemas }: ReadSchemas): void {
  const sizes = new Map<unknown, number>();
  const entered = new Set<unknown>();

  for (const start of schemas.keys()) {
    const waiting: unknown[] = [start];
    while (waiting.length > 0) {
      const schema = waiting.at(-1);
      const read = isPlainObject(schema) ? schemas.get(schema) : undefined;
      if (sizes.has(schema) || read === undefined) {
        waiting.pop();
        continue;
      }
      const targets = [
        ...read.references.values(),
        ...read.inside.filter((each) => each.inPlace).map((each) => each.schema),
      ];
      if (entered.has(schema)) {
        // Everything it leads to is known now.
        waiting.pop();
        const size = targets.reduce((total: number, target) => total + (sizes.get(target) ?? 1), 1);
        if (size > MOST_EXPANDED) {
          throw unusableSchema(
            `its references make more than ${MOST_EXPANDED.toLocaleString("en")} schemas of one for each value`,
          );
        }
        sizes.set(schema, size);
        continue;
      }
      entered.add(schema);
      for (const target of targets) {
        if (sizes.has(target) || !isPlainObject(target)) continue;
        if (entered.has(target)) throw unusableSchema("its references lead in a circle");
        waiting.push(target);
      }
    }
  }
}
