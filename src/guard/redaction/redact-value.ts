import { REDACTED } from "./secret-patterns.ts";

/** Deeper values are cut: a server may nest data to any depth, and the stack is limited. */
const MAX_DEPTH = 200;

/**
 * Redacts every text in plain data, including member names. Returns the same object if nothing changed. Cuts cycles. An error is changed in place
 * (message, stack, its own members, its causes), so that it stays the same object; a frozen error is replaced. With `keepShape`, programs can still
 * parse the result: base64 in `blob` and `data` stays base64, and data that is nested too deep is kept if it contains nothing to redact.
 */
export function redactValue<Value>(
  value: Value,
  redact: (text: string) => string,
  { keepShape = false, redactName = redact }: RedactOptions = {},
): Value {
  if (isUntouched(value, { redact, redactName, left: MAX_CHECKED }, 0)) return value;
  return visit(value, { redact, keepShape, seen: new Map(), depth: 0 }) as Value;
}

interface RedactOptions {
  readonly keepShape?: boolean;
  /** Redacts member names, if that can be done faster than for other texts. */
  readonly redactName?: (name: string) => string;
}

/** The maximum number of values in the quick check. The bound also covers cycles and shared objects. */
const MAX_CHECKED = 1000;
const MAX_CHECKED_DEPTH = 8;

/** Returns true for small plain data without anything to redact, such as most events. False is inconclusive. */
function isUntouched(value: unknown, check: QuickCheck, depth: number): boolean {
  if (typeof value === "string") return check.redact(value) === value;
  if (typeof value !== "object" || value === null) return typeof value !== "function";
  if (depth === MAX_CHECKED_DEPTH) return false;
  if (Array.isArray(value)) {
    for (const element of value) if (--check.left < 0 || !isUntouched(element, check, depth + 1)) return false;
    return true;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const name in value) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (--check.left < 0 || check.redactName(name) !== name || !isUntouched(member, check, depth + 1)) return false;
  }
  return true;
}

interface QuickCheck {
  readonly redact: (text: string) => string;
  readonly redactName: (name: string) => string;
  /** The number of values that may still be checked. */
  left: number;
}

interface Visit {
  readonly redact: (text: string) => string;
  readonly keepShape: boolean;
  readonly seen: Map<object, unknown>;
  readonly depth: number;
}

function visit(value: unknown, { redact, keepShape, seen, depth }: Visit): unknown {
  if (typeof value === "string") return redact(value);
  const isError = isAnyError(value);
  if (!isError && !isPlain(value)) return value;
  if (seen.has(value)) return seen.get(value);
  if (depth === MAX_DEPTH) return keepShape && isClean(value, redact) ? value : REDACTED;
  const inner = { redact, keepShape, seen, depth: depth + 1 };
  // The second occurrence of an object in a cycle is redacted.
  if (!isError) seen.set(value, REDACTED);
  const result = isError
    ? visitError(value, inner)
    : Array.isArray(value)
      ? visitList(value, inner)
      : visitMembers(value, inner);
  seen.set(value, result);
  return result;
}

const REDACTED_BASE64 = Buffer.from(REDACTED).toString("base64");

/** Returns true for valid base64 in a member that MCP declares as base64. */
function isBase64(name: string, value: unknown): boolean {
  if (name !== "blob" && name !== "data") return false;
  return typeof value === "string" && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
}

/** Returns true if the JSON of the data contains nothing to redact. Returns false if the data has no JSON form. */
function isClean(value: object, redact: (text: string) => string): boolean {
  try {
    const text = JSON.stringify(value);
    return redact(text) === text;
  } catch {
    return false;
  }
}

let isNativeError: ((value: unknown) => value is Error) | undefined;

/** Recognises errors from other JavaScript contexts, which have other classes. */
function isAnyError(value: unknown): value is Error {
  // Looked up once: in large results, the lookup would take longer than the call.
  isNativeError ??= process.getBuiltinModule("node:util").types.isNativeError;
  return value instanceof Error || isNativeError(value);
}

/** Returns true for arrays and plain objects. A class instance may be a socket, which references half the program. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function visitError(error: Error, inner: Visit): Error {
  // Some properties are not enumerable (`stack`, `cause`, `errors`), and some classes inherit name and message.
  const names = [...new Set(["name", "message", ...Object.getOwnPropertyNames(error)])];
  const isFree = names.every(
    (name) => Object.getOwnPropertyDescriptor(error, name)?.configurable ?? Object.isExtensible(error),
  );
  // If a property cannot be changed, a new error of the same class replaces the error, also where the error references itself.
  const standIn = isFree ? error : (Object.create(Object.getPrototypeOf(error) as object) as Error);
  inner.seen.set(error, standIn);
  const values = names.map((name) => read(error, name));
  const shown = values.map((value) => visit(value, inner));
  if (shown.every((value, index) => value === values[index])) return error;
  for (const [index, name] of names.entries()) {
    if (isFree && shown[index] === values[index]) continue;
    // The property stays enumerable or not, as before.
    const enumerable = Object.prototype.propertyIsEnumerable.call(error, name);
    const descriptor = { value: shown[index], enumerable, configurable: true, writable: true };
    Reflect.defineProperty(standIn, name, descriptor);
  }
  return standIn;
}

/** Returns undefined for a property that cannot be read. */
function read(error: Error, name: string): unknown {
  try {
    return Reflect.get(error, name);
  } catch {
    return REDACTED;
  }
}

function visitList(list: readonly unknown[], inner: Visit): unknown {
  let changed: unknown[] | undefined;
  for (const [index, element] of list.entries()) {
    const shown = visit(element, inner);
    if (shown !== element) (changed ??= [...list])[index] = shown;
  }
  return changed ?? list;
}

/** Every event passes here, so objects are copied only if something changes. */
function visitMembers(value: object, inner: Visit): unknown {
  const names = Object.keys(value);
  let changed: [string, unknown][] | undefined;
  for (const [index, name] of names.entries()) {
    const member: unknown = Reflect.get(value, name);
    const shownName = inner.redact(name);
    const visited = visit(member, inner);
    const shown = visited !== member && inner.keepShape && isBase64(name, member) ? REDACTED_BASE64 : visited;
    if (changed === undefined && (shown !== member || shownName !== name))
      changed = names.slice(0, index).map((before) => [before, Reflect.get(value, before)]);
    changed?.push([shownName, shown]);
  }
  return changed === undefined ? value : Object.fromEntries(changed);
}
