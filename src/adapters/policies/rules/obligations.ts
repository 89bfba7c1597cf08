import type { Obligations, RateObligation, Redaction } from "../../../guard/policy.port.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Rule } from "./rule.ts";

/** What must hold for a call under all the rules it matches: every rate, every redaction, the common domains, the least size. */
export function obligationsOf(rules: readonly Rule[], principal: Principal): Obligations | undefined {
  if (!rules.some(({ obligations }) => obligations !== undefined)) return undefined;
  const rates: RateObligation[] = [];
  const redact: Redaction[] = [];
  let egress: readonly string[] | undefined;
  let maxResultBytes: number | undefined;
  for (const { id, obligations = {} } of rules) {
    if (obligations.rate !== undefined) {
      const key = JSON.stringify([id, principal.tenant ?? "", principal.id]);
      rates.push({ key, ...obligations.rate, rule: id });
    }
    redact.push(...(obligations.redact ?? []));
    if (obligations.egress !== undefined)
      egress = egress === undefined ? obligations.egress : commonDomains(egress, obligations.egress);
    if (obligations.maxResultBytes !== undefined)
      maxResultBytes = Math.min(maxResultBytes ?? Number.POSITIVE_INFINITY, obligations.maxResultBytes);
  }
  return {
    ...(rates.length > 0 && { rates }),
    ...(redact.length > 0 && { redact }),
    ...(egress !== undefined && { egress }),
    ...(maxResultBytes !== undefined && { maxResultBytes }),
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
