import type { Redactor } from "../../../guard/redaction/redactor.ts";
import { fillMembers } from "../../../guard/secrets/fill-members.ts";
import { createSecrets, type Secrets } from "../../../guard/secrets/secrets.ts";
import type { Caller } from "../../../tool/handler.ts";
import type { OAuthSettings } from "./settings.ts";

type Texts = Readonly<Record<string, string>>;

/** Looks up the secrets that one server's settings refer to, each time they are needed, for one caller where each has their own. */
export interface Credentials {
  /** The headers or variables as the server gets them. Rejects with CONFIG_INVALID where a secret is missing. */
  fill(texts: Texts, field: "headers" | "env", signal?: AbortSignal): Promise<Texts>;
  /** What this client proves itself by to an authorization server. */
  fillOAuth(settings: OAuthSettings): Promise<OAuthSettings>;
  readonly redactor: Redactor;
}

/** The look-up for one server, by its name in the configuration. */
export function createCredentials(
  server: string,
  { secrets = createSecrets(), caller }: { readonly secrets?: Secrets; readonly caller?: Caller } = {},
): Credentials {
  const useOf = (field: string, signal?: AbortSignal) => ({ scope: server, field, principal: caller, signal });
  return {
    redactor: secrets.redactor,
    fill: (texts, field, signal) => fillMembers(texts, secrets, useOf(field, signal)),
    async fillOAuth(settings) {
      const { clientSecret, privateKey } = settings;
      return {
        ...settings,
        ...(clientSecret === undefined
          ? {}
          : { clientSecret: await secrets.fill(clientSecret, useOf("oauth.client_secret")) }),
        ...(privateKey === undefined ? {} : { privateKey: await secrets.fill(privateKey, useOf("oauth.private_key")) }),
      };
    },
  };
}
