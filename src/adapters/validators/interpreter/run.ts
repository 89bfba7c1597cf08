import { type Failure, joinField } from "./problems.ts";

/** Where in the value a check is; written out only where something is wrong. */
export interface Place {
  readonly around: Place | undefined;
  readonly member: string | number;
}

/** Members of one value that some part of a schema has spoken of, for the keywords about all the others. */
export interface Spoken {
  readonly names: Set<string>;
  readonly places: Set<number>;
}

/** One value being checked. */
export interface Run {
  readonly failures: Failure[];
  /** Above 0 while nothing that fails is a failure of the value: within `not` and `if`. */
  quiet: number;
  /** Above 0 where a branch may not be the one that counts: nothing is filled in there. */
  tentative: number;
  depth: number;
  steps: number;
  readonly maxSteps: number;
}

/** Thrown where checking a value takes more than it may. */
export class TooCostly extends Error {}

/** Failures kept; nobody reads more. */
const MOST_FAILURES = 200;

/** Schemas within schemas: three calls each, on a stack that has room for some ten thousand. */
const MOST_DEPTH = 1_500;

/** Counts what is done, and ends it where it is too much. */
export function spend(run: Run, steps: number): void {
  run.steps += steps;
  if (run.steps > run.maxSteps || run.depth > MOST_DEPTH) throw new TooCostly("checking it takes too long");
}

/** Notes a failure. Always false, to be returned. */
export function fail(run: Run, place: Place | undefined, failure: Omit<Failure, "field">): false {
  if (run.quiet === 0 && run.failures.length < MOST_FAILURES) run.failures.push({ field: fieldOf(place), ...failure });
  return false;
}

/** Checks something whose failures are nobody's. */
export function quietly(run: Run, check: () => boolean): boolean {
  run.quiet++;
  run.tentative++;
  const holds = check();
  run.quiet--;
  run.tentative--;
  return holds;
}

/** Takes over what a branch that holds has spoken of. */
export function mergeSpoken(into: Spoken | undefined, from: Spoken | undefined): void {
  if (!into || !from) return;
  for (const name of from.names) into.names.add(name);
  for (const place of from.places) into.places.add(place);
}

function fieldOf(place: Place | undefined): string {
  const members: (string | number)[] = [];
  for (let at = place; at; at = at.around) members.push(at.member);
  return members.toReversed().reduce<string>(joinField, "");
}
