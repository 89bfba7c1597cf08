import { isPlainObject } from "../../../../tool/json-schema.ts";

/** JSON inside JSON inside JSON is the most that models write. */
const MAX_LAYERS = 3;

/** An object, also one that a model wrote as JSON, or as JSON of JSON; undefined for anything else. */
export function toObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  let given = value;
  for (let layer = 0; layer < MAX_LAYERS && typeof given === "string"; layer++) given = parse(given);
  return isPlainObject(given) ? given : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
