import type { IncomingHttpHeaders } from "node:http";
import { isIPv4, isIPv6 } from "node:net";
import { fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";

/** The accepted callers, by the name that the caller uses for the server, and by the origin of the calling web page. */
export interface CallerRules {
  readonly host: string;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
}

export interface CallerRefusal {
  readonly status: 400 | 403;
  readonly message: string;
}

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

/** Returns true for a host that only programs on this machine can reach. */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/** Formats an address for a URL: IPv6 in brackets. */
export function hostInUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/**
 * Creates the check against calls from web pages. A page whose own name resolves to this machine (DNS rebinding) sends that name as Host. A page of
 * another site, or of another port on this machine, sends its own Origin. Both are refused unless they were allowed.
 */
export function createCallerCheck(rules: CallerRules): (headers: IncomingHttpHeaders) => CallerRefusal | undefined {
  const { host, allowedHosts = [], allowedOrigins = [] } = rules;
  // A server on every address has no name. An IP address as Host is safe, because rebinding needs a name.
  const everywhere = host === "" || host === "0.0.0.0" || host === "::";
  const names = new Set([host, ...allowedHosts].map((name) => nameOf(hostInUrl(name))));
  if (isLoopback(host) || everywhere) for (const name of LOOPBACK_NAMES) names.add(name);
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")));

  function isOwnName(header: string): boolean {
    if (names.has(header)) return true;
    const name = nameOf(header);
    return names.has(name) || (everywhere && isAddress(name));
  }

  /** Returns true for the server's own origin, from which its own pages call. */
  function isOwnOrigin(origin: string, called: string): boolean {
    return /^https?:\/\//.test(origin) && origin.slice(origin.indexOf("://") + 3) === called;
  }

  return function check({ host: called, origin }) {
    if (called === undefined || called === "") return { status: 400, message: "The request has no Host header." };
    if (!isOwnName(called)) {
      const message = `Host ${showValue(called)} is not a name of this server. Its names are ${[...names].join(", ")}. To allow another name, add it to server.allowed_hosts (allowedHosts in code).`;
      return { status: 403, message };
    }
    if (origin === undefined) return undefined;
    const page = origin.toLowerCase();
    if (origins.has(page) || isOwnOrigin(page, called.toLowerCase())) return undefined;
    const message = `Web pages from ${showValue(origin)} may not call this server. To allow them, add that origin to server.allowed_origins (allowedOrigins in code).`;
    return { status: 403, message };
  };
}

/** Returns a Host header, or a host setting, without its port. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d{1,5}$/, "");
}

function isAddress(name: string): boolean {
  return isIPv4(name) || (name.startsWith("[") && name.endsWith("]") && isIPv6(name.slice(1, -1)));
}

/**
 * Determines this server's address, as the client sees it, from the Host header. Tokens are issued for such an address, so only the operator's
 * setting and, on this machine, loopback names are trusted. A caller that replays a token of another server would also send that server's Host.
 */
export function createOwnAddress(
  { host, port, url }: { readonly host: string; readonly port: number; readonly url: string },
  publicUrl: string | undefined,
): (called: string | undefined) => string {
  if (publicUrl !== undefined) return () => publicUrl;
  if (!isLoopback(host)) return () => url;
  const names = new Set(LOOPBACK_NAMES.map((name) => `${name}:${port}`));
  return (called) => {
    const name = called?.toLowerCase();
    return name !== undefined && names.has(name) ? `${new URL(url).protocol}//${name}` : url;
  };
}

/** The paths of the gateway. A path that ends in `/` includes everything below it. */
const OWN_PATHS =
  "/mcp /mcp/upstreams/ /mcp/toolsets/ /sse /sse/messages /api/v1 /api/v1/ /a2a /a2a/v1/ /ui /ui/ /registry/v0.1/ /docs /openapi.json /metrics /healthz /readyz /.well-known/".split(
    " ",
  );

/**
 * Returns the address of a server behind another name or below a path, as metadata and tokens contain it: without a trailing slash. Throws if the
 * address is invalid, or if requests with its path would be ambiguous.
 */
export function checkedPublicUrl(given: string): string {
  const url = URL.parse(given);
  const refused = (problem: string, fix: string): Error =>
    fixable("CONFIG_INVALID", `server.public_url (publicUrl in code) ${problem}: ${given}.`, fix, {
      field: "publicUrl",
      value: given,
    });
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.origin + url.pathname === url.href;
  if (!isPlain || url.pathname.includes("//")) {
    const fix =
      "Write scheme and host, and the path if the gateway is below one, without a query or fragment: https://tools.example.com or https://example.com/tools.";
    throw refused("is not the address of a server", fix);
  }
  const prefix = url.pathname.replace(/\/$/, "");
  const own = OWN_PATHS.find((path) => path === prefix || path.startsWith(`${prefix}/`) || isBelow(prefix, path));
  if (prefix !== "" && own !== undefined)
    throw refused(`has the path ${prefix}, which the gateway uses itself`, "Use another path, such as /tools.");
  return url.origin + prefix;
}

function isBelow(path: string, beginning: string): boolean {
  return beginning.endsWith("/") && path.startsWith(beginning);
}

/** Returns the path of an address: `/tools` for `https://example.com/tools`, or an empty text. */
export function basePathOf(address: string): string {
  return address === "" ? "" : new URL(address).pathname.replace(/\/$/, "");
}

/** Removes the path of the public address from a request's path and query. Does nothing if the proxy has already removed it. */
export function withoutPrefix(path: string, prefix: string): string {
  if (prefix === "" || !path.startsWith(prefix)) return path;
  const rest = path.slice(prefix.length);
  return rest === "" || rest.startsWith("/") || rest.startsWith("?") ? rest : path;
}
