import type { Surroundings } from "../adapters/surroundings.ts";
import { createEgress, type Egress } from "../guard/egress/egress.ts";
import { createSecrets } from "../guard/secrets/secrets.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";

/** The configured way out to the network. Throws CONFIG_INVALID if a certificate pin is invalid. */
export function configuredEgress({ security }: Pick<ResolvedConfig, "security">): Egress {
  const { allowedDomains, certificatePins } = security;
  return createEgress({ allowedDomains, certificatePins });
}

/** Creates the services that the adapters of a configuration share. Throws CONFIG_INVALID if a certificate pin is invalid. */
export function createSurroundings(
  config: Pick<ResolvedConfig, "security">,
  parts: { readonly clock?: Clock; readonly environment?: Readonly<Record<string, string | undefined>> },
  emit: Emit = () => {},
): Surroundings {
  const { clock = systemClock, environment } = parts;
  const secrets = createSecrets({ ...parts, clock, emit });
  return { clock, emit, egress: configuredEgress(config), secrets, environment };
}
