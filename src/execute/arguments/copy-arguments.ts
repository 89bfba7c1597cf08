import { fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";

/** Deeper arguments are refused, because later steps traverse them recursively. */
const MAX_DEPTH = 200;

/** A value with several parents is copied once per parent, which can grow exponentially in hostile data. */
const MAX_VALUES = 1_000_000;

/** Above these sizes, each step over the data takes milliseconds. */
const LARGE = { values: 2_000, characters: 32 * 1024 };

export interface CopiedArguments {
  readonly arguments: Record<string, unknown>;
  /** True if each step over the arguments takes milliseconds. */
  readonly isLarge: boolean;
}

/** Copies arguments as plain JSON data, so that the caller cannot change them later. Throws CALL_INVALID if JSON cannot represent them. */
export function copyArguments(given: object): CopiedArguments {
  const path: (string | number)[] = ["arguments"];
  const ancestors: object[] = [];
  let values = 0;
  let characters = 0;

  function refuse(value: unknown, what: string, fix: string): never {
    const field = path.join(".");
    throw fixable("CALL_INVALID", `${field} ${what}.`, fix, { field, value: showValue(value) });
  }

  function copy(value: unknown): unknown {
    if (typeof value === "string") {
      characters += value.length;
      return value;
    }
    if (typeof value === "boolean" || value === null) return value;
    if (typeof value === "number") {
      if (Number.isFinite(value)) return value;
      return refuse(value, `is ${value}, which JSON cannot hold`, "Give a finite number, a string or null.");
    }
    if (typeof value !== "object")
      return refuse(value, `is ${kindOf(value)}, which JSON cannot hold`, "Give plain JSON data.");
    if (ancestors.includes(value)) return refuse(value, "contains itself", "Give data without cycles.");
    if (ancestors.length >= MAX_DEPTH)
      return refuse(value, `is nested more than ${MAX_DEPTH} levels deep`, "Give flatter data.");
    ancestors.push(value);
    const copied = Array.isArray(value) ? copyArray(value) : copyObject(value);
    ancestors.pop();
    return copied;
  }

  function copyArray(value: readonly unknown[]): unknown[] {
    const result: unknown[] = [];
    for (let index = 0; index < value.length; index++) {
      count(value);
      path.push(index);
      result.push(copy(value[index]));
      path.pop();
    }
    return result;
  }

  function copyObject(value: object): Record<string, unknown> {
    if (!isPlain(value))
      refuse(value, `is ${kindOf(value)}, not plain data`, "Give a plain object, or a string that represents it.");
    const result: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined) continue;
      count(value);
      characters += key.length;
      path.push(key);
      // Assigning to this key would set the prototype of an object, here or in code that the handler calls.
      if (key === "__proto__") refuse(member, "is a reserved name", "Leave it out.");
      result[key] = copy(member);
      path.pop();
    }
    return result;
  }

  function count(value: unknown): void {
    if (++values > MAX_VALUES) refuse(value, `is part of more than ${MAX_VALUES} values`, "Give less data at once.");
  }

  ancestors.push(given);
  const copied = copyObject(given);
  return { arguments: copied, isLarge: values > LARGE.values || characters > LARGE.characters };
}

/** Copies arrays and plain objects of checked data. Other values are shared with the original. */
export function copyPlain<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyPlain) as Value;
  if (!isPlain(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) result[key] = copyPlain(member);
  return result as Value;
}

/** True for object literals, objects without a prototype and plain objects of other realms. False for class instances. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "toString");
}

function kindOf(value: unknown): string {
  if (value === undefined) return "undefined";
  if (typeof value !== "object") return `a ${typeof value}`;
  const { constructor } = Object(value) as { readonly constructor?: unknown };
  return typeof constructor === "function" && constructor.name ? `a ${constructor.name}` : "an object of a class";
}
