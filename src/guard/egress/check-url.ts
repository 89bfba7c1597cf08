import { isIP } from "node:net";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { isPublicAddress } from "./public-address.ts";

/** Where requests may go. */
export interface EgressRules {
  /** `example.com` and `*.example.com` (all below it). Any domain where absent or empty. */
  readonly allowedDomains?: readonly string[];
  /** True lets requests reach this machine and private networks, for addresses that the operator wrote. */
  readonly allowPrivate?: boolean;
}

/** Names that mean this machine or its network whatever a resolver says. */
const LOCAL_NAMES: readonly string[] = ["localhost", "local", "internal", "lan", "home.arpa", "localdomain"];

/**
 * The address to request, checked as far as its text goes; which address its name resolves to is checked when it is connected to. Throws
 * PERMISSION_DENIED.
 */
export function checkUrl(
  given: string | URL,
  rules: EgressRules = {},
  isPublic: (address: string) => boolean = isPublicAddress,
): URL {
  const url = typeof given === "string" ? parse(given) : given;
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw refused(url, "only http and https are requested", "Use an https address.");
  if (url.username !== "" || url.password !== "")
    throw refused(url, "it carries a user name or password", "Send credentials in a header.");
  const host = hostOf(url);
  if (rules.allowPrivate !== true && !mayBePublic(host, isPublic))
    throw refused(url, `${host} is this machine or a private network`, "Use a public address.");
  const { allowedDomains = [] } = rules;
  if (allowedDomains.length > 0 && !allowedDomains.some((domain) => matches(host, domain))) {
    const fix = `Allow the domain, or use one of ${allowedDomains.join(", ")}.`;
    throw refused(url, `${host} is not among the allowed domains`, fix);
  }
  return url;
}

/** The host as it is connected to: lower case, without brackets and without the dot that ends a full name. */
export function hostOf(url: URL): string {
  return url.hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
}

function mayBePublic(host: string, isPublic: (address: string) => boolean): boolean {
  if (isIP(host) !== 0) return isPublic(host);
  return !LOCAL_NAMES.some((name) => host === name || host.endsWith(`.${name}`));
}

function matches(host: string, domain: string): boolean {
  const name = domain.toLowerCase();
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name;
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

function refused(url: URL, why: string, fix: string): ArsenalError {
  // The query and the credentials may be secrets.
  const shown = `${url.protocol}//${url.host}${url.pathname}`;
  const details = { field: "url", value: shown, fix };
  return new ArsenalError("PERMISSION_DENIED", `A request to ${shown} is refused: ${why}. ${fix}`, details);
}
