import type Net from "node:net";
import type { BlockList } from "node:net";
import { ArsenalError, fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { boundOfSetting, type DomainBound, isWithin, mayReachInCall } from "./domain-bound.ts";

/** The permitted targets of requests. */
export interface EgressRules {
  /** `example.com` and `*.example.com` (all subdomains). Any domain if omitted or empty. */
  readonly allowedDomains?: readonly string[];
  /** Allows requests to this machine and to private networks. For addresses that the operator configured. */
  readonly allowPrivate?: boolean;
}

/** The forward proxy of a program. */
export interface ProxySettings {
  /** `http://host:port`, also with a user name and password; `none` for no proxy. Defaults to HTTPS_PROXY, HTTP_PROXY and ALL_PROXY. */
  readonly proxy?: string | undefined;
  /** Hosts that are reached directly: `example.com` (with its subdomains), `10.0.0.0/8`, `host:port`, `*`. Defaults to NO_PROXY. */
  readonly noProxy?: readonly string[] | undefined;
}

/** The client certificate of a TLS connection, as PEM texts. */
export interface ClientCertificate {
  readonly cert?: string;
  readonly key?: string;
  /** Trusted certificate authorities of servers. Defaults to those that Node trusts. */
  readonly ca?: string;
}

export interface HostAddress {
  readonly address: string;
  /** 4 or 6. */
  readonly family: number;
}

export type Resolve = (
  host: string,
  callback: (error: Error | null, addresses: readonly HostAddress[]) => void,
) => void;

/** Names that always mean this machine or its network. */
const LOCAL_NAMES: readonly string[] = ["localhost", "local", "internal", "lan", "home.arpa", "localdomain"];

/** Checks an address by its text; its IP addresses are checked when the connection opens. Returns the parsed URL. Throws PERMISSION_DENIED. */
export function checkUrl(
  given: string | URL,
  { allowedDomains, allowPrivate = false }: EgressRules = {},
  isPublic: (address: string) => boolean = isPublicAddress,
): URL {
  return checkAddress(given, { bounds: [boundOfSetting(allowedDomains)], allowPrivate, isPublic });
}

/** Checks like `checkUrl`, against parsed bounds, and against the bounds of the current call. */
export function checkAddress(
  given: string | URL,
  limits: {
    readonly bounds: readonly DomainBound[];
    readonly allowPrivate: boolean;
    readonly isPublic: (address: string) => boolean;
  },
): URL {
  const { bounds, allowPrivate, isPublic } = limits;
  const url = typeof given === "string" ? parse(given) : given;
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw refused(url, "only http and https are requested", "Use an https address.");
  if (url.username !== "" || url.password !== "")
    throw refused(url, "it carries a user name or password", "Send credentials in a header.");
  const host = hostOf(url);
  if (!allowPrivate && !mayBePublic(host, isPublic))
    throw refused(url, `${host} is this machine or a private network`, PRIVATE_FIX);
  for (const bound of bounds) {
    if (bound === "anywhere" || isWithin(host, bound)) continue;
    const fix = `Allow the domain, or use one of ${bound.only.join(", ")}.`;
    throw refused(url, `${host} is not among the allowed domains`, fix);
  }
  checkInCall(url);
  return url;
}

/** Throws PERMISSION_DENIED if the current call may not reach the address. For requests over an open connection. */
export function checkInCall(url: URL): void {
  const host = hostOf(url);
  if (mayReachInCall(host)) return;
  const fix = "Add the domain to the egress obligation of the rule that allows the call.";
  throw refused(url, `${host} is not among the domains that this call may reach`, fix);
}

/** The normalised host: lower case, without brackets and without a trailing dot. */
export function hostOf(url: URL): string {
  const host = withoutBrackets(url.hostname);
  return (host.endsWith(".") ? host.slice(0, -1) : host).toLowerCase();
}

/** The host name of a URL, which has brackets around an IPv6 address. */
export function withoutBrackets(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

const PRIVATE_FIX = "Use a public address, or name this one in your own configuration: see docs/guides/egress.md.";

export function refused(url: URL, why: string, fix: string): ArsenalError {
  // The query and the credentials may be secrets.
  const shown = `${url.protocol}//${url.host}${url.pathname}`;
  return fixable("PERMISSION_DENIED", `A request to ${shown} is refused: ${why}.`, fix, { field: "url", value: shown });
}

/** Returns true for a normalised host that always is this machine or in a private network. */
export function isPrivateHost(host: string): boolean {
  return !mayBePublic(host, isPublicAddress);
}

function mayBePublic(host: string, isPublic: (address: string) => boolean): boolean {
  if (net().isIP(host) !== 0) return isPublic(host);
  return !LOCAL_NAMES.some((name) => host === name || host.endsWith(`.${name}`));
}

function parse(given: string): URL {
  const url = URL.parse(given);
  // Programs parse blanks and backslashes differently, so the requested address could differ from the checked one.
  if (url !== null && !/[\s\\]/.test(given)) return url;
  const fix = "Write it as https://host/path.";
  const problem = `${showValue(given)} is not a URL that can be requested.`;
  throw fixable("PERMISSION_DENIED", problem, fix, { field: "url", value: given });
}

/** Ranges without public servers: this machine, private networks, link-local and metadata services, multicast, reserved. */
const IPV4_RANGES =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 " +
  "192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3";

/** Public IPv6 addresses begin with 2 or 3; these ranges are exceptions. */
const IPV6_RANGES = "2001::/23 2001:db8::/32 2002::/16 3fff::/20";

/** Loaded on first use, like the rest of Node's network modules. */
const net = (): typeof Net => process.getBuiltinModule("node:net");

let lists: { readonly blocked4: BlockList; readonly blocked6: BlockList; readonly public6: BlockList } | undefined;

/** Returns true for a public IP address, which is neither this machine nor in its network. */
export function isPublicAddress(address: string): boolean {
  const { blocked4, blocked6, public6 } = (lists ??= {
    blocked4: listOf(IPV4_RANGES, "ipv4"),
    blocked6: listOf(IPV6_RANGES, "ipv6"),
    public6: listOf("2000::/3", "ipv6"),
  });
  if (net().isIPv4(address)) return !blocked4.check(address, "ipv4");
  return net().isIPv6(address) && public6.check(address, "ipv6") && !blocked6.check(address, "ipv6");
}

function listOf(ranges: string, family: "ipv4" | "ipv6"): BlockList {
  const list = new (net().BlockList)();
  for (const range of ranges.split(" ")) {
    const [network = "", prefix] = range.split("/");
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}

/** Node's error codes for certificates that no trusted authority signed. */
const UNTRUSTED =
  "DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY".split(
    " ",
  );

/** Node's error codes for connections that failed before any data was sent. */
export const NOT_CONNECTED: ReadonlySet<string> = new Set([
  ..."ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH CERT_HAS_EXPIRED ERR_TLS_CERT_ALTNAME_INVALID".split(
    " ",
  ),
  ...UNTRUSTED,
]);

/** Returns the fix for an untrusted certificate; undefined for any other error. */
export function certificateFix(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (UNTRUSTED.includes(String((each as { readonly code?: unknown }).code)))
      return "Name the file with the certificate of its authority, or of the proxy's, in egress.ca_file or NODE_EXTRA_CA_CERTS.";
  }
  return undefined;
}

export function toRequestFailure(error: Error, url: URL, signal: AbortSignal | undefined): ArsenalError {
  if (isArsenalError(error)) return error;
  if (signal?.aborted)
    return new ArsenalError("CANCELLED", `The request to ${hostOf(url)} was cancelled`, { cause: error });
  const { code } = error as { readonly code?: string };
  const beforeSend = NOT_CONNECTED.has(code ?? "");
  const fix = certificateFix(error);
  // Node's message may suggest its own flags, which would contradict the fix.
  const reason = fix === undefined ? error.message || String(code) : `${error.message.split(";")[0]}. ${fix}`;
  return requestFailed(url, reason, { cause: error, beforeSend, ...(fix && { fix }) });
}

export function requestFailed(
  url: URL,
  why: string,
  details: { readonly cause?: unknown; readonly beforeSend?: boolean; readonly fix?: string } = {},
): ArsenalError {
  return new ArsenalError("TRANSPORT_FAILED", `The request to ${url.host} failed: ${why}`, details);
}
