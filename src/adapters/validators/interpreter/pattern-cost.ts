import type { Pattern } from "./pattern-syntax.ts";

/** Steps that a backtracking engine may take for one text. */
const MOST_STEPS = 1_000_000;
/** A pattern that is safe only for shorter texts than the first of these is not safe. */
const LENGTHS = [128, 512, 2048, 8192, 32_768] as const;

/**
 * How long a text may be for a backtracking engine to decide it within a bounded number of steps, whatever the text; undefined where even
 * short texts can take longer. The bound is a rough one from above: many a harmless pattern is not seen to be.
 */
export function safeLength(pattern: Pattern): number | undefined {
  return LENGTHS.findLast((length) => {
    const starts = isAnchored(pattern) ? 1 : length;
    return measure(pattern, length).steps * starts <= MOST_STEPS;
  });
}

interface Measure {
  /** In how many ways the part can match from one place, at most: what follows it is tried that often. */
  readonly ways: number;
  readonly steps: number;
}

function measure(pattern: Pattern, length: number): Measure {
  switch (pattern.kind) {
    case "characters":
    case "assertion":
      return { ways: 1, steps: 1 };
    case "backreference":
      return { ways: 1, steps: length };
    case "look":
      // Once it holds it is not gone back into.
      return { ways: 1, steps: measure(pattern.inner, length).steps };
    case "sequence": {
      let [ways, steps] = [1, 0];
      for (const part of pattern.parts) {
        const next = measure(part, length);
        steps += ways * next.steps;
        ways *= next.ways;
      }
      return { ways, steps };
    }
    case "either": {
      const options = pattern.options.map((option) => measure(option, length));
      const sum = (key: keyof Measure): number => options.reduce((total, option) => total + option[key], 0);
      return { ways: sum("ways"), steps: sum("steps") };
    }
    case "repeat": {
      const inner = measure(pattern.inner, length);
      const times = Math.min(pattern.max, length);
      if (times <= 1) return { ways: 1 + inner.ways, steps: 1 + inner.steps };
      if (inner.ways === 1) return { ways: times - Math.min(pattern.min, times) + 1, steps: times * inner.steps };
      // Choices within choices: this is what blows up.
      const ways = inner.ways ** times;
      return { ways, steps: ways * inner.steps * times };
    }
  }
}

function isAnchored(pattern: Pattern): boolean {
  if (pattern.kind === "assertion") return pattern.text === "^";
  if (pattern.kind === "either") return pattern.options.every(isAnchored);
  return pattern.kind === "sequence" && pattern.parts[0] !== undefined && isAnchored(pattern.parts[0]);
}
