import { createEgress, type Egress } from "../../guard/egress/egress.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";

/** The way out of the program by configuration. Throws CONFIG_INVALID where a certificate pin is none. */
export function configuredEgress({ security }: Pick<ResolvedConfig, "security">): Egress {
  const { allowedDomains, certificatePins } = security;
  return createEgress({ allowedDomains, certificatePins });
}
