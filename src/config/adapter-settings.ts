import type { KINDS } from "../adapters/kinds.ts";
import {
  choice,
  type Filled,
  type FilledAll,
  type InputOf,
  type InputsOf,
  flag,
  object,
  optional,
  type Shape,
  type Shapes,
} from "../tool/shape/shape.ts";
import type { NamedSource } from "../adapters/sources/named-source.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import { toCamel } from "./load/key-style.ts";
import declared from "../adapters/adapter-settings.json" with { type: "json" };

/*
 * The settings that adapters declare in their own files, without loading the adapters: adapter-settings.json contains the schemas, and the compiler
 * reads the types from the manifests. A configuration can name an adapter if its file exports `create`. `config` lists its settings, and `needs` the
 * required ones.
 */
type Manifests = typeof KINDS;
export type Kind = keyof Manifests;
type ModuleOf<Of extends Kind, Name extends keyof Manifests[Of]> = Manifests[Of][Name] extends () => Promise<
  infer Module
>
  ? Module
  : never;
type ConfigOf<Of extends Kind, Name extends keyof Manifests[Of]> =
  ModuleOf<Of, Name> extends { readonly config: infer Config extends Shape } ? Config : never;
/** The names of adapters that a configuration can use, by kind. */
export type NameOf<Of extends Kind> = {
  [Name in keyof Manifests[Of]]: ModuleOf<Of, Name> extends { readonly create: unknown } ? Name : never;
}[keyof Manifests[Of]] &
  string;
type WithConfig<Of extends Kind> = {
  [Name in keyof Manifests[Of]]: ConfigOf<Of, Name> extends never ? never : Name;
}[keyof Manifests[Of]];
type All<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer Each) => void
  ? Each
  : never;
type AllGiven<Of extends Kind> = All<{ [Name in WithConfig<Of>]: InputOf<ConfigOf<Of, Name>> }[WithConfig<Of>]>;
type AllFilled<Of extends Kind> = All<{ [Name in WithConfig<Of>]: Filled<ConfigOf<Of, Name>> }[WithConfig<Of>]>;
type Camel<Name> = Name extends `${infer Start}-${infer Rest}` ? `${Start}${Capitalize<Camel<Rest>>}` : Name;

interface Declared {
  readonly create: boolean;
  /** Required settings, each with the fix if it is missing. */
  readonly needs?: Readonly<Record<string, string>>;
  readonly config?: Shape;
  /** The extensions of the files that it reads; `*` for extensions that no other adapter reads. */
  readonly reads?: readonly string[];
  /** The path of its module, relative to the folder of its kind, if it reads files. */
  readonly file?: string;
}
const DECLARED = declared as unknown as Readonly<Record<Kind, Readonly<Record<string, Declared>>>>;

export function namesOf<Of extends Kind>(kind: Of): readonly NameOf<Of>[] {
  return Object.entries(DECLARED[kind])
    .filter(([, { create }]) => create)
    .map(([name]) => name as NameOf<Of>);
}

/** Returns the required settings of an adapter, each with the fix if it is missing. */
export function needsOf(kind: Kind, name: string): Readonly<Record<string, string>> {
  return DECLARED[kind][name]?.needs ?? {};
}

/** Returns the module of the adapter that reads a file, relative to src/adapters; undefined if there is none. */
export function readerOf(kind: Kind, ending: string): string | undefined {
  const adapters = Object.values(DECLARED[kind]);
  const found =
    adapters.find(({ reads }) => reads?.includes(ending)) ?? adapters.find(({ reads }) => reads?.includes("*"));
  return found?.file?.replace("./", `${kind}/`);
}

export function configOf<Of extends Kind, Name extends WithConfig<Of>>(kind: Of, name: Name): ConfigOf<Of, Name> {
  return DECLARED[kind][name as string]?.config as ConfigOf<Of, Name>;
}

/** The settings that every source in a list may have. */
export interface ListedSource {
  readonly disabled?: boolean;
}

const LISTED = { disabled: flag("Whether the source is left out.") };

/** A list entry for a source of one type. */
export function listed<Name extends WithConfig<"sources">>(
  name: Name,
): Shape<InputOf<ConfigOf<"sources", Name>> & ListedSource, Filled<ConfigOf<"sources", Name>> & ListedSource, false> {
  const { properties, ...config } = configOf("sources", name) as Shape;
  return { ...config, properties: { ...properties, ...LISTED } } as JsonSchema;
}

/** A list entry for a source of any type, which `type` names. */
export function anySource(): Shape<NamedSource & ListedSource, NamedSource & ListedSource, false> {
  const anyOf = namesOf("sources").map((name) => {
    const { properties, required = [], ...config } = configOf("sources", name) as Shape;
    const type = choice("The type of the source.", [name]);
    return { ...config, properties: { ...properties, type, ...LISTED }, required: ["type", ...required] };
  });
  const type = choice("The type of the source; its other settings are those of that type.", namesOf("sources"));
  return { description: "One source.", type: "object", properties: { type }, required: ["type"], anyOf };
}

/** A section that selects one adapter of a kind. It has its own settings and those of each adapter. */
export function section<Of extends Kind, const Own extends Shapes>(
  description: string,
  kind: Of,
  own: Own,
): Shape<InputsOf<Own> & AllGiven<Of>, FilledAll<Own> & AllFilled<Of>, true> {
  const theirs = Object.values(DECLARED[kind]).map(({ config }) => config?.properties as Shapes | undefined);
  return object(description, Object.assign({}, own, ...theirs) as Shapes) as Shape<never, never, true>;
}

/** One optional key for each way to authenticate callers, if it has settings. */
export function proofs(): {
  readonly [Name in WithConfig<"identity"> as Camel<Name>]: Shape<
    InputOf<ConfigOf<"identity", Name>>,
    Filled<ConfigOf<"identity", Name>>,
    false
  >;
} {
  const entries = Object.entries(DECLARED.identity).flatMap(([name, { config }]) =>
    config === undefined ? [] : [[toCamel(name), optional(config as Shape<unknown, unknown, true>)]],
  );
  return Object.fromEntries(entries) as ReturnType<typeof proofs>;
}

/** One key for each scanner except the rules. */
export function scanModes(): {
  readonly [Name in NameOf<"scanners"> as Camel<Name>]: Shape<"off" | "flag", "off" | "flag", true>;
} {
  const modes = namesOf("scanners").map((name) => [
    toCamel(name),
    choice(`flag also reports what the ${name} scanner finds. It never blocks.`, ["off", "flag"], "off"),
  ]);
  return Object.fromEntries(modes) as ReturnType<typeof scanModes>;
}
