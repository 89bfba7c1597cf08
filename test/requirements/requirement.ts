/** Work of a later release, by the capability it adds. */
export const LATER = ["A2A", "Aegis", "MCP", "REST", "backends", "integrations", "release", "telemetry"] as const;
export type Later = (typeof LATER)[number];

/** One thing the program must do, and whether it does it yet. */
export interface Requirement {
  /** `seed-section-word`, cited by tests in square brackets at the end of their name. */
  readonly id: string;
  readonly seed: string;
  readonly section: string;
  /** What the program does, in one sentence. */
  readonly behaviour: string;
  readonly state: "covered" | "open";
  /** For an open row: the capability that will cover it. */
  readonly later?: Later;
}

const ID = /^(?<seed>\d{3})-(?<section>[a-z0-9.]+)-[a-z0-9-]+$/;

/** Requirements that tests cite. */
export function covered(behaviours: Readonly<Record<string, string>>): readonly Requirement[] {
  return Object.entries(behaviours).map(([id, behaviour]) => ({ ...parts(id), behaviour, state: "covered" }));
}

/** Requirements that a capability to come will cover. */
export function open(later: Later, behaviours: Readonly<Record<string, string>>): readonly Requirement[] {
  return Object.entries(behaviours).map(([id, behaviour]) => ({ ...parts(id), behaviour, state: "open", later }));
}

function parts(id: string): Pick<Requirement, "id" | "seed" | "section"> {
  const { seed, section } = ID.exec(id)?.groups ?? {};
  if (seed === undefined || section === undefined) throw new Error(`${id} is no requirement id: seed-section-word`);
  return { id, seed, section };
}
