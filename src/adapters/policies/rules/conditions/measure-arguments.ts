import type { Facts } from "./when.ts";

/** What an expression may look through once, and what one with a loop may look through again and again. */
const LIMITS = {
  once: { values: 100_000, characters: 4_000_000 },
  looping: { values: 2_000, characters: 64_000 },
} as const;

interface Size {
  readonly values: number;
  readonly characters: number;
}

const known = new WeakMap<Facts, Size>();

/** Whether the arguments of a call are too large for an expression. They are measured once a call. */
export function exceeds(facts: Facts, loops: boolean): boolean {
  let size = known.get(facts);
  if (size === undefined) known.set(facts, (size = measure(facts.arguments)));
  const { values, characters } = loops ? LIMITS.looping : LIMITS.once;
  return size.values > values || size.characters > characters;
}

/** Counts values, and the characters of texts and keys, no further than the larger limit. */
function measure(value: unknown): Size {
  const waiting: unknown[] = [value];
  let values = 0;
  let characters = 0;
  while (waiting.length > 0 && values <= LIMITS.once.values && characters <= LIMITS.once.characters) {
    const next = waiting.pop();
    values++;
    if (typeof next === "string") characters += next.length;
    else if (Array.isArray(next)) {
      if (next.length > LIMITS.once.values) return { values: next.length, characters };
      for (const member of next) waiting.push(member);
    } else if (typeof next === "object" && next !== null) {
      for (const [key, member] of Object.entries(next)) {
        characters += key.length;
        waiting.push(member);
      }
    }
  }
  return { values, characters };
}
