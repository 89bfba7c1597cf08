import type { Obligations } from "../../../guard/policy.port.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Rule } from "./rule.ts";

/** What must hold for a call under all the rules it matches: every rate, every redaction, the common domains, the least size. */
export function obligationsOf(rules: readonly Rule[], principal: Principal): Obligations | undefined {
  const owing = rules.filter(({ obligations }) => obligations !== undefined);
  if (owing.length === 0) return undefined;
  const { tenant = "", id } = principal;
  const rates = owing.flatMap(({ id: rule, obligations }) =>
    obligations?.rate === undefined ? [] : [{ key: JSON.stringify([rule, tenant, id]), ...obligations.rate }],
  );
  const redact = owing.flatMap(({ obligations }) => obligations?.redact ?? []);
  const domains = owing.flatMap(({ obligations }) => (obligations?.egress === undefined ? [] : [obligations.egress]));
  const sizes = owing.flatMap(({ obligations }) => obligations?.maxResultBytes ?? []);
  return {
    ...(rates.length > 0 && { rates }),
    ...(redact.length > 0 && { redact }),
    ...(domains.length > 0 && { egress: domains.reduce(commonDomains) }),
    ...(sizes.length > 0 && { maxResultBytes: Math.min(...sizes) }),
  };
}

/** The domains that both lists reach. */
function commonDomains(some: readonly string[], others: readonly string[]): readonly string[] {
  const common = some.flatMap((domain) =>
    others.flatMap((other) => (covers(other, domain) ? [domain] : covers(domain, other) ? [other] : [])),
  );
  return [...new Set(common)];
}

function covers(wide: string, narrow: string): boolean {
  return wide === narrow || (wide.startsWith("*.") && narrow.endsWith(wide.slice(1)));
}
