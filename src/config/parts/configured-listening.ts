import type { KeyState } from "../../adapters/identity/api-keys/state-keys.ts";
import type { Egress } from "../../guard/egress/egress.ts";
import type { Identity } from "../../guard/identity.port.ts";
import type { Secrets } from "../../guard/secrets/secrets.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";
import { configuredIdentity } from "./configured-identity.ts";

/** Options for serving, with those that are omitted taken from the section `server`. On stdio nothing listens. */
export async function withListening<
  Options extends { readonly transport?: string; readonly publicUrl?: string; readonly identity?: unknown },
>(
  options: Options,
  config: Pick<ResolvedConfig, "server" | "security">,
  { state, ...parts }: { readonly state: KeyState; readonly egress: Egress; readonly secrets: Secrets },
): Promise<Options & { readonly identity?: Identity }> {
  if (options.transport === "stdio") return options as Options & { readonly identity?: Identity };
  const { server } = config;
  const { host, port, allowedHosts, allowedOrigins, publicUrl, tls } = server;
  const identity =
    options.identity === undefined ? await configuredIdentity(server, { ...parts, state: () => state }) : undefined;
  return {
    host,
    port,
    allowedHosts,
    allowedOrigins,
    ...(publicUrl !== undefined && { publicUrl }),
    ...(tls && { tls }),
    ...(identity && { identity }),
    ...options,
  } as Options & { readonly identity?: Identity };
}
