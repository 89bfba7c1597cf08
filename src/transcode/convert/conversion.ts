import type { JsonSchema } from "../../tool/json-schema.ts";
import type { SchemaTarget } from "../convert-schema.ts";
import type { SchemaFeature } from "../features.ts";
import { below, createReferences } from "../schema/find-reference.ts";
import type { Loss } from "../dialect.port.ts";

/** The maximum number of schemas that one conversion writes. References are copied up to this limit. */
const MAX_NODES = 10_000;

/** Starts the conversion of a schema, with its index, losses and budget. */
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
    /** Records one change. A change is recorded once even if it is repeated because a definition is used twice. */
    record(path: string, keyword: string, action: Loss["action"], message: string): void {
      const key = JSON.stringify([path, keyword, message]);
      if (losses.has(key)) return;
      losses.set(key, { path, keyword, action, message });
      if (action === "refused") refusals += 1;
    },
    has: (feature: SchemaFeature): boolean => target.features.has(feature),
    /** Counts one schema. Returns false if the budget is used up; the rest is then left out. */
    spend(): boolean {
      nodes += 1;
      return nodes <= MAX_NODES;
    },
    /** Runs a step. If the step ends in a refusal, undoes it and returns undefined. */
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
    /** Returns true inside a step that may be undone. */
    isAttempting: (): boolean => attempts > 0,
    /** Returns the name of the definition for a key. Calls `write` on first use. */
    define(key: string, wanted: string, write: () => JsonSchema): string {
      const known = names.get(key);
      if (known !== undefined) return known;
      const name = unusedName(wanted, new Set(names.values()));
      // The name is registered first, because the definition may refer to itself.
      names.set(key, name);
      definitions.set(name, write());
      return name;
    },
    losses: (): readonly Loss[] => [...losses.values()],
    definitions: definitions as ReadonlyMap<string, JsonSchema>,
    isRefused: (): boolean => refusals > 0,
  };
}

/** Uses only letters, digits and `_`, which are safe for every provider and in pointers. */
function unusedName(wanted: string, used: ReadonlySet<string>): string {
  const name = wanted.replaceAll(/[^A-Za-z0-9_]+/g, "_") || "definition";
  let candidate = name;
  for (let count = 2; used.has(candidate); count++) candidate = `${name}_${count}`;
  return candidate;
}

/** A part of a converted schema: its keywords, and the notes that replace removed ones. */
export interface SchemaPart {
  readonly structure: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
  /** True if this part makes the whole schema reject every value. */
  readonly isNever?: boolean;
}

export interface SchemaPosition extends ReturnType<typeof startConversion> {
  /** JSON Pointer into the original schema. */
  readonly path: string;
  /** The number of steps from the root. */
  readonly depth: number;
  /** The number of enclosing objects and arrays. */
  readonly level: number;
  /** Pointers of the references that were copied on the way here. */
  readonly following: ReadonlySet<string>;
  /** Types that the other branches of the surrounding union accept. An encoded value must not have one of them. */
  readonly otherTypes: ReadonlySet<string>;
}

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

/** Returns the position of a child schema. A child that was copied from elsewhere in the original keeps its original path. */
export function within(place: SchemaPosition, child: unknown, ...tokens: readonly (string | number)[]): SchemaPosition {
  const path = place.references.pointerOf(child) ?? below(place.path, ...tokens);
  return { ...place, path, depth: place.depth + 1 };
}

/** Like `within`, for a schema inside an object or a list. */
export function withinContainer(
  place: SchemaPosition,
  child: unknown,
  ...tokens: readonly (string | number)[]
): SchemaPosition {
  return { ...within(place, child, ...tokens), level: place.level + 1, otherTypes: new Set() };
}

export function lose(place: SchemaPosition, keyword: string, action: Loss["action"], message: string): void {
  place.record(below(place.path, keyword), keyword, action, message);
}
