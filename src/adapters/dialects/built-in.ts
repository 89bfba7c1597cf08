import { fixable } from "../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../errors/show-value.ts";
import type { Dialect, ProviderSearch } from "../../transcode/dialect.port.ts";
import { inferDialect } from "./auto.ts";
import { dialects } from "./manifest.ts";

type Manifest = typeof dialects;
type CreatedDialect<Name extends keyof Manifest> = ReturnType<Awaited<ReturnType<Manifest[Name]>>["create"]>;

/** The tool definitions of each dialect. `auto` is resolved at run time. */
export type DialectTools = {
  readonly [Name in keyof Manifest]: CreatedDialect<Name> extends Dialect<infer Definition, infer _Message>
    ? Definition
    : never;
} & { readonly auto: Record<string, unknown> };

/** The tool definitions of each dialect for its provider's own search; `never` for dialects without one. */
export type SearchedTools = {
  readonly [Name in keyof Manifest]: CreatedDialect<Name> extends {
    readonly providerSearch: ProviderSearch<infer _Definition, infer Offered>;
  }
    ? Offered
    : never;
};

/** The name of a built-in dialect whose provider searches tools itself. */
export type SearchDialectName = {
  [Name in keyof SearchedTools]: [SearchedTools[Name]] extends [never] ? never : Name;
}[keyof SearchedTools];

/** The results of each dialect: a message, an item, a block or a part. */
export type DialectMessages = {
  readonly [Name in keyof Manifest]: CreatedDialect<Name> extends Dialect<infer _Definition, infer Message>
    ? Message
    : never;
};

/** The name of a built-in dialect. `auto` infers it from a client, a model's name or an example. */
export type DialectName = keyof DialectTools;

export const DIALECT_NAMES = Object.keys(dialects) as readonly (keyof Manifest)[];

/** Each dialect caches its conversions, so one instance of each is shared. */
const loaded = new Map<string, Promise<Dialect>>();

/**
 * Returns a dialect by its name, or the given dialect itself. `further` has the dialects added to an arsenal. `auto` uses the hint. Rejects with
 * QUERY_INVALID for anything else.
 */
export async function toDialect(
  given: Dialect | DialectName | (string & {}),
  hint?: unknown,
  further: ReadonlyMap<string, Dialect> = new Map(),
  field = "dialect",
): Promise<Dialect> {
  if (typeof given === "object" && typeof given?.fromCanonical === "function") return given;
  const added = further.get(given as string);
  if (added !== undefined) return added;
  const name = given === "auto" ? inferDialect(hint, field) : given;
  if (typeof name === "string" && Object.hasOwn(dialects, name)) {
    const dialect = loaded.get(name) ?? dialects[name as keyof Manifest]().then(({ create }) => create() as Dialect);
    loaded.set(name, dialect);
    return dialect;
  }
  const known = [...DIALECT_NAMES, ...further.keys(), "auto"];
  const near = typeof given === "string" ? nearest(given, known) : undefined;
  const fix = `Use ${near ?? `one of ${known.join(", ")}`}, or a dialect of your own.`;
  const problem = `${field} is ${showValue(given)}, which is not a dialect.`;
  throw fixable("QUERY_INVALID", problem, fix, { field, value: given });
}
