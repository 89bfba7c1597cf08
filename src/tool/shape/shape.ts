import type { JsonSchema } from "../json-schema.ts";
import type { Check } from "./check.ts";

/**
 * A value from outside, declared once: its JSON Schema with description and default, the type users write (`Input`), and the type the program
 * reads after defaults are applied (`Read`). `Sure` is true if it has a default. The library's check (`checkOf`), the configuration, the bodies
 * of REST, `/openapi.json`, the tables of the docs and the forms of the dashboard follow from it.
 */
export type Shape<Input = unknown, Read = Input, Sure extends boolean = boolean> = JsonSchema &
  Typed<Input, Read, Sure>;

interface Typed<Input, Read, Sure extends boolean> {
  readonly [types]?: { readonly given: Input; readonly filled: Read; readonly sure: Sure };
  readonly [HINTS]?: Hints;
}
declare const types: unique symbol;

/** The key of a shape's hints. As a symbol, it is in no JSON. */
export const HINTS: unique symbol = Symbol("hints");

/** The rules and messages that JSON Schema has no keyword for. */
export interface Hints {
  /** Replaces the check that follows from the schema. */
  readonly check?: Check;
  /** Returns whether a value fits, in place of the schema. Needs `problem` and `fix`. */
  readonly fits?: (value: unknown) => boolean;
  /** The problem of a value that does not fit, in place of the usual one. */
  readonly problem?: string;
  /** The fix for a value that does not fit, in place of the usual one. */
  readonly fix?: string;
  /** The fix for a text or list that is too long. */
  readonly shorten?: string;
  /** The entries of a list, in words. */
  readonly items?: string;
  /** Fixes for members of other formats, by name. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** True if only code can pass it: values that JSON cannot hold, and members that other surfaces take from the request itself. */
  readonly onlyInCode?: boolean;
  /** The replacement of a deprecated member, as users write it. */
  readonly replacement?: string;
}

/** Shapes by name. */
export type Shapes = Readonly<Record<string, Shape>>;

/** The type that users write. */
export type InputOf<Of extends Shape> = NonNullable<Of[typeof types]>["given"];
/** The type that the program reads. */
export type Filled<Of extends Shape> = NonNullable<Of[typeof types]>["filled"];

type SureKeys<Of extends Shapes> = {
  [Key in keyof Of]: NonNullable<Of[Key][typeof types]>["sure"] extends true ? Key : never;
}[keyof Of];
type Flat<Of> = { [Key in keyof Of]: Of[Key] };

/** The type that users write for members by name: every one optional, except those in `Needed`. Doc comments of members carry over. */
export type InputsOf<Of extends Shapes, Needed extends keyof Of = never> = Flat<
  { readonly [Key in keyof Pick<Of, Needed>]: InputOf<Of[Key]> } & {
    readonly [Key in keyof Omit<Of, Needed>]?: InputOf<Of[Key]>;
  }
>;
/** The type that the program reads: members with a default are always present. */
export type FilledAll<Of extends Shapes, Needed extends keyof Of = never> = Flat<
  { readonly [Key in keyof Pick<Of, Needed | SureKeys<Of>>]: Filled<Of[Key]> } & {
    readonly [Key in keyof Omit<Of, Needed | SureKeys<Of>>]?: Filled<Of[Key]>;
  }
>;

/** A mapping with known members. */
export interface ObjectShape<Of extends Shapes, Needed extends keyof Of, Sure extends boolean>
  extends JsonSchema, Typed<InputsOf<Of, Needed>, FilledAll<Of, Needed>, Sure> {
  readonly properties: Of;
}

type Has<Fallback> = undefined extends Fallback ? false : true;

/** A mapping with only these keys, all optional. Defaults to one with every default. */
export function object<const Of extends Shapes>(description: string, properties: Of): ObjectShape<Of, never, true> {
  return { description, type: "object", properties, additionalProperties: false, default: {} };
}

/** A mapping with only these keys, some of them required. It has no default. */
export function entry<const Of extends Shapes, const Needed extends keyof Of & string = never>(
  description: string,
  properties: Of,
  required: readonly Needed[] = [],
): ObjectShape<Of, Needed, false> {
  return { ...openEntry(description, properties, required), additionalProperties: false };
}

/** An `entry` that may have other members, too. */
export function openEntry<const Of extends Shapes, const Needed extends keyof Of & string = never>(
  description: string,
  properties: Of,
  required: readonly Needed[] = [],
): ObjectShape<Of, Needed, false> {
  return { description, type: "object", properties, ...(required.length > 0 && { required }) };
}

