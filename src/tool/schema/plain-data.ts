/** Called for each value that JSON cannot express, with its path and a description. */
export type OnLoss = (path: string, what: string) => void;

/** Deeper data is cut, because later functions are recursive. Real schemas are not this deep. */
const MAX_DEPTH = 200;

/** The maximum amount of data that is copied. The rest is omitted. */
export interface DataLimits {
  /** The number of values. A value with several parents is copied once per parent, which can grow exponentially in hostile data. */
  readonly values: number;
  readonly characters: number;
}

const DEFAULT_LIMITS: DataLimits = { values: 1_000_000, characters: Infinity };

/** Returns a deeply frozen copy as plain JSON data. Omits and reports cycles, unreadable properties and values without JSON. Never throws. */
export function toPlainData(value: unknown, onLoss: OnLoss = () => {}, limits: DataLimits = DEFAULT_LIMITS): unknown {
  const path: PropertyKey[] = [];
  const ancestors: object[] = [];
  let values = 0;
  let characters = 0;

  const lose = (what: string): null => {
    onLoss(path.map(String).join("."), what);
    return null;
  };

  const copy = (given: unknown): unknown => {
    // Reported once. Later values are not read.
    if (++values > limits.values) {
      return values === limits.values + 1 ? lose(`part of more than ${limits.values} values`) : null;
    }
    switch (typeof given) {
      case "string":
        return copyText(given);
      case "boolean":
        return given;
      case "number":
        return Number.isFinite(given) ? given + 0 : lose(`${given}, which JSON cannot hold`);
      case "bigint":
        lose("a bigint, which JSON cannot hold");
        return String(given);
      case "undefined":
        return undefined;
      case "object":
        return given === null ? null : copyObject(given);
      default:
        lose(`a ${typeof given}, which JSON cannot hold`);
        return undefined;
    }
  };

  const copyText = (given: string): string => {
    const room = Math.max(0, limits.characters - characters);
    characters += given.length;
    if (given.length <= room) return given;
    lose(`part of more than ${limits.characters} characters`);
    return given.slice(0, room);
  };

  const copyObject = (given: object): unknown => {
    if (ancestors.includes(given)) return lose("a cycle: it contains itself");
    if (ancestors.length >= MAX_DEPTH) return lose(`nested more than ${MAX_DEPTH} levels deep`);
    ancestors.push(given);
    try {
      if (Array.isArray(given)) return copyArray(given);
      const { toJSON } = given as { readonly toJSON?: unknown };
      if (typeof toJSON === "function") return copy(toJSON.call(given));
      return copyRecord(given as Record<string, unknown>);
    } catch {
      return lose("not readable");
    } finally {
      ancestors.pop();
    }
  };

  const copyArray = (given: readonly unknown[]): readonly unknown[] => {
    const result: unknown[] = [];
    for (let index = 0; index < given.length && values <= limits.values; index++) {
      path.push(index);
      result.push(copy(given[index]) ?? null);
      path.pop();
    }
    return Object.freeze(result);
  };

  const copyRecord = (given: Record<string, unknown>): Readonly<Record<string, unknown>> => {
    const result: Record<string, unknown> = {};
    for (const key of Object.keys(given)) {
      if (values > limits.values) break;
      characters += key.length;
      path.push(key);
      const copied = copyProperty(given, key);
      path.pop();
      if (copied === undefined) continue;
      // Plain assignment to this key would set the prototype.
      if (key === "__proto__") Object.defineProperty(result, key, { value: copied, enumerable: true });
      else result[key] = copied;
    }
    return Object.freeze(result);
  };

  const copyProperty = (given: Record<string, unknown>, key: string): unknown => {
    const depth = path.length;
    try {
      return copy(given[key]);
    } catch {
      path.length = depth;
      lose("not readable");
      return undefined;
    }
  };

  return copy(value);
}

/** A value as JSON text, and the data that the text contains. */
export interface WrittenData {
  readonly text: string;
  readonly data: unknown;
}

/**
 * Writes a value as JSON. An object with parts that JSON cannot express, such as bigints or cycles, is written as plain data. Returns undefined for
 * other values without JSON, such as undefined.
 */
export function writeData(value: unknown): WrittenData | undefined {
  const text = jsonOf(value);
  if (text !== undefined) return { text, data: value };
  if (typeof value !== "object") return undefined;
  const data = toPlainData(value);
  return { text: JSON.stringify(data), data };
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
