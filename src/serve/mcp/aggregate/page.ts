import { RPC, RpcError } from "../../../mcp/protocol.ts";

/** Entries a page. Many clients never ask for the second one, so it is large. */
export const PAGE_SIZE = 1_000;

/** One page of a list, and where the next begins. */
export interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly cursor: { readonly nextCursor?: string };
}

/** The page that a cursor asks for: the first where there is none. */
export function pageOf<Entry>(all: readonly Entry[], cursor: unknown): Page<Entry> {
  const start = cursor === undefined || cursor === null ? 0 : startOf(cursor);
  const end = start + PAGE_SIZE;
  return {
    entries: all.length <= PAGE_SIZE && start === 0 ? all : all.slice(start, end),
    cursor: end < all.length ? { nextCursor: Buffer.from(`from:${end}`).toString("base64url") } : {},
  };
}

function startOf(cursor: unknown): number {
  const text = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString("latin1") : "";
  const [, digits] = /^from:([1-9]\d{0,8})$/.exec(text) ?? [];
  if (digits !== undefined) return Number(digits);
  const message = "The cursor is none that this server gave. List again without one.";
  throw new RpcError({ code: RPC.invalidParams, message });
}