/** The shape without its default: it stays undefined if omitted. */
export function optional<G, F>({ default: _default, ...rest }: Shape<G, F, true>): Shape<G, F, false> {
  return rest as JsonSchema;
}

/** The shape with further keywords, such as `maxLength`, or another description. */
export function refined<Of extends Shape>(shape: Of, keywords: JsonSchema): Of {
  return { ...shape, ...keywords };
}

/** The shape with rules and messages that JSON Schema has no keyword for. */
export function hinted<Of extends Shape>(shape: Of, hints: Hints): Of {
  return { ...shape, [HINTS]: { ...shape[HINTS], ...hints } };
}

/** The shape of a deprecated member. Editors strike it through, and `toolarsenal doctor` names the replacement. */
export function replaced<Of extends Shape>(shape: Of, replacement: string): Of {
  return hinted(refined(shape, { deprecated: true }), { replacement });
}

/** The body of a request: the shape without the members that only code can pass. Further members are not allowed. */
export function bodyOf<Of extends Shape>(shape: Of): Of {
  const members = Object.entries(shape.properties ?? {});
  const kept = members.filter(([, member]) => (member as Shape)[HINTS]?.onlyInCode !== true);
  return { ...shape, properties: Object.fromEntries(kept), additionalProperties: false };
}

/** A text that may be empty. */
export function string(description: string): Shape<string, string, false> {
  return { description, type: "string" };
}

/** A nonempty text. */
export function text<Fallback extends string | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Shape<string, string, Has<Fallback>> {
  return { description, type: "string", minLength: 1, ...withDefault(fallback) };
}

/** A file or folder. In a configuration file it is relative to the file's folder. */
export function path<Fallback extends string | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Shape<string, string, Has<Fallback>> {
  return { ...text(description, fallback), format: "path" };
}

/** A folder for tools. Unlike a `path`, it does not count as one of the gateway's own files. Relative paths resolve like those of a `path`. */
export function folder<Fallback extends string | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Shape<string, string, Has<Fallback>> {
  return { ...text(description, fallback), format: "folder" };
}

/** One of these values. */
export function choice<const Value extends string, const Fallback extends Value | undefined = undefined>(
  description: string,
  values: readonly Value[],
  fallback?: Fallback,
): Shape<Value, Value, Has<Fallback>> {
  return { description, type: "string", enum: values, ...withDefault(fallback) };
}

/** Returns the settings that a spelling stands for. Gets the section as written, without the spelling and without defaults. */
export type Spelling = (section: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;

/** Accepts other spellings of a choice's values. They are resolved when the configuration is checked, so the program reads only the choice's own values. */
export function withSpellings<Value extends string, Sure extends boolean, const Other extends string>(
  { enum: values = [], ...rest }: Shape<Value, Value, Sure>,
  spellings: Readonly<Record<Other, Spelling>>,
): Shape<Value | Other, Value, Sure> {
  return { ...(rest as JsonSchema), enum: [...values, ...Object.keys(spellings)], spellings };
}

/** A whole number, in a range if it has one. */
export function whole<Fallback extends number | undefined = undefined>(
  description: string,
  minimum?: number,
  maximum?: number,
  fallback?: Fallback,
): Shape<number, number, Has<Fallback>> {
  return { ...ranged("integer", description, minimum, maximum), ...withDefault(fallback) };
}

/** A number, in a range if it has one. */
export function number(description: string, minimum?: number, maximum?: number): Shape<number, number, false> {
  return ranged("number", description, minimum, maximum);
}

/** A time in milliseconds since the epoch. */
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

/** True or false. */
export function flag<Fallback extends boolean | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Shape<boolean, boolean, Has<Fallback>> {
  return { description, type: "boolean", ...withDefault(fallback) };
}

/** A list. The reader applies defaults inside its items. */
export function list<Item, Fallback extends readonly unknown[] | undefined = undefined>(
  description: string,
  items: Shape<Item, unknown>,
  fallback?: Fallback,
): Shape<readonly Item[], readonly Item[], Has<Fallback>> {
  return { description, type: "array", items, ...withDefault(fallback) };
}

/** A list of texts. */
export function strings(description: string): Shape<readonly string[], readonly string[], false> {
  return list(description, schema<string>({ type: "string" }));
}

/** A mapping of the user's own keys to texts. */
export function texts<Fallback extends object | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Shape<Readonly<Record<string, string>>, Readonly<Record<string, string>>, Has<Fallback>> {
  return { description, type: "object", additionalProperties: { type: "string" }, ...withDefault(fallback) };
}

/** A mapping that is passed on unchanged. */
export function anything(
  description: string,
): Shape<Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>, false> {
  return { description, type: "object" };
}

/** A value with its own JSON Schema. */
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
