import type { JsonSchema } from "../tool/json-schema.ts";

/** Compiles schemas into checks. Compiling is slow and done once a tool; checking is fast. */
export interface Validator {
  /**
   * Throws an `ArsenalError` TOOL_INVALID, or rejects with it, where the schema itself is broken. A promise is only for schemas that would
   * keep the process from its other work.
   */
  compile(schema: JsonSchema, options?: CompileOptions): AnyCheck | Promise<AnyCheck>;
  /** Releases threads and the like. Safe to call twice. */
  close?(): Promise<void>;
}

export interface CompileOptions {
  /** True where the schema was written by whoever runs the program. False where absent: schemas from outside may be hostile. */
  readonly trusted?: boolean;
}

/** Checks a value without changing it. */
export interface Check {
  (value: unknown): Checked;
  /** What of the schema is not checked, and why. */
  readonly notes?: readonly string[];
}

/** A check that may take its time, on another thread. */
export interface AnyCheck {
  (value: unknown): Checked | Promise<Checked>;
  readonly notes?: readonly string[];
}

/** A validator whose checks never wait. */
export interface ImmediateValidator extends Validator {
  compile(schema: JsonSchema, options?: CompileOptions): Check;
}

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
