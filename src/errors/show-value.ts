/** Formats a value for an error message: JSON on one line, at most `max` characters. */
export function showValue(value: unknown, max = 60): string {
  let text: string | undefined;
  if (typeof value === "function") text = `function ${value.name || "(anonymous)"}`;
  else if (typeof value === "bigint" || typeof value === "symbol" || typeof value === "number") text = String(value);
  else {
    try {
      text = JSON.stringify(beginningOf(value, max));
    } catch {
      text = Object.prototype.toString.call(value);
    }
  }
  text ??= "undefined";
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

/**
 * Returns the part of a value that `max` characters of JSON can show, so that huge values are cheap. Returns the value itself if it is small or not
 * plain data. Throws if it is cyclic.
 */
function beginningOf(value: unknown, max: number): unknown {
  let left = max;
  const ancestors: object[] = [];

  function copy(part: unknown): unknown {
    left -= 1;
    if (typeof part === "string") return part.length > max ? part.slice(0, max) : part;
    if (typeof part !== "object" || part === null || typeof (part as { toJSON?: unknown }).toJSON === "function")
      return part;
    if (ancestors.includes(part)) throw new TypeError("The value contains itself.");
    ancestors.push(part);
    const copied = Array.isArray(part) ? copyList(part) : copyMembers(part);
    ancestors.pop();
    return copied;
  }

  function copyList(list: readonly unknown[]): unknown[] {
    const copied: unknown[] = [];
    for (const item of list) {
      if (left <= 0) break;
      copied.push(copy(item));
    }
    return copied;
  }

  function copyMembers(object: object): Record<string, unknown> {
    const copied: Record<string, unknown> = {};
    for (const key in object) {
      if (left <= 0) break;
      if (!Object.hasOwn(object, key)) continue;
      const shown = key.length > max ? key.slice(0, max) : key;
      Object.defineProperty(copied, shown, { value: copy((object as Record<string, unknown>)[key]), enumerable: true });
    }
    return copied;
  }

  return copy(value);
}

export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return typeof thrown === "string" ? thrown : showValue(thrown);
}

/** A longer word cannot be a misspelt name, because no known name is longer. */
const MAX_WORD_LENGTH = 512;

/** Returns the member of `known` with the most similar spelling; undefined if none is similar. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > MAX_WORD_LENGTH) return undefined;
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const limit = Math.min(bestDistance, mostEdits(Math.max(word.length, candidate.length)) + 1);
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), limit);
    if (distance < limit) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns the most edits between similar words of a length. Two edits turn a short word into an unrelated one: foo, top. */
function mostEdits(length: number): number {
  return length < 5 ? Math.min(1, length - 1) : Math.max(2, Math.floor(length / 3));
}

/** Counts the edits between two words: letters that are inserted, removed, replaced, or swapped with the next one. Stops once they reach `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  let lowestBefore = 0;
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let lowest = row;
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swap = isSwap ? (before[column - 2] ?? 0) + 1 : substitution;
      const distance = Math.min(substitution, swap, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      current.push(distance);
      lowest = Math.min(lowest, distance);
    }
    // A swap reaches back two rows.
    if (lowest >= limit && lowestBefore >= limit) return limit;
    [before, previous, lowestBefore] = [previous, current, lowest];
  }
  return previous[b.length] ?? limit;
}

/** Formats a count: `1 tool`, `5 tools`, `2 queries`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** Removes characters from third-party text that could control a terminal or reorder its letters. Keeps line breaks and tabs. */
export function harmless(text: string): string {
  return process
    .getBuiltinModule("node:util")
    .stripVTControlCharacters(text)
    .replaceAll(/[^\P{Cc}\n\t]|[\p{Bidi_Control}\u2028\u2029]/gu, "");
}
