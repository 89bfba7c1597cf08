import { createEgress, type Egress } from "../../guard/egress/egress.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";

/** The configured way out to the network. Throws CONFIG_INVALID if a certificate pin is invalid. */
export function configuredEgress({ security }: Pick<ResolvedConfig, "security">): Egress {
  const { allowedDomains, certificatePins } = security;
  return createEgress({ allowedDomains, certificatePins });
}
