import type { JsonSchema } from "../tool/json-schema.ts";
import type { SetLimits } from "./dialect.port.ts";

/** A tool that could be strict: its schema as the strict target has it. */
export interface StrictCandidate {
  readonly name: string;
  readonly schema: JsonSchema;
  /** False where the strict target could not hold the schema. */
  readonly possible: boolean;
}

/** Whether one tool of the set is strict. */
export interface StrictDecision {
  readonly name: string;
  readonly strict: boolean;
  /** Why not. */
  readonly reason?: string;
}

/** Which tools of a retrieved set, best first, are strict so that the limits of one request hold. */
export function decideStrict(candidates: readonly StrictCandidate[], _limits: SetLimits): readonly StrictDecision[] {
  return candidates.map(({ name, possible }) => ({ name, strict: possible }));
}
