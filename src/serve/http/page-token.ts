import type { IncomingHttpHeaders } from "node:http";
import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import type { Seal, SealBinding } from "../mcp/modern/seal.ts";

const HEADER = "x-page-token";
const DAY_MS = 86_400_000;
const BINDING: SealBinding = { principal: { id: "page" }, plane: "page", method: "token", params: {} };

/** The element that gives a page of the gateway its token. Every process on the same state accepts it, for a day. */
export function pageTokenMeta(seal: Pick<Seal, "seal">): string {
  return `<meta name="page-token" content="${seal.seal({}, BINDING, DAY_MS)}">`;
}

/**
 * Why a request that a page of the gateway's own origin made may not change anything: it does not carry the token of such a page. Programs send
 * neither Origin nor Sec-Fetch-Site; the host has checked the origins of other pages.
 */
export function pageRefusal(
  { method, headers }: { readonly method?: string | undefined; readonly headers: IncomingHttpHeaders },
  seal: Pick<Seal, "open">,
): ArsenalError | undefined {
  if (method === "GET" || method === "HEAD" || !isOwnPage(headers)) return undefined;
  const token = headers[HEADER];
  if (typeof token === "string" && seal.open(token, BINDING) !== undefined) return undefined;
  const fix = `Reload the page. A page of your own sends, as ${HEADER}, the page-token that /ui has in its <meta>; it is good for a day.`;
  const problem = token === undefined ? "has no page token" : "has a page token that is wrong or too old";
  return fixable("PERMISSION_DENIED", `This request from a web page ${problem}.`, fix, { field: HEADER });
}

function isOwnPage({ host = "", origin, "sec-fetch-site": site }: IncomingHttpHeaders): boolean {
  if (origin === undefined) return site === "same-origin" || site === "none";
  return origin.toLowerCase().replace(/^https?:\/\//, "") === host.toLowerCase();
}
