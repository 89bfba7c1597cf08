import type { Work } from "../answer-queries.ts";
import type { AnsweredQuery } from "../answer.ts";
import type { KnownTool } from "../known-tools.ts";
import { compareText, createLikeness, NEAR_DUPLICATE } from "./near-duplicates.ts";
import { suggestDescriptions } from "./suggest-descriptions.ts";
import { shadowsByLikeness, shadowsByQueries } from "./suggest-shadows.ts";

/** A suggested change to the tools, so that searches find them. */
export type Suggestion = Awaited<ReturnType<typeof suggest>>[number];

/**
 * Suggests changes for tools that shadow each other, by lost queries and by similar text, and for tools that are hidden by their descriptions.
 * Without answers, uses text only.
 */
export async function suggest(known: ReadonlyMap<string, KnownTool>, answers: readonly AnsweredQuery[], work: Work) {
  const likeness = createLikeness(known);
  const taking = shadowsByQueries(answers, known, likeness);
  const told = new Set(
    taking.flatMap((found) => (found.kind === "shadow" ? [JSON.stringify(found.tools.toSorted(compareText))] : [])),
  );
  const alike = (await likeness.pairs({ least: NEAR_DUPLICATE, ...work })).filter(
    ({ a, b }) => !told.has(JSON.stringify([a, b].toSorted(compareText))),
  );
  return [...taking, ...suggestDescriptions(answers, known), ...shadowsByLikeness(alike, known)];
}
