import type { Identity } from "../../guard/identity.port.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";
import { configuredEgress } from "./configured-egress.ts";
import { configuredIdentity } from "./configured-identity.ts";

/** Where a gateway listens, and who may call it. */
export interface ConfiguredListening extends Pick<
  ResolvedConfig["server"],
  "host" | "port" | "allowedHosts" | "allowedOrigins"
> {
  readonly publicUrl?: string;
  readonly identity?: Identity;
}

/** How the section `server` says to listen. `identity` stands in for the configured one. */
export async function configuredListening(
  config: Pick<ResolvedConfig, "server" | "security">,
  given: { readonly identity?: Identity } = {},
): Promise<ConfiguredListening> {
  const { server } = config;
  const { host, port, allowedHosts, allowedOrigins, publicUrl } = server;
  const identity = given.identity ?? (await configuredIdentity(server, { egress: configuredEgress(config) }));
  return {
    host,
    port,
    allowedHosts,
    allowedOrigins,
    ...(publicUrl !== undefined && { publicUrl }),
    ...(identity && { identity }),
  };
}
