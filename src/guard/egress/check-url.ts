import { isIP } from "node:net";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { mayReachInCall } from "./call-scope.ts";
import { boundOfSetting, type DomainBound, isWithin } from "./domain-bound.ts";
import { isPublicAddress } from "./public-address.ts";

/** Where requests may go. */
export interface EgressRules {
  /** `example.com` and `*.example.com` (all below it). Any domain where absent or empty. */
  readonly allowedDomains?: readonly string[];
  /** True lets requests reach this machine and private networks, for addresses that the operator wrote. */
  readonly allowPrivate?: boolean;
}

/** What one address is held to. */
export interface AddressLimits {
  /** All of them hold. */
  readonly bounds: readonly DomainBound[];
  readonly allowPrivate: boolean;
  readonly isPublic: (address: string) => boolean;
}

/** Names that mean this machine or its network whatever a resolver says. */
const LOCAL_NAMES: readonly string[] = ["localhost", "local", "internal", "lan", "home.arpa", "localdomain"];

/**
 * The address to request, checked as far as its text goes; which address its name resolves to is checked when it is connected to. Throws
 * PERMISSION_DENIED.
 */
export function checkUrl(
  given: string | URL,
  { allowedDomains, allowPrivate = false }: EgressRules = {},
  isPublic: (address: string) => boolean = isPublicAddress,
): URL {
  return checkAddress(given, { bounds: [boundOfSetting(allowedDomains)], allowPrivate, isPublic });
}

/** Checks like `checkUrl`, against bounds that were read before, and against what the call under way may reach. */
export function checkAddress(given: string | URL, { bounds, allowPrivate, isPublic }: AddressLimits): URL {
  const url = typeof given === "string" ? parse(given) : given;
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw refused(url, "only http and https are requested", "Use an https address.");
  if (url.username !== "" || url.password !== "")
    throw refused(url, "it carries a user name or password", "Send credentials in a header.");
  const host = hostOf(url);
  if (!allowPrivate && !mayBePublic(host, isPublic))
    throw refused(url, `${host} is this machine or a private network`, "Use a public address.");
  for (const bound of bounds) {
    if (bound === "anywhere" || isWithin(host, bound)) continue;
    const fix = `Allow the domain, or use one of ${bound.only.join(", ")}.`;
    throw refused(url, `${host} is not among the allowed domains`, fix);
  }
  checkInCall(url);
  return url;
}

/** Throws PERMISSION_DENIED where the call under way may not reach the address. For what is sent over a connection that is open already. */
export function checkInCall(url: URL): void {
  const host = hostOf(url);
  if (mayReachInCall(host)) return;
  const fix = "Add the domain to the egress obligation of the rule that allows the call.";
  throw refused(url, `${host} is not among the domains that this call may reach`, fix);
}

/** The host as it is connected to: lower case, without brackets and without the dot that ends a full name. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/[[\]]/g, "").replace(/\.$/, "").toLowerCase();
}

/** The refusal of a request, which opened no socket. */
export function refused(url: URL, why: string, fix: string): ArsenalError {
  // The query and the credentials may be secrets.
  const shown = `${url.protocol}//${url.host}${url.pathname}`;
  const details = { field: "url", value: shown, fix };
  return new ArsenalError("PERMISSION_DENIED", `A request to ${shown} is refused: ${why}. ${fix}`, details);
}

function mayBePublic(host: string, isPublic: (address: string) => boolean): boolean {
  if (isIP(host) !== 0) return isPublic(host);
  return !LOCAL_NAMES.some((name) => host === name || host.endsWith(`.${name}`));
}

function parse(given: string): URL {
  const url = URL.parse(given);
  // Blanks and backslashes are read differently by different programs, so that what was checked is not what is requested.
  if (url !== null && !/[\s\\]/.test(given)) return url;
  const fix = "Write it as https://host/path.";
  throw new ArsenalError("PERMISSION_DENIED", `${showValue(given)} is no address that can be requested. ${fix}`, {
    field: "url",
    value: given,
    fix,
  });
}
