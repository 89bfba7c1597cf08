import { domainToASCII } from "node:url";

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

/** The bound that lets nothing pass but these. */
export function onlyWithin(domains: readonly string[]): OnlyDomains {
  return { only: domains.map(asWritten) };
}

/** True where a host, as `hostOf` gives it, lies within the bound. */
export function isWithin(host: string, { only }: OnlyDomains): boolean {
  return only.some((domain) => (domain.startsWith("*.") ? host.endsWith(domain.slice(1)) : host === domain));
}

/** As hosts are compared: lower case, other scripts as addresses have them, without brackets and without the dot that ends a full name. */
function asWritten(domain: string): string {
  const name = domain.replace(/[[\]]/g, "");
  return (domainToASCII(name) || name).replace(/\.$/, "").toLowerCase();
}
