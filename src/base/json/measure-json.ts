/**
 * The size of a value as JSON, compared with a limit. `bytes` is omitted if JSON cannot represent the value. `isLarge` means that each pass over the
 * value takes milliseconds.
 */
export type MeasuredJson =
  | { readonly fits: true; readonly isLarge: boolean }
  | { readonly fits: false; readonly bytes?: number; readonly atLeast?: true };

const FITS: MeasuredJson = Object.freeze({ fits: true, isLarge: false });
const FITS_LARGE: MeasuredJson = Object.freeze({ fits: true, isLarge: true });

/** A value with more bytes than this is large. */
const LARGE = 256 * 1024;

/** Longer texts are searched for characters that JSON escapes. Without any, their size is known without writing them. */
const LONG = 64 * 1024;
const ESCAPED = /["\\\p{Cc}\uD800-\uDFFF]/u;

/** Deeper values are measured by writing them. */
const MAX_DEPTH = 100;

/** A character takes from one byte up to six, as in `\u001f`. */
const MOST_BYTES_OF_A_CHARACTER = 6;

/** The length of the longest number: `-1.2345678901234567e+100`. */
const MOST_BYTES_OF_A_NUMBER = 24;

/** Measures whether a value, as JSON in UTF-8, fits into `limit` bytes. Estimates from its members decide most cases; only the others are written. */
export function measureJson(value: unknown, limit: number): MeasuredJson {
  let least = 0;
  let most = 0;
  let isCertain = true;
  let isLong = false;

  function add(atLeast: number, atMost: number): void {
    least += atLeast;
    most += atMost;
  }

  function walk(part: unknown, depth: number): void {
    if (typeof part === "string") {
      if (part.length < LONG || ESCAPED.test(part))
        return add(part.length + 2, part.length * MOST_BYTES_OF_A_CHARACTER + 2);
      isLong = true;
      const bytes = Buffer.byteLength(part) + 2;
      return add(bytes, bytes);
    }
    if (typeof part !== "object" || part === null) return add(0, MOST_BYTES_OF_A_NUMBER);
    if (depth > MAX_DEPTH || typeof (part as { readonly toJSON?: unknown }).toJSON === "function") {
      isCertain = false;
      return;
    }
    add(2, 2);
    if (Array.isArray(part)) {
      // Commas between members.
      if (part.length > 1) add(part.length - 1, part.length - 1);
      for (const member of part) {
        if (least > limit) return;
        walk(member, depth + 1);
      }
      return;
    }
    // A view has a key per byte, so its keys are not listed.
    if (ArrayBuffer.isView(part)) return add(part.byteLength, part.byteLength * MOST_BYTES_OF_A_NUMBER);
    for (const key of Object.keys(part)) {
      if (least > limit) return;
      add(0, key.length * MOST_BYTES_OF_A_CHARACTER + 4);
      walk((part as Record<string, unknown>)[key], depth + 1);
    }
  }

  try {
    walk(value, 0);
    if (least > limit) return { fits: false, bytes: least, atLeast: true };
    const fits = most <= LARGE && !isLong ? FITS : FITS_LARGE;
    if (isCertain && most <= limit) return fits;
    const bytes = Buffer.byteLength(JSON.stringify(value) ?? "");
    return bytes <= limit ? fits : { fits: false, bytes };
  } catch {
    return { fits: false };
  }
}
