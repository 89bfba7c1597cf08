import { REDACTED } from "./secret-patterns.ts";

/** Plain data with every text in it changed, names of members too. The same data where nothing changes; what holds itself is cut there. */
export function redactValue<Value>(value: Value, redact: (text: string) => string): Value {
  return visit(value, redact, undefined) as Value;
}

type Seen = Map<object, unknown>;

function visit(value: unknown, redact: (text: string) => string, seen: Seen | undefined): unknown {
  if (typeof value === "string") return redact(value);
  if (!isPlain(value)) return value;
  const known = seen ?? new Map<object, unknown>();
  if (known.has(value)) return known.get(value);
  // What comes back to itself meanwhile is not shown a second time.
  known.set(value, REDACTED);
  const result = Array.isArray(value) ? visitList(value, redact, known) : visitMembers(value, redact, known);
  known.set(value, result);
  return result;
}

/** Lists and objects without a class of their own. What is behind a class may be a socket, and whole programs hang from those. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function visitList(list: readonly unknown[], redact: (text: string) => string, seen: Seen): unknown {
  let changed: unknown[] | undefined;
  for (const [index, element] of list.entries()) {
    const shown = visit(element, redact, seen);
    if (shown !== element) (changed ??= [...list])[index] = shown;
  }
  return changed ?? list;
}

/** Events pass here, so nothing is copied unless something changes. */
function visitMembers(value: object, redact: (text: string) => string, seen: Seen): unknown {
  const names = Object.keys(value);
  let changed: [string, unknown][] | undefined;
  for (const [index, name] of names.entries()) {
    const member: unknown = Reflect.get(value, name);
    const shownName = redact(name);
    const shown = visit(member, redact, seen);
    if (changed === undefined && (shown !== member || shownName !== name))
      changed = names.slice(0, index).map((before) => [before, Reflect.get(value, before)]);
    changed?.push([shownName, shown]);
  }
  return changed === undefined ? value : Object.fromEntries(changed);
}
