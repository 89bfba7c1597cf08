import type { JsonSchema } from "../json-schema.ts";
import type { Check } from "./check.ts";

/**
 * A value from outside, declared once: its JSON Schema with description and default, the type that users write (`Input`), and the type that the
 * program reads after defaults are applied (`Read`). `Sure` is true if it has a default. Everything else is derived: validation (`checkOf`), the
 * configuration, REST bodies, `/openapi.json`, the tables in the docs and the forms of the dashboard.
 */
export type Shape<Input = unknown, Read = Input, Sure extends boolean = boolean> = JsonSchema &
  Typed<Input, Read, Sure>;

interface Typed<Input, Read, Sure extends boolean> {
  readonly [types]?: { readonly given: Input; readonly filled: Read; readonly sure: Sure };
  readonly [HINTS]?: Hints;
}
declare const types: unique symbol;

/** The key of a shape's hints. A symbol never appears in JSON. */
export const HINTS: unique symbol = Symbol("hints");

/** Rules and messages that JSON Schema has no keyword for. */
export interface Hints {
  /** Replaces the check that follows from the schema. */
  readonly check?: Check;
  /** Returns whether a value is valid, instead of the schema. Needs `problem` and `fix`. */
  readonly fits?: (value: unknown) => boolean;
  /** The message for an invalid value, instead of the default one. */
  readonly problem?: string;
  /** The fix for an invalid value, instead of the default one. */
  readonly fix?: string;
  /** The fix for a text or list that is too long. */
  readonly shorten?: string;
  /** A word for the entries of a list, in messages. */
  readonly items?: string;
  /** Fixes for members that belong to other formats, by name. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** True if only code can pass it: values that JSON cannot represent, and members that other surfaces take from the request itself. */
  readonly onlyInCode?: boolean;
  /** The replacement of a deprecated member, as users write it. */
  readonly replacement?: string;
}

export type Shapes = Readonly<Record<string, Shape>>;

/** The type that users write. */
export type InputOf<Of extends Shape> = NonNullable<Of[typeof types]>["given"];
/** The type that the program reads. */
export type Filled<Of extends Shape> = NonNullable<Of[typeof types]>["filled"];

type SureKeys<Of extends Shapes> = {
  [Key in keyof Of]: NonNullable<Of[Key][typeof types]>["sure"] extends true ? Key : never;
}[keyof Of];
type Flat<Of> = { [Key in keyof Of]: Of[Key] };

/** The type that users write for members by name. All are optional except those in `Needed`. Doc comments of members carry over. */
export type InputsOf<Of extends Shapes, Needed extends keyof Of = never> = Flat<
  { readonly [Key in keyof Pick<Of, Needed>]: InputOf<Of[Key]> } & {
    readonly [Key in keyof Omit<Of, Needed>]?: InputOf<Of[Key]>;
  }
>;
/** The type that the program reads for members by name. Members with a default are always present. */
export type FilledAll<Of extends Shapes, Needed extends keyof Of = never> = Flat<
  { readonly [Key in keyof Pick<Of, Needed | SureKeys<Of>>]: Filled<Of[Key]> } & {
    readonly [Key in keyof Omit<Of, Needed | SureKeys<Of>>]?: Filled<Of[Key]>;
  }
>;

export interface ObjectShape<Of extends Shapes, Needed extends keyof Of, Sure extends boolean>
  extends JsonSchema, Typed<InputsOf<Of, Needed>, FilledAll<Of, Needed>, Sure> {
  readonly properties: Of;
}

type Has<Fallback> = undefined extends Fallback ? false : true;

/** An object with only these members, all optional. Defaults to an object with every default. */
export function object<const Of extends Shapes>(description: string, properties: Of): ObjectShape<Of, never, true> {
  return { description, type: "object", properties, additionalProperties: false, default: {} };
}

/** An object with only these members, some of them required. Has no default. */
export function entry<const Of extends Shapes, const Needed extends keyof Of & string = never>(
  description: string,
  properties: Of,
  required: readonly Needed[] = [],
): ObjectShape<Of, Needed, false> {
  return { ...openEntry(description, properties, required), additionalProperties: false };
}

/** Like `entry`, but other members are allowed. */
export function openEntry<const Of extends Shapes, const Needed extends keyof Of & string = never>(
  description: string,
  properties: Of,
  required: readonly Needed[] = [],
): ObjectShape<Of, Needed, false> {
  return { description, type: "object", properties, ...(required.length > 0 && { required }) };
}

/** Removes the default: the value is undefined if omitted. */
export function optional<G, F>({ default: _default, ...rest }: Shape<G, F, true>): Shape<G, F, false> {
  return rest as JsonSchema;
}

/** Adds keywords, such as `maxLength`, or replaces the description. */
export function refined<Of extends Shape>(shape: Of, keywords: JsonSchema): Of {
  return { ...shape, ...keywords };
}

