import { isPlainObject } from "../tool/json-schema.ts";

/**
 * Reads a person's answer from a framework's value: `true`, `"approve"` or `{ approved: true }`, and the equivalents for a denial. Returns undefined
 * for other values.
 */
export function toAnswer(given: unknown): "approve" | "deny" | undefined {
  const value = isPlainObject(given) && "approved" in given ? given["approved"] : given;
  if (value === true || value === "approve" || value === "approved") return "approve";
  return value === false || value === "deny" || value === "denied" ? "deny" : undefined;
}
