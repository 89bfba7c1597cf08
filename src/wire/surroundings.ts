import type { Surroundings } from "../adapters/surroundings.ts";
import { fixable } from "../errors/arsenal-error.ts";
import { messageOf } from "../errors/show-value.ts";
import { createEgress, type Egress } from "../guard/egress/egress.ts";
import { createSecrets } from "../guard/secrets/secrets.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the configured egress to the network. Throws CONFIG_INVALID if a certificate pin, the proxy or the CA file is invalid. */
export function configuredEgress(
  { security, egress }: Pick<ResolvedConfig, "security" | "egress">,
  environment?: Environment,
): Egress {
  const { allowedDomains, certificatePins } = security;
  const { proxy, noProxy, caFile } = egress;
  const ca = caFile === undefined ? undefined : readAuthorities(caFile);
  return createEgress({ allowedDomains, certificatePins, proxy, noProxy, ca }, { environment });
}

function readAuthorities(file: string): string {
  const details = { field: "egress.ca_file", value: file };
  const fix = "Name a readable file with certificates in PEM format.";
  let text: string;
  try {
    text = process.getBuiltinModule("node:fs").readFileSync(file, "utf8");
  } catch (cause) {
    throw fixable("CONFIG_INVALID", `egress.ca_file cannot be read: ${messageOf(cause)}.`, fix, { ...details, cause });
  }
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw fixable("CONFIG_INVALID", `egress.ca_file has no certificate: ${file}.`, fix, details);
}

/** Creates the services that the adapters of a configuration share. Throws CONFIG_INVALID if a certificate pin is invalid. */
export function createSurroundings(
  config: Pick<ResolvedConfig, "security" | "egress">,
  parts: { readonly clock?: Clock; readonly environment?: Environment },
  emit: Emit = () => {},
): Surroundings {
  const { clock = systemClock, environment } = parts;
  const secrets = createSecrets({ ...parts, clock, emit });
  return { clock, emit, egress: configuredEgress(config, environment), secrets, environment };
}
