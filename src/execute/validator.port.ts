import type { JsonSchema } from "../tool/json-schema.ts";

/** Compiles schemas into checks. Compiling is slow and done once a tool; checking is fast. */
export interface Validator {
  /** Throws an `ArsenalError` TOOL_INVALID where the schema itself is broken. */
  compile(schema: JsonSchema): Check;
}

/** Checks a value without changing it. */
export type Check = (value: unknown) => Checked;

/** The value with defaults filled in, or every problem found. */
export type Checked =
  | { readonly valid: true; readonly value: unknown }
  | { readonly valid: false; readonly problems: readonly Problem[] };

/** One way in which a value does not fit its schema. */
export interface Problem {
  /** Dotted path into the value: `address.zip`, `items.0`. Empty for the value itself. */
  readonly field: string;
  readonly message: string;
  /** What the schema wants, in words: `string`, `one of "a", "b"`. */
  readonly expected: string;
  /** What was there, in words. */
  readonly received: string;
}
