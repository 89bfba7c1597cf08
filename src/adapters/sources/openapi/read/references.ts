import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { showValue } from "../../../../errors/show-value.ts";
import { decodePercent, follow as walk, pointerSteps } from "../../../../tool/schema/keywords.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";

/** A part of a document. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Resolves `$ref`, within one document. Nothing outside it is ever read. */
export type References = ReturnType<typeof createReferences>;

/** Longer chains do not occur in documents written by hand. */
const MAX_HOPS = 50;

/** The references of one document. */
export function createReferences(root: JsonObject) {
  /** The value at `#/a/b`; undefined if there is none, or the reference leads out of the document. */
  function lookUp(reference: string): unknown {
    const parts = partsOf(reference);
    return parts && walk(root, parts);
  }

  /** The object itself, or the one that its `$ref` leads to. Throws TOOL_INVALID if that is not one. `what` is for the message. */
  function follow(value: unknown, what: string): JsonObject {
    let found = value;
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      if (!isPlainObject(found)) throw broken(`${what} is ${showValue(found)} instead of an object`);
      const reference = found["$ref"];
      if (typeof reference !== "string") return found;
      if (isExternal(reference)) throw broken(`${what} is in another document, ${showValue(reference)}`);
      found = lookUp(reference);
      if (found === undefined) throw broken(`${what} is at ${showValue(reference)}, where there is nothing`);
    }
    throw broken(`${what} refers to itself`);
  }

  return { lookUp, follow };
}

/** True for a reference to another document. */
export function isExternal(reference: string): boolean {
  return !reference.startsWith("#");
}

/** A part of a document that cannot be used. */
export function broken(reason: string): ArsenalError {
  return new ArsenalError("TOOL_INVALID", reason);
}

/** The names in a JSON Pointer within the document; undefined if the reference leads out of it. */
export function partsOf(reference: string): readonly string[] | undefined {
  return reference.startsWith("#") ? pointerSteps(reference.slice(1))?.map(decodePercent) : undefined;
}