/** Adds rules and messages that JSON Schema has no keyword for. */
export function hinted<Of extends Shape>(shape: Of, hints: Hints): Of {
  return { ...shape, [HINTS]: { ...shape[HINTS], ...hints } };
}

/** Marks a deprecated member. Editors strike it through, and `toolarsenal doctor` names the replacement. */
export function replaced<Of extends Shape>(shape: Of, replacement: string): Of {
  return hinted(refined(shape, { deprecated: true }), { replacement });
}

/** The body of a request: the shape without members that only code can pass. Other members are not allowed. */
export function bodyOf<Of extends Shape>(shape: Of): Of {
  const members = Object.entries(shape.properties ?? {});
  const kept = members.filter(([, member]) => (member as Shape)[HINTS]?.onlyInCode !== true);
  return { ...shape, properties: Object.fromEntries(kept), additionalProperties: false };
}

/** A text that may be empty. */
export function string(description: string): Shape<string, string, false> {
  return { description, type: "string" };
}

export function text<Fallback extends string | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Shape<string, string, Has<Fallback>> {
  return { description, type: "string", minLength: 1, ...withDefault(fallback) };
}

/** A file or folder. In a configuration file, relative to the file's folder. */
export function path<Fallback extends string | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Shape<string, string, Has<Fallback>> {
  return { ...text(description, fallback), format: "path" };
}

/** A folder for tools. Resolved like a `path`, but not treated as one of the gateway's own files. */
export function folder<Fallback extends string | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Shape<string, string, Has<Fallback>> {
  return { ...text(description, fallback), format: "folder" };
}

export function choice<const Value extends string, const Fallback extends Value | undefined = undefined>(
  description: string,
  values: readonly Value[],
  fallback?: Fallback,
): Shape<Value, Value, Has<Fallback>> {
  return { description, type: "string", enum: values, ...withDefault(fallback) };
}

/** Returns the settings that a spelling means. Gets the section as written, without the spelling and without defaults. */
export type Spelling = (section: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;

/** Accepts other spellings of a choice's values. They are resolved during validation, so the program reads only the choice's own values. */
export function withSpellings<Value extends string, Sure extends boolean, const Other extends string>(
  { enum: values = [], ...rest }: Shape<Value, Value, Sure>,
  spellings: Readonly<Record<Other, Spelling>>,
): Shape<Value | Other, Value, Sure> {
  return { ...(rest as JsonSchema), enum: [...values, ...Object.keys(spellings)], spellings };
}

export function whole<Fallback extends number | undefined = undefined>(
  description: string,
  minimum?: number,
  maximum?: number,
  fallback?: Fallback,
): Shape<number, number, Has<Fallback>> {
  return { ...ranged("integer", description, minimum, maximum), ...withDefault(fallback) };
}

export function number(description: string, minimum?: number, maximum?: number): Shape<number, number, false> {
  return ranged("number", description, minimum, maximum);
}

export function time(description: string): Shape<number, number, false> {
  return number(`${description} Milliseconds since the epoch.`);
}

/** A number from 0 to 1. */
export function share<Fallback extends number | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Shape<number, number, Has<Fallback>> {
  return { ...ranged("number", description, 0, 1), ...withDefault(fallback) };
}

export function flag<Fallback extends boolean | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Shape<boolean, boolean, Has<Fallback>> {
  return { description, type: "boolean", ...withDefault(fallback) };
}

/** A list. Defaults inside its items are applied on reading. */
export function list<Item, Fallback extends readonly unknown[] | undefined = undefined>(
  description: string,
  items: Shape<Item, unknown>,
  fallback?: Fallback,
): Shape<readonly Item[], readonly Item[], Has<Fallback>> {
  return { description, type: "array", items, ...withDefault(fallback) };
}

export function strings(description: string): Shape<readonly string[], readonly string[], false> {
  return list(description, schema<string>({ type: "string" }));
}

/** An object of texts under the user's own keys. */
export function texts<Fallback extends object | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Shape<Readonly<Record<string, string>>, Readonly<Record<string, string>>, Has<Fallback>> {
  return { description, type: "object", additionalProperties: { type: "string" }, ...withDefault(fallback) };
}

/** An object that is passed on unchanged. */
export function anything(
  description: string,
): Shape<Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>, false> {
  return { description, type: "object" };
}

export function schema<Value>(of: JsonSchema): Shape<Value, Value, false> {
  return of;
}

function ranged(type: string, description: string, minimum?: number, maximum?: number): JsonSchema {
  const from = minimum === undefined ? {} : { minimum };
  return { description, type, ...from, ...(maximum === undefined ? {} : { maximum }) };
}

function withDefault(fallback: unknown): { readonly default?: unknown } {
  return fallback === undefined ? {} : { default: fallback };
}
