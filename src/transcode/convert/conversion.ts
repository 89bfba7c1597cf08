import type { JsonSchema } from "../../tool/json-schema.ts";
import type { SchemaTarget } from "../convert-schema.ts";
import type { SchemaFeature } from "../features.ts";
import { below, createReferences } from "../schema/find-reference.ts";
import type { Loss } from "../dialect.port.ts";

/** The most schemas that one conversion writes: references are copied out within this. */
const MAX_NODES = 10_000;

/** Starts the conversion of a schema: what was found out, what was lost, and how much work is left. */
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
    /** Records one change. The same change of the same place, met again where a definition is used twice, is one change. */
    record(path: string, keyword: string, action: Loss["action"], message: string): void {
      const key = JSON.stringify([path, keyword, message]);
      if (losses.has(key)) return;
      losses.set(key, { path, keyword, action, message });
      if (action === "refused") refusals += 1;
    },
    has: (feature: SchemaFeature): boolean => target.features.has(feature),
    /** Counts one schema. False once so many were written that the rest is left out. */
    spend(): boolean {
      nodes += 1;
      return nodes <= MAX_NODES;
    },
    /** Runs a step; if it ended in a refusal, forgets all of it and returns undefined. */
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
    /** True inside a step that may be forgotten. */
    isAttempting: (): boolean => attempts > 0,
    /** The name of the definition for a key. `write` is called for the first use. */
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

/** Letters, digits and `_` only: no provider and no pointer has trouble with those. */
function unusedName(wanted: string, used: ReadonlySet<string>): string {
  const name = wanted.replaceAll(/[^A-Za-z0-9_]+/g, "_") || "definition";
  let candidate = name;
  for (let count = 2; used.has(candidate); count++) candidate = `${name}_${count}`;
  return candidate;
}

/** A part of a converted schema: its keywords, and what had to be said in words instead. */
export interface Part {
  readonly structure: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
  /** True if no value fits the whole because of this part. */
  readonly isNever?: boolean;
}

/** A place in a schema that is being converted. */
export interface Place extends ReturnType<typeof startConversion> {
  /** JSON Pointer into the original. */
  readonly path: string;
  /** Steps down from the root, over everything. */
  readonly depth: number;
  /** Objects and arrays around this, itself not counted. */
  readonly level: number;
  /** Pointers of the references that were copied out on the way here. */
  readonly following: ReadonlySet<string>;
  /** Types that the other branches of the union around this take: an encoding must not look like one of them. */
  readonly otherTypes: ReadonlySet<string>;
}

/** The root of a schema, from which its conversion starts. */
export function rootOf(schema: unknown, target: SchemaTarget): Place {
  return {
    ...startConversion(schema, target),
    path: "",
    depth: 0,
    level: 0,
    following: new Set(),
    otherTypes: new Set(),
  };
}

/** The place of a schema inside the one at a place. One that was copied from elsewhere in the original is known by where it stands there. */
export function within(place: Place, child: unknown, ...tokens: readonly (string | number)[]): Place {
  const path = place.references.pointerOf(child) ?? below(place.path, ...tokens);
  return { ...place, path, depth: place.depth + 1 };
}

/** The same for a schema of what is in an object or a list. */
export function withinContainer(place: Place, child: unknown, ...tokens: readonly (string | number)[]): Place {
  return { ...within(place, child, ...tokens), level: place.level + 1, otherTypes: new Set() };
}

/** Records a change of a keyword of the schema at a place. */
export function lose(place: Place, keyword: string, action: Loss["action"], message: string): void {
  place.record(below(place.path, keyword), keyword, action, message);
}
