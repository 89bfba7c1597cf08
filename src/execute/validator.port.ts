import type { JsonSchema } from "../tool/json-schema.ts";

/** Compiles schemas into checks, once per tool. */
export interface Validator {
  /** Compiles a schema. Throws TOOL_INVALID, or rejects, if it is invalid. Returns a promise only for schemas that would block the event loop. */
  compile(schema: JsonSchema, options?: CompileOptions): Check | Promise<Check>;
  /** Releases threads and other resources. Safe to call twice. */
  close?(): Promise<void>;
}

export interface CompileOptions {
  /** True if the program's own author wrote the schema. Defaults to false, because external schemas may be hostile. */
  readonly trusted?: boolean;
}

/** Checks a value without changing it. Synchronous, or on another thread if it takes long. */
export interface Check {
  (value: unknown): Checked | Promise<Checked>;
  /** The parts of the schema that are not checked, and why. */
  readonly notes?: readonly string[];
}

/** The value with defaults filled in, or all problems found. */
export type Checked =
  | { readonly valid: true; readonly value: unknown }
  | { readonly valid: false; readonly problems: readonly Problem[] };

/** A mismatch between a value and its schema. */
export interface Problem {
  /** Dotted path into the value: `address.zip`, `items.0`. Empty for the value itself. */
  readonly field: string;
  readonly message: string;
  /** The expected value in words: `string`, `one of "a", "b"`. */
  readonly expected: string;
  /** The actual value in words. */
  readonly received: string;
}
