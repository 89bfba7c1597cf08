import type { IncomingHttpHeaders } from "node:http";
import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import type { Seal, SealBinding } from "../mcp/modern/seal.ts";

const HEADER = "x-page-token";
const DAY_MS = 86_400_000;
const BINDING: SealBinding = { principal: { id: "page" }, plane: "page", method: "token", params: {} };

/** Returns the element that gives a page of the gateway its token. Every process on the same state accepts the token for a day. */
export function pageTokenMeta(seal: Pick<Seal, "seal">): string {
  return `<meta name="page-token" content="${seal.seal({}, BINDING, DAY_MS)}">`;
}

/** Distinguishes the host's own pages from other programs and from pages of other sites. */
export interface PageCheck {
  readonly seal: Pick<Seal, "open">;
  /** The gateway's origin in browsers, if it has another public name. */
  readonly publicOrigin?: string | undefined;
  /** Origins that the operator allowed. The host has checked them, so their pages need no token. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/**
 * Refuses a request from a page of the gateway's own origin, unless it is a read or carries a page token. Returns undefined for all other requests.
 * Programs send neither Origin nor Sec-Fetch-Site.
 */
export function pageRefusal(
  { method, headers }: { readonly method?: string | undefined; readonly headers: IncomingHttpHeaders },
  { seal, publicOrigin, allowedOrigins }: PageCheck,
): ArsenalError | undefined {
  if (method === "GET" || method === "HEAD") return undefined;
  const { host = "", origin, "sec-fetch-site": site } = headers;
  if (origin === undefined && site === undefined) return undefined;
  const isOwn = site === "same-origin" || (origin === undefined ? site === "none" : isOwnOrigin(origin, host));
  if (!isOwn) return undefined;
  const token = headers[HEADER];
  if (typeof token === "string" && seal.open(token, BINDING) !== undefined) return undefined;
  const fix = `Reload the page. Your own pages must send, as ${HEADER}, the page-token in the <meta> of /ui; it is valid for a day.`;
  const problem = token === undefined ? "has no page token" : "has an invalid or expired page token";
  return fixable("PERMISSION_DENIED", `This request from a web page ${problem}.`, fix, { field: HEADER });

  function isOwnOrigin(given: string, called: string): boolean {
    const page = given.toLowerCase();
    if (allowedOrigins?.some((each) => each.toLowerCase() === page) === true) return false;
    return page === publicOrigin || page.replace(/^https?:\/\//, "") === called.toLowerCase();
  }
}
