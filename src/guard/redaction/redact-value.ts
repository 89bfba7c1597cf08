import { REDACTED } from "./secret-patterns.ts";

/** What is nested deeper is cut off: a server may send anything, and whoever shows it must not run out of stack. */
const MAX_DEPTH = 200;

/**
 * Plain data with every text in it changed, names of members too; the same data where nothing changes. What holds itself is cut there. An
 * error is changed in place, so that it stays the error it is: message, stack, its own members, and what caused it. One that is frozen is
 * replaced.
 */
export function redactValue<Value>(value: Value, redact: (text: string) => string): Value {
  return visit(value, { redact, seen: new Map(), depth: 0 }) as Value;
}

interface Visit {
  readonly redact: (text: string) => string;
  readonly seen: Map<object, unknown>;
  readonly depth: number;
}

function visit(value: unknown, { redact, seen, depth }: Visit): unknown {
  if (typeof value === "string") return redact(value);
  const isError = value instanceof Error;
  if (!isError && !isPlain(value)) return value;
  if (seen.has(value)) return seen.get(value);
  if (depth === MAX_DEPTH) return REDACTED;
  const inner = { redact, seen, depth: depth + 1 };
  // What plain data holds of itself is not shown a second time.
  seen.set(value, isError ? value : REDACTED);
  if (isError) return visitError(value, inner);
  const result = Array.isArray(value) ? visitList(value, inner) : visitMembers(value, inner);
  seen.set(value, result);
  return result;
}

/** Lists and objects without a class of their own. What is behind a class may be a socket, and whole programs hang from those. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function visitError(error: Error, inner: Visit): Error {
  // Some are not listed (`stack`, `cause`, `errors`), and of some classes the message is not the error's own.
  const names = [...new Set(["message", ...Object.getOwnPropertyNames(error)])];
  const shown = names.map((name) => visit(Reflect.get(error, name), inner));
  const isChanged = names.every(
    (name, index) => shown[index] === Reflect.get(error, name) || show(error, error, name, shown[index]),
  );
  if (isChanged) return error;
  // It lets nothing be changed, so another error of its class takes its place.
  const standIn = Object.create(Object.getPrototypeOf(error) as object) as Error;
  for (const [index, name] of names.entries()) show(standIn, error, name, shown[index]);
  inner.seen.set(error, standIn);
  return standIn;
}

/** Sets a member as it is shown, listed or not as it was. False where it cannot be set. */
function show(on: Error, error: Error, name: string, value: unknown): boolean {
  const enumerable = Object.prototype.propertyIsEnumerable.call(error, name);
  return Reflect.defineProperty(on, name, { value, enumerable, configurable: true, writable: true });
}

function visitList(list: readonly unknown[], inner: Visit): unknown {
  let changed: unknown[] | undefined;
  for (const [index, element] of list.entries()) {
    const shown = visit(element, inner);
    if (shown !== element) (changed ??= [...list])[index] = shown;
  }
  return changed ?? list;
}

/** Events pass here, so nothing is copied unless something changes. */
function visitMembers(value: object, inner: Visit): unknown {
  const names = Object.keys(value);
  let changed: [string, unknown][] | undefined;
  for (const [index, name] of names.entries()) {
    const member: unknown = Reflect.get(value, name);
    const shownName = inner.redact(name);
    const shown = visit(member, inner);
    if (changed === undefined && (shown !== member || shownName !== name))
      changed = names.slice(0, index).map((before) => [before, Reflect.get(value, before)]);
    changed?.push([shownName, shown]);
  }
  return changed === undefined ? value : Object.fromEntries(changed);
}
