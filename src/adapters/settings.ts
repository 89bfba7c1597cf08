import type { JsonSchema } from "../tool/json-schema.ts";

/**
 * One setting, declared once: its JSON Schema with description and default, the type users write (`Written`), and the type the program
 * reads after defaults are applied (`Read`). `Sure` is true if it has a default.
 */
export type Setting<Written = unknown, Read = Written, Sure extends boolean = boolean> = JsonSchema & {
  readonly [types]?: { readonly given: Written; readonly filled: Read; readonly sure: Sure };
};
declare const types: unique symbol;

/** Settings by name. */
export type Settings = Readonly<Record<string, Setting>>;

/** The type that users write for a setting. */
export type SettingInput<Of extends Setting> = NonNullable<Of[typeof types]>["given"];
/** The type that the program reads. */
export type Filled<Of extends Setting> = NonNullable<Of[typeof types]>["filled"];

type SureKeys<Of extends Settings> = {
  [Key in keyof Of]: NonNullable<Of[Key][typeof types]>["sure"] extends true ? Key : never;
}[keyof Of];
type Flat<Of> = { [Key in keyof Of]: Of[Key] };

/** The type that users write for settings by name: every one optional, except those in `Needed`. */
export type SettingsInput<Of extends Settings, Needed extends PropertyKey = never> = Flat<
  { readonly [Key in keyof Of as Key extends Needed ? Key : never]: SettingInput<Of[Key]> } & {
    readonly [Key in keyof Of as Key extends Needed ? never : Key]?: SettingInput<Of[Key]>;
  }
>;
/** The type that the program reads: settings with a default are always present. */
export type FilledAll<Of extends Settings, Needed extends PropertyKey = never> = Flat<
  { readonly [Key in keyof Of as Key extends Needed | SureKeys<Of> ? Key : never]: Filled<Of[Key]> } & {
    readonly [Key in keyof Of as Key extends Needed | SureKeys<Of> ? never : Key]?: Filled<Of[Key]>;
  }
>;

type Has<Fallback> = undefined extends Fallback ? false : true;

/** A mapping with only these keys, all optional. Defaults to one with every default. */
export function object<const Of extends Settings>(
  description: string,
  properties: Of,
): Setting<SettingsInput<Of>, FilledAll<Of>, true> {
  return { description, type: "object", properties, additionalProperties: false, default: {} };
}

/** A mapping with only these keys, some of them required. It has no default. */
export function entry<const Of extends Settings, const Needed extends keyof Of & string>(
  description: string,
  properties: Of,
  required: readonly Needed[],
): Setting<SettingsInput<Of, Needed>, FilledAll<Of, Needed>, false> {
  return { description, type: "object", properties, additionalProperties: false, required };
}

/** The setting without its default: it stays undefined if omitted. */
export function optional<G, F>({ default: _default, ...rest }: Setting<G, F, true>): Setting<G, F, false> {
  return rest as JsonSchema;
}

/** A nonempty text. */
export function text<Fallback extends string | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Setting<string, string, Has<Fallback>> {
  return { description, type: "string", minLength: 1, ...withDefault(fallback) };
}

/** A file or folder. In a configuration file it is relative to the file's folder. */
export function path<Fallback extends string | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Setting<string, string, Has<Fallback>> {
  return { description, type: "string", minLength: 1, format: "path", ...withDefault(fallback) };
}

/** A folder for tools. Unlike a `path`, it is not one of the gateway's own files. Relative paths resolve like those of a `path`. */
export function folder<Fallback extends string | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Setting<string, string, Has<Fallback>> {
  return { description, type: "string", minLength: 1, format: "folder", ...withDefault(fallback) };
}

/** One of these values. */
export function choice<const Value extends string, const Fallback extends Value | undefined = undefined>(
  description: string,
  values: readonly Value[],
  fallback?: Fallback,
): Setting<Value, Value, Has<Fallback>> {
  return { description, enum: values, ...withDefault(fallback) };
}

/** Returns the settings that a spelling stands for. Gets the section as written, without the spelling and without defaults. */
export type Spelling = (section: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;

/** Accepts other spellings of a choice's values. They are resolved when the configuration is checked, so the program reads only the choice's own values. */
export function withSpellings<Value extends string, Sure extends boolean, const Other extends string>(
  { enum: values = [], ...rest }: Setting<Value, Value, Sure>,
  spellings: Readonly<Record<Other, Spelling>>,
): Setting<Value | Other, Value, Sure> {
  return { ...(rest as JsonSchema), enum: [...values, ...Object.keys(spellings)], spellings };
}

/** A whole number in a range. */
export function whole<Fallback extends number | undefined = undefined>(
  description: string,
  minimum: number,
  maximum: number,
  fallback?: Fallback,
): Setting<number, number, Has<Fallback>> {
  return { description, type: "integer", minimum, maximum, ...withDefault(fallback) };
}

/** A number from 0 to 1. */
export function share(description: string, fallback: number): Setting<number, number, true> {
  return { description, type: "number", minimum: 0, maximum: 1, default: fallback };
}

/** True or false. */
export function flag<Fallback extends boolean | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Setting<boolean, boolean, Has<Fallback>> {
  return { description, type: "boolean", ...withDefault(fallback) };
}

/** A list. The reader applies defaults inside its items. */
export function list<Item, Fallback extends readonly unknown[] | undefined = undefined>(
  description: string,
  items: Setting<Item, unknown>,
  fallback?: Fallback,
): Setting<readonly Item[], readonly Item[], Has<Fallback>> {
  return { description, type: "array", items, ...withDefault(fallback) };
}

/** A mapping of the user's own keys to texts. */
export function texts<Fallback extends object | undefined = undefined>(
  description: string,
  fallback?: Fallback,
): Setting<Readonly<Record<string, string>>, Readonly<Record<string, string>>, Has<Fallback>> {
  return { description, type: "object", additionalProperties: { type: "string" }, ...withDefault(fallback) };
}

/** A mapping that is passed on unchanged. */
export function anything(
  description: string,
): Setting<Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>, false> {
  return { description, type: "object" };
}

/** A setting with its own JSON Schema. */
export function schema<Value>(of: JsonSchema): Setting<Value, Value, false> {
  return of;
}

function withDefault(fallback: unknown): { readonly default?: unknown } {
  return fallback === undefined ? {} : { default: fallback };
}
