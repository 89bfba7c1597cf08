import { domainToASCII } from "node:url";
import { AsyncLocalStorage } from "node:async_hooks";

/** The hosts that may be reached, written `example.com` or `*.example.com` (all below it). An empty `only` is nowhere at all. */
export interface OnlyDomains {
  readonly only: readonly string[];
}

/** Which hosts may be reached. The word for no bound is `"anywhere"`, so that an empty list is never taken for it. */
export type DomainBound = "anywhere" | OnlyDomains;

/** The bound of a setting that lists domains, in which none listed means that none is set. */
export function boundOfSetting(domains: readonly string[] | undefined): DomainBound {
  return domains === undefined || domains.length === 0 ? "anywhere" : onlyWithin(domains);
}

export function onlyWithin(domains: readonly string[]): OnlyDomains {
  return { only: domains.map(asWritten) };
}

/** True if a host, as `hostOf` gives it, lies within the bound. */
export function isWithin(host: string, { only }: OnlyDomains): boolean {
  return only.some((domain) => (domain.startsWith("*.") ? host.endsWith(domain.slice(1)) : host === domain));
}

/** As hosts are compared: lower case, other scripts as addresses have them, without brackets and without the dot that ends a full name. */
function asWritten(domain: string): string {
  const name = domain.replace(/[[\]]/g, "");
  return (domainToASCII(name) || name).replace(/\.$/, "").toLowerCase();
}

/** The bounds of the calls that are under way around the present one, all of which hold. */
const bounds = new AsyncLocalStorage<readonly OnlyDomains[] | undefined>();

/** Runs a call that may reach only these domains; nested calls only what both may reach. An empty list means nowhere, unlike `allowedDomains`. */
export function withinDomains<R>(domains: readonly string[], run: () => R): R {
  return bounds.run([...(bounds.getStore() ?? []), onlyWithin(domains)], run);
}

/** Runs shared work that a call triggered, such as connecting or renewing a token, under the rules of the program instead of the call's. */
export function outsideCalls<R>(run: () => R): R {
  return bounds.run(undefined, run);
}

/** True if the call under way may reach the host, as `hostOf` gives it; true outside of calls that are bound. */
export function mayReachInCall(host: string): boolean {
  return bounds.getStore()?.every((bound) => isWithin(host, bound)) ?? true;
}
