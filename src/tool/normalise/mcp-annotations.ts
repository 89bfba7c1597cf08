import { isPlainObject } from "../json-schema.ts";
import type { Annotations } from "../tool.ts";

const FROM_MCP = {
  readOnlyHint: "readOnly",
  destructiveHint: "destructive",
  idempotentHint: "idempotent",
  openWorldHint: "openWorld",
} as const;

/** Annotations from the hints of an MCP tool. Nobody confirmed them; anything malformed is left out. */
export function fromMcpAnnotations(hints: unknown): Annotations {
  const annotations: { -readonly [Key in keyof Annotations]: Annotations[Key] } = { confirmed: false };
  for (const [hint, key] of Object.entries(FROM_MCP)) {
    const value = isPlainObject(hints) ? hints[hint] : undefined;
    if (typeof value === "boolean") annotations[key] = value;
  }
  return annotations;
}
