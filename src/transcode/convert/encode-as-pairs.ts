import type { JsonSchema } from "../../tool/json-schema.ts";
import type { Conversion, Place } from "./conversion.ts";
import { encodeAsText, keepNever } from "./convert-anything.ts";
import { convertNode } from "./convert-node.ts";
import { assemble, keepKeywords } from "./keep-keywords.ts";
import type { SchemaNode } from "../schema/keywords.ts";

/** An object whose names are free as a list of names and values, where the target has no such objects. `repairArguments` reads it back. */
export function encodeAsPairs(
  node: SchemaNode,
  said: readonly string[],
  place: Place,
  conversion: Conversion,
): JsonSchema {
  const { additionalProperties, ...rest } = node;
  const { maxDepth = Infinity, closedObjects } = conversion.target;
  const isTooDeep = place.level + 2 > maxDepth;
  if (place.otherTypes.has("array") || isTooDeep)
    return encodeAsText(node, new Set(["object"]), "additionalProperties", place, conversion);
  const pairs = conversion.attempt(() => {
    conversion.loseAt(place, "additionalProperties", "resolved", "as a list of keys and values, which is read back");
    const kept = keepKeywords(rest, ["object"], place, conversion);
    const at = conversion.inside(place, additionalProperties, "additionalProperties");
    const inside = { ...at, otherTypes: new Set<string>(), level: place.level + 2 };
    const value = keepNever(convertNode(additionalProperties, inside, conversion), inside, conversion);
    const pair = {
      type: "object",
      properties: { key: { type: "string" }, value },
      required: ["key", "value"],
      ...(closedObjects === true ? { additionalProperties: false } : {}),
    };
    const notes = [...kept.notes, ...said, "A list of keys, each once, and their values."];
    // What is about the object's properties is not about the list.
    const keywords = Object.fromEntries(Object.entries(kept.keywords).filter(([keyword]) => keyword === "title"));
    return assemble(rest, { keywords, notes }, { type: "array", items: pair });
  });
  return pairs ?? encodeAsText(node, new Set(["object"]), "additionalProperties", place, conversion);
}
