import { isWish, startsClause } from "./wishes.ts";
import { wordsOf } from "./words.ts";

/** Where one sentence or line ends and the next begins. Numbers, "e.g." and file names go on. */
const SENTENCES = [
  /\n/u,
  /(?<=(?:[^\s.!?]{2}|\s\d)["”’)\]]?[.!?…]{1,3}["”’)\]]?)\s/u,
  /\s?[;—]\s/u,
  /,?\s(?:and\s|but\s)?(?:then|after\sthat|afterwards|finally)\b,?\s(?=\S+\s\S)/iu,
];
/** Words that join two wishes as often as two things: they part a clause only if a wish follows. */
const JOINTS = /,?\s(?:and(?:\salso)?|plus|as\swell\sas|but)\s|,\s/giu;
const BULLET = /^(?:[-*•–]|\d{1,2}[.)])\s/u;
/** Runs of spaces would make the patterns above look at them again and again. */
const SPACES = /[^\S\n]+/gu;
/** A shorter part says nothing by itself and stays with the one before it. */
const LEAST_WORDS = 3;

/** The parts of a request that may each ask for something, in order; one where it does not come apart. */
export function splitClauses(request: string): readonly string[] {
  let parts: readonly string[] = [request.replace(SPACES, " ")];
  for (const boundary of SENTENCES) parts = parts.flatMap((part) => part.trim().replace(BULLET, "").split(boundary));
  const clauses: string[] = [];
  for (const part of parts.flatMap(splitAtWishes)) {
    const text = part.trim();
    if (text === "") continue;
    const last = clauses.length - 1;
    if (wordsOf(text).length < LEAST_WORDS && last >= 0) clauses[last] = `${clauses[last]} ${text}`;
    else clauses.push(text);
  }
  return clauses;
}

/** True if the clauses of a request ask for two things or more. */
export function isMultiStep(clauses: readonly string[]): boolean {
  return clauses.filter(isWish).length > 1;
}

/** How a request that asks for several things is searched for besides its whole text. */
export interface Steps {
  /** Wishes before what only sets the scene, each in its order. */
  readonly clauses: readonly string[];
  /** The first so many clauses are wishes, each of which should get its tool. */
  readonly wishes: number;
  /** The part of meaning that the best clause decides. */
  readonly share: number;
}

/** What a longer request adds is not worth embedding it. */
const MOST_CLAUSES = 12;
/** The longer a request, the less its whole text says: what each clause takes from it, and the most they take. */
const SHARE_OF_CLAUSE = 0.125;
const MOST_SHARE = 0.5;

/** The steps of a request; undefined if it asks for one thing, which its whole text finds best. */
export function stepsOf(request: string): Steps | undefined {
  const clauses = splitClauses(request);
  if (!isMultiStep(clauses)) return undefined;
  const wishes = clauses.filter(isWish);
  const chosen = [...wishes, ...clauses.filter((clause) => !isWish(clause))].slice(0, MOST_CLAUSES);
  return {
    clauses: chosen,
    wishes: Math.min(wishes.length, MOST_CLAUSES),
    share: Math.min(SHARE_OF_CLAUSE * chosen.length, MOST_SHARE),
  };
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
