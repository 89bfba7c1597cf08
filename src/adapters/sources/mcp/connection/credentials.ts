import type { Redactor } from "../../../../guard/redaction/redactor.ts";
import { fillMembers } from "../../../../guard/secrets/fill-members.ts";
import { createSecrets, type Secrets } from "../../../../guard/secrets/secrets.ts";
import { secretsInAddress, secretsInArguments } from "../../../../guard/secrets/looks-secret.ts";
import type { Caller } from "../../../../tool/handler.ts";
import type { McpServerSettings, OAuthSettings } from "../settings.ts";

type Texts = Readonly<Record<string, string>>;

/**
 * Resolves the secret references in one server's settings, each time they are needed. If each caller has credentials of their own, they are those of
 * one caller.
 */
export type Credentials = ReturnType<typeof createCredentials>;

/** Creates the lookup for one server. The server's configured name scopes its secrets. */
export function createCredentials(
  server: string,
  { secrets = createSecrets(), caller }: { secrets?: Secrets | undefined; caller?: Caller | undefined } = {},
) {
  const useOf = (field: string, signal?: AbortSignal) => ({ scope: server, field, principal: caller, signal });
  return {
    redactor: secrets.redactor,
    /** Returns the headers or variables with the secrets filled in. Rejects with CONFIG_INVALID if a secret is missing. */
    fill: (texts: Texts, field: "headers" | "env", signal?: AbortSignal): Promise<Texts> =>
      fillMembers(texts, secrets, useOf(field, signal)),
    /** Fills in the client credentials for an authorization server. */
    async fillOAuth(settings: OAuthSettings): Promise<OAuthSettings> {
      const { clientSecret, privateKey, identity } = settings;
      const known = async (written: string, field: string): Promise<string> => {
        const secret = await secrets.fill(written, useOf(field));
        secrets.redactor.add(secret);
        return secret;
      };
      const ownSecret = identity?.clientSecret;
      const filled = identity && {
        ...identity,
        token: await known(identity.token, "oauth.identity.token"),
        ...(ownSecret !== undefined && { clientSecret: await known(ownSecret, "oauth.identity.client_secret") }),
      };
      return {
        ...settings,
        ...(filled && { identity: filled }),
        ...(clientSecret !== undefined && { clientSecret: await known(clientSecret, "oauth.client_secret") }),
        ...(privateKey !== undefined && { privateKey: await known(privateKey, "oauth.private_key") }),
      };
    },
  };
}

/** Registers literal secrets in a server's address or arguments with the redactor. */
export function addWrittenOut({ transport }: McpServerSettings, redactor: Redactor): void {
  const secrets =
    transport.kind === "stdio" ? secretsInArguments(transport.args ?? []) : secretsInAddress(transport.url);
  for (const secret of secrets) redactor.add(secret);
}
