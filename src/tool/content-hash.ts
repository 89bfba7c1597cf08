import { hash } from "node:crypto";
import { canonicalJson } from "./canonical-json.ts";
import type { Tool } from "./tool.ts";

/** The fields of a tool that its hash covers: all but those made from the others and the time it was made. */
export type HashedFields = Omit<Tool, "id" | "createdAt" | "contentHash">;

/** Sixteen hex digits that change when, and only when, something about the tool does. */
export function contentHash(tool: HashedFields): string {
  const { id: _id, createdAt: _createdAt, contentHash: _contentHash, ...content } = tool as Tool;
  return shortHash(canonicalJson(content), 16);
}

/** The first `digits` hex digits of a text's SHA-256. */
export function shortHash(text: string, digits: number): string {
  return hash("sha256", text, "hex").slice(0, digits);
}
