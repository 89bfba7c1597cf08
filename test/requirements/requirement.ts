/** One thing the program must do. */
export interface Requirement {
  /** `seed-section-word`, cited by tests in square brackets at the end of their name. */
  readonly id: string;
  readonly seed: string;
  readonly section: string;
  /** What the program does, in one sentence. */
  readonly behaviour: string;
  /** The part that no test shows, in one sentence. Undefined if tests show all of it. */
  readonly notShown?: string;
}

const ID = /^(?<seed>\d{3})-(?<section>[a-z0-9.]+)-[a-z0-9-]+$/;

/** Requirements that tests cite. */
export function covered(behaviours: Readonly<Record<string, string>>): readonly Requirement[] {
  return Object.entries(behaviours).map(([id, behaviour]) => ({ ...parts(id), behaviour }));
}

/** Requirements that tests cite and show in part. */
export function coveredInPart(
  rows: Readonly<Record<string, Pick<Requirement, "behaviour" | "notShown">>>,
): readonly Requirement[] {
  return Object.entries(rows).map(([id, row]) => ({ ...parts(id), ...row }));
}

function parts(id: string): Pick<Requirement, "id" | "seed" | "section"> {
  const { seed, section } = ID.exec(id)?.groups ?? {};
  if (seed === undefined || section === undefined)
    throw new Error(`${id} is not the id of a requirement: seed-section-word`);
  return { id, seed, section };
}
