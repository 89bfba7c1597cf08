import { createUserTokens, type UserTokens } from "../adapters/sources/mcp/oauth/user-tokens.ts";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";
import type { Secrets } from "../guard/secrets/secrets.ts";
import type { Clock } from "../observe/clock.ts";
import type { SharedState } from "../state/shared-state.ts";

/** Stores the tokens of people who sign in to servers in the configured state. */
export function wireUserTokens(parts: {
  readonly config: Pick<ResolvedConfig, "security">;
  readonly state: SharedState;
  readonly secrets: Secrets;
  readonly clock: Clock;
}): UserTokens {
  const { config, state, secrets, clock } = parts;
  const { sealKey } = config.security;
  const use = { scope: "security", field: "seal_key" };
  return createUserTokens(state, {
    clock,
    ...(sealKey !== undefined && { sealKey: () => secrets.fill(sealKey, use) }),
  });
}
