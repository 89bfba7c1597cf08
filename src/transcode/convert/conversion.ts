import type { JsonSchema } from "../../tool/json-schema.ts";
import type { SchemaTarget } from "../convert-schema.ts";
import type { SchemaFeature } from "../features.ts";
import { below, createReferences } from "../schema/find-reference.ts";
import type { Loss } from "../dialect.port.ts";

/** One schema on its way to one target: what was found out, what was lost, and how much work is left. */
export type Conversion = ReturnType<typeof startConversion>;

/** The most schemas that one conversion writes: references are copied out within this. */
const MAX_NODES = 10_000;

/** Starts a conversion. */
export function startConversion(root: unknown, target: SchemaTarget) {
  const losses = new Map<string, Loss>();
  const names = new Map<string, string>();
  const definitions = new Map<string, JsonSchema>();
  let refusals = 0;
  let nodes = 0;
  let attempts = 0;

  const references = createReferences(root);
  const lose = (path: string, keyword: string, action: Loss["action"], message: string): void => {
    const key = JSON.stringify([path, keyword, message]);
    if (losses.has(key)) return;
    losses.set(key, { path, keyword, action, message });
    if (action === "refused") refusals += 1;
  };

  return {
    target,
    references,
    /** Records one change. The same change of the same place, met again where a definition is used twice, is one change. */
    lose,
    /** Records a change of a keyword of the schema at a place. */
    loseAt: ({ path }: Pick<Place, "path">, keyword: string, action: Loss["action"], message: string): void =>
      lose(below(path, keyword), keyword, action, message),
    /** The place of a schema inside the one at a place. One that was copied from elsewhere in the original is known by where it stands there. */
    inside: (place: Place, child: unknown, ...tokens: readonly (string | number)[]): Place => {
      const path = references.pointerOf(child) ?? below(place.path, ...tokens);
      return { ...place, path, depth: place.depth + 1 };
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
    get isAttempting(): boolean {
      return attempts > 0;
    },
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
    get losses(): readonly Loss[] {
      return [...losses.values()];
    },
    definitions: definitions as ReadonlyMap<string, JsonSchema>,
    get isRefused(): boolean {
      return refusals > 0;
    },
  };
}

/** Letters, digits and `_` only: no provider and no pointer has trouble with those. */
function unusedName(wanted: string, used: ReadonlySet<string>): string {
  const name = wanted.replaceAll(/[^A-Za-z0-9_]+/g, "_") || "definition";
  let candidate = name;
  for (let count = 2; used.has(candidate); count++) candidate = `${name}_${count}`;
  return candidate;
}

/** Where in the schema a step stands. */
export interface Place {
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

/** The root. */
export const ROOT: Place = { path: "", depth: 0, level: 0, following: new Set(), otherTypes: new Set() };
