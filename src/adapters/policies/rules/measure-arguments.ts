/** What an expression may look through once, and what one with a loop may look through again and again. */
const LIMITS = {
  once: { values: 100_000, characters: 4_000_000 },
  looping: { values: 2_000, characters: 64_000 },
} as const;

/** Whether the arguments are too large for an expression. Counts no further than it must. */
export function exceeds(value: unknown, loops: boolean): boolean {
  const { values, characters } = loops ? LIMITS.looping : LIMITS.once;
  const waiting: unknown[] = [value];
  let counted = 0;
  let length = 0;
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (++counted > values) return true;
    if (typeof next === "string") {
      length += next.length;
      if (length > characters) return true;
    } else if (Array.isArray(next)) {
      if (next.length + counted > values) return true;
      for (const member of next) waiting.push(member);
    } else if (typeof next === "object" && next !== null) {
      for (const [key, member] of Object.entries(next)) {
        length += key.length;
        waiting.push(member);
      }
    }
  }
  return length > characters;
}
