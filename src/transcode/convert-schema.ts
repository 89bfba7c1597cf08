import { isPlainObject, type JsonSchema } from "../tool/json-schema.ts";
import { checkLimits } from "./convert/check-limits.ts";
import { startConversion } from "./convert/conversion.ts";
import { convertRoot } from "./convert/convert-root.ts";
import { SCHEMA_FEATURES, type SchemaFeature } from "./features.ts";
import type { Loss } from "./losses.ts";

/** What a provider takes, as data. */
export interface SchemaTarget {
  readonly name: string;
  readonly features: ReadonlySet<SchemaFeature>;
  /** How "or null" is said. */
  readonly nullable: "type-array" | "any-of" | "nullable-keyword";
  /** Formats that are taken; all where absent. */
  readonly formats?: ReadonlySet<string>;
  /** Keywords that are not taken, though others of their feature are. */
  readonly without?: ReadonlySet<string>;
  /** Every object names all its properties and allows no others. */
  readonly closedObjects?: boolean;
  /** Every property is required; an optional one may be null instead. */
  readonly allRequired?: boolean;
  /** Every schema says its type or is a plain union or reference: what takes values of any type has to be said in some other way. */
  readonly typed?: boolean;
  /** A `$ref` stands alone. */
  readonly bareReferences?: boolean;
  /** An `anyOf` stands alone: its description goes to the branches. */
  readonly bareUnions?: boolean;
  /** An `enum` or `const` stands without `type`. */
  readonly untypedLiterals?: boolean;
  /** What values an `enum` may list; all where absent. */
  readonly enumValues?: "strings" | "primitives";
  /** The largest `minItems` that is taken. */
  readonly maxMinItems?: number;
  /** What names the tool's own parameters may have; any where absent. */
  readonly parameterNames?: RegExp;
  /** Levels of objects and arrays, the parameters themselves being the first. */
  readonly maxDepth?: number;
  readonly maxProperties?: number;
  readonly maxEnumValues?: number;
  /** Of all names and listed values together. */
  readonly maxCharacters?: number;
}

/** A schema in a target's terms. */
export interface ConvertedSchema {
  readonly schema: JsonSchema;
  readonly losses: readonly Loss[];
  /** False where the target cannot hold it at all (then `losses` has a `refused`). */
  readonly possible: boolean;
}

/**
 * Says a schema in a target's terms, with every change on record. Any JSON value may be given as a schema; it is never changed, nothing is
 * read from elsewhere, and the same schema always gives the same result.
 */
export function convertSchema(schema: JsonSchema, target: SchemaTarget): ConvertedSchema {
  if (isPlainObject(schema) && schema.type === "object" && takesEverything(target))
    return { schema, losses: [], possible: true };
  const conversion = startConversion(schema, target);
  const converted = convertRoot(schema, conversion);
  checkLimits(converted, conversion);
  const { losses, isRefused } = conversion;
  return { schema: converted, losses, possible: !isRefused };
}

function takesEverything({ features, parameterNames }: SchemaTarget): boolean {
  return features.size === SCHEMA_FEATURES.length && parameterNames === undefined;
}
