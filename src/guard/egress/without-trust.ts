import { hostOf, isPrivateHost } from "./check-url.ts";
import { isWithin, onlyWithin } from "./domain-bound.ts";
import type { Egress, EgressRequest } from "./egress.ts";

/**
 * The way out for a source that a remote operator added. Its addresses are held to the program's rules, as those of tools are: they must be
 * public, or among the domains that the configuration lists.
 */
export function withoutTrust(egress: Egress, allowedDomains: readonly string[]): Egress {
  const listed = onlyWithin(allowedDomains);
  const held = <Asked extends Pick<EgressRequest, "trusted" | "allowPrivate">>(url: string | URL, asked: Asked) => {
    const host = hostOf(new URL(url));
    return { ...asked, trusted: false, allowPrivate: isWithin(host, listed), publicRedirects: true };
  };
  return {
    // An address that cannot be read is refused there.
    request: async (url, asked = {}) => egress.request(url, URL.canParse(String(url)) ? held(url, asked) : {}),
    connect: (url, asked = {}) => egress.connect(url, held(url, asked)),
    fork: (certificate) => withoutTrust(egress.fork(certificate), allowedDomains),
    close: () => egress.close(),
  };
}

/** True for an address on this machine or a private network, as far as its text tells, that the configuration does not list. */
export function isPrivate(address: string, allowedDomains: readonly string[] = []): boolean {
  const url = URL.parse(address);
  return url !== null && isPrivateHost(hostOf(url)) && !isWithin(hostOf(url), onlyWithin(allowedDomains));
}
