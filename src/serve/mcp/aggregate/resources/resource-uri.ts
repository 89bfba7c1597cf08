/**
 * How the resources of several servers are told apart: `toolarsenal:NAME/` before the server's own URI, which follows untouched. So any URI
 * can be read back, a template stays a template whose expansion is the expanded URI with the prefix, and parsers that tidy URLs leave it
 * alone, since nothing of it is a path to them.
 */
const SCHEME = "toolarsenal:";

/** The URI, or URI template, by which clients know one of an upstream's. */
export function toServedUri(upstream: string, uri: string): string {
  return `${SCHEME}${encodeName(upstream)}/${uri}`;
}

/** The upstream and its own URI; undefined for one that was not made by `toServedUri`. */
export function fromServedUri(served: string): { readonly upstream: string; readonly uri: string } | undefined {
  const slash = served.indexOf("/");
  if (!served.startsWith(SCHEME) || slash < 0) return undefined;
  const upstream = decodeName(served.slice(SCHEME.length, slash));
  return upstream === undefined ? undefined : { upstream, uri: served.slice(slash + 1) };
}

/** Quotes are no literals of a URI template, and `encodeURIComponent` leaves single ones. */
function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll("'", "%27");
}

function decodeName(encoded: string): string | undefined {
  try {
    const name = decodeURIComponent(encoded);
    return encodeName(name) === encoded ? name : undefined;
  } catch {
    return undefined;
  }
}
