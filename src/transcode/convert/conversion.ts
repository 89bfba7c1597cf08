import type { JsonSchema } from "../../tool/json-schema.ts";
import type { SchemaTarget } from "../convert-schema.ts";
import type { SchemaFeature } from "../features.ts";
import { below, createReferences } from "../schema/find-reference.ts";
import type { Loss } from "../dialect.port.ts";

/** The most schemas that one conversion writes: references are copied up to this limit. */
const MAX_NODES = 10_000;

/** Starts the conversion of a schema: its index, its losses, and its remaining budget. */
function startConversion(root: unknown, target: SchemaTarget) {
  const losses = new Map<string, Loss>();
  const names = new Map<string, string>();
  const definitions = new Map<string, JsonSchema>();
  let refusals = 0;
  let nodes = 0;
  let attempts = 0;

  return {
    target,
    references: createReferences(root),
    /** Records one change. The same change at the same place, repeated because a definition is used twice, is recorded once. */
    record(path: string, keyword: string, action: Loss["action"], message: string): void {
      const key = JSON.stringify([path, keyword, message]);
      if (losses.has(key)) return;
      losses.set(key, { path, keyword, action, message });
      if (action === "refused") refusals += 1;
    },
    has: (feature: SchemaFeature): boolean => target.features.has(feature),
    /** Counts one schema. Returns false once the budget is spent and the rest is left out. */
    spend(): boolean {
      nodes += 1;
      return nodes <= MAX_NODES;
    },
    /** Runs a step; if it ends in a refusal, undoes all of it and returns undefined. */
    attempt<Result>(step: () => Result): Result | undefined {
      const before = { refusals, losses: losses.size, names: names.size };
      attempts += 1;
      const result = step();
      attempts -= 1;
      if (refusals === before.refusals) return result;
      refusals = before.refusals;
      for (const key of [...losses.keys()].slice(before.losses)) losses.delete(key);
      for (const [key, name] of [...names].slice(before.names)) {
        names.delete(key);
        definitions.delete(name);
      }
      return undefined;
    },
    /** True inside a step that may be undone. */
    isAttempting: (): boolean => attempts > 0,
    /** The name of the definition for a key. `write` is called on the first use. */
    define(key: string, wanted: string, write: () => JsonSchema): string {
      const known = names.get(key);
      if (known !== undefined) return known;
      const name = unusedName(wanted, new Set(names.values()));
      // Named before it is written: it may refer to itself.
      names.set(key, name);
      definitions.set(name, write());
      return name;
    },
    losses: (): readonly Loss[] => [...losses.values()],
    definitions: definitions as ReadonlyMap<string, JsonSchema>,
    isRefused: (): boolean => refusals > 0,
  };
}

/** Letters, digits and `_` only, which are safe in every provider and pointer. */
function unusedName(wanted: string, used: ReadonlySet<string>): string {
  const name = wanted.replaceAll(/[^A-Za-z0-9_]+/g, "_") || "definition";
  let candidate = name;
  for (let count = 2; used.has(candidate); count++) candidate = `${name}_${count}`;
  return candidate;
}

/** A part of a converted schema: its keywords, and the notes that replace dropped ones. */
export interface SchemaPart {
  readonly structure: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
  /** True if this part makes the whole schema reject every value. */
  readonly isNever?: boolean;
}

/** A position in a schema that is being converted. */
export interface SchemaPosition extends ReturnType<typeof startConversion> {
  /** JSON Pointer into the original. */
  readonly path: string;
  /** Steps down from the root, over everything. */
  readonly depth: number;
  /** The number of objects and arrays around this one. */
  readonly level: number;
  /** Pointers of the references copied on the way here. */
  readonly following: ReadonlySet<string>;
  /** Types that the other branches of the surrounding union accept: an encoding must not look like one of them. */
  readonly otherTypes: ReadonlySet<string>;
}

/** The root position of a schema's conversion. */
export function rootOf(schema: unknown, target: SchemaTarget): SchemaPosition {
  return {
    ...startConversion(schema, target),
    path: "",
    depth: 0,
    level: 0,
    following: new Set(),
    otherTypes: new Set(),
  };
}

/** The position of a child schema. A child copied from elsewhere in the original keeps its path there. */
export function within(place: SchemaPosition, child: unknown, ...tokens: readonly (string | number)[]): SchemaPosition {
  const path = place.references.pointerOf(child) ?? below(place.path, ...tokens);
  return { ...place, path, depth: place.depth + 1 };
}

/** The same for a schema inside an object or a list. */
export function withinContainer(
  place: SchemaPosition,
  child: unknown,
  ...tokens: readonly (string | number)[]
): SchemaPosition {
  return { ...within(place, child, ...tokens), level: place.level + 1, otherTypes: new Set() };
}

/** Records a change of a keyword of the schema at a place. */
export function lose(place: SchemaPosition, keyword: string, action: Loss["action"], message: string): void {
  place.record(below(place.path, keyword), keyword, action, message);
}
