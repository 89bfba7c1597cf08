import { contentHash, type HashedFields } from "./content-hash.ts";
import type { Tool } from "./tool.ts";

/** A tool from fields that are checked and frozen already: adds its id and hash. */
export function assembleTool(fields: HashedFields, createdAt: number): Tool {
  const id = `${fields.namespace}.${fields.name}`;
  return Object.freeze({ id, ...fields, createdAt, contentHash: contentHash(fields) });
}
