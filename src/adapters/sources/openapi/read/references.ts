import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { showValue } from "../../../../errors/show-value.ts";
import { decodePercent, follow as walk, pointerSteps } from "../../../../tool/schema/keywords.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Resolves `$ref` within one document. Never reads anything else. */
export type References = ReturnType<typeof createReferences>;

/** Real documents have no longer chains. */
const MAX_HOPS = 50;

export function createReferences(root: JsonObject) {
  /** Returns the value at `#/a/b`; undefined if it does not exist or is in another document. */
  function lookUp(reference: string): unknown {
    const parts = partsOf(reference);
    return parts && walk(root, parts);
  }

  /** Returns the object itself, or the object that its `$ref` leads to. Throws TOOL_INVALID if the target is not an object. `what` is for the message. */
  function follow(value: unknown, what: string): JsonObject {
    let found = value;
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      if (!isPlainObject(found)) throw broken(`${what} is ${showValue(found)} instead of an object`);
      const reference = found["$ref"];
      if (typeof reference !== "string") return found;
      if (isExternal(reference)) throw broken(`${what} is in another document, ${showValue(reference)}`);
      found = lookUp(reference);
      if (found === undefined) throw broken(`${what} refers to ${showValue(reference)}, which does not exist`);
    }
    throw broken(`${what} refers to itself`);
  }

  return { lookUp, follow };
}

/** True for a reference to another document. */
export function isExternal(reference: string): boolean {
  return !reference.startsWith("#");
}

/** The error for an unusable part of a document. */
export function broken(reason: string): ArsenalError {
  return new ArsenalError("TOOL_INVALID", reason);
}

/** Returns the names in a JSON Pointer; undefined if the reference leads to another document. */
export function partsOf(reference: string): readonly string[] | undefined {
  return reference.startsWith("#") ? pointerSteps(reference.slice(1))?.map(decodePercent) : undefined;
}
