import { domainToASCII } from "node:url";
import { AsyncLocalStorage } from "node:async_hooks";

/** The permitted hosts, written `example.com` or `*.example.com` (all subdomains). An empty `only` permits no host. */
export interface OnlyDomains {
  readonly only: readonly string[];
}

/** The permitted hosts. Without a bound it is `"anywhere"`, so that an empty list is unambiguous. */
export type DomainBound = "anywhere" | OnlyDomains;

/** The bound of a setting that lists domains; an empty list means that no bound is set. */
export function boundOfSetting(domains: readonly string[] | undefined): DomainBound {
  return domains === undefined || domains.length === 0 ? "anywhere" : onlyWithin(domains);
}

export function onlyWithin(domains: readonly string[]): OnlyDomains {
  return { only: domains.map(asWritten) };
}

/** Returns true if a normalised host is within the bound. */
export function isWithin(host: string, { only }: OnlyDomains): boolean {
  return only.some((domain) => (domain.startsWith("*.") ? host.endsWith(domain.slice(1)) : host === domain));
}

/** Normalises a domain like hosts: lower case, punycode, without brackets and without a trailing dot. */
function asWritten(domain: string): string {
  const name = domain.replace(/[[\]]/g, "");
  return (domainToASCII(name) || name).replace(/\.$/, "").toLowerCase();
}

/** The bounds of all calls around the current one. All apply. */
const bounds = new AsyncLocalStorage<readonly OnlyDomains[] | undefined>();

/** Runs a call that may reach only these domains; nested calls only those that both permit. An empty list means no host, unlike `allowedDomains`. */
export function withinDomains<R>(domains: readonly string[], run: () => R): R {
  return bounds.run([...(bounds.getStore() ?? []), onlyWithin(domains)], run);
}

/** Runs shared work that a call triggered, such as connecting or refreshing a token, under the rules of the program instead of the call's. */
export function outsideCalls<R>(run: () => R): R {
  return bounds.run(undefined, run);
}

/** Returns true if the current call may reach the normalised host, or is not bound. */
export function mayReachInCall(host: string): boolean {
  return bounds.getStore()?.every((bound) => isWithin(host, bound)) ?? true;
}
