import { domainToASCII } from "node:url";
import { AsyncLocalStorage } from "node:async_hooks";

/** The permitted hosts, written `example.com` or `*.example.com` (all subdomains). An empty `only` permits no host. */
export interface OnlyDomains {
  readonly only: readonly string[];
}

/** The permitted hosts. `"anywhere"` means no bound, so an empty list always means no host. */
export type DomainBound = "anywhere" | OnlyDomains;

/** Converts a setting that lists domains into a bound. An empty list means no bound. */
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

/** The bounds of the current call and of the calls around it. A host must satisfy all of them. */
const bounds = new AsyncLocalStorage<readonly OnlyDomains[] | undefined>();

/** Runs a call that may reach only these domains. Nested calls need permission from both bounds. Unlike `allowedDomains`, [] permits no host. */
export function withinDomains<R>(domains: readonly string[], run: () => R): R {
  return bounds.run([...(bounds.getStore() ?? []), onlyWithin(domains)], run);
}

/** Runs shared work that a call triggered, such as connecting or refreshing a token. The program's rules apply, not the call's. */
export function outsideCalls<R>(run: () => R): R {
  return bounds.run(undefined, run);
}

/** Returns true if the current call may reach the normalised host, or is not bound. */
export function mayReachInCall(host: string): boolean {
  return bounds.getStore()?.every((bound) => isWithin(host, bound)) ?? true;
}
