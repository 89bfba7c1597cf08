import { fixable } from "../errors/arsenal-error.ts";
import { messageOf } from "../errors/show-value.ts";

/** Serializes a document as JSON. Throws STORE_FAILED if JSON cannot represent the value. */
export function documentText(key: string, value: unknown): string {
  let why = "it is not JSON";
  try {
    const text: string | undefined = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch (error) {
    why = messageOf(error);
  }
  throw fixable("STORE_FAILED", `The state ${key} cannot be kept: ${why}.`, "Give plain JSON data.");
}
