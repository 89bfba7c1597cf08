import { isWish, startsClause } from "./wishes.ts";
import { wordsOf } from "./words.ts";

/** Where one sentence or line ends and the next begins. Numbers, "e.g." and file names go on. */
const SENTENCES = [
  /(?<=[^\s.!?][^\s.!?]["”’)\]]?[.!?…]+["”’)\]]*)\s+/u,
  /\s*[;—]\s+/u,
  /\s*\n+\s*/u,
  /,?\s+(?:and\s+|but\s+)?(?:then|after\s+that|afterwards|finally)\b,?\s+(?=\S+\s+\S)/iu,
];
/** Words that join two wishes as often as two things: they part a clause only where a wish follows. */
const JOINTS = /,?\s+(?:and(?:\s+also)?|plus|as\s+well\s+as|but)\s+|,\s+/giu;
const BULLET = /^(?:[-*•–]|\d{1,2}[.)])\s+/u;
/** A shorter part says nothing by itself and stays with the one before it. */
const LEAST_WORDS = 3;

/** The parts of a request that may each ask for something, in order; one where it does not come apart. */
export function splitClauses(request: string): readonly string[] {
  let parts: readonly string[] = [request];
  for (const boundary of SENTENCES) parts = parts.flatMap((part) => part.split(boundary));
  const clauses: string[] = [];
  for (const part of parts.flatMap(splitAtWishes)) {
    const text = part.trim().replace(BULLET, "");
    if (text === "") continue;
    const last = clauses.length - 1;
    if (wordsOf(text).length < LEAST_WORDS && last >= 0) clauses[last] = `${clauses[last]} ${text}`;
    else clauses.push(text);
  }
  return clauses;
}

/** True where a request asks for two things or more. */
export function isMultiStep(clauses: readonly string[]): boolean {
  return clauses.filter(isWish).length > 1;
}

function splitAtWishes(sentence: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  for (const joint of sentence.matchAll(JOINTS)) {
    const next = joint.index + joint[0].length;
    if (!startsClause(sentence.slice(next))) continue;
    parts.push(sentence.slice(from, joint.index));
    from = next;
  }
  return [...parts, sentence.slice(from)];
}
