import { hostOf, isPrivateHost } from "./check-url.ts";
import { isWithin, onlyWithin } from "./domain-bound.ts";
import type { Egress, EgressRequest } from "./egress.ts";

/** The egress for a source that a remote operator added. Its addresses must be public or in the configured domains, like the addresses of tools. */
export function withoutTrust(egress: Egress, allowedDomains: readonly string[]): Egress {
  const listed = onlyWithin(allowedDomains);
  const held = <Asked extends Pick<EgressRequest, "trusted" | "allowPrivate">>(url: string | URL, asked: Asked) => {
    const host = hostOf(new URL(url));
    return { ...asked, trusted: false, allowPrivate: isWithin(host, listed), publicRedirects: true };
  };
  return {
    // The egress refuses an address that cannot be parsed.
    request: async (url, asked = {}) => egress.request(url, URL.canParse(String(url)) ? held(url, asked) : {}),
    connect: (url, asked = {}) => egress.connect(url, held(url, asked)),
    fork: (certificate) => withoutTrust(egress.fork(certificate), allowedDomains),
    close: () => egress.close(),
  };
}

/** Returns true if the text of an address names this machine or a private network, and the address is not configured. */
export function isPrivate(address: string, allowedDomains: readonly string[] = []): boolean {
  const url = URL.parse(address);
  return url !== null && isPrivateHost(hostOf(url)) && !isWithin(hostOf(url), onlyWithin(allowedDomains));
}
