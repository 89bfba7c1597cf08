import { hash, timingSafeEqual } from "node:crypto";
import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { bearerCredential } from "../../guard/identity/any-identity.ts";
import type { Identity } from "../../guard/identity.port.ts";
import type { Principal } from "../../guard/principal.ts";
import { CAPABILITIES } from "../../tool/tool.ts";

/** The accepted tokens and their principals. */
export interface BearerTokenOptions {
  /** A token without a principal has the rights of a remote operator. */
  readonly tokens: readonly (string | { readonly token: string; readonly principal: Principal })[];
}

const MIN_LENGTH = 16;

/** Authenticates callers by a secret, sent as `Authorization: Bearer …`. Keeps only hashes of the tokens. */
export function bearerToken(options: BearerTokenOptions): Identity {
  const known: { readonly digest: Buffer; readonly principal: Principal }[] = [];
  for (const [index, entry] of options.tokens.entries()) {
    const { token, principal } = typeof entry === "object" ? entry : { token: entry, principal: operator(index) };
    const digest = digestOf(usable(token, index));
    if (known.some((other) => other.digest.equals(digest)))
      throw invalid(index, "is a duplicate and would identify two callers", "Give each caller its own.");
    known.push({ digest, principal });
  }
  if (known.length === 0)
    throw fixable("CONFIG_INVALID", "tokens is empty, so no caller could authenticate.", "Give at least one token.", {
      field: "tokens",
    });

  return {
    name: "bearer-token",
    challenge: 'Bearer realm="toolarsenal"',
    async authenticate({ headers }) {
      const token = bearerCredential(headers["authorization"]);
      if (token === undefined) return undefined;
      const digest = digestOf(token);
      let caller: Principal | undefined;
      // Compares all tokens, by hashes of equal length, so the timing reveals nothing.
      for (const { digest: expected, principal } of known) if (timingSafeEqual(digest, expected)) caller = principal;
      return caller;
    },
  };
}

function digestOf(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** Distinguishes unnamed callers, so no caller can use another's sessions. */
function operator(index: number): Principal {
  return { id: `token-${index + 1}`, roles: ["operator"], capabilities: CAPABILITIES, scopes: ["*"], local: false };
}

function usable(token: unknown, index: number): string {
  const fix = `Make one with: node -p "crypto.randomBytes(32).toString('base64url')"`;
  if (typeof token !== "string" || token.length < MIN_LENGTH)
    throw invalid(index, `is shorter than ${MIN_LENGTH} characters`, fix);
  if (!/^[\u0021-\u007e]+$/.test(token)) throw invalid(index, "has a character that no HTTP header can carry", fix);
  return token;
}

/** The message never contains the token. */
function invalid(index: number, why: string, fix: string): ArsenalError {
  const field = `tokens.${index}`;
  return fixable("CONFIG_INVALID", `${field} ${why}.`, fix, { field });
}
