import { anyIdentity } from "../guard/identity/any-identity.ts";
import type { KeyState } from "../adapters/identity/api-keys/state-keys.ts";
import type { Egress } from "../guard/egress/egress.ts";
import type { Identity } from "../guard/identity.port.ts";
import type { Secrets } from "../guard/secrets/secrets.ts";
import { identities as manifest } from "../adapters/identity/manifest.ts";
import { present } from "../base/present.ts";
import { toCamel } from "../config/load/key-style.ts";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";

const { "bearer-token": bearer, ...configurable } = manifest;

interface ConfiguredIdentityParts {
  /** An operator's token, from the environment. */
  readonly token?: string | undefined;
  readonly egress?: Egress;
  /** Resolves secret references in the settings. */
  readonly secrets?: Secrets;
  /** The state for API keys. */
  readonly state?: () => KeyState;
}

/** Creates the configured identity; undefined if callers need not authenticate. Tokens and keys are checked before an issuer, which may be slow. */
export async function configuredIdentity(
  { tokens, auth = {} }: ResolvedConfig["server"],
  { token, ...parts }: ConfiguredIdentityParts = {},
): Promise<Identity | undefined> {
  const callers = Object.entries({ ...(token === undefined || token === "" ? {} : { operator: token }), ...tokens });
  const identities: Identity[] = [];
  if (callers.length > 0) identities.push(await tokenIdentity(callers));
  for (const [name, load] of Object.entries(configurable)) {
    const settings = auth[toCamel(name) as keyof typeof auth];
    if (settings !== undefined) identities.push(await (await load()).create(settings as never, parts));
  }
  const [first, ...others] = identities;
  return first === undefined ? undefined : anyIdentity([first, ...others]);
}

/**
 * Like `configuredIdentity`, for API keys in the shared state: returns a function that creates the identity from that state. The identity is then
 * never undefined.
 */
export function identityInState(
  server: ResolvedConfig["server"],
  parts: Omit<ConfiguredIdentityParts, "state">,
): ((state: KeyState) => Promise<Identity>) | undefined {
  if (server.auth?.apiKeys?.state !== true) return undefined;
  return async (state) => {
    const identity = await configuredIdentity(server, { ...parts, state: () => state });
    if (identity === undefined) throw new Error("API keys are configured, and there is no identity.");
    return identity;
  };
}

async function tokenIdentity(callers: readonly (readonly [string, string])[]): Promise<Identity> {
  const { bearerToken } = await bearer();
  const { CAPABILITIES } = await import("../tool/tool.ts");
  return bearerToken({
    tokens: callers.map(([id, token]) => ({
      token,
      principal: { id, roles: ["operator"], capabilities: CAPABILITIES, scopes: ["*"], local: false },
    })),
  });
}

/**
 * Completes options for serving with the section `server`, and creates the identity if the options have a function for it. On stdio nothing listens.
 */
export async function withListening<
  Options extends {
    readonly transport?: string;
    readonly publicUrl?: string;
    readonly identity?: Identity | ((state: KeyState) => Identity | Promise<Identity>);
  },
>(
  options: Options,
  config: Pick<ResolvedConfig, "server" | "security">,
  { state, ...parts }: { readonly state: KeyState; readonly egress: Egress; readonly secrets: Secrets },
): Promise<Omit<Options, "identity"> & { readonly identity?: Identity }> {
  const { identity: given, ...others } = options;
  const who = typeof given === "function" ? await given(state) : given;
  if (options.transport === "stdio") return { ...others, ...present({ identity: who }) };
  const { server } = config;
  const { host, port, allowedHosts, allowedOrigins, publicUrl, tls } = server;
  const identity = who ?? (await configuredIdentity(server, { ...parts, state: () => state }));
  return {
    host,
    port,
    allowedHosts,
    allowedOrigins,
    ...present({ publicUrl, tls }),
    ...others,
    ...present({ identity }),
  };
}
