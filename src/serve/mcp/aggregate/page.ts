import { type JsonObject, RPC, RpcError } from "../../../mcp/protocol.ts";

/** Entries a page. Many clients never ask for the second one, so it is large. */
export const PAGE_SIZE = 1_000;

/** The page of a list that a cursor asks for, and where the next one begins. Without a cursor it is the first. */
export function pageOf(key: string, all: readonly unknown[], cursor: unknown): JsonObject {
  const start = cursor === undefined || cursor === null ? 0 : startOf(cursor);
  const end = start + PAGE_SIZE;
  const next = end < all.length ? { nextCursor: Buffer.from(`from:${end}`).toString("base64url") } : {};
  return { [key]: all.slice(start, end), ...next };
}

function startOf(cursor: unknown): number {
  const text = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString("latin1") : "";
  const [, digits] = /^from:([1-9]\d{0,8})$/.exec(text) ?? [];
  if (digits !== undefined) return Number(digits);
  const message = "The cursor is none that this server gave. List again without one.";
  throw new RpcError({ code: RPC.invalidParams, message });
}
